#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests stacks below JIT code without frame pointers whose bytes are recognized: a copy of
CPython's trampoline, and CPython itself if it is recent enough."""

import glob
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e
from profile_test import folded, profile, share

PYTHON = """
import time
def inner():
    end = time.process_time() + 1
    while time.process_time() < end:
        sum(range(1000))
def outer():
    inner()
outer()
"""


def has_trampoline(python):
    version = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 13))"],
                             capture_output=True, text=True)
    return version.stdout.strip() == "True"


def python_with_trampoline():
    root = subprocess.run("pyenv root", shell=True, capture_output=True, text=True).stdout.strip()
    found = [shutil.which(f"python3.{n}") for n in (13, 14)]
    found += glob.glob(os.path.join(root or "/nowhere", "versions/3.1[34]*/bin/python3"))
    return next((p for p in found if p and has_trampoline(p)), None)


class JitUnwind(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)

    def stacks(self, *command, options=()):
        out = os.path.join(self.dir, "out.folded")
        profile("-F", "999", *options, "-o", out, "--", *command)
        return folded(e2e.read_text(out))

    def test_trampoline(self):
        prog = os.path.join(self.dir, "prog")
        subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-o", prog,
                        os.path.join(e2e.SOURCE, "tests/e2e/jit_unwind/prog.c")], check=True)
        stacks = self.stacks(prog)
        self.assertGreater(share(stacks, r"_start;.*main;runs;[^;]+;evaluates"), 0.9, stacks)

    def test_python(self):
        python = python_with_trampoline()
        if not python:
            e2e.skip_test("there is no CPython 3.13 or later")
        stacks = self.stacks(python, "-X", "perf_jit", "-c", PYTHON, options=["--interpreter-frames"])
        self.assertLess(share(stacks, r"^\[truncated"), 0.1, list(stacks)[:5])
        self.assertGreater(share(stacks, r"(?:_PyEval_EvalFrameDefault[^;]*;.*){2}"), 0.8)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main(defaultTest="JitUnwind")
