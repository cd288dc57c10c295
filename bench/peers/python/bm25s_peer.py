"""bm25s behind the protocol that all engines of the comparison speak; see README.md.

    bm25s_peer.py index TOKENS INDEX K1 B
    bm25s_peer.py serve INDEX K1 B SET=QUERIES ...
"""

import array
import json
import os
import sys

import bm25s
import numpy as np

import protocol


def index(tokens, folder, k1, b):
    vocabulary, docids, documents = {}, [], []
    for docid, terms in protocol.read_tokens(tokens):
        docids.append(docid)
        ids = array.array("i", (vocabulary.setdefault(t, len(vocabulary)) for t in terms.split(" ")))
        documents.append(np.frombuffer(ids, dtype=np.int32))
    retriever = bm25s.BM25(method="lucene", k1=k1, b=b, backend="numba")
    retriever.index((documents, vocabulary), show_progress=False)
    retriever.save(folder)
    with open(os.path.join(folder, "docids.json"), "w", encoding="ascii") as out:
        json.dump(docids, out)


def serve(folder, sets):
    retriever = bm25s.BM25.load(folder, load_corpus=False, mmap=False)
    with open(os.path.join(folder, "docids.json"), encoding="ascii") as lines:
        docids = np.array(json.load(lines), dtype=object)

    def search(queries, k, threads):
        tokens = [terms.split(" ") for _, terms in queries]
        found = retriever.retrieve(tokens, k=min(k, len(docids)), n_threads=threads, show_progress=False, leave_progress=False)
        named = docids[found.documents]
        return lambda: [[docid for docid, score in zip(row, scores) if score > 0] for row, scores in zip(named, found.scores)]

    protocol.serve(sets, search)


if __name__ == "__main__":
    if sys.argv[1] == "index":
        index(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    else:
        serve(sys.argv[2], protocol.read_queries(sys.argv[5:]))
