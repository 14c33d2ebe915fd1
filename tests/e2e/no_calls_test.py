#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a capture of samples alone hooks no system call, and that threads that start, exec and
end meanwhile are known all the same. Fields that need system calls bring the hooks back."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import saker_e2e as e2e

SESSION = {"SAKER_SAMPLER_SESSION": f"no-calls-{os.getpid()}"}
FIELDS = "thread.tid sample.comm thread.name proc.exepath proc.args proc.pname proc.ppid"
FORMAT = "*" + " ".join("%" + f for f in FIELDS.split())
OTHER_NAMES = ("again", "executed", "by_thread", "vforked")
CALLS = {"sys_enter", "sys_exit"}

# The capture runs this program, which prints the names of the BPF programs: they are attached by
# then.
PROGRAMS = """
import json, os, subprocess, sys
ids = set()
capture = f"/proc/{os.getppid()}/fdinfo"
for fd in os.listdir(capture):
    try:
        with open(os.path.join(capture, fd)) as f:
            ids |= {line.split()[1] for line in f if line.startswith("prog_id:")}
    except FileNotFoundError:
        pass # a file that it had open for a moment
names = [json.loads(subprocess.check_output([sys.argv[1], "-j", "prog", "show", "id", i]))["name"]
         for i in ids]
with open(sys.argv[2], "w") as f:
    json.dump(names, f)
"""

def saker(*args, **kwargs):
    p = subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, *args], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, env={**os.environ, **SESSION}, **kwargs)
    if p.returncode:
        raise AssertionError(f"saker {' '.join(args)}: {p.returncode}\n{p.stdout}\n{p.stderr}")
    return p


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)


class Hooks(Folder):
    def programs(self, *args):
        out = self.path("programs")
        saker(*args, "--", sys.executable, "-c", PROGRAMS, shutil.which("bpftool"), out)
        with open(out) as f:
            return set(json.load(f))

    def setUp(self):
        super().setUp()
        e2e.need("bpftool")

    def test_samples_alone(self):
        names = self.programs("profile", "-w", self.path("a.scap"))
        self.assertIn("sample_cpu", names)
        self.assertEqual(names & (CALLS | {"sched_switch"}), set())
        self.assertFalse([n for n in names if n.startswith("fill_")])

    def test_ways_to_sample(self):
        out = self.path("a.svg")
        for args in (("profile", "--off-cpu", "--all", "-o", out),
                     ("profile", "-o", out, "proc.name!=nobody and proc.exepath!=/nowhere"),
                     ("--sample-on", "page_fault", "-p", "%proc.name %stack.text", "evt.type=sample")):
            self.assertEqual(self.programs(*args) & CALLS, set(), args)

    def test_what_calls_tell(self):
        for args in (("profile", "-w", self.path("a.scap"), "proc.pid!=0 and user.uid=0"),
                     ("--sample", "99", "-p", "%proc.cwd", "evt.type=sample"),
                     ("--sample", "99", "evt.type in (sample, openat)"),
                     ("--sample", "99", "-w", self.path("all.scap"))):
            self.assertEqual(self.programs(*args) & CALLS, CALLS, args)


class Names(Folder):
    def setUp(self):
        super().setUp()
        self.prog = e2e.compile_program("no_calls", self.dir)
        for name in OTHER_NAMES:
            os.link(self.prog, self.path(name))

    def check(self, printed, lines):
        samples = {}
        for line in lines:
            s = json.loads(line)
            samples.setdefault(s["thread.tid"], []).append(s)
        for row in printed.splitlines():
            tid, *stages = row.split(";")
            stages = [s.split("|") for s in stages]
            at = 0
            found = samples[int(tid)]
            self.assertNotIn(None, [s["thread.name"] for s in found], row)
            for s in found:
                is_ = [s["thread.name"], os.path.basename(s["proc.exepath"]), s["proc.args"],
                       s["proc.pname"] if stages[at][3] else ""]
                self.assertIn(is_, stages[at:], f"{row}: {s}")
                at = stages.index(is_)
                # During an exec the name is already new, and the program still the old one. The
                # kernel reports a rename just before it makes it.
                self.assertIn(s["sample.comm"], [stage[0] for stage in stages[max(at - 1, 0):at + 2]])
            # A tick each millisecond for at least 60 ms: enough even if most are missed.
            self.assertEqual(at, len(stages) - 1, f"{row}: {found}")
            if stages[-1][3]:
                self.assertEqual(len({s["proc.ppid"] for s in found}), 1)

    def run_prog(self, *args):
        return saker(*args, "--", "./no_calls", ".", cwd=self.dir)

    def test_file(self):
        path = self.path("a.scap")
        printed = self.run_prog("profile", "-F", "999", "-w", path).stdout
        self.check(printed, saker("-r", path, "-j", "-p", FORMAT, "evt.type=sample").stdout.splitlines())
        self.assertIn("sound", saker("-r", path, "--verify").stdout)

    def test_live(self):
        p = self.run_prog("--sample", "999", "-j", "-p", FORMAT, "evt.type=sample")
        self.check(p.stdout, [line for line in p.stderr.splitlines() if line.startswith("{")])

    def test_chosen_by_name(self):
        """The kernel applies the filter, as threads change their names."""
        path = self.path("a.scap")
        printed = self.run_prog("profile", "-F", "999", "-w", path, "thread.name in (executed, worker)").stdout
        found = set(saker("-r", path, "-p", "%thread.tid;%thread.name", "evt.type=sample").stdout.split())
        meant = {row.split(";")[0] + ";" + row.rsplit(";", 1)[1].split("|")[0] for row in printed.splitlines()}
        self.assertEqual(found, {m for m in meant if m.endswith((";executed", ";worker"))})

    def test_a_process_is_all_its_threads(self):
        """A name selects the process, whatever the names of its threads are."""
        path = self.path("a.scap")
        fmt = "%proc.pid;%thread.tid;%proc.name;%thread.name"
        self.run_prog("profile", "-F", "999", "-w", path, "proc.name=no_calls")
        found = {tuple(l.split(";")) for l in saker("-r", path, "-p", fmt, "evt.type=sample").stdout.splitlines()}
        self.assertEqual({process for _, _, process, _ in found}, {"no_calls"})
        self.assertIn("worker", {thread for pid, tid, _, thread in found if pid != tid})
        self.assertNotIn("worker", {thread for pid, tid, _, thread in found if pid == tid})
        # The thread's name stands below the process.
        pid = next(pid for pid, tid, _, thread in found if thread == "worker" and pid != tid)
        self.assertRegex(saker("profile", "-r", path, "-c", "folded").stdout, rf"(?m)^no_calls \({pid}\);worker;")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main(verbosity=2)
