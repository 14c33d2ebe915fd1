#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of CPython in sampled stacks: functions, lines and order are those that Python
itself has, for each version here."""

import glob
import json
import os
import subprocess
import unittest

import saker_e2e as e2e
from profile_test import profile

HERE = os.path.dirname(os.path.abspath(__file__))
N = 400


def pythons():
    """Pairs of version and program: Debian's, and those of pyenv."""
    found = {}
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))) + ["/usr/bin/python3"]:
        if os.access(path, os.X_OK):
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            version = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
            found.setdefault(version + (" static" if path.startswith("/usr") else ""), path)
    return found


def short(name):
    return name.rsplit(".", 1)[-1]


def sampled(path, *more):
    """The stacks of samples whose innermost function is nap: pairs of function and line."""
    text = e2e.run(e2e.SAKER, "-r", path, *more, "-p", "%stack.rows.source\\n",
                   "evt.type=sample and sample.state=sleep and "
                   "sample.call in (clock_nanosleep, select, nanosleep, pselect6)")
    res = []
    for stack in text.split("\n\n"):
        rows = [row.split("\t") for row in stack.strip().splitlines()]
        frames = [(short(r[1]), int(r[6] or 0)) for r in rows if r[0] == "s"]
        if frames and frames[0][0] == "nap":
            res.append(frames)
    return res


class Python(unittest.TestCase):
    def check(self, python, seed):
        folder = e2e.own_dir(self)
        expected_path, capture = os.path.join(folder, "stacks"), os.path.join(folder, "capture.scap")
        profile("--off-cpu", "--stack-depth", "1024", "-w", capture, "--",
                python, os.path.join(HERE, "interp/stacks.py"), expected_path, str(N), str(seed))
        with open(expected_path, encoding="utf-8") as f:
            expected = [[(short(name), line) for name, line in json.loads(text)] for text in f]
        got = sampled(capture)
        self.assertEqual(len(expected), N)
        self.assertGreater(len(got), N // 2) # the first ones come before the tables of the process
        rest = iter(expected)
        for stack in got:
            self.assertIn(stack, rest, "no such stack, or not in this order")
        tops = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.lang.top", "stack.lang.top contains nap").splitlines()
        self.assertGreaterEqual(len(tops), len(got))
        for top in tops:
            self.assertRegex(top, r"^nap \(.+/stacks\.py:\d+\)$")

    def test_versions(self):
        for i, (version, python) in enumerate(pythons().items()):
            with self.subTest(version=version):
                self.check(python, i + 1)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
