#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call with a layout of its own: tests/e2e/calls/prog.c makes them and says what each
line must contain; the lines of a live capture of it must."""

import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e


def fields(text):
    """[(name, value)] of "name=value name=value", values with spaces included."""
    return re.findall(r"(\w+)=(.*?)(?= \w+=|$)", text)


def says(said, printed):
    """A printed value may explain what was said: 3(<f>/a), -2(ENOENT), a(/dir/a)."""
    return printed is not None and (
        printed.strip() == said.strip() or printed.startswith(said + "("))


def missing(want, info):
    have = {}
    for name, value in fields(info):
        have.setdefault(name, value)
    return [(n, v, have.get(n)) for n, v in want
            if not (says(v, have.get(n)) or
                    (n == "tuple" and v.lstrip("-") in (have.get(n) or "")))]


class Calls(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)

    def test_each_line_says_what_the_program_says(self):
        prog = e2e.compile_program("calls", self.dir)
        work = os.path.join(self.dir, "work")
        said = os.path.join(self.dir, "said")
        os.mkdir(work)
        seen = subprocess.run([e2e.SAKER, "--", "sh", "-c", f"exec {prog} {work} >{said}"],
                              stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        self.assertEqual(seen.returncode, 0, seen.stderr[-2000:])
        expected = e2e.read_text(said).splitlines()
        tid = next(int(l.split("=")[1]) for l in expected if l.startswith("setsid "))
        exits = [l for l in e2e.lines(seen.stderr) if l.tid == tid and l.dir == "<"]
        self.assertGreater(len(expected), 140)
        at = next(i for i, l in enumerate(exits) if l.type == "openat" and " name=a(" in l.info)
        wrong = []
        for text in expected:
            name, _, rest = text.partition(" ")
            at = self.check(exits, at, name, fields(rest), wrong)
        self.assertEqual(wrong, [])

    def check(self, exits, at, name, want, wrong):
        """The place after the line that says @want, or else after the one that comes nearest."""
        best = None
        for i in range(at, min(at + 40, len(exits))):
            if exits[i].type != name:
                continue
            lacks = missing(want, exits[i].info)
            if best is None or len(lacks) < len(best[1]):
                best = (i, lacks)
            if not lacks:
                return i + 1
        wrong.append((name, want if best is None else best[1]))
        return at if best is None else best[0] + 1


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
