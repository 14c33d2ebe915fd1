#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests requests of io_uring: a program submits them itself or through the kernel's thread, and
prints what their lines must contain; files that they open and close have the right names
afterwards."""

import os
import shutil
import subprocess
import unittest

import saker_e2e as e2e

NAMES = {"<": "io_uring_complete", ">": "io_uring_submit"}


class IoUring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = os.path.realpath(e2e.temp_dir())
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prog = e2e.compile_program("io_uring", cls.dir)

    def capture(self, *args):
        """Returns the output of the program, and the path of the capture of its run."""
        work = os.path.join(self.dir, "-".join(("work",) + args))
        os.mkdir(work)
        path = work + ".scap"
        p = subprocess.run([e2e.SAKER, "-w", path, "--print", "-o", path + ".lines", "--",
                            self.prog, work, *args], capture_output=True, text=True)
        if p.returncode == 77:
            e2e.skip_test(p.stderr.strip())
        self.assertEqual(p.returncode, 3, p.stderr)
        e2e.run(e2e.SAKER, "-r", path, "--verify")
        return p.stdout.splitlines(), path

    def check(self, said, path):
        lines = e2e.lines(e2e.run(e2e.SAKER, "-r", path))
        self.assertGreater(len(said), 10)
        for text in said:
            first, *words = text.split()
            kind = NAMES.get(first, first)
            found = [l for l in lines if l.type == kind and all(self.says(l, w) for w in words)]
            self.assertTrue(found, "no line says: " + text + "\n" + "\n".join(
                l.text for l in lines if l.type == kind))

    def says(self, line, word):
        if word.startswith("to="):
            return word[3:] in line.info
        return any(x == word or x.startswith(word + "(") for x in line.info.split())

    def test_each_line_says_what_the_program_says(self):
        self.check(*self.capture())

    def test_with_a_thread_of_the_kernel(self):
        self.check(*self.capture("sqpoll"))

    @staticmethod
    def of_the_program(text):
        """Leaves out the thread that the kernel creates for SQPOLL: it has no clone event,
        so its name comes from /proc while it lives."""
        found = e2e.lines(text)
        return [l.text for l in found if l.tid == found[0].tid]

    def test_lines_are_the_same_live_and_read_back(self):
        _, path = self.capture("same") # any second argument is SQPOLL
        live, read = e2e.read_text(path + ".lines"), e2e.run(e2e.SAKER, "-r", path)
        self.assertEqual(self.of_the_program(live), self.of_the_program(read))

    def test_other_tools_pass_over_them(self):
        e2e.need("sysdig")
        work = os.path.join(self.dir, "plain")
        os.mkdir(work)
        path = work + ".scap"
        status = subprocess.run([e2e.SAKER, "-w", path, "--", self.prog, work],
                                capture_output=True).returncode
        if status == 77:
            e2e.skip_test("no io_uring here")
        ours = {l.num: l.type for l in e2e.lines(e2e.run(e2e.SAKER, "-r", path)) if l.num}
        theirs = {l.num: l.type for l in e2e.lines(e2e.run("sysdig", "-r", path))}
        self.assertGreater(len(ours), 40)
        for num, kind in ours.items():
            self.assertIn(num, theirs)
            if kind in ("read", "write", "close", "lseek", "socket"):
                self.assertEqual(theirs[num], kind)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
