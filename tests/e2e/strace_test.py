#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares saker with strace: both follow the same run of a program, and calls and results must be
equal per thread, in order."""

import os
import re
import shutil
import subprocess
import unittest

import call_table
import saker_e2e as e2e

# The errno values that only a tracer sees.
RESTARTS = {"ERESTARTSYS": -512, "ERESTARTNOINTR": -513, "ERESTARTNOHAND": -514,
            "ERESTART_RESTARTBLOCK": -516}


def errno_of(name):
    import errno
    return RESTARTS.get(name) or -getattr(errno, name)


def printed_name(name):
    """Returns saker's name for strace's name of a call; a call newer than strace is a number."""
    m = re.match(r"syscall_0x([0-9a-f]+)$", name)
    call = call_table.by_nr(int(m[1], 16)) if m else call_table.calls().get(name)
    return call.printed() if call else name


def strace_result(text):
    """'-1 ENOENT (No such...)' -> -2; '0x7f..' and '022' -> int; '?' -> None."""
    m = re.match(r"\? (ERESTART\w+)", text) or re.match(r"-1 (E\w+)", text)
    if m:
        return errno_of(m[1])
    m = re.match(r"-?(?:0x[0-9a-f]+|\d+)", text)
    if not m:
        return None
    return int(m[0], 8) if re.match(r"0\d", m[0]) else int(m[0], 0)


def read_strace(path):
    calls, open_calls = {}, {}
    for line in e2e.read_text(path).splitlines():
        m = re.match(r"(\d+) +(.*)", line)
        tid, rest = int(m[1]), m[2]
        if rest.startswith(("---", "+++")):
            continue
        m = re.match(r"<\.\.\. (\w+) resumed>.*\) += (.*)$", rest) or re.match(
            r"(\w+)\(.*\) += (.*)$", rest)
        if rest.endswith("<unfinished ...>"):
            open_calls[tid] = printed_name(re.match(r"(\w+)\(", rest)[1])
        elif m:
            calls.setdefault(tid, []).append((printed_name(m[1]), strace_result(m[2])))
            open_calls.pop(tid, None)
    for tid, name in open_calls.items():
        calls.setdefault(tid, []).append((name, None))
    return calls


def read_saker(text):
    calls = {}
    for line in e2e.lines(text):
        if line.type in ("procexit", "signaldeliver"):
            continue
        if line.dir == "<":
            result = line.result()
        elif line.type in ("exit", "exit_group"):
            result = None
        else:
            continue
        calls.setdefault(line.tid, []).append((line.type, result))
    return calls


def signed(call):
    name, result = call
    return name, result - (1 << 64) if result is not None and result >= 1 << 63 else result


class Judge:
    """Runs strace; for tests with self.dir."""

    def compare(self, program, *args, status=0):
        trace, capture = os.path.join(self.dir, "strace"), os.path.join(self.dir, "c.scap")
        e2e.run(e2e.SAKER, "-w", capture, "--", "strace", "-f", "-o", trace, program, *args,
                status=status)
        theirs = read_strace(trace)
        ours = read_saker(e2e.run(e2e.SAKER, "-r", capture))
        self.assertTrue(theirs)
        for tid, calls in theirs.items():
            got = ours.get(tid, [])
            # strace's first line of a child follows what its fork returned there, and that of the
            # program is the execve; saker also has the earlier calls of the process.
            names = [c[0] for c in calls]
            if calls[0][0] == "execve":
                got = got[[c[0] for c in got].index("execve"):]
            elif got and got[0][0] in ("clone", "clone3", "fork", "vfork"):
                got = got[1:]
            self.assertEqual([signed(c) for c in got], [signed(c) for c in calls],
                             f"thread {tid}: {names[:3]}...")
        return sum(map(len, theirs.values()))


class StraceJudge(Judge, unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def test_spine(self):
        program = e2e.compile_program("spine", self.dir)
        n = self.compare(program, os.path.join(self.dir, "d"), status=3)
        self.assertGreater(n, 110)

    def test_every_call(self):
        program = e2e.compile_program("calls", self.dir)
        work = os.path.join(self.dir, "work")
        os.mkdir(work)
        n = self.compare(program, work)
        self.assertGreater(n, 1000)

    def test_threads(self):
        program = e2e.compile_program("lazy", self.dir)
        self.compare(program, "threads")


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("strace")
    unittest.main()
