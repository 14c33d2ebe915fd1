#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the decoding of 32-bit calls: a 32-bit program prints what each line must contain, and
strace confirms names and results."""

import os
import shutil
import subprocess
import unittest

import calls_test
import saker_e2e as e2e
import strace_test

# strace's name of a 32-bit call -> that of the event, where they differ.
NAMES = {"_llseek": "llseek", "sendfile64": "sendfile", "fcntl64": "fcntl",
         "fstatat64": "newfstatat", "clock_nanosleep_time64": "clock_nanosleep",
         "ppoll_time64": "ppoll", "ugetrlimit": "getrlimit", "setresuid32": "setresuid",
         "send": "sendto", "recv": "recvfrom"}


def build(out_dir):
    """A 32-bit program that needs no 32-bit library."""
    out = os.path.join(out_dir, "ia32")
    src = os.path.join(e2e.SOURCE, "tests/e2e/ia32/prog.c")
    p = subprocess.run(["gcc", "-m32", "-O1", "-static", "-nostdlib", "-ffreestanding", "-fno-pie",
                        "-no-pie", "-fno-stack-protector", "-fno-omit-frame-pointer",
                        "-o", out, src], capture_output=True, text=True)
    if p.returncode:
        e2e.skip_test(f"gcc makes no 32-bit programs: {p.stderr.splitlines()[:1]}")
    return out


def need_ia32(prog):
    try:
        status = subprocess.run([prog], stdin=subprocess.DEVNULL).returncode
    except OSError as err:
        e2e.skip_test(f"this kernel runs no 32-bit programs: {err}")
    if status != 1: # without a directory it ends at once
        e2e.skip_test(f"this kernel runs no 32-bit programs: status {status}")


class Ia32(strace_test.Judge, unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        self.prog = build(self.dir)
        need_ia32(self.prog)
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)

    def test_each_line_says_what_the_program_says(self):
        path = os.path.join(self.dir, "ia32.scap")
        p = subprocess.run([e2e.SAKER, "-w", path, "--", self.prog, self.work],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 3, p.stderr)
        e2e.run(e2e.SAKER, "-r", path, "--verify")
        lines = e2e.lines(e2e.run(e2e.SAKER, "-r", path))
        tid = next(l.tid for l in lines if l.type == "chdir" and "/work" in l.info)
        exits = [l for l in lines if l.tid == tid and l.dir == "<"]
        said = p.stdout.splitlines()
        self.assertGreater(len(said), 40)
        at = 0
        for text in said:
            at = self.check(exits, at, text)

    def check(self, exits, at, text):
        """Returns the index after the next line for @text."""
        name, _, rest = text.partition(" ")
        of_name = [i for i in range(at, len(exits)) if exits[i].type == name]
        for i in of_name:
            if not calls_test.missing(calls_test.fields(rest), exits[i].info):
                return i + 1
        self.fail(f"no line says {text!r}; the next {name}: "
                  f"{exits[of_name[0]].text if of_name else None}")

    def test_strace_agrees(self):
        e2e.need("strace")
        of_x86_64 = strace_test.printed_name
        strace_test.printed_name = lambda name: NAMES.get(name) or of_x86_64(name)
        self.addCleanup(setattr, strace_test, "printed_name", of_x86_64)
        self.assertGreater(self.compare(self.prog, self.work, status=3), 40)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
