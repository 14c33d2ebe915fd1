# SPDX-License-Identifier: Apache-2.0
"""Sleeps at the end of random stacks of Python and C functions, and writes each stack to a file as Python
has it. Arguments: the file, the number of stacks, the seed, and a file: it begins when that is there."""
import ctypes
import json
import os
import random
import sys
import time

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
out = open(sys.argv[1], "w")
chance = random.Random(int(sys.argv[3]))


def nap():
    stack, frame = [], sys._getframe()
    while frame:
        stack.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    stack[0] = ("nap", LINE)
    json.dump(stack, out)
    out.write("\n")
    time.sleep(0.0002)


LINE = nap.__code__.co_firstlineno + 8


class Worker:
    def work(self, n):
        go(n - 1)

    @classmethod
    def all(cls, n):
        cls().work(n)


def generate(n):
    go(n - 1)
    yield n


def go(n):
    if n <= 0:
        nap()
        return 0
    way = chance.randrange(8)
    if way == 0:
        go(n - 1)
    elif way == 1:
        sorted([0], key=lambda _: go(n - 1))
    elif way == 2:
        list(map(go, [n - 1]))
    elif way == 3:
        Worker.all(n)
    elif way == 4:
        for _ in generate(n):
            pass
    elif way == 5:
        CALLBACK(lambda _: go(n - 1) or 0)(0)
    elif way == 6:
        [go(k) for k in [n - 1]]
    else:
        exec("go(n - 1)", {"go": go, "n": n})
    return 0


def warm_up():
    time.sleep(0.01)


while not os.path.exists(sys.argv[4]):
    warm_up()
for i in range(int(sys.argv[2])):
    go(chance.randrange(1, 14))
out.close()
