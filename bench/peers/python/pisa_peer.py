"""PISA, as pyterrier-pisa has it, behind the protocol that all engines of the comparison speak; see README.md.

    pisa_peer.py index TOKENS INDEX K1 B
    pisa_peer.py serve INDEX K1 B SET=QUERIES ...

Of its algorithms, with and without precomputed impacts, the one that is fastest for a query set and depth
is taken.
"""

import sys
import time

import numpy as np
import pandas as pd
import pyterrier_pisa
from pyterrier_pisa import _pisathon

import protocol

ALGORITHMS = ("block_max_wand", "maxscore", "block_max_maxscore")


def open_index(folder):
    return pyterrier_pisa.PisaIndex(folder, text_field="text", stemmer="none", stops="none", threads=2)


def index(tokens, folder):
    open_index(folder).index({"docno": docid, "text": terms} for docid, terms in protocol.read_tokens(tokens))


def serve(folder, k1, b, sets):
    pisa = open_index(folder)
    contexts = [pisa.bm25(k1=k1, b=b, precompute_impact=p)._ctxt for p in (False, True)]
    variants = [(c, a) for c in contexts for a in ALGORITHMS]
    fastest = {}

    def retrieve(variant, queries, k, threads):
        context, algorithm = variant
        size = len(queries) * k
        numbers, docnos = np.empty(size, dtype=np.int32), np.empty(size, dtype=object)
        ranks, scores = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
        n = _pisathon.retrieve(context, algorithm, list(enumerate(terms for _, terms in queries)), k=k, threads=threads,
                               query_weighted=0, pretokenised=False, result_qidxs=numbers, result_docnos=docnos,
                               result_ranks=ranks, result_scores=scores)
        return numbers[:n], docnos[:n], ranks[:n]

    def choose(queries, k):
        times = []
        for variant in variants:
            retrieve(variant, queries, k, 1)
            start = time.perf_counter()
            retrieve(variant, queries, k, 1)
            times.append(time.perf_counter() - start)
        best = int(np.argmin(times))
        print("pisa:", ALGORITHMS[best % len(ALGORITHMS)], "with" if best >= len(ALGORITHMS) else "without", "precomputed impacts for k =", k,
              file=sys.stderr, flush=True)
        return variants[best]

    def search(queries, k, threads):
        key = (id(queries), k)
        if key not in fastest:
            fastest[key] = choose(queries, k)
        numbers, docnos, ranks = retrieve(fastest[key], queries, k, threads)

        def docids():
            found = pd.DataFrame({"q": numbers, "d": docnos, "r": ranks}).sort_values(["q", "r"])
            lists = found.groupby("q")["d"].apply(list).to_dict()
            return [lists.get(i, []) for i in range(len(queries))]

        return docids

    protocol.serve(sets, search)


if __name__ == "__main__":
    if sys.argv[1] == "index":
        index(sys.argv[2], sys.argv[3])
    else:
        serve(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), protocol.read_queries(sys.argv[5:]))
