#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the shown path is the opened one if a second thread changes it during the call."""

import os
import re
import shutil
import unittest

import saker_e2e as e2e


class Guard(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        self.place = os.path.join(self.dir, "d")
        os.mkdir(self.place)
        prog = e2e.compile_program("guard", self.dir)
        capture = os.path.join(self.dir, "c.scap")
        e2e.run(e2e.SAKER, "-w", capture, "--", prog, self.place)
        self.lines = e2e.lines(e2e.run(e2e.SAKER, "-r", capture))
        self.inos = {name: os.stat(os.path.join(self.place, name)).st_ino
                     for name in os.listdir(self.place)}

    def opens(self):
        """(name of the descriptor, name given, ino, whole line) of each open that succeeded."""
        for l in self.lines:
            m = re.match(r"fd=\d+\(<\w>(.*?)\) .*\bname=(\S+) .* ino=(\d+)", l.info)
            if l.type == "openat" and l.dir == "<" and m:
                yield os.path.basename(m[1]), m[2], int(m[3]), l

    def test_text_of_a_call_that_slept(self):
        found = [(name, l) for name, _, ino, l in self.opens() if ino == self.inos["fifo"]]
        reader = next(l for _, l in found if "O_RDONLY" in l.info)
        self.assertIn(" name=fifo(", reader.info)
        self.assertIn("args_changed=1", reader.info)
        self.assertEqual({name for name, _ in found}, {"fifo"})
        writer = next(l for _, l in found if "O_WRONLY" in l.info)
        self.assertNotIn("args_changed", writer.info)

    def test_a_descriptor_is_what_the_kernel_opened(self):
        raced = [o for o in self.opens() if o[2] in (self.inos["a"], self.inos["b"])]
        self.assertEqual(len(raced), 5000)
        wrong = [l.text for name, _, ino, l in raced if self.inos[name] != ino]
        self.assertEqual(wrong[:3], [])

    def test_what_nobody_changed_is_not_marked(self):
        unlink = next(l for l in self.lines if l.type == "unlink" and l.dir == "<")
        self.assertIn(" path=none(", unlink.info)
        self.assertNotIn("args_changed", unlink.info)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
