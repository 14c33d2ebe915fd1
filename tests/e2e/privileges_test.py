#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the capabilities that each mode keeps once a capture runs: those of the table in
docs/security.md, in each thread and each helper process."""

import os
import re
import signal
import subprocess
import unittest

import saker_e2e as e2e

NAMES = {1: "DAC_OVERRIDE", 2: "DAC_READ_SEARCH", 5: "KILL", 6: "SETGID", 7: "SETUID", 19: "SYS_PTRACE",
         34: "SYSLOG", 38: "PERFMON", 39: "BPF", 40: "CHECKPOINT_RESTORE"}
RUNS = {"BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "KILL"}
NAMES_STACKS = {"SYSLOG", "CHECKPOINT_RESTORE", "SETUID", "SETGID"}
OPENS_FILES = {"SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"}
HELPERS = [OPENS_FILES, {"DAC_OVERRIDE"}, set()]
READS_FILES = OPENS_FILES | {"BPF", "PERFMON"}


def status(path):
    return dict(re.findall(r"(?m)^(\w+):\t(.*)$", e2e.read_text(path)))


def capabilities(path):
    """Returns the names of the effective capabilities, and the number of each that no mode should have."""
    bits = int(status(path)["CapEff"], 16)
    return {NAMES.get(i, i) for i in range(64) if bits >> i & 1}


def children(pid):
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            found += e2e.read_text(f"/proc/{pid}/task/{thread}/children").split()
        except OSError:
            pass
    return found


class Privileges(unittest.TestCase):
    def start(self, *args):
        e2e.need_live()
        p = subprocess.Popen([e2e.SAKER, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.send_signal, signal.SIGINT)
        e2e.wait_until(lambda: status(f"/proc/{p.pid}/status")["NoNewPrivs"] == "1", "no new privileges")
        return p.pid

    def check(self, pid, main, threads):
        """The first thread has the capabilities @main, each other thread one of the sets @threads."""
        self.assertEqual(capabilities(f"/proc/{pid}/status"), main)
        for thread in os.listdir(f"/proc/{pid}/task"):
            if thread != str(pid):
                self.assertIn(capabilities(f"/proc/{pid}/task/{thread}/status"), threads)

    def test_lines(self):
        self.check(self.start("-q"), RUNS, [{"DAC_OVERRIDE"}])

    def test_pieces_are_created_later(self):
        folder = e2e.own_dir(self)
        self.check(self.start("-C", "10", "-w", os.path.join(folder, "x.scap")), RUNS | {"DAC_OVERRIDE"},
                   [{"DAC_OVERRIDE"}])

    def test_exporter(self):
        self.check(self.start("exporter", "--listen", "127.0.0.1:0"), RUNS, [{"DAC_OVERRIDE"}, RUNS, set()])

    def test_profile(self):
        pid = self.start("profile", "-o", os.path.join(e2e.own_dir(self), "x.svg"))
        self.check(pid, RUNS | NAMES_STACKS, [{"DAC_OVERRIDE"}, READS_FILES])
        for child in children(pid):
            # A helper drops them just after its fork.
            e2e.wait_until(lambda path=f"/proc/{child}/status": capabilities(path) in HELPERS, f"few of {child}")
            if status(f"/proc/{child}/status")["Name"] == "saker-lines":
                e2e.wait_until(lambda path=f"/proc/{child}/status": status(path)["Seccomp"] == "2", "a filter of calls")
                self.assertEqual(capabilities(f"/proc/{child}/status"), set())


if __name__ == "__main__":
    unittest.main()
