#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests paths and buffers that are not in memory at the enter of a call: no line lacks such a text
or shows a wrong one. strace is the judge of the arguments, sysdig of the files."""

import collections
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

TEXT = r"absent-\d+"
NO_USERFAULTFD = 77


def texts(line):
    return sorted(set(re.findall(TEXT, line)))


class Absent(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        self.prog = e2e.compile_program("absent", self.dir)
        self.place = os.path.join(self.dir, "d")
        self.file = os.path.join(self.dir, "c.scap")

    def run_in_place(self, how, *command):
        shutil.rmtree(self.place, ignore_errors=True)
        os.mkdir(self.place)
        p = subprocess.run([*command, self.prog, self.place, how], capture_output=True, text=True,
                           check=False)
        if p.returncode == NO_USERFAULTFD:
            e2e.skip_test("this kernel has no userfaultfd")
        self.assertEqual(p.returncode, 0, p.stderr)

    def judged(self):
        """Returns strace's view: the texts of each call, in the order of the calls."""
        trace = os.path.join(self.dir, "strace")
        self.run_in_place("drop", "strace", "-f", "-v", "-o", trace)
        calls = re.findall(r"^\d+ +(\w+)(\(.*)", e2e.read_text(trace), re.M)
        return [(name, texts(rest)) for name, rest in calls if texts(rest)]

    def capture(self, how, *options):
        self.run_in_place(how, e2e.SAKER, "-w", self.file, *options, "--")
        return e2e.lines(e2e.run(e2e.SAKER, "-r", self.file))

    def check(self, lines, judged):
        # The types of descriptors are not compared, nor the arguments of a program beside its path:
        # the kernel has not read them when the program is missing.
        told = [(l.type, texts(re.sub(r" (exe|args|env|comm|tid|pid|ptid)=.*?(?= \w+=|$)|\(<.>\S*\)",
                                      "", l.info)))
                for l in lines if l.dir == "<" and not l.type.startswith("clone")]
        given = [(name, [t for t in names if t not in ("absent-30", "absent-31")])
                 for name, names in judged]
        self.assertEqual([c for c in told if c[1]], given)
        self.assertGreater(len(given), 50)

    def test_exits(self):
        judged = self.judged()
        for how, *options in (("drop",), ("threads",), ("slow",), ("slow", "--page-faults")):
            with self.subTest(how=how, options=options):
                self.check(self.capture(how, *options), judged)

    def test_enters(self):
        """An enter event that was sent early shows the value of the exit, or that it is
        unknown; then the exit has it, also when enter events are shown."""
        self.capture("slow")
        text = e2e.run(e2e.SAKER, "-r", self.file, "--enter-events")
        known, unknown = collections.Counter(), collections.Counter()
        open_calls = {}
        full = {l.num: l for l in e2e.lines(e2e.run(e2e.SAKER, "-r", self.file))}
        for l in e2e.lines(text):
            if l.dir == ">":
                open_calls[l.tid] = l
                continue
            enter = open_calls.pop(l.tid, None)
            names = texts(full[l.num].info) if l.num in full else []
            if not enter or enter.type != l.type or not names or l.type.startswith("clone"):
                continue
            self.assertLessEqual(set(names), set(texts(enter.info) + texts(l.info)), l.text)
            for name, value in re.findall(r"\b(\w*name|\w*path)=(\S*)", enter.info):
                if value == "<NA>":
                    unknown[l.type] += 1
                else:
                    known[l.type] += 1
                    self.assertTrue(set(texts(value)) & set(names),
                                    f"{name}\n{enter.text}\n{full[l.num].text}")
        self.assertGreater(unknown["open"], 0, text)
        self.assertGreater(unknown["execve"], 0, text)

    def test_others_read_it(self):
        """sysdig takes the names of files and programs from the enter event if it has them."""
        e2e.need("sysdig")
        for how in "drop", "slow":
            self.capture(how)
            text = e2e.run("sysdig", "-r", self.file, "-p",
                           "*%evt.type %evt.dir %evt.rawres|%fd.name|%proc.exepath|%evt.args")
            opened, executed = 0, 0
            for line in text.splitlines():
                head, name, program, info = line.split("|", 3)
                call, direction, res = head.split()
                if direction == "<" and call in ("open", "openat", "creat") and texts(info):
                    opened += 1
                    self.assertEqual(name, os.path.join(self.place, texts(info)[0]), line)
                if direction == "<" and call.startswith("execve") and "exe=absent-30" in info and res == "0":
                    executed += 1
                    self.assertIn(program, ("<NA>", os.path.join(self.place, "absent-32")), line)
            self.assertEqual((opened, executed), (4, 2), text)


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("strace")
    unittest.main()
