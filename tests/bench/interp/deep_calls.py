# SPDX-License-Identifier: Apache-2.0
"""Prints the least time of a getppid below many different Python functions, in ns: deep_calls.py FUNCTIONS. Blocks of
calls are short, and far enough apart that a reader of their samples keeps up."""
import os
import sys
import time

BLOCKS = 150
CALLS = 20


def spin():
    getppid, clock = os.getppid, time.perf_counter
    time.sleep(1.5) # the tables of the process are made meanwhile
    least = []
    for _ in range(BLOCKS):
        getppid()
        began = clock()
        for _ in range(CALLS):
            getppid()
        least.append(1e9 * (clock() - began) / CALLS)
        time.sleep(0.004)
    print(min(least))


n = int(sys.argv[1])
functions = {f"d{n}": spin}
exec(compile("".join(f"def d{i}():\n    d{i + 1}()\n" for i in range(n)), "deep", "exec"), functions)
functions["d0"]()
