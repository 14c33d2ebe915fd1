#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of CPython in sampled stacks: functions, lines and order are those that Python
itself has, for each version here."""

import glob
import os
import subprocess
import unittest

import runtimes
import saker_e2e as e2e
from interp_stacks import Stacks

WAITS = "clock_nanosleep, select, nanosleep, pselect6" # calls of time.sleep


def pythons():
    """Pairs of version and program: Debian's, and those of pyenv."""
    found = {}
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))) + ["/usr/bin/python3"]:
        if os.access(path, os.X_OK):
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            version = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
            found.setdefault(version + (" static" if path.startswith("/usr") else ""), path)
    return found


class Python(Stacks):
    def check(self, python, seed, root=""):
        expected = self.run_program(python, "stacks.py", seed, root=root)
        got = self.sampled(WAITS)
        self.check_order(got, expected)
        self.check_tops(len(got), r"stacks\.py")

    def test_versions(self):
        for i, (version, python) in enumerate(pythons().items()):
            with self.subTest(version=version):
                self.check(python, i + 1)

    def test_later(self):
        """Another release of Debian has another compiler, and in 3.14 a loop of tail calls."""
        for suite, python in ("trixie", "python3.13"), ("sid", "python3.14"):
            with self.subTest(python=python):
                self.check("/usr/bin/" + python, 1, runtimes.root(suite, python))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
