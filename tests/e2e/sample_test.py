#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests samples in captures: a program that reports what it does is sampled, live and from the
file; other tools read the file as if it had no samples; errors are one sentence."""

import json
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

SESSION = {"SAKER_SAMPLER_SESSION": f"e2e-{os.getpid()}"}
FIELDS = ("evt.type proc.pid thread.tid sample.reason sample.weight sample.pid sample.comm sample.call "
          "sample.state sample.waker sample.waker.comm sample.wait sample.addr sample.tracepoint "
          "stack.user stack.user[0] stack.kernel stack.end stack.complete stack.depth "
          "stack.user.depth stack.kernel.depth sample.ip")
FORMAT = "*" + " ".join("%" + f for f in FIELDS.split())


def saker(*args, **kwargs):
    return subprocess.run([e2e.SAKER, *args], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "TZ": "UTC", **SESSION}, **kwargs)


class Sample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prog = e2e.compile_program("sample", cls.dir, "-fno-omit-frame-pointer")
        cls.path = os.path.join(cls.dir, "all.scap")
        for _ in range(3):  # again where the kernel hid who woke it: docs/limits.md
            cls.capture()
            if all(s["sample.waker.comm"] for s in cls.naps()):
                break

    @classmethod
    def capture(cls):
        p = e2e.record("-w", cls.path, "-v", "--sample", "1000", "--sample-on", "off_cpu", "--sample-on",
                       "page_fault", "--sample-on", "sched_process_fork", "--", cls.prog, timeout=120,
                       env={**os.environ, "TZ": "UTC", **SESSION})
        cls.report = p.stderr
        pid, child, addr, pages, depth, nap = p.stdout.split()
        cls.pid, cls.child, cls.pages = int(pid), int(child), int(pages)
        cls.addr, cls.depth, cls.nap = int(addr, 16), int(depth), int(nap)
        cls.samples = cls.read("evt.type=sample")

    @classmethod
    def read(cls, *filter_words):
        text = e2e.run(e2e.SAKER, "-r", cls.path, "-j", "-p", FORMAT, *filter_words)
        return [json.loads(line) for line in text.splitlines()]

    @classmethod
    def of(cls, reason, pid=None):
        return [s for s in cls.samples
                if s["sample.reason"] == reason and s["sample.pid"] == (pid or cls.pid)]

    @classmethod
    def naps(cls):
        return [s for s in cls.of("off_cpu") + cls.of("off_cpu", cls.child)
                if s["sample.call"] in ("nanosleep", "clock_nanosleep") and s["sample.state"] == "sleep"]

    def test_file_is_sound(self):
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", self.path, "--verify"))

    def test_by_the_clock(self):
        found = self.of("cpu")
        # 500 ticks in half a second of CPU time if none is missed: a hypervisor may skip most.
        self.assertGreater(len(found), 50)
        deep = [s for s in found
                if s["stack.user.depth"] > self.depth and
                len(set(s["stack.user"][2:self.depth])) == 1]
        self.assertGreater(len(deep), len(found) / 2)
        for s in found:
            self.assertEqual(s["sample.weight"], 1000000)
            if s["stack.end"] != "none": # its memory is gone, at its end
                self.assertEqual(s["stack.user[0]"], [s["sample.ip"]])
            self.assertEqual(s["stack.depth"], s["stack.user.depth"] + s["stack.kernel.depth"])

    def test_off_the_cpu(self):
        naps = self.naps()
        self.assertEqual(len(naps), 2, (self.report, naps, self.of("off_cpu"), self.of("off_cpu", self.child)))
        for s in naps:
            # Its time begins with the call, its weight when the thread left the CPU.
            self.assertGreaterEqual(s["sample.weight"], self.nap / 2)
            self.assertEqual((s["sample.waker"], s["sample.waker.comm"]), (0, "interrupt"))
        # It waits unless its child has already ended.
        for s in self.of("off_cpu"):
            if s["sample.call"] == "wait4" and s["sample.waker"]:
                self.assertEqual(s["sample.waker"], self.child)

    def test_page_faults(self):
        addrs = [s["sample.addr"] for s in self.of("page_fault")]
        mine = [a for a in addrs if self.addr <= a < self.addr + 4096 * self.pages]
        self.assertEqual(len(mine), self.pages)

    def test_tracepoint(self):
        forks = [s for s in self.of("tracepoint")]
        self.assertEqual([s["sample.tracepoint"] for s in forks], ["sched_process_fork"])

    def test_filters(self):
        some = self.read("evt.type=sample and sample.reason=cpu and sample.pid=%d" % self.pid)
        self.assertEqual(len(some), len(self.of("cpu")))
        at = next(s for s in self.of("cpu") if s["stack.user.depth"] > 1)
        found = self.read("stack.user in (%d)" % at["stack.user"][1])
        self.assertIn(at, found)
        self.assertFalse(self.read("evt.type=sample and sample.pid=1"))
        # The filtered file has the matching events.
        part = os.path.join(self.dir, "part.scap")
        e2e.run(e2e.SAKER, "-r", self.path, "-w", part, "sample.reason=tracepoint")
        out = e2e.run(e2e.SAKER, "-r", part, "-p", "%evt.type")
        self.assertEqual(out.splitlines(), ["sample"])

    def test_account(self):
        """Each run of a program that samples is one sample, lost, or left out, as told by -v."""
        def said(name):
            return [int(line.split(name)[1].split()[0]) for line in self.report.splitlines()
                    if name in line][0]

        self.assertEqual(said("samples lost"), 0)
        self.assertGreaterEqual(said("stack samples"), len(self.samples))
        self.assertIn("samples filtered", self.report)

    def test_other_tools_pass_over_samples(self):
        for tool, args in (("sysdig", ["-r", self.path]), ("tshark", ["-r", self.path])):
            if not shutil.which(tool):
                continue
            p = subprocess.run([tool, *args], capture_output=True, text=True,
                               errors="surrogateescape", env={**os.environ, "TZ": "UTC"})
            self.assertEqual(p.returncode, 0, p.stderr)
            lines = p.stdout.splitlines()
            self.assertGreater(len(lines), 10)
            self.assertFalse([l for l in lines if re.search("[<>] (sample|map)", l)])


class Calls(unittest.TestCase):
    """Each event of a call has the stack of its call: of a program that opens a file in two functions,
    and notes their lines."""

    PROGRAM = """import os, sys, time
def here():
    return sys._getframe(1).f_lineno
def first(path):
    os.close(os.open(path, 0)); return here()
def second(path):
    os.close(os.open(path, 0)); return here()
def warm_up(path):
    os.close(os.open(path, 0))
path, start, out = sys.argv[1:]
while not os.path.exists(start):
    warm_up(path)
    time.sleep(0.01)
with open(out, "w") as f:
    for i in range(100):
        function = first if i % 3 else second
        print(function.__name__, function(path), file=f)
"""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        at = lambda name: os.path.join(cls.dir, name)
        script, cls.file, start, out = at("calls.py"), at("opened"), at("start"), at("out")
        cls.all, cls.filtered, lines = at("all.scap"), at("filtered.scap"), at("lines")
        e2e.write_text(script, cls.PROGRAM)
        e2e.write_text(cls.file, "")
        cls.filter = f"evt.type=openat and fd.name={cls.file}"
        command = [e2e.SAKER, "--sample-on", "syscall", "-w", cls.all, "--", "/usr/bin/python3", script, cls.file,
                   start, out]
        with subprocess.Popen(command, env={**os.environ, **SESSION}) as p:
            def has_frames(): # the tables of Python's files are there
                return "warm_up" in saker("-r", cls.all, "-p", "%stack.lang.top", cls.filter).stdout
            try:
                e2e.wait_until(lambda: p.poll() is not None or (os.path.exists(cls.all) and has_frames()),
                               "a stack of warm_up")
            finally:
                e2e.write_text(start, "")
            assert p.wait() == 0
        cls.made = [f"{name} ({script}:{line})" for name, line in map(str.split, e2e.read_text(out).splitlines())]

    def tops(self, path, *words):
        return e2e.run(e2e.SAKER, "-r", path, "-p", "*%stack.lang.top", *words).splitlines()

    def test_lines(self):
        tops = self.tops(self.all, self.filter)
        self.assertEqual(len(self.made), 100)
        self.assertEqual([top for top in tops if "warm_up" not in top][-100:], self.made)

    def test_filtered_file(self):
        """A file with a filter has the samples of its calls, and no others."""
        e2e.run(e2e.SAKER, "-r", self.all, "-w", self.filtered, self.filter)
        self.assertEqual(self.tops(self.filtered, self.filter), self.tops(self.all, self.filter))
        n = len(self.tops(self.filtered, self.filter))
        self.assertEqual(len(self.tops(self.filtered, "evt.type=sample")), n)
        e2e.run(e2e.SAKER, "-r", self.all, "-w", self.filtered, f"({self.filter}) or evt.type=sample")
        self.assertEqual(len(self.tops(self.filtered, "evt.type=sample")), len(self.tops(self.all, "evt.type=sample")))

    def test_every_call(self):
        """Each exit event follows a sample; saker prints samples only if the filter names their type."""
        rows = [line.split() for line in e2e.run(
            e2e.SAKER, "-r", self.all, "-p", "*%thread.tid %evt.type %evt.dir %stack.depth", "evt.num>0 or evt.type=sample"
        ).splitlines()]
        last, lacks, n = {}, [], 0
        for tid, name, direction, depth in rows:
            if direction == "<":
                n += 1
                if last.get(tid) != "sample" or depth == "<NA>":
                    lacks.append(name)
            last[tid] = name
        self.assertGreater(n, 300)
        self.assertEqual(lacks, [])
        self.assertNotIn(" sample ", e2e.run(e2e.SAKER, "-r", self.all))

    def test_none(self):
        p = saker("-r", self.all, "-p", "%stack.lang.top", "evt.type=openat and stack.lang.top contains no_function")
        self.assertEqual((p.returncode, p.stdout), (0, ""))


class Dying(unittest.TestCase):
    """A process that the kernel is ending is sampled, and the time counts as its own."""

    def test_time_after_the_end(self):
        tmp = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, tmp)
        prog = e2e.compile_program("dying", tmp)
        path = os.path.join(tmp, "dying.scap")
        p = saker("--sample", "999", "-w", path, "--", prog)
        self.assertEqual(p.returncode, 0, p.stderr)
        fmt = "*%evt.type %thread.tid %proc.pid %proc.name %sample.pid %sample.comm %proc.pname"
        out = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", fmt, "evt.type in (procexit, sample)")
        events = [json.loads(line) for line in out.splitlines()]
        # The process that waits for the others ends last, and is a child of the capture.
        first = [e["thread.tid"] for e in events if e["evt.type"] == "procexit"][-1]
        ended, late = set(), 0
        for e in events:
            if e["evt.type"] == "procexit":
                ended.add(e["thread.tid"])
            elif e["thread.tid"] in ended:
                late += 1
                self.assertEqual(e["proc.name"], e["sample.comm"])
                self.assertEqual(e["proc.pid"], e["sample.pid"])
                if e["thread.tid"] != first:
                    self.assertEqual(e["proc.pname"], os.path.basename(prog))
        # A tick each millisecond, of which a virtual machine misses some; each end takes many.
        self.assertGreater(late, len(ended) / 2)


class Wrong(unittest.TestCase):
    def says(self, text, *args):
        p = saker(*args)
        self.assertNotEqual(p.returncode, 0)
        self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        self.assertIn(text, p.stderr)

    def test_rates(self):
        for hz in ("0", "5000", "-1", "many", "1.5", ""):
            self.says("--sample is from 1 to 4000 samples a second", "--sample", hz)

    def test_depths(self):
        for depth in ("0", "1025"):
            self.says("--stack-depth is from 1 to 1024", "--sample", "9", "--stack-depth", depth)

    def test_what_does_not_go_together(self):
        self.says("need --sample", "--stack-depth", "10")
        for sz in ("0", "512K", "2G", "x", "1MB", ""):
            self.says("--unwind-tables is from 1M to 1G", "--sample", "9", "--unwind-tables", sz)
        self.says("need --sample", "--unwind-tables", "8M")
        self.says("--off-cpu-min needs", "--sample", "9", "--off-cpu-min", "1")
        self.says("apply to a live capture, not to -r", "-r", "x.scap", "--sample", "9")
        self.says("needs --probabilistic-threshold", "--sample", "9",
                  "--probabilistic-interval", "5")

    def test_processes_and_tracepoints_that_are_not(self):
        self.says("no_such_thing", "--sample-on", "no_such_thing", "-M", "1")
        self.says("2000000", "--sample", "9", "--pid", "2000000", "-M", "1")

    def test_a_second_one(self):
        first = subprocess.Popen([e2e.SAKER, "--sample", "9", "-o", os.devnull, "--unbuffered",
                                  "--", "sh", "-c", "echo begun; read x"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True, env={**os.environ, **SESSION})
        self.addCleanup(first.stdout.close)
        self.assertEqual(first.stdout.readline(), "begun\n")
        self.says(f"process {first.pid} already samples stacks", "--sample", "9", "-M", "1")
        first.communicate("")
        self.assertEqual(saker("--sample", "9", "-q", "--", "true").returncode, 0)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
