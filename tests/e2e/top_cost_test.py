#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that saker top records the calls that its view uses: few for processes and threads, all for other views."""

import re
import subprocess
import unittest

import saker_e2e as e2e
import top_screen_test as screen

CALLS = "import os, time\nwhile True:\n  for _ in range(200): os.getppid()\n  time.sleep(0.01)\n"
MEMORY = ("import sys, time\nsys.stdin.readline()\nb = bytearray(64 << 20)\n"
          "for i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(100)\n")


class Few(screen.Screen):
    def start(self, script):
        e2e.need_live()
        p = subprocess.Popen(["python3", "-I", "-c", script], stdin=subprocess.PIPE)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        self.addCleanup(p.kill)
        return p

    def wait_events(self, t, is_so, what):
        def said(lines):
            n = re.search(r"(\d+) events in (\d+\.\d) s", lines[0])
            return n and float(n[2]) > 0.5 and is_so(int(n[1]))
        t.wait(said, what)

    def test_calls(self):
        p = self.start(CALLS)
        t = self.open(f"proc.pid={p.pid}")
        self.wait_events(t, lambda n: n < 1000, "few events")
        self.assertTrue(any(line.split()[:1] == [str(p.pid)] for line in t.lines()[screen.BODY]), t.text())
        self.show_view(t, "How often each", shows="System Calls, ")
        self.wait_events(t, lambda n: n > 5000, "all of them")
        self.assertIn("getppid", t.text())
        self.show_view(t, "What each process uses", shows="Processes, ")
        self.wait_events(t, lambda n: n < 1000, "few events again, after a while")
        t.press("d", shows="Events: ")
        t.wait_for("getppid")
        t.send("Esc", "q")
        self.assertEqual(t.ended(), 0)

    def test_others_are_busy(self):
        """Events of others, which the filter hides, do not hold the screen up."""
        p = self.start(CALLS)
        self.start("import subprocess\nwhile True: subprocess.run(['true'])\n")
        t = self.open(f"proc.pid={p.pid}")
        self.wait_events(t, lambda n: n < 1000, "few events")
        first = t.lines()[0]
        self.wait_events(t, lambda n: t.lines()[0] != first, "another second")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_memory(self):
        """Memory grows without an event that the view records."""
        p = self.start(MEMORY)
        t = self.open(f"proc.pid={p.pid}")
        t.wait(lambda lines: lines[3].split()[:1] == [str(p.pid)], "the process")
        resident = lambda lines: float(lines[3].split()[lines[2].split().index("RES")].rstrip("M"))
        self.assertLess(resident(t.lines()), 64)
        p.stdin.write(b"\n")
        p.stdin.flush()
        t.wait(lambda lines: resident(lines) >= 64, "64 MiB more")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_bytes(self):
        """Bytes of files are counted as before."""
        p = self.start("import os\nwhile True:\n  with open('/etc/hostname', 'rb', 0) as f: os.pread(f.fileno(), 1, 0)\n")
        t = self.open(f"proc.pid={p.pid}")
        t.wait(lambda lines: lines[3].split()[:1] == [str(p.pid)] and
               lines[3].split()[lines[2].split().index("FILE")][-1] in "KM", "bytes")
        t.send("q")
        self.assertEqual(t.ended(), 0)


if __name__ == "__main__":
    unittest.main()
