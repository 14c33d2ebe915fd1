#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the harness: a program that is not installed skips the test that needs it, or the file that does."""

import os
import subprocess
import sys
import unittest

NEED = 'e2e.need("no-such-program")'
REASON = "skipped: no-such-program is not installed: scripts/setup --tests"
FILE = """
import unittest
import saker_e2e as e2e
class Tests(unittest.TestCase):
    {0}
    def test_last(self): print("runs", flush=True)
{1}
unittest.main()
"""


class Skip(unittest.TestCase):
    def check(self, status, printed, in_class, after=""):
        p = subprocess.run([sys.executable, "-c", FILE.format(in_class, after)], capture_output=True, text=True,
                           cwd=os.path.dirname(os.path.abspath(__file__)), timeout=20)
        self.assertEqual((p.returncode, p.stdout.splitlines()), (status, printed), p.stderr)

    def test_in_test(self):
        self.check(0, [REASON, "runs"], f"def test_first(self): {NEED}")

    def test_in_setup(self):
        self.check(0, [REASON], f"def setUp(self): {NEED}")

    def test_in_setup_of_class(self):
        self.check(77, [REASON], f"setUpClass = lambda: {NEED}")

    def test_in_file(self):
        self.check(77, [REASON], "", NEED)


if __name__ == "__main__":
    unittest.main()
