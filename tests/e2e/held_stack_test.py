#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that saker ends although the stack of a waiting thread lies in a file whose server never
answers."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

import saker_e2e as e2e

NO_FUSE = 77
DEADLINE_S = 60


class HeldStack(unittest.TestCase):
    def setUp(self):
        e2e.need_live()
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        prog = e2e.compile_program("held_stack", self.dir, "-D_GNU_SOURCE", "-I",
                                   os.path.join(e2e.SOURCE, "userspace/libscap"))
        self.prog = subprocess.Popen([prog], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_prog)
        if self.prog.stdout.readline() != b"ready\n":
            self.assertEqual(self.prog.wait(), NO_FUSE)
            e2e.skip_test("no FUSE file system can be mounted here")

    def end_prog(self):
        self.prog.stdin.close()
        self.prog.stdout.close()
        self.prog.wait()

    def test_profile_ends(self):
        with tempfile.TemporaryFile("w+", dir=self.dir) as out:
            saker = subprocess.Popen([e2e.SAKER, "profile", "--off-cpu", "-d", "2"], stdout=out, stderr=out,
                                     env={**os.environ, "SAKER_SAMPLER_SESSION": f"held-{os.getpid()}"})
            end = time.monotonic() + DEADLINE_S
            while saker.poll() is None and time.monotonic() < end:
                time.sleep(0.1)
            hung = saker.returncode is None
            self.prog.stdin.close()  # what hangs goes on
            status = saker.wait()
            out.seek(0)
            self.assertFalse(hung, "saker waits for the memory of another process")
            self.assertEqual(status, 0, out.read())


if __name__ == "__main__":
    unittest.main()
