# SPDX-License-Identifier: Apache-2.0
"""Sleeps at the end of random stacks in greenlets that start and resume each other, and writes each stack to a file
as Python has it: that of the running greenlet. Arguments as of stacks.py."""
import json
import os
import random
import sys
import time

from greenlet import getcurrent, greenlet

out = open(sys.argv[1], "w")
chance = random.Random(int(sys.argv[3]))
left = int(sys.argv[2])
suspended = []


def nap():
    global left
    stack, frame = [], sys._getframe()
    while frame:
        stack.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    stack[0] = ("nap", LINE)
    left -= 1
    json.dump(stack, out)
    out.write("\n")
    time.sleep(0.0002)


LINE = nap.__code__.co_firstlineno + 10


def suspend():
    """Continues in the parent, with this stack kept."""
    current = getcurrent()
    if current.parent:
        suspended.append(current)
        current.parent.switch()


def go(n):
    way = chance.randrange(6)
    if left <= 0:
        return 0
    if n <= 0:
        nap()
    elif way == 0:
        greenlet(go).switch(n - 1)
    elif way == 1 and suspended:
        suspended.pop(chance.randrange(len(suspended))).switch()
        go(n - 1)
    elif way == 2:
        suspend()
        go(n - 1)
    elif way == 3:
        sorted([0], key=lambda _: go(n - 1))
    elif way == 4:
        nap()
        go(n - 1)
    else:
        go(n - 1)
    return 0


def warm_up():
    time.sleep(0.01)


while not os.path.exists(sys.argv[4]):
    warm_up()
while left > 0:
    go(chance.randrange(1, 14))
out.close()
