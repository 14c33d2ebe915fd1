#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests user stacks without frame pointers: a program that prints its own call path, to the frame;
and libdw on the same samples."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

SESSION = {"SAKER_SAMPLER_SESSION": f"e2e-unwind-{os.getpid()}"}
FORMAT = "*%sample.comm %stack.user %stack.end %stack.complete %evt.num"
# A closure is named by the function that contains it.
GO_SYSTEM_STACK = re.compile(r"(?P<caller>[^;]+);runtime\.systemstack(?:\.abi0)?;"
                             r"(?P<closure>runtime\.[^;]+?)\.func[\d.]+(?=;|$)")


def saker(*args):
    return subprocess.run([e2e.SAKER, *args], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "TZ": "UTC", **SESSION})


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prog = e2e.compile_program("unwind", cls.dir, "-O2", "-fomit-frame-pointer",
                                       "-fno-optimize-sibling-calls")

    def stacks(self, *args):
        """Returns the stacks of the program since its tables exist."""
        path = os.path.join(self.dir, "unwind.scap")
        p = saker("-w", path, "--sample", "500", *args, "--", self.prog, "1000")
        self.assertEqual(p.returncode, 0, p.stderr)
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", FORMAT, "evt.type=sample")
        found = [json.loads(line) for line in text.splitlines()]
        return [s for s in found if s["sample.comm"] == os.path.basename(self.prog)[:15]
                and s["stack.end"] not in ("new", "no_map", "none")]

    def check_go(self, flags):
        """Functions that Go runs on the system stack stand below the function that called them."""
        found = self.of_go(flags)
        below = [m for s in found for m in GO_SYSTEM_STACK.finditer(s["stack.folded"])]
        self.assertGreater(len(below), 10, (flags, found[:5]))
        self.assertFalse([m[0] for m in below if m["closure"] != m["caller"]], flags)
        # Before the tables exist, the copied piece of the stack has no other stack.
        ends = {s["stack.end"] for s in found if "systemstack" in s["stack.folded"]}
        self.assertLessEqual(ends, {"root", "new", "no_map", "fault"}, flags)

    def of_go(self, flags):
        if not shutil.which("go"):
            e2e.skip_test("there is no go")
        prog = os.path.join(self.dir, "go_stacks")
        env = {**os.environ, "GOCACHE": self.dir + "/cache", "HOME": self.dir, "GO111MODULE": "off"}
        subprocess.run(["go", "build", *flags, "-o", prog,
                        os.path.join(e2e.SOURCE, "tests/e2e/unwind/system_stack.go")], check=True, env=env)
        path = os.path.join(self.dir, "go.scap")
        p = saker("-w", path, "--sample", "1000", "--", prog, "1000")
        self.assertEqual(p.returncode, 0, p.stderr)
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*%stack.end %stack.folded",
                       "evt.type=sample and proc.name=go_stacks")
        return [s for s in map(json.loads, text.splitlines()) if s["stack.folded"]]

    def of_bad(self, prog, how):
        path = os.path.join(self.dir, how + ".scap")
        p = saker("-w", path, "--sample", "500", "--", prog, how, "400")
        self.assertEqual(p.returncode, 0, p.stderr)
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", FORMAT, "evt.type=sample")
        return [s for s in map(json.loads, text.splitlines())
                if s["sample.comm"] == os.path.basename(prog)]


class Unwind(Case):
    def test_path_that_is_known(self):
        stacks = self.stacks()
        self.assertGreater(len(stacks), 100)
        ends = collections.Counter(s["stack.end"] for s in stacks)
        complete = [s for s in stacks if s["stack.complete"]]
        # The program begins and ends elsewhere than in the loop.
        self.assertGreaterEqual(len(complete), 0.99 * len(stacks), ends)

    def test_rules_are_found_again(self):
        p = saker("--sample", "500", "-q", "-v", "--", self.prog, "1000")
        self.assertEqual(p.returncode, 0, p.stderr)
        m = re.search(r"unwind rule lookups +(\d+), ([\d.]+) % not cached", p.stderr)
        self.assertIsNotNone(m, p.stderr)
        self.assertGreater(int(m[1]), 1000, p.stderr)
        self.assertLess(float(m[2]), 50, p.stderr)

    def test_probes(self):
        """Stacks are the same with probes: below functions with a uretprobe, and at an
        instruction with a uprobe."""
        prog = e2e.compile_program("unwind_probe", self.dir, "-O2", "-fomit-frame-pointer",
                                   "-fno-optimize-sibling-calls")
        path = os.path.join(self.dir, "probe.scap")
        p = saker("-w", path, "--sample", "500", "--", prog, "1000")
        if p.returncode == 77:
            e2e.skip_test(p.stderr)
        self.assertEqual(p.returncode, 0, p.stderr)
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p",
                       "*%stack.end %stack.folded", f"evt.type=sample and proc.name={os.path.basename(prog)}")
        found = [json.loads(line) for line in text.splitlines()]
        for name in ("busy", "stepping"):
            below = [s for s in found if name in (s["stack.folded"] or "").split(";")]
            self.assertGreater(len(below), 10, collections.Counter(s["stack.end"] for s in found))
            for s in below:
                if s["stack.end"] in ("new", "no_map"):
                    continue # of before its tables
                self.assertEqual(s["stack.end"], "root", s)
                self.assertIn(";main;outer;middle;middle;middle;" + name, s["stack.folded"])

    def test_bad_stacks(self):
        """Each stack has an end reason, and no cut stack is marked as complete."""
        prog = e2e.compile_program("unwind_bad", self.dir)
        for how, ends in (("rsp", {"bad_sp"}), ("rsp_kernel", {"bad_sp"}),
                          ("rsp_unmapped", {"fault"}), ("rbp", {"bad_fp"}),
                          ("rbp_kernel", {"bad_fp"}), ("circle", {"bad_fp"})):
            found = self.of_bad(prog, how)
            # Nearly all samples are in the loop; their stacks are complete.
            bad = [s for s in found if s["stack.end"] in ends]
            self.assertGreater(len(bad), 10, (how, collections.Counter(s["stack.end"] for s in found)))
            self.assertFalse([s for s in bad if s["stack.complete"]])

    def test_self_test(self):
        p = saker("selftest", "--unwind", "-d", "60", "-F", "500", "-v", "--", self.prog, "1000")
        if "without libdw" in p.stderr:
            e2e.skip_test("built without libdw")
        self.assertEqual(p.returncode, 0, p.stderr)
        judged, same = (int(n) for n in re.search(r"^all +(\d+) +(\d+)", p.stdout, re.M).groups())
        self.assertGreater(judged, 50, p.stdout)
        self.assertEqual(judged, same, p.stdout)
        # Other processes are not recorded, but saker's own child before its exec is the program.
        names = set(re.findall(r"^(\S+) +\d+ +\d+ +[\d.]+ +\d+ ", p.stdout, re.M))
        self.assertLessEqual(names, {"all", "saker", os.path.basename(self.prog)[:15]})

    def test_enough(self):
        p = saker("selftest", "--unwind", "-d", "60", "-n", "5", "-F", "500", "--", self.prog, "60000")
        if "without libdw" in p.stderr:
            e2e.skip_test("built without libdw")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertGreaterEqual(int(re.search(r"^all +(\d+)", p.stdout, re.M).group(1)), 5)

    def test_a_command_that_ignores_sigterm(self):
        """gdb with Python does this while it evaluates expressions."""
        p = saker("selftest", "--unwind", "-d", "60", "-n", "5", "-F", "500", "--", "sh", "-c",
                  "trap '' TERM; while :; do :; done")
        if "without libdw" in p.stderr:
            e2e.skip_test("built without libdw")
        self.assertEqual(p.returncode, 0, p.stderr)

    def test_wrong_self_tests(self):
        for args, says in ((["-d", "x"], "needs a number of seconds"), (["-F", "5000"], "4000"),
                           (["-p", "0"], "--pid"), (["-n", "0"], "needs a whole number"),
                           (["-p", "1,2"], "takes one -p"), (["cat"], "takes no filter"),
                           (["--tree"], "unknown option"),
                           (["-p", "4194304"], "no such process")):
            p = saker("selftest", "--unwind", *args)
            self.assertEqual(p.returncode, 1)
            if "without libdw" not in p.stderr:
                self.assertIn(says, p.stderr)
        p = saker("selftest")
        self.assertEqual((p.returncode, p.stderr),
                         (1, "saker: select a test: saker selftest --unwind\n"))

    def test_go(self):
        self.check_go([])


class Deep(Case):
    def test_less_room_than_tables(self):
        """With more files than fit, the sampled one gets its table once room was made;
        until then its stacks say so. The memory limit holds."""
        path = os.path.join(self.dir, "room.scap")
        script = ("python3 -c 1; perl -e 1; git --version; echo 'int x;' | gcc -x c -c -o /dev/null -; "
                  f"exec {self.prog} 4000")
        p = saker("-w", path, "-v", "--sample", "200", "--unwind-tables", "1M", "--", "sh", "-c", script)
        self.assertEqual(p.returncode, 0, p.stderr)
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*%stack.end %stack.folded",
                       f"evt.type=sample and proc.name={os.path.basename(self.prog)}")
        found = [json.loads(line) for line in text.splitlines()]
        ends = collections.Counter(s["stack.end"] for s in found)
        self.assertLessEqual(set(ends), {"root", "no_table", "new", "no_map", "none", "fault"})
        whole = [s for s in found if s["stack.end"] == "root" and "at_the_bottom" in s["stack.folded"]]
        self.assertGreater(len(whole), 10, (ends, p.stderr))
        for s in whole:
            self.assertIn(";main;", s["stack.folded"])
            self.assertIn(";down" * 21 + ";last;at_the_bottom", s["stack.folded"])
        m = re.search(r"([\d.]+) of ([\d.]+) MiB, built in", p.stderr)
        self.assertLessEqual((float(m[1]), float(m[2])), (1, 1), p.stderr)
        m = re.search(r"(\d+) evicted, (\d+) did not fit: raise --unwind-tables", p.stderr)
        self.assertIsNotNone(m, p.stderr)
        self.assertGreater(int(m[2]), 0)

    def test_bad_files(self):
        """A mapped file that is no ELF file any more, or is damaged, does not affect other
        files."""
        prog = e2e.compile_program("unwind_bad", self.dir)
        for how in ("corrupt", "truncated"):
            found = self.of_bad(prog, how)
            whole = [s for s in found if s["stack.complete"]]
            self.assertGreater(len(whole), 10, (how, collections.Counter(s["stack.end"] for s in found)))

    def test_go(self):
        """A stripped program, at random addresses (PIE)."""
        for flags in (["-ldflags=-s -w"], ["-buildmode=pie"]):
            self.check_go(flags)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
