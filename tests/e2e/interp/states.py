# SPDX-License-Identifier: Apache-2.0
# Makes garbage and has it collected for half a second of CPU time, while another thread waits again and
# again. Writes the share of CPU time that Python itself has counted for garbage collection.
import gc
import threading
import time

began = counted = 0


def count(phase, info):
    global began, counted
    if phase == "start":
        began = time.thread_time()
    else:
        counted += time.thread_time() - began


def churn():
    for i in range(20000):
        one = [i]
        one.append(one)


def collect():
    gc.collect()


def waits():
    while True:
        time.sleep(0.0005)


def work():
    start, before = time.thread_time(), counted
    while time.thread_time() - start < 0.5:
        churn()
        collect()
    print((counted - before) / (time.thread_time() - start))


def warm_up():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        churn()


kept = [[i] for i in range(20000)]
threading.Thread(target=waits, daemon=True).start()
warm_up()
gc.callbacks.append(count)
work()
