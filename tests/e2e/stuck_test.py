#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests processes that have waited since before the capture began: each call is shown, with what it
waits for, on the screen and in files. /proc/PID/syscall is the judge."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

FUTEX = """import ctypes
word = ctypes.c_int(7)
ctypes.CDLL(None).syscall(202, ctypes.byref(word), 0, 7, None, None, 0)"""
ACCEPT = """import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); s.accept()"""
# With a backlog of 0 the second connection has no place.
CONNECT = """import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
a = [socket.socket() for _ in range(2)]
for c in a: c.setblocking(False); c.connect_ex(s.getsockname())
socket.socket().connect(s.getsockname())"""
WAIT = """import os, subprocess
subprocess.Popen(["sleep", "1000"]); os.waitpid(-1, 0)"""
POLL = """import select, os
r, w = os.pipe(); p = select.poll(); p.register(r, select.POLLIN); p.poll()"""

# Name, command, number of the call, expected text of its line.
CASES = (
    ("fifo", ["cat", "fifo"], 257, r"openat .*name=fifo\(.*/fifo\)"),
    ("flock", ["flock", "lock", "true"], 73, r"flock fd=3\(<f>.*/lock\) operation=2\(LOCK_EX\)"),
    ("futex", ["python3", "-c", FUTEX], 202, r"futex addr=[0-9A-F]+ op=0\(FUTEX_WAIT\) val=7"),
    ("accept", ["python3", "-c", ACCEPT], 288, r"accept4 flags=\w+ listen_fd=3\(<4\w>.*127\.0\.0\.1:\d+"),
    ("connect", ["python3", "-c", CONNECT], 42, r"connect fd=6\(.*addr=127\.0\.0\.1:\d+"),
    ("wait4", ["python3", "-c", WAIT], 61, r"wait4 pid=-1 "),
    ("poll", ["python3", "-c", POLL], 7, r"poll fds=3:p1 timeout=-1"),
    ("sleep", ["sleep", "1000"], 230, r"clock_nanosleep .*request=1000000000000\(1000s\)"),
)


class Stuck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(cls.end)
        os.mkfifo(os.path.join(cls.dir, "fifo"))
        cls.procs = {}
        cls.holder = cls.start("holder", ["flock", "lock", "sleep", "1000"])
        cls.await_call(cls.holder.pid, 61)
        for name, command, nr, _ in CASES:
            cls.await_call(cls.start(name, command).pid, nr)
        cls.prog = e2e.compile_program("stuck", cls.dir)

    @classmethod
    def end(cls):
        for p in cls.procs.values():
            subprocess.run(["pkill", "-9", "-s", str(p.pid)], check=False)
            p.wait()
        shutil.rmtree(cls.dir)

    @classmethod
    def start(cls, name, command, **how):
        """Starts it in its own session, so that its children end with it."""
        how.setdefault("stdout", subprocess.DEVNULL)
        p = subprocess.Popen(command, cwd=cls.dir, start_new_session=True, **how)
        cls.procs[name] = p
        return p

    @staticmethod
    def await_call(pid, nr):
        end = time.monotonic() + 20
        while not e2e.in_call(pid, nr):
            if time.monotonic() > end:
                raise AssertionError(f"{pid} is not in call {nr}")
            time.sleep(0.01)

    def pids(self, *names):
        return ",".join(str(self.procs[n].pid) for n in names or [c[0] for c in CASES])

    def check(self, text):
        lines = {l.tid: l for l in e2e.lines(text) if l.dir == ">"}
        for name, _, _, says in CASES:
            l = lines.get(self.procs[name].pid)
            self.assertIsNotNone(l, name)
            self.assertRegex(f"{l.type} {l.info}", says)
            self.assertTrue(l.info.endswith(" began_before_capture=1"), l.text)

    @staticmethod
    def each(commands):
        """Returns the output of saker with each of these arguments, run at the same time."""
        commands = list(commands)
        with concurrent.futures.ThreadPoolExecutor(len(commands)) as pool:
            return list(zip(commands, pool.map(lambda args: e2e.run(e2e.SAKER, *args), commands)))

    def test_lines(self):
        self.check(e2e.run(e2e.SAKER, "--pid", self.pids(), "-n", str(len(CASES))))

    def test_lines_without_a_selection(self):
        """All sleeping threads of the machine are shown, each once."""
        text = e2e.run(e2e.SAKER, "-M", "1", "evt.began_before=true")
        self.check(text)
        tids = [l.tid for l in e2e.lines(text)]
        self.assertEqual(len(tids), len(set(tids)))

    def test_other_selections(self):
        pid = self.procs["fifo"].pid
        selections = ["--comm", "cat"], ["--syscalls", "openat"], ["proc.name=cat"]
        for args, text in self.each(["-M", "1", *args] for args in selections):
            self.assertIn(pid, [l.tid for l in e2e.lines(text) if "began_before" in l.info], args)
            self.assertNotIn(self.procs["flock"].pid, [l.tid for l in e2e.lines(text)], args)

    def test_file(self):
        path = os.path.join(self.dir, "c.scap")
        e2e.run(e2e.SAKER, "--pid", self.pids(), "-w", path, "-M", "1")
        self.check(e2e.run(e2e.SAKER, "-r", path))
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
        text = e2e.run("sysdig", "-r", path, "evt.type=flock")
        self.assertRegex(text, r"> flock fd=3\(<f>.*/lock\) operation=2\(LOCK_EX\)")

    def test_chisels(self):
        for (*_, chisel), text in self.each(["--pid", self.pids(), "-M", "1", "-c", chisel]
                                            for chisel in ("offcpu_wait", "bottlenecks")):
            for name, _, _, says in CASES:
                row = next((r for r in text.splitlines()
                            if re.search(rf"\b{self.procs[name].pid}\b", r)), "")
                self.assertIn(says.split()[0], row, (chisel, name))
                if name in ("fifo", "flock"):
                    self.assertIn(os.path.join(self.dir, name.replace("flock", "lock")), row, chisel)
        self.assertIn("before", text)

    def test_the_wait_that_was_seen_last(self):
        """The wait counts up to the end of the capture, although no event followed."""
        pid = str(self.procs["sleep"].pid)
        for words, text in self.each(["-j", "--pid", pid, "-M", "1", "-c", *words]
                                     for words in (["offcpu_wait", "interval=100"], ["bottlenecks"])):
            rows = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([(row["proc.name"], row["evt.type"]) for row in rows], [("sleep", "clock_nanosleep")], words)
            self.assertGreater(rows[0].get("waited") or rows[0]["evt.latency"], 300_000_000, words)

    def test_a_call_that_ends(self):
        """The latency of the call is unknown."""
        pipe = subprocess.PIPE
        cat = self.start("ends", ["cat"], stdin=pipe)
        self.await_call(cat.pid, 0)
        saker = subprocess.Popen([e2e.SAKER, "--pid", str(cat.pid), "-n", "2", "-p",
                                  "*%evt.dir %evt.type %evt.latency %evt.began_before"],
                                 stdout=pipe, text=True)
        self.assertEqual(saker.stdout.readline().split(), [">", "read", "0", "true"])
        cat.stdin.write(b"x")
        cat.stdin.close()
        self.assertEqual(saker.stdout.readline().split(), ["<", "read", "<NA>", "<NA>"])
        saker.stdout.close()
        self.assertEqual(saker.wait(), 0)

    def test_32_bit_call(self):
        e2e.need_ia32_calls()
        p = self.start("ia32", [self.prog], stdin=subprocess.PIPE)
        self.await_call(p.pid, 3)
        text = e2e.run(e2e.SAKER, "--pid", str(p.pid), "-n", "1")
        self.assertRegex(text, r"> read fd=0\(<p>.*\) size=77 began_before_capture=1")
        p.stdin.close()

    def test_a_stopped_process_is_in_no_call(self):
        p = self.start("stopped", ["sleep", "1000"])
        self.await_call(p.pid, 230)
        p.send_signal(19)
        os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertEqual(e2e.run(e2e.SAKER, "--pid", str(p.pid), "-M", "1"), "")


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("sysdig", "flock", "pkill")
    sys.exit(unittest.main())
