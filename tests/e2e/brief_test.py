#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles a thousand programs of 20 ms each, none of which has an unwind table when it starts:
samples are complete and have names, and each run of the sampler is accounted for."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

SESSION = {"SAKER_SAMPLER_SESSION": f"brief-{os.getpid()}"}
N = 1000
FIELDS = ("sample.comm", "stack.end", "stack.complete", "stack.folded", "stack.user.depth")
WORK = re.compile(r"_start;.*main;outermost;.*;compare;innermost(;|$)")
IN_MAIN = re.compile(r";main(?!.*;(fork|execl|wait4|exit|_dl_runtime_resolve_\w+)(;|$))")


class Brief(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        prog = os.path.join(cls.dir, "brief")
        subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-o", prog,
                        os.path.join(e2e.SOURCE, "tests/e2e/brief/prog.c")], check=True)
        cls.prog = prog
        cls.capture = os.path.join(cls.dir, "brief.scap")
        p = subprocess.run(["timeout", "-k", "2", "280", e2e.SAKER, "profile", "-v", "-F", "999", "-w",
                            cls.capture, "--", prog, str(N), "2"], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC", **SESSION})
        assert p.returncode == 0, p.stderr
        cls.report = p.stderr
        cls.samples = cls.read("*" + " ".join("%" + f for f in FIELDS),
                               "evt.type=sample and sample.comm=brief")

    @classmethod
    def read(cls, fmt, *filter_words):
        text = e2e.run(e2e.SAKER, "-r", cls.capture, "-j", "-p", fmt, *filter_words)
        return [json.loads(line) for line in text.splitlines()]

    def test_stacks_are_whole(self):
        """Returns whether the stack reaches the root and each frame lies in a known file or
        has a name."""
        broken = collections.Counter(
            (s["stack.end"], s["stack.folded"]) for s in self.samples
            if not s["stack.complete"] or "[unknown]" in s["stack.folded"])
        # 20 ms each are 20 ticks; a virtual machine may miss many.
        self.assertGreater(len(self.samples), 5 * N)
        self.assertLessEqual(sum(broken.values()), 0.01 * len(self.samples),
                             f"{broken.most_common(5)}\n{self.report}")

    def test_names(self):
        """A program that only computes has its own functions in each stack, with qsort's
        between them."""
        # Only in main: execve, the dynamic linker and the exit take as long as the machine likes.
        in_main = [s for s in self.samples if IN_MAIN.search(s["stack.folded"])]
        own = [s for s in in_main if "outermost" in s["stack.folded"]]
        self.assertGreater(len(own), 5 * N)
        self.assertGreater(len(own), 0.8 * len(in_main))
        self.assertGreater(sum(bool(WORK.search(s["stack.folded"])) for s in own), 0.98 * len(own))

    def test_in_other_mounts(self):
        """Each program has ended before its frames are named, and no later process maps its
        file."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            e2e.skip_test("mounts of their own are not allowed")
        where, out = os.path.join(self.dir, "mnt"), os.path.join(self.dir, "mnt.folded")
        os.mkdir(where)
        script = (f"mount -t tmpfs none {where} && cp {self.prog} {where}/inside && "
                  f"for i in $(seq 50); do {where}/inside work; done")
        subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "profile", "-F", "999", "-o", out, "--",
                        "unshare", "-m", "sh", "-c", script], check=True, stdin=subprocess.DEVNULL,
                       capture_output=True, env={**os.environ, **SESSION})
        self.assertFalse(os.path.exists(where + "/inside"))
        lines = [line for line in e2e.read_text(out).splitlines() if line.startswith("inside (")]
        named = [line for line in lines if WORK.search(line.rsplit(" ", 1)[0])]
        self.assertTrue(named, lines[:20])

    def test_account(self):
        count = {name: int(n) for name, n in re.findall(r"^  (\S.*?) +(\d+)$", self.report, re.M)}
        self.assertEqual(count["sampler runs"],
                         sum(count[name] for name in ("stack samples", "samples lost",
                                                      "samples filtered")))
        self.assertEqual(count["samples lost"], 0)
        # The file has no samples of saker's own child before its execve, nor of a process of which
        # only the fork is known.
        in_file = len(self.read("*%evt.type", "evt.type=sample"))
        self.assertLessEqual(in_file, count["stack samples"])
        self.assertGreater(in_file, 0.95 * count["stack samples"])
        # Each run has a line: the sample, or the reason why there is none.
        parts = {what: int(n) for n, what in re.findall(
            r"^ +(\d+) (shown|of other processes|not read)\b", self.report, re.M)}
        self.assertEqual(parts["shown"], in_file)
        self.assertEqual(sum(parts.values()), count["stack samples"])


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("gcc")
    unittest.main()
