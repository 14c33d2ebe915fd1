# SPDX-License-Identifier: Apache-2.0
# Forks a child and a grandchild, which wait in the same functions as the first process; that one has ended by then.
import os
import time


def nap():
    time.sleep(0.001)


def work():
    for _ in range(50):
        nap()


work()
if os.fork() == 0:
    os.fork()
    time.sleep(0.2)
    work()
