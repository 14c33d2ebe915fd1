#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker top beyond its keys: screens that must stay as they are, and what it does to this machine."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

try:
    import terminal
    from top_screen_test import Each, Screen
except ImportError:
    e2e.skip("python3-pyte is not installed: scripts/setup --tests")

GOLDEN = os.path.join(e2e.SOURCE, "tests/captures/top")
GEN_CAPTURE = os.path.join(e2e.BUILD, "tests/gen_capture")
SIZES = ((80, 24), (200, 50))


class Golden(Screen):
    """Screens of a made-up capture: the files below tests/captures/top. SAKER_GOLDEN=write writes them anew."""

    def setUp(self):
        self.path = os.path.join(e2e.own_dir(self), "made.scap")
        e2e.run(GEN_CAPTURE, self.path, "20000")

    def check(self, name, *keys, args=(), shows=None):
        for columns, rows in SIZES:
            with self.subTest(name=name, columns=columns):
                t = self.open("-r", self.path, *args, columns=columns, rows=rows)
                for key in keys:
                    t.send(key)
                if shows:
                    t.wait_for(shows)
                path = os.path.join(GOLDEN, f"{name}-{columns}x{rows}.txt")
                if os.environ.get("SAKER_GOLDEN") == "write":
                    while t.pump(0.5):
                        pass
                    e2e.write_text(path, t.text() + "\n")
                t.wait(lambda _: t.text() + "\n" == e2e.read_text(path), f"the screen of {path}")
                t.send("Esc", "q")

    def test_views(self):
        for view in ("procs", "threads", "files", "syscalls", "directories"):
            self.check(view, args=("-v", view))

    def test_panes(self):
        self.check("help", "?", shows="F1 ? h")
        self.check("legend", "l")
        self.check("columns", ">")
        self.check("times", "T")
        self.check("details", "i", shows="Last events, 12 of ")

    def test_drill_down(self):
        self.check("drill", "Enter", shows="Threads, ")


class OfRow(Screen):
    """What is shown of, and done to, a process of this machine."""

    def setUp(self):
        e2e.need_live()
        self.folder = e2e.own_dir(self)
        name = os.path.join(self.folder, "kept-open")
        code = ("import os, socket, sys, time\ns = socket.create_server(('127.0.0.1', 0))\nf = open(sys.argv[1], 'w')\n"
                "while True:\n  time.sleep(0.05)\n  os.stat('/etc')\n")
        self.child = subprocess.Popen([sys.executable, "-I", "-c", code, name])
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        self.name = name

    def top(self, *args, **size):
        """Opens the screen with the process selected."""
        t = self.open(f"proc.pid={self.child.pid}", *args, **size)
        t.press("/", shows="Search:")
        t.press("python3", "Enter", shows="F1Help")
        self.wait_selected(t, lambda line: line.split()[:1] == [str(self.child.pid)], "the process")
        return t

    def check_questions(self, t, commands):
        """Each key asks before it runs its command on a PID that may be that of another process by now; n cancels it."""
        for key, command in commands.items():
            t.press(key, shows="its PIDs may be those of other")
            t.wait_for(f"{command} {self.child.pid}")
            t.press("n", shows="F1Help")
        self.assertIsNone(self.child.poll())

    def nice(self):
        return os.getpriority(os.PRIO_PROCESS, self.child.pid)

    def test_nice(self):
        t = self.top(columns=200)
        before = self.nice()
        t.press("[", shows=f"Set the nice value of process {self.child.pid} (")
        t.press("n", shows="F1Help")
        self.assertEqual(self.nice(), before)
        t.press("[", shows=f"from {before} to {before + 1}?")
        t.press("y", shows="F1Help")
        e2e.wait_until(lambda: self.nice() == before + 1, "the nice value")
        t.press("]", shows=f"from {before + 1} to {before}?")
        t.press("y", shows="F1Help")
        e2e.wait_until(lambda: self.nice() == before, "the nice value before")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_kill(self):
        t = self.top(columns=200)
        t.press("k", shows=f"Run this command? kill {self.child.pid}")
        t.press("n", shows="F1Help")
        self.assertIsNone(self.child.poll())
        t.press("k", shows="Run this command?")
        t.send("y")
        e2e.wait_until(lambda: self.child.poll() is not None, "the end of the process")
        t.wait(lambda _: not t.restored(), "the modes of the screen")
        t.wait_for("F1Help")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_kill_of_file(self):
        """A PID of a file may be that of another process: the question says so, whatever the action."""
        path = os.path.join(self.folder, "one.scap")
        e2e.run(e2e.SAKER, "-w", path, "-M", "1", f"proc.pid={self.child.pid}")
        t = self.open("--unconfined", "-r", path, f"proc.pid={self.child.pid}", columns=200)
        self.wait_selected(t, lambda line: line.split()[:1] == [str(self.child.pid)], "the process")
        self.check_questions(t, {"k": "kill", "g": "gdb -p", "s": "strace -f -p", "f": "lsof -p"})
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_details(self):
        t = self.top(columns=200, rows=50)
        t.press("i", shows="The selected row")
        for text in ("Open files", self.name, "Connections", "127.0.0.1:", "Last events since this pane was opened, "):
            t.wait_for(text)
        t.wait(lambda lines: re.search(r"< \S*stat", t.text()), "its last call")
        t.wait(lambda lines: re.search("CPU +[\u2581-\u2588]{2,}  .* to .*, \\d+ s", t.text()), "its CPU time as blocks")
        self.assertNotIn("It has ended", t.text())
        self.child.kill()
        t.wait_for("It has ended: this is the last that is known of it.")
        self.assertIn(self.name, t.text())
        t.send("Esc", "q")
        self.assertEqual(t.ended(), 0)

    def test_details_of_many_files(self):
        """The list of files is bounded, and says so."""
        code = "import os, time\nfds = [os.dup(1) for _ in range(1100)]\nwhile True:\n  time.sleep(0.05)\n  os.stat('/etc')\n"
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        self.child.kill()
        self.child.wait()
        self.child = subprocess.Popen([sys.executable, "-I", "-c", code], stdout=subprocess.DEVNULL)
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        e2e.wait_until(lambda: len(os.listdir(f"/proc/{self.child.pid}/fd")) > 1100, "the files")
        t = self.top(columns=200, rows=50)
        t.press("i", shows="The selected row")
        t.wait_for("Open files")
        t.press("/", shows="Search:")
        t.press("more files and", "Enter", shows="and 103 more files and connections")
        t.send("Esc", "q")
        self.assertEqual(t.ended(), 0)

    def test_write(self):
        """One capture serves the screen and the file; another view goes on with it."""
        t = self.top(columns=200)
        path = os.path.join(self.folder, "live.scap")
        t.press("Enter", shows=f"> proc.pid={self.child.pid}")
        t.press("w", shows="Write events to file:")
        t.send("Ctrl-U")
        t.press(path, shows=path)
        t.send("Enter")
        t.wait(lambda lines: re.search(r"writing [1-9]", lines[0]), "events in the file")
        t.send("Backspace")
        for view, title in ("Run Queue", "Run Queue, this machine"), ("What each process uses", "Processes, this machine"):
            self.show_view(t, view, shows=title)
            n = int(t.wait(lambda lines: re.search(r"writing (\d+)", lines[0]), "the file")[1])
            t.wait(lambda lines: int(re.search(r"writing (\d+)", lines[0])[1]) > n + 10, "more events from the next capture")
        t.send("w")
        n = int(t.wait(lambda lines: re.search(rf"{path}: (\d+) events", t.text()), "the end of the file")[1])
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
        pids = e2e.run(e2e.SAKER, "-r", path, "-p", "%proc.pid %proc.name").split("\n")[:-1]
        self.assertEqual({line.split()[0] for line in pids}, {str(self.child.pid)})
        self.assertNotIn("<NA>", "".join(pids))
        self.assertEqual(len(pids), n)
        # What the run queue needs is in the file, too, and is counted.
        self.assertIn("slice\n", e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.type"))

    def test_write_at_quit(self):
        t = self.top(columns=200)
        path = os.path.join(self.folder, "live.scap")
        t.press("w", shows="Write events to file:")
        t.send("Ctrl-U")
        t.press(path, shows=path)
        t.send("Enter")
        t.wait(lambda lines: re.search(r"writing [1-9]", lines[0]), "events in the file")
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))

    def test_earlier(self):
        """Earlier tables are kept while the screen is paused."""
        t = self.top(columns=200)
        time_of = lambda: t.lines()[0].split(", ")[-1][:8]
        first = time_of()
        t.wait(lambda _: time_of() != first, "the next table")
        second = time_of()
        t.wait(lambda _: time_of() != second, "the third table")

        def back_to(time):
            """On a busy machine there may be tables in between that were not seen."""
            while time_of() > time:
                shown = time_of()
                t.send(",")
                t.wait(lambda lines: time_of() < shown and lines[0].endswith("paused"), "an earlier table")
            self.assertEqual(time_of(), time)

        back_to(second)
        t.press("i", shows="The selected row")
        t.send("Esc")
        back_to(first)
        t.press("j", shows="Go to time:")
        t.press(second, shows=f"Go to time: {second}")
        t.send("Enter")
        t.wait(lambda _: time_of() == second, "the second table")
        hour_ago = time.strftime("%H:%M", time.localtime(time.time() - 3600))
        t.press("j", shows="Go to time:")
        t.press(hour_ago, shows=f"Go to time: {hour_ago}")
        t.send("Enter")
        t.wait_for(f"no table of {hour_ago} is kept: this is the oldest")
        t.press("j", shows="Go to time:")
        t.press(second, shows=f"Go to time: {second}")
        t.send("Enter")
        t.wait(lambda _: time_of() == second, "the second table again")
        back_to(first)
        t.send(".")
        t.wait(lambda _: first < time_of() <= second, "the table after it")
        t.send("p")
        t.wait(lambda lines: time_of() > second and "paused" not in lines[0], "the newest table")
        t.press("p", shows="paused")
        t.send("Enter")
        t.wait(lambda lines: lines[0].startswith("Threads, this machine: 1 row") and "paused" not in lines[0], "a level that is not paused")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_actions_on_earlier(self):
        """A PID of an earlier table may be that of another process by now: each command asks first."""
        t = self.top(columns=200)
        time_of = lambda: t.lines()[0].split(", ")[-1][:8]
        first = time_of()
        t.wait(lambda _: time_of() != first, "the next table")
        t.press(",", shows="paused")
        self.check_questions(t, {"k": "kill", "f": "lsof -p"})
        t.send("q")
        self.assertEqual(t.ended(), 0)


class ManyRows(Screen):
    def test_search(self):
        """A list of 100,000 rows is searched."""
        path = os.path.join(e2e.own_dir(self), "many.scap")
        e2e.run(GEN_CAPTURE, path, "200000")
        t = self.open("-r", path, "-v", "events")
        t.wait_for("100000 rows")
        for text, shows in ("no such text", "is in no row"), ("12345", "F1Help"):
            t.press("/", shows="Search:")
            t.press(text, shows=f"Search: {text}")
            t.press("Enter", shows=shows)
        t.send("q")
        self.assertEqual(t.ended(), 0)


class Lost(Screen):
    BURST = """import os, sys
for _ in sys.stdin:
  for _ in range(50000):
    os.getppid()
  print(flush=True)
"""

    def lost(self, t):
        return int(t.wait(lambda lines: re.search(r"(\d+) events lost", lines[0]), "events that were lost")[1])

    def test_former_captures(self):
        """The title counts the events that earlier captures lost, after a view began another one."""
        e2e.need_live()
        child = subprocess.Popen([sys.executable, "-I", "-c", self.BURST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        t = self.open("--ring-size", "256K", "-v", "syscall_procs", columns=120)
        os.kill(t.program.pid, signal.SIGSTOP)
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        os.kill(t.program.pid, signal.SIGCONT)
        n = self.lost(t)
        t.press("S", shows="Stacks")
        self.assertGreaterEqual(self.lost(t), n)
        t.press("Backspace", shows="Syscall Callers")
        self.assertGreaterEqual(self.lost(t), n)
        t.send("q")
        self.assertEqual(t.ended(), 0)


if __name__ == "__main__":
    unittest.main()
