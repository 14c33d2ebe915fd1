# SPDX-License-Identifier: Apache-2.0
# Two threads that wait for each other.
import threading
a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(3)


def take_b():
    both.wait()
    with b:
        pass


def take_a():
    both.wait()
    with a:
        pass


def one(lock, take):
    with lock:
        take()


for args in (a, take_b), (b, take_a):
    threading.Thread(target=one, args=args).start()
both.wait()
print("waits", flush=True)
