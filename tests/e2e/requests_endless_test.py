#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests of a peer that never ends a header: one request, and bounded memory."""

import collections
import os
import subprocess
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/endless.py")
N = 2 # connections: a ring has room for their bytes, however late saker reads them


class Endless(unittest.TestCase):
    """Captured with all bytes, and with those that are kept by default."""

    def record(self, *words):
        capture = os.path.join(e2e.own_dir(self), "capture.scap")
        out = e2e.run(e2e.SAKER, "-q", *words, "--requests", "-w", capture, "--", "/usr/bin/python3", PROGRAM, str(N))
        return capture, *map(int, out.split())

    def check(self, *words):
        capture, closed, answered = self.record(*words)
        for side, sent, received in ("client", "out", "in"), ("server", "in", "out"):
            text = e2e.run(e2e.SAKER, "-r", capture, "-p", "*%request.method %request.resource %request.status "
                           f"%request.error %request.truncated %request.bytes_{sent} %request.bytes_{received}",
                           f"request.proto=http and request.side={side}")
            self.assertEqual(collections.Counter(text.splitlines()),
                             {f"GET /closed <NA> unanswered true {closed} 0": N // 2,
                              f"GET /answered 431 431 true {answered} 63": N // 2}, side)

    def test_whole(self):
        self.check("--snaplen", "65000")

    def test_default(self):
        self.check()

    def test_memory(self):
        """Deriving the requests of 2 MB of headers takes less than 1 MB more than reading their calls."""
        capture = os.path.join(e2e.own_dir(self), "capture.scap")
        e2e.run(e2e.SAKER, "-q", "--snaplen", "65000", "-w", capture, "--", "/usr/bin/python3", PROGRAM, str(N))
        self.assertGreater(os.path.getsize(capture), N * 900000)
        plain, derived = (self.peak_kb(capture, words) for words in ([], ["--requests"]))
        self.assertLess(derived - plain, 1024)

    def peak_kb(self, capture, words):
        """Returns the largest size that saker had in memory."""
        with subprocess.Popen([e2e.SAKER, "-r", capture, *words, "-p", "%evt.num", "evt.type=close"],
                              stdout=subprocess.DEVNULL) as p:
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0)
        return usage.ru_maxrss


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
