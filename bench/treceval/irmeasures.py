"""Scores the random runs of internal/eval/testdata/treceval with ir_measures.

Ties are taken out first (the n-th line of a run gets the score -n), since providers of
ir_measures order ties differently. Prints JSON: case -> query -> measure -> value.

    python irmeasures.py ../../internal/eval/testdata/treceval > ../../internal/eval/testdata/irmeasures.json
"""

import json
import pathlib
import sys

import ir_measures

MEASURES = [
    "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@10", "nDCG@10",
    "AP", "AP(rel=2)@10", "R(rel=2)@10", "P(rel=2)@5", "RR", "RR@10", "RR(rel=3)@10",
    "Success(rel=2)@5", "Judged@5", "Judged@10", "Judged",
]


def columns(path):
    return [line.split() for line in path.read_text().splitlines()]


def main(root):
    out = {}
    for case in sorted(pathlib.Path(root).glob("random-*")):
        qrels = [ir_measures.Qrel(q, d, int(g)) for q, _, d, g in columns(case / "qrels")]
        run = [ir_measures.ScoredDoc(c[0], c[2], float(-n)) for n, c in enumerate(columns(case / "run"))]
        scores = out.setdefault(case.name, {})
        for m in MEASURES:
            for value in ir_measures.iter_calc([ir_measures.parse_measure(m)], qrels, run):
                scores.setdefault(value.query_id, {})[m] = round(value.value, 9)
    json.dump(out, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
