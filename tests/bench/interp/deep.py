# SPDX-License-Identifier: Apache-2.0
"""A loop below many Python functions: deep.py FUNCTIONS SECONDS."""
import sys
import time


def spin(until):
    n = 0
    while time.monotonic() < until:
        for i in range(10000):
            n += i % 3


def down(n, until):
    if n:
        down(n - 1, until)
    else:
        spin(until)


down(int(sys.argv[1]), time.monotonic() + float(sys.argv[2]))
