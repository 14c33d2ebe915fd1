#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events that are not system calls: page faults, task switches, signals, ends of processes.
The program prints what each line must contain; sysdig must print the same lines of the file."""

import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

TYPES = ("page_fault", "switch", "signaldeliver", "procexit")


class Others(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prog = e2e.compile_program("others", cls.dir)

    def capture(self, *options):
        """Returns the output of the program, and the path of the capture of its run."""
        path = os.path.join(self.dir, "others.scap")
        p = subprocess.run([e2e.SAKER, "-w", path, *options, "--", self.prog],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 5, p.stderr)
        e2e.run(e2e.SAKER, "-r", path, "--verify")
        return [l.split(" ", 2) for l in p.stdout.splitlines()], path

    def read(self, path):
        return [l for l in e2e.lines(e2e.run(e2e.SAKER, "-r", path)) if l.type in TYPES]

    def test_each_line_says_what_the_program_says(self):
        said, path = self.capture("--page-faults", "--switches")
        have = self.read(path)
        self.assertEqual(len(said), 11)
        for tid, kind, *want in said:
            words = want[0].split() if want else []
            found = [l for l in have if l.tid == int(tid) and l.type == kind and
                     all(w in l.info.split() or any(x.startswith(w + "(") for x in l.info.split())
                         for w in words)]
            self.assertTrue(found, f"{tid} {kind} {want}")

    def test_the_drivers_own_faults_are_left_out(self):
        said, path = self.capture("--page-faults")
        me = int(said[0][0])
        at = {addr: [l.text for l in self.read(path) if l.tid == me and l.info.startswith(f"addr={addr} ")]
              for addr in ("10", "20")}
        # One fault is of copying the name by words, one of copying its bytes after that failed.
        self.assertIn(len(at["10"]), (1, 2), at)
        self.assertEqual(len(at["20"]), len(at["10"]), at)

    def test_they_are_there_only_where_asked_for(self):
        _, path = self.capture()
        self.assertEqual({l.type for l in self.read(path)}, {"signaldeliver", "procexit"})

    def test_sysdig_prints_the_same(self):
        e2e.need("sysdig")
        _, path = self.capture("--page-faults", "--switches")
        theirs = e2e.run("sysdig", "-r", path, "evt.type in (page_fault, switch, signaldeliver, procexit)")
        ours, ended = [], set()
        for line in self.read(path):
            text = line.text.rstrip()
            if line.type == "procexit":
                ended.add(line.tid)
            elif line.tid in ended: # sysdig knows nobody any more who is switched away from
                text = re.sub(r" [^ ]+ (\(\d+\) > switch )", r" <NA> \1", text)
            ours.append(text)
        self.assertEqual(ours, [l.rstrip() for l in theirs.splitlines() if l])


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
