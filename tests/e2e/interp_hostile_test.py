#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the walker of Python frames on a program that looks like Python, whose frames are made to
lead it astray: each walk ends, with native frames up to the root unless the depth is reached."""

import os
import unittest

import saker_e2e as e2e
from profile_test import folded, profile

# A frame of Python stands before the loop that runs it.
LOOP = r"main;run;(\[unknown\];)*_PyEval_EvalFrameDefault"


class HostilePython(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.python = os.path.join(cls.dir, "python3.11")
        e2e.run("gcc", "-O1", "-g", "-pthread", "-rdynamic", "-o", cls.python,
                os.path.join(e2e.SOURCE, "tests/e2e/fake_python/prog.c"))

    def stacks(self, what):
        out = os.path.join(self.dir, what + ".folded")
        profile("-F", "499", "-o", out, "--interpreter-frames", "--", self.python, what)
        found = {stack: n for stack, n in folded(e2e.read_text(out)).items() if "_PyEval_EvalFrameDefault" in stack}
        self.assertGreater(sum(found.values()), 20, "samples of the loop")
        return found

    def test_native_frames_are_complete(self):
        for what in "unmapped", "code", "names", "key":
            with self.subTest(what=what):
                for stack in self.stacks(what):
                    self.assertRegex(stack, LOOP)

    def test_circle_ends_at_the_depth(self):
        stacks = self.stacks("circle")
        cut = sum(n for stack, n in stacks.items() if stack.startswith("[truncated"))
        # The first samples come before the tables of the process.
        self.assertGreater(cut, sum(stacks.values()) // 2, list(stacks)[:3])

    def test_frames_that_change(self):
        for stack in self.stacks("changing"):
            self.assertRegex(stack, r"^\[truncated|" + LOOP)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
