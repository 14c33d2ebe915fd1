#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures at full load with rotation and chisels, and compares every count that there is.

    tests/bench/soak_capture.py SECONDS [OPTION...]

A program reads and writes single bytes as fast as it can and prints how often, another makes requests, a third starts
processes. saker writes files of 500 MB; each is verified, its events are counted again, and it is removed. Prints the memory
of saker twenty times, then the counts. Exits with 1 if they differ. Needs root. OPTIONs are those of saker."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e"))
import saker_e2e as e2e

ROWS = 20

# Counts events, all or those of a filter.
CHISEL = """
description = "Counts events."
short_description = "counts"
category = "test"
args = {{}}
local n = 0
function on_init() {filter} return true end
function on_event() n = n + 1 return true end
function on_capture_end() print("{name} " .. n) return true end
"""
CALLS = "proc.name=soak_dd and evt.dir=< and fd.name in (/dev/zero, /dev/null) and evt.rawres=1"


def count(pattern, text):
    """Returns the number that a line has; -1: there is none."""
    m = re.search(pattern, text, re.M)
    return int(m[1]) if m else -1


class Capture:
    def __init__(self, folder, options):
        self.folder, self.events, self.files, self.faults = folder, 0, 0, []
        for name, text in ("events", ""), ("calls", f"chisel.set_filter('{CALLS}')"):
            e2e.write_text(f"{folder}/{name}.lua", CHISEL.format(name=name, filter=text))
        self.out, self.err = (open(f"{folder}/{name}", "w+", encoding="utf-8") for name in ("out", "err"))
        self.process = subprocess.Popen([e2e.SAKER, "-v", "-w", f"{folder}/f", "-C", "500", "-c", "topscalls",
                                         "-c", f"{folder}/events.lua", "-c", f"{folder}/calls.lua", *options],
                                        stdout=self.out, stderr=self.err)
        has_begun = lambda: os.path.exists(self.path(0)) and os.path.getsize(self.path(0))
        e2e.wait_until(lambda: self.process.poll() is not None or has_begun(), "the first file")
        if self.process.poll() is not None:
            sys.exit(f"saker did not start: {self.text(self.err)}")

    def path(self, n):
        return f"{self.folder}/f{n}"

    @staticmethod
    def text(file):
        file.seek(0)
        return file.read()

    def read(self, n, *options):
        p = subprocess.run([e2e.SAKER, "-r", self.path(n), *options], capture_output=True, text=True, check=False)
        if p.returncode:
            self.faults.append(f"file {n}: {p.stderr}")
        return p.stdout

    def verify(self, n):
        self.read(n, "-q", "--verify")
        self.events += count("^events (.*)", self.read(n, "-c", f"{self.folder}/events.lua"))
        os.remove(self.path(n))
        self.files += 1

    def verify_complete(self):
        """Each file but the one that is being written."""
        while os.path.exists(self.path(self.files + 1)):
            self.verify(self.files)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(e2e.DEADLINE_S)
        while os.path.exists(self.path(self.files)):
            self.verify(self.files)
        return status


def soak(folder, seconds, options):
    capture = Capture(folder, options)
    shutil.copy(shutil.which("dd"), f"{folder}/soak_dd")  # there may be another dd
    dd = subprocess.Popen([f"{folder}/soak_dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    others = [subprocess.Popen([f"{e2e.BUILD}/tests/request_load", "500", str(seconds)], stdout=subprocess.DEVNULL),
              subprocess.Popen(["sh", "-c", "while :; do /bin/true; sleep 0.02; done"])]
    began = time.monotonic()
    print(f"{'seconds':>8}{'files':>8}{'RSS MiB':>10}{'own MiB':>10}")
    for i in range(ROWS + 1):
        while time.monotonic() < began + seconds * i / ROWS and capture.process.poll() is None:
            capture.verify_complete()
            time.sleep(0.2)
        if capture.process.poll() is not None:
            break
        rss, own = e2e.memory(capture.process.pid)
        print(f"{time.monotonic() - began:8.0f}{capture.files:8}{rss:10.1f}{own:10.1f}", flush=True)
    dd.send_signal(signal.SIGINT)
    said = dd.communicate()[1]
    for p in others:
        p.kill()
        p.wait()
    status = capture.close()
    calls = sum(int(n) for n in re.findall(r"^(\d+)\+0 records", said, re.M))
    out, err = capture.text(capture.out), capture.text(capture.err)
    seen, events = count("^calls (.*)", out), count("^events (.*)", out)
    records, delivered, lost = (count(f"records {what} +(.*)", err) for what in ("of the kernel", "delivered", "lost"))
    print(err)
    print(f"calls of dd: {calls} by itself, {seen} by a chisel")
    print(f"events: {events} live, {capture.events} in {capture.files} files")
    print(f"records: {records} in the kernel, {delivered} delivered, {lost} lost")
    print("".join(capture.faults), end="")
    return (not status and not capture.faults and records == delivered + lost and events == capture.events
            and -1 <= calls - seen <= lost)  # dd may end before it counted its last call


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    with tempfile.TemporaryDirectory() as place:
        is_sound = soak(place, int(sys.argv[1]), sys.argv[2:])
    print("the counts agree" if is_sound else "the counts differ")
    sys.exit(not is_sound)
