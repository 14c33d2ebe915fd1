#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that one record per call is enough: each way in which an exit finds its enter, or has
none."""

import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e


class LazyEnter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.prog = e2e.compile_program("lazy", cls.dir)

    def capture(self, case, *options):
        """Returns every line of the program's run, with enter events."""
        path = os.path.join(self.dir, f"{case}.scap")
        e2e.run(e2e.SAKER, "-w", path, "--", self.prog, case)
        e2e.run(e2e.SAKER, "-r", path, "--verify")
        return e2e.lines(e2e.run(e2e.SAKER, "-r", path, "--enter-events", *options))

    def pairs(self, lines, name):
        """Returns (enter or None, exit or None) of each call of this name, in order, by thread."""
        pairs, open_by_tid = [], {}
        for line in lines:
            if line.type != name:
                continue
            if line.dir == ">":
                self.assertNotIn(line.tid, open_by_tid, "an enter inside an open call")
                open_by_tid[line.tid] = line
            else:
                pairs.append((open_by_tid.pop(line.tid, None), line))
        return pairs + [(line, None) for line in open_by_tid.values()]

    def test_every_call_is_two_events_with_numbers_in_order(self):
        lines = self.capture("threads")
        self.assertEqual(len(self.pairs(lines, "getppid")), 200)
        for enter, leave in self.pairs(lines, "getppid") + self.pairs(lines, "sched_yield"):
            self.assertIsNotNone(enter, leave.text)
            self.assertLess(enter.num, leave.num)
            self.assertLessEqual(enter.time, leave.time)
        times = [line.time for line in lines]
        self.assertEqual(times, sorted(times))

    def test_exec_from_thread(self):
        execs = self.pairs_of_exec(self.capture("exec_from_thread"))
        self.assertEqual(len(execs), 2)
        enter, leave = execs[1]
        self.assertNotEqual(enter.tid, leave.tid, "the thread became the leader")
        self.assertEqual(leave.result(), 0)

    def pairs_of_exec(self, lines):
        enters = [l for l in lines if l.type == "execve" and l.dir == ">"]
        exits = [l for l in lines if l.type == "execve" and l.dir == "<"]
        return list(zip(enters, exits))

    def test_exec_from_thread_latency(self):
        lines = self.capture("exec_from_thread", "-t", "d")
        last = [l for l in lines if l.type == "execve" and l.dir == "<"][-1]
        self.assertGreater(float(last.time), 0, "the exit knows the enter of the other tid")

    def test_seccomp_refusal_has_no_enter(self):
        (enter, leave), = self.pairs(self.capture("seccomp_refusal"), "getppid")
        self.assertIsNone(enter)
        self.assertEqual(leave.result(), -1)

    def test_sigreturn(self):
        for enter, leave in self.pairs(self.capture("restart"), "rt_sigreturn"):
            self.assertIsNotNone(enter)
            self.assertIsNotNone(leave)

    def test_restarted_read(self):
        reads = self.pairs(self.capture("restart"), "read")
        results = [leave.result() for _, leave in reads]
        self.assertEqual(results[-2:], [-512, 1])
        self.assertTrue(all(enter for enter, _ in reads))
        self.assertIn("ERESTARTSYS", reads[-2][1].info)

    def test_restart_block(self):
        lines = self.capture("restart_block")
        results = [leave.result() for _, leave in self.pairs(lines, "nanosleep")]
        self.assertIn(-516, results)
        self.assertEqual([leave.result() for _, leave in self.pairs(lines, "restart_syscall")], [0])

    def test_exit_is_an_enter(self):
        pairs = self.pairs(self.capture("nothing"), "exit_group")
        self.assertEqual([leave for _, leave in pairs], [None])

    def test_blocked_call_is_shown_while_it_blocks(self):
        path = os.path.join(self.dir, "restart.scap")
        e2e.run(e2e.SAKER, "-w", path, "--", self.prog, "restart")
        shown = e2e.lines(e2e.run(e2e.SAKER, "-r", path))
        self.assertTrue([l for l in shown if l.dir == ">" and l.type == "read"])
        self.assertFalse([l for l in shown if l.dir == ">" and l.type == "pipe"])

    def test_clone_child_has_no_enter(self):
        lines = self.capture("restart")
        clones = [l for l in lines if l.type == "clone"]
        self.assertEqual([l.dir for l in clones].count(">"), 1)
        self.assertEqual(sorted(l.result() == 0 for l in clones if l.dir == "<"), [False, True])

    def test_ends_of_clones_lack_nothing(self):
        """Children have not entered the clone whose end they have: only the call in which the command waited has no enter."""
        counts = []
        while len(counts) < 8 and min(counts, default=2) > 1:  # beside others, the kernel does not run some programs
            report = subprocess.run([e2e.SAKER, "-q", "-v", "-w", os.path.join(self.dir, "forks.scap"), "--", "sh", "-c",
                                     "(true); (true); (true)"], check=True, capture_output=True, text=True).stderr
            self.assertIn("records delivered", report)
            n = re.search(r"exits without an enter +(\d+)", report)
            counts.append(int(n[1]) if n else 0)
        self.assertLessEqual(min(counts), 1, counts)

    def test_call_older_than_the_capture(self):
        e2e.somebody(self)
        prog = subprocess.Popen([self.prog, "older"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(prog.communicate)
        prog.stdout.readline()
        path = os.path.join(self.dir, "older.scap")
        saker = subprocess.Popen([e2e.SAKER, "-w", path, "--print", "--unbuffered"],
                                 stdout=subprocess.PIPE)
        saker.stdout.readline()
        prog.stdin.write(b"x")
        prog.stdin.flush()
        prog.wait()
        saker.terminate()
        saker.communicate()
        self.assertEqual(saker.returncode, 0)
        lines = [l for l in e2e.lines(e2e.run(e2e.SAKER, "-r", path, "--enter-events"))
                 if l.tid == prog.pid]
        self.assertEqual((lines[0].dir, lines[0].type), (">", "read"))
        self.assertIn("began_before_capture=1", lines[0].info)
        self.assertEqual((lines[1].dir, lines[1].type, lines[1].result()), ("<", "read", 1))
        self.assertEqual([l.dir for l in lines if l.type == "getppid"], [">", "<"])

    def test_large_numbers_are_no_other_calls(self):
        lines = self.capture("large_numbers")
        self.assertEqual(self.pairs(lines, "read") + self.pairs(lines, "write"), [])
        results = [leave.result() for _, leave in self.pairs(lines, "<unknown>")]
        self.assertEqual(len(results), 3)
        self.assertEqual(results[1:], [-38, -38])

    def test_32_bit_call(self):
        e2e.need_ia32_calls()
        lines = self.capture("ia32")
        self.assertEqual(self.pairs(lines, "writev"), [])
        last = [l for l in lines if l.type == "getpid" and l.dir == "<"]
        self.assertEqual(last[0].result(), last[0].tid)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
