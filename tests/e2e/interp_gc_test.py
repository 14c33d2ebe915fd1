#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that garbage collection is a function which the program seems to have called: in the share of samples that the
runtime counts for it, and only of the thread that collects."""

import os
import shutil
import subprocess
import tempfile
import unittest

import interp_python_test
import runtimes
import saker_e2e as e2e
from interp_stacks import HERE
from profile_test import SESSION

STATE = "(garbage collection)"


class Gc(unittest.TestCase):
    def samples(self, *words):
        return e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.lang.top", "evt.type=sample and",
                       *words).splitlines()

    def ns(self, *words):
        return sum(map(int, e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%sample.weight", "evt.type=sample and",
                                    *words).split()))

    def check(self, *command, is_real_time=False):
        """is_real_time: the runtime also counts the time of others, who preempt it."""
        self.capture = os.path.join(e2e.own_dir(self), "capture.scap")
        p = subprocess.run([e2e.SAKER, "profile", "-F", "499", "--off-cpu", "-w", self.capture, "--", *command],
                           check=True, env={**os.environ, **SESSION}, stdout=subprocess.PIPE, text=True)
        in_work = ("" if is_real_time else "sample.reason=cpu and ") + "stack.frames contains work"
        tops = self.samples(in_work)
        self.assertGreater(len(tops), 100)
        share = self.ns(f"{in_work} and stack.frames contains '{STATE}'") / self.ns(in_work)
        self.assertAlmostEqual(share, float(p.stdout.split()[0]), delta=0.2)
        self.assertIn(STATE, tops)
        self.assertTrue(self.samples("sample.reason=cpu and stack.frames contains churn and stack.lang.top contains churn"))

    def check_python(self, program, root=""):
        """Another thread waits: for time, and for the thread that collects."""
        folder = tempfile.mkdtemp(dir=root + "/tmp")
        self.addCleanup(shutil.rmtree, folder)
        script = shutil.copy(os.path.join(HERE, "interp/states.py"), folder)
        self.check(*(["chroot", root] if root else []), program, script.removeprefix(root))
        waits = "stack.frames contains waits and sample.call in (clock_nanosleep, select, pselect6, futex)"
        self.assertTrue(self.samples(waits))
        self.assertFalse(self.samples(f"{waits} and stack.frames contains '{STATE}'"))

    def test_python(self):
        for version, program in interp_python_test.pythons().items():
            if int(version.split()[0][2:]) >= 9:
                with self.subTest(version=version):
                    self.check_python(program)

    def test_later_python(self):
        for suite, python in ("trixie", "python3.13"), ("sid", "python3.14"):
            with self.subTest(python=python):
                self.check_python("/usr/bin/" + python, runtimes.root(suite, python))

    def check_node(self, versions):
        for version in versions:
            with self.subTest(version=version):
                self.check(runtimes.node(version), "--single-threaded", os.path.join(HERE, "interp/states.js"),
                           is_real_time=True)

    def test_node(self):
        self.check_node(runtimes.NODES[:2])

    def test_node_of_debian(self):
        for suite in "bookworm", "trixie":
            with self.subTest(suite=suite):
                root = runtimes.root(suite, "nodejs")
                folder = tempfile.mkdtemp(dir=root + "/tmp")
                self.addCleanup(shutil.rmtree, folder)
                script = shutil.copy(os.path.join(HERE, "interp/states.js"), folder)
                self.check("chroot", root, "/usr/bin/nodejs", "--single-threaded", script.removeprefix(root),
                           is_real_time=True)

    def test_later_node(self):
        self.check_node(runtimes.NODES[2:])


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
