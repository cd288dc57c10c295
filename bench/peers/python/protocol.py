"""The protocol that all engines of the comparison speak, for engines that are timed a query set at a time."""

import os
import sys
import time

# Answers go to what was standard output; what libraries print there goes to standard error.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def read_tokens(path):
    """Yields docid and terms, with blanks between, of every document."""
    with open(path, encoding="ascii") as lines:
        for line in lines:
            docid, _, terms = line.rstrip("\n").partition("\t")
            yield docid, terms


def read_queries(arguments):
    """Returns query sets by name: lists of id and terms."""
    return {name: list(read_tokens(path)) for name, _, path in (a.partition("=") for a in arguments)}


def serve(sets, search):
    """Answers commands. search(queries, k, threads) returns a list of docids for every query, as a function
    that is called outside the time."""
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        command = line.split()
        try:
            print(answer(sets, search, command), file=answers, flush=True)
        except Exception as e:  # the other side decides what a failure means
            print("error", repr(e).replace("\n", " "), file=answers, flush=True)


def answer(sets, search, command):
    queries, k = sets[command[1]], int(command[2])
    if command[0] == "run":
        wall, thread = time.perf_counter_ns(), time.process_time_ns()
        search(queries, k, 1)
        return f"total {len(queries)} {time.perf_counter_ns() - wall} {time.process_time_ns() - thread}"
    if command[0] == "load":
        workers, seconds = int(command[3]), float(command[4])
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            search(queries, k, workers)
            done += len(queries)
        return f"load {done / (time.perf_counter() - start)} 0"
    if command[0] == "hits":
        with open(command[3], "w", encoding="ascii") as out:
            for (query, _), docids in zip(queries, search(queries, k, 1)()):
                print(query, " ".join(docids), sep="\t", file=out)
        return "ok"
    raise ValueError(f"command {command[0]} is unknown")
