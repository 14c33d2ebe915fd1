#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests to web servers under load: they are those of the access log, to the byte."""

import collections
import json
import os
import shutil
import statistics
import subprocess
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/weblog.py")


class Log(unittest.TestCase):
    name, precise_us, slow_us = None, 20, 0

    @classmethod
    def setUpClass(cls):
        if not cls.name:
            raise unittest.SkipTest("each subclass has a server")
        if not shutil.which(cls.name):
            e2e.skip_test(f"{cls.name} is not installed: scripts/setup --tests")
        cls.record()

    @classmethod
    def record(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "capture.scap")
        p = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "/usr/bin/python3", PROGRAM, cls.name],
                           capture_output=True, text=True, timeout=e2e.DEADLINE_S)
        assert p.returncode == 0, p.stderr
        cls.truth = json.loads(p.stdout)

    def counts(self, side, fields):
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "*" + " ".join(f"%request.{f}" for f in fields.split()),
                       f"request.proto=http and request.side={side}")
        return collections.Counter(text.splitlines())

    def test_log(self):
        """Method, path, status and bytes in both directions of each request, at both ends."""
        want = collections.Counter(" ".join(row) for row in self.truth["log"])
        for side, counted in ("server", "bytes_in bytes_out"), ("client", "bytes_out bytes_in"):
            self.assertEqual(self.counts(side, f"method resource status {counted}"), want, side)

    def test_latency(self):
        """That of the log in one of three captures: other work may stop the server before and after its own times."""
        for tries_left in 2, 1, 0:
            try:
                self.compare_latency()
                return
            except AssertionError:
                if not tries_left:
                    raise
            self.record()

    def compare_latency(self):
        """The fastest request of each page is that of the log, but for what the server does before and after its own
        times; the first quartile is within 5 % or some of that. Beside other work the slower ones are stopped anywhere."""
        want, got = collections.defaultdict(list), collections.defaultdict(list)
        for *page, us in self.truth["times"]:
            want[" ".join(page)].append(us)
        for row, n in self.counts("server", "method resource status latency").items():
            page, ns = row.rsplit(maxsplit=1)
            got[page] += [int(ns) / 1000] * n
        self.assertEqual(set(got), set(want))
        self.assertGreater(statistics.median(want["GET /slow 200"]), self.slow_us)
        for page, times in want.items():
            self.assertLessEqual(abs(min(got[page]) - min(times)), max(0.05 * min(times), self.precise_us), page)
            quartile = statistics.quantiles(times)[0]
            self.assertLessEqual(abs(statistics.quantiles(got[page])[0] - quartile),
                                 max(0.05 * quartile, 3 * self.precise_us), page)

    def test_load_tool(self):
        """As many requests and errors as ab counts."""
        total, errors = map(sum, zip(*self.truth["ab"]))
        self.assertEqual(total, 916)
        self.assertGreater(errors, 150)
        for side in "server", "client":
            self.assertEqual(self.counts(side, "failed truncated"),
                             {"true false": errors, "false false": total - errors}, side)


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Nginx, Apache))


class Nginx(Log):
    name, precise_us, slow_us = "nginx", 1000, 100000


class Apache(Log):
    name = "apache2"


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("ab")
    unittest.main()
