"""startup.py PROGRAM INDEX: milliseconds from starting the process to its answers, ten times."""

import json
import subprocess
import sys
import time

program, index = sys.argv[1:]
hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "startup", "version": "0"}}}
call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"reason": "r", "query": "system model"}}}


def once():
    begin = time.perf_counter()
    p = subprocess.Popen([program, "mcp", "--index", index], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdin.write(json.dumps(hello) + "\n" + json.dumps(call) + "\n")
    p.stdin.flush()
    p.stdout.readline()
    first = time.perf_counter()
    assert '"content"' in p.stdout.readline()
    found = time.perf_counter()
    p.stdin.close()
    p.wait()
    return (first - begin) * 1000, (found - begin) * 1000


times = sorted(once() for _ in range(10))
print("initialize: median %.0f ms, worst %.0f ms" % (times[5][0], times[9][0]))
times.sort(key=lambda t: t[1])
print("first search: median %.0f ms, worst %.0f ms" % (times[5][1], times[9][1]))
