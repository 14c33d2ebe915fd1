# SPDX-License-Identifier: Apache-2.0
"""Sleeps at the end of random stacks that lead through several interpreters on one thread, and writes each stack to
a file, with the functions of the outer interpreters. Arguments as of stacks.py, and "thread": in a thread that is not
the first one. python_host.c sets ARGS, IDS and OWN and calls the functions, in each interpreter in turn."""
import json
import os
import random
import sys
import threading
import time

try:
    import host
except ImportError:
    host = None
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters

is_first = "ARGS" not in globals()
if is_first:
    ARGS, IDS, OWN = sys.argv, [], None
chance = random.Random(int(ARGS[3]))
out = os.open(ARGS[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
run = host.run if host else interpreters.run_string


def stack_from(frame, line):
    """The functions down to the text that this interpreter runs; those below it are in outer."""
    stack = [(frame.f_code.co_name, line)]
    while frame.f_back and frame.f_code.co_name != "<module>":
        frame = frame.f_back
        stack.append((frame.f_code.co_name, frame.f_lineno))
    return stack


def text_of(n, frame, line, outer, busy):
    return "go(%d, %r, %r)" % (n, stack_from(frame, line) + outer, busy)


def nap(outer):
    os.write(out, (json.dumps(stack_from(sys._getframe(), NAP) + outer) + "\n").encode())
    time.sleep(0.0002)


NAP = nap.__code__.co_firstlineno + 2


def other(i, n, outer, busy):
    """Continues in another interpreter; in the host it may be one that is at work further out."""
    text = text_of(n, sys._getframe(), OTHER, outer, busy + [i])
    run(i, text)


OTHER = other.__code__.co_firstlineno + 3


def again(n, outer, busy):
    """Continues in the same interpreter, in a text of its own."""
    text = text_of(n, sys._getframe(), AGAIN, outer, busy)
    run(OWN, text)


AGAIN = again.__code__.co_firstlineno + 3


def go(n, outer, busy):
    way = chance.randrange(4)
    if n <= 0:
        nap(outer)
    elif way == 0 and (host or len(busy) < len(IDS)):
        i = chance.choice([i for i in IDS if host or i not in busy])
        if i == OWN:
            again(n - 1, outer, busy)
        else:
            other(i, n - 1, outer, busy)
    elif way == 1:
        sorted([0], key=lambda _: go(n - 1, outer, busy) or 0)
    elif way == 2:
        list(map(lambda k: go(k, outer, busy), [n - 1]))
    else:
        go(n - 1, outer, busy)


def create(has_own_gil):
    if sys.version_info >= (3, 13):
        return interpreters.create("isolated" if has_own_gil else "legacy")
    return interpreters.create(isolated=has_own_gil) if sys.version_info >= (3, 10) else interpreters.create()


TEXT = "ARGS, IDS, OWN = %r, %r, %r\nexec(compile(open(ARGS[0]).read(), ARGS[0], 'exec'))"


def warm_up():
    time.sleep(0.01)


def wait_for_start():
    while not os.path.exists(ARGS[4]):
        warm_up()


def main():
    kept = [create(has_own_gil) for has_own_gil in (True, False, True)]
    IDS.extend(map(int, kept))
    for i in IDS:
        args = [__file__, *ARGS[1:3], i, *ARGS[4:]]
        run(i, TEXT % (args, IDS, i))
    wait_for_start()
    for _ in range(int(ARGS[2])):
        go(chance.randrange(1, 14), [], [])


if is_first and ARGS[-1] == "thread":
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
elif is_first:
    main()
