#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures a case of tests/e2e/calls for each system call, and checks that the lines contain what
the case prints."""

import collections
import os
import re
import shutil
import subprocess
import unittest

import call_table
import saker_e2e as e2e

# How many calls must be covered; cases that are skipped here are not.
COVERED_MIN = 330

Said = collections.namedtuple("Said", "tid dir name want")


class Case:
    def __init__(self, name, tid, status):
        self.name, self.tid, self.status, self.said = name, int(tid), status, []


def fields(text):
    """[(name, value)] of "name=value name=value", values with spaces included."""
    return re.findall(r"(\w+)=(.*?)(?= \w+=|$)", text)


def read_said(path):
    """Returns the cases from the output of prog.c."""
    cases = []
    for line in e2e.read_text(path).splitlines():
        m = re.match(r"= (\w+) (\d+) (.*)", line)
        if m:
            cases.append(Case(m[1], m[2], m[3].strip()))
            continue
        tid, direction, name, rest = re.match(r"(\d+) (> )?(\w+) ?(.*)", line).groups()
        cases[-1].said.append(Said(int(tid), (direction or "<").strip(), name, fields(rest)))
    return cases


def says(said, printed):
    """Returns whether saker's printed value equals the expected one; it may add an explanation:
    3(<f>/a), -2(ENOENT), a(/dir/a)."""
    return printed is not None and (
        printed.strip() == said.strip() or printed.startswith(said + "("))


def missing(want, info):
    have = {}
    for name, value in fields(info):
        have.setdefault(name, value)
    return [(n, v, have.get(n)) for n, v in want
            if not (says(v, have.get(n)) or
                    (n == "tuple" and v.lstrip("-") in (have.get(n) or "")))]


def check(case, lines_by_tid):
    """Returns the differences of a case: [(name, [(parameter, expected, printed)])]."""
    wrong, at = [], {}
    # Each case runs in its own directory.
    lines = lines_by_tid.get(case.tid, [])
    at[case.tid] = 1 + next((i for i, l in enumerate(lines) if l.type == "chdir"), len(lines))
    for said in case.said:
        lines = lines_by_tid.get(said.tid, [])
        best = None
        for i in range(at.get(said.tid, 0), len(lines)):
            if (lines[i].type, lines[i].dir) != (said.name, said.dir):
                continue
            lacks = missing(said.want, lines[i].info)
            if best is None or len(lacks) < len(best[1]):
                best = (i, lacks)
            if not lacks:
                break
        if best is None:
            wrong.append((said.name, "no such line left"))
            continue
        at[said.tid] = best[0] + 1
        if best[1]:
            wrong.append((said.name, best[1], lines[best[0]].info))
    return wrong


class Calls(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)

    def capture(self):
        prog = e2e.compile_program("calls", self.dir)
        work = os.path.join(self.dir, "work")
        said = os.path.join(self.dir, "said")
        os.mkdir(work)
        seen = subprocess.run([e2e.SAKER, "--", "sh", "-c", f"exec {prog} {work} >{said}"],
                              env={**os.environ, "TZ": "UTC"}, stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                              check=False)
        self.assertEqual(seen.returncode, 0, seen.stderr[-2000:])
        lines = {}
        for line in e2e.lines(seen.stderr):
            lines.setdefault(line.tid, []).append(line)
        return read_said(said), lines

    def test_each_line_says_what_the_case_says(self):
        cases, lines = self.capture()
        self.assertEqual(sorted(c.name for c in cases),
                         sorted(name for _, name in call_table.cases()))
        wrong, covered = [], []
        for case in cases:
            if case.status.startswith("skip"):
                print(f"not made here: {case.name}: {case.status[5:]}")
                continue
            if case.status != "ok":
                wrong.append((case.name, case.status))
                continue
            lacks = check(case, lines)
            if not any(s.name == call_table.calls()[case.name].printed() for s in case.said):
                lacks.append("says nothing of its call")
            if lacks:
                wrong.append((case.name, lacks))
            else:
                covered.append(case.name)
        print(f"{len(covered)} calls covered, {len(cases) - len(covered)} not")
        self.assertEqual(wrong, [], "\n" + "\n".join(map(str, wrong)))
        self.assertGreaterEqual(len(covered), COVERED_MIN)


class Table(unittest.TestCase):
    def test_generic_calls_have_a_reason(self):
        for call in call_table.calls().values():
            if call.reason:
                self.assertEqual(call.event, call_table.GENERIC,
                                 f"{call.name} has an event: take it out of generic.def")

    def test_a_call_has_one_case(self):
        names = [name for _, name in call_table.cases()]
        self.assertEqual(sorted(set(names)), sorted(names))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
