#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the helper processes of saker are no more in a capture than saker itself."""

import os
import shutil
import subprocess
import unittest

import saker_e2e as e2e

WORK = "echo $$ >$0; i=0; while [ $i -lt 4 ]; do i=$((i + 1)); python3 -c 'sum(range(1000000))'; done"


class OwnProcessesTest(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.helpers = 0

    def capture(self, *args):
        """Returns the file and the PID of saker. Until the capture ends, counts the helpers
        in /proc."""
        path = os.path.join(self.dir, "capture.scap")
        self.command = os.path.join(self.dir, "pid")
        p = subprocess.Popen([e2e.SAKER, "-w", path, *args, "--", "sh", "-c", WORK, self.command],
                             stdin=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        while p.poll() is None:
            self.helpers = max(self.helpers, self.count_helpers(p.pid))
            try:
                p.wait(0.01)
            except subprocess.TimeoutExpired:
                pass
        self.assertEqual(p.returncode, 0)
        return path, p.pid

    def count_helpers(self, pid):
        n = 0
        try:
            for tid in os.listdir(f"/proc/{pid}/task"):
                for child in e2e.read_text(f"/proc/{pid}/task/{tid}/children").split():
                    n += e2e.read_text(f"/proc/{child}/comm").startswith("saker-")
        except OSError:
            pass # one of them has ended
        return n

    def lines(self, path, text):
        """Returns (PID, name, event) of the matching events."""
        out = e2e.run(e2e.SAKER, "-r", path, "--enter-events", "-p", "%proc.pid %proc.name %evt.dir %evt.type", text)
        return [tuple(line.split(" ", 2)) for line in out.splitlines()]

    def check(self, path, pid):
        self.assertGreater(self.helpers, 0, "saker started no helper: this test tests nothing")
        self.check_events(path, pid)

    def check_events(self, path, pid):
        children = self.lines(path, f"proc.ppid={pid}")
        # The remaining child is the command, before and after its exec.
        command = e2e.read_text(self.command).strip()
        self.assertEqual([line for line in children if line[0] != command][:20], [])
        self.assertEqual(self.lines(path, f"proc.pid={pid}")[:20], [])

    def test_calls_and_samples(self):
        path, pid = self.capture("--all", "-q", "--sample", "499", "--sample-on", "off_cpu",
                                 "proc.name startswith saker or proc.name=sh")
        self.assertTrue(self.lines(path, f"proc.ppid={pid} and proc.name=sh and evt.type=execve"))
        self.check(path, pid)

    def test_the_keeper_of_an_output_file(self):
        out = os.path.join(self.dir, "out")
        path, pid = self.capture("--all", "-F", "-c", "topfiles_bytes", "-o", out, "evt.type!=futex")
        self.assertTrue(e2e.read_text(out))
        self.assertTrue(self.lines(path, f"proc.ppid={pid} and proc.name=sh and evt.type=execve"))
        self.check_events(path, pid)

    def test_without_calls(self):
        path, pid = self.capture("--all", "-q", "--sample", "499", "evt.type=sample")
        self.check(path, pid)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
