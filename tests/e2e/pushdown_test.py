#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that pushdown changes what is recorded, never what is shown: nested captures with a filter
each watch a program whose threads change their names; the innermost records everything, and each
filter applied to its file gives the expected lines."""

import os
import shutil
import subprocess
import time
import unittest

import saker_e2e as e2e

FORMAT = "*%thread.tid %evt.dir %evt.type %proc.name %thread.name %fd.name %evt.info"

NESTED = 8 # captures, one in the other

# PID is filled in.
FILTERS = [
    "thread.name=pdone",
    "proc.name=prog and thread.name!=prog",
    "proc.name=pdleader and evt.type in (openat, getppid) and thread.name=pdtwo",
    "thread.name in (pdtwo, pdleader) and evt.type in (openat, getppid, pread64)",
    "proc.name=pdthree and evt.failed=true",
    "proc.name=prog and evt.type=execve or proc.name=exe and evt.type in (getppid, sendto)",
    "proc.pid=PID and evt.type=openat and thread.name!=pdone",
    "proc.name startswith pd and evt.type=recvfrom and fd.l4proto=udp",
    "fd.name contains pd-file and evt.type=pread",
    "evt.type=getppid and proc.fdopencount>3 and proc.name startswith pd",
    "evt.failed=true and proc.name startswith pd",
    "thread.name=pdone and evt.dir=> and evt.type=openat",
    "thread.tid=PID and evt.type in (openat, prctl)",
    "user.uid=0 and proc.name startswith pd and evt.type=getppid",
    "thread.name in (pdtwo, pdend) and evt.type=prctl and evt.dir exists",
    "proc.apid=PID and evt.type in (close, procexit)",
]


class PushdownTest(unittest.TestCase):
    def setUp(self):
        e2e.need_live()
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, True)

    def out(self, i):
        return os.path.join(self.dir, str(i))

    def captures(self, filters):
        """Returns a command line in which each capture runs the next, and the last one a
        command."""
        args = []
        for i, text in enumerate(filters):
            args += [e2e.SAKER, "--all", "-p", FORMAT, "-o", self.out(i), text, "--"]
        # One capture shows all that the kernel recorded.
        args += [e2e.SAKER, "--all", "--no-pushdown", "-p", FORMAT, "-o", self.out("whole"), filters[0], "--"]
        return [*args, e2e.SAKER, "--all", "--ring-size", "32M", "-q", "-w", self.out("scap"), "--"]

    def test_the_same_is_shown(self):
        prog = e2e.compile_program("pushdown", self.dir)
        prog = shutil.move(prog, os.path.join(self.dir, "prog"))
        with open(os.path.join(self.dir, "pd-file"), "w") as f:
            f.write("x")
        go = os.path.join(self.dir, "go")
        over = os.path.join(self.dir, "over")
        os.mkfifo(go)
        os.mkfifo(over)
        for at in range(0, len(FILTERS), NESTED):
            self.check(FILTERS[at:at + NESTED], prog, go, over)

    def check(self, filters, prog, go, over):
        watched = subprocess.Popen(["sh", "-c", f"exec 3<{go}; {prog} {self.dir} <&3; echo over >{over}"])
        self.addCleanup(watched.wait)
        self.addCleanup(watched.kill)
        gate = os.open(go, os.O_WRONLY)
        filters = [text.replace("PID", str(self.child_of(watched.pid))) for text in filters]
        script = f"echo >{go}; cat {over}"
        p = subprocess.run([*self.captures(filters), "sh", "-c", script], capture_output=True, text=True,
                           timeout=e2e.DEADLINE_S)
        os.close(gate)
        self.assertEqual(p.returncode, 0, p.stderr)
        for i, text in enumerate(filters):
            full = self.by_thread(e2e.run(e2e.SAKER, "-r", self.out("scap"), "-p", FORMAT, text))
            self.assertGreater(len(full), 0, text)
            self.assertEqual(self.by_thread(e2e.read_text(self.out(i))), full, text)
            if i == 0:
                self.assertEqual(self.by_thread(e2e.read_text(self.out("whole"))), full, text)

    @staticmethod
    def by_thread(text):
        """Each capture has its own times, so only the order within a thread is compared."""
        return sorted(text.splitlines(), key=lambda line: line.split()[0])

    def child_of(self, parent):
        """Returns the program once it runs: the shell has no other child."""
        path = f"/proc/{parent}/task/{parent}/children"
        until = time.monotonic() + e2e.DEADLINE_S
        while time.monotonic() < until:
            for child in e2e.read_text(path).split():
                if e2e.read_text(f"/proc/{child}/comm").strip() == "prog":
                    return int(child)
            time.sleep(0.01)
        raise AssertionError(f"the program did not begin within {e2e.DEADLINE_S} s")

    def test_less_is_recorded(self):
        """A filter of one event type, and calls of another."""
        e2e.somebody(self)
        for _ in range(5): # clones and execs of other processes are recorded, too, which may be many
            less, full = (e2e.records_delivered("--all", *options, "evt.type=mkdir") for options in ((), ("--no-pushdown",)))
            if less < full / 2:
                break
        self.assertLess(less, full / 2)

    def test_it_is_explained(self):
        out = e2e.run(e2e.SAKER, "--explain-filter", "proc.name in (a, b) and evt.type=mkdir and evt.failed=true")
        for line in ("only syscalls and events of these types", "only threads and processes with the names a, b",
                     "only syscalls that fail"):
            self.assertIn(line, out)
        out = e2e.run(e2e.SAKER, "--explain-filter", "(thread.tid=7 or thread.tid in (8, 9)) and user.uid=65534")
        self.assertIn("only the threads 7, 8, 9\n  only the users 65534\n", out)
        out = e2e.run(e2e.SAKER, "--explain-filter", "evt.deltatime > 1s and proc.name=a")
        self.assertIn("nothing: ", out)

    def test_what_is_demanded(self):
        """Task switches are captured only if something requires them."""
        path = os.path.join(self.dir, "switches")
        e2e.run(e2e.SAKER, "--all", "-o", path, "evt.type=switch", "--", "sleep", "0.1")
        self.assertIn(" switch next=", e2e.read_text(path))


if __name__ == "__main__":
    unittest.main()
