#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the screen of saker top in a terminal: every key does what its help says, the terminal is
restored however saker ends, and no name moves a column."""

import csv
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

try:
    import terminal
except ImportError:
    e2e.skip("python3-pyte is not installed: scripts/setup --tests")

BODY = slice(3, -1)  # lines of rows; above: title, path, header; below: the bar


def keys():
    """Returns {name: (keys, help)} of --list-keys."""
    rows = (line.split("\t") for line in e2e.run(e2e.SAKER, "top", "--list-keys").splitlines())
    return {name: (names.split(" "), text) for names, name, text in rows}


def capture():
    return e2e.captures()[-1]


class Screen(unittest.TestCase):
    def open(self, *args, **size):
        t = terminal.Terminal(self, e2e.SAKER, "top", *args, **size)
        t.wait(lambda lines: re.search(r"\d rows?, \d+ events in", lines[0]), "the first table")
        while t.pump():
            pass  # the rest of it
        return t

    def file(self, *args, **size):
        return self.open("-r", capture(), *args, **size)

    def selected(self, t):
        """Returns the line in the colours of the selection."""
        for y in range(3, t.screen.lines - 1):
            cell = t.screen.buffer[y][0]
            if cell.bg == "cyan" or cell.reverse:
                return t.lines()[y]
        return None

    def wait_selected(self, t, is_so, what):
        t.wait(lambda _: is_so(self.selected(t) or ""), what)

    def search(self, t, text):
        t.press("/", shows="Search:")
        t.press(text, shows=f"Search: {text}")
        t.send("Enter")
        def is_found(lines):
            if any("is in no row" in line for line in lines):  # not yet
                t.send("n")
            return text in (self.selected(t) or "")
        t.wait(is_found, text)

    def show_view(self, t, text, shows):
        """Selects the view whose line in the list of views has the text."""
        t.press("v", shows="Views of this selection")
        self.search(t, text)
        t.press("Enter", shows=shows)


class Each(Screen):
    """Tests of the table of keys, by each of the keys of a row."""

    def each(self, name, *args, rows=24):
        """Yields a terminal for each key of the row."""
        for key in keys()[name][0]:
            t = self.file(*args, columns=200, rows=rows)
            yield t, key
            t.send("Esc")
            t.pump(0.1)
            t.send("Esc", "q")
            self.assertEqual(t.ended(), 0)

    def select(self, t):
        """Selects a process that makes calls; returns its PID."""
        t.send("8")  # bytes of files
        self.wait_selected(t, lambda line: "python3 -I" in line, "the process with most I/O")
        return self.selected(t).split()[0]

    def rows(self, t):
        return [line for line in t.lines()[BODY] if line]

    def is_sorted(self, t, column, descending):
        values = [int(row.split()[column]) for row in self.rows(t) if row.split()[0].isdigit()]
        return len(values) > 1 and values == sorted(values, reverse=descending)


class Keys(Each):
    def test_all_are_tested(self):
        tested = {name[5:].replace("_", " ") for of in (Keys, MoreKeys) for name in dir(of) if name.startswith("test_")}
        self.assertEqual({name.lower() for name in keys()} - tested, set())

    def test_up(self):
        for t, key in self.each("Up"):
            second = self.rows(t)[1]
            t.send("Down", "Down")
            self.wait_selected(t, lambda line: line == self.rows(t)[2], "the third row")
            t.send(key)
            self.wait_selected(t, lambda line: line == second, "the second row")

    def test_down(self):
        for t, key in self.each("Down"):
            t.send(key)
            self.wait_selected(t, lambda line: line == self.rows(t)[1], "the second row")

    def test_page_up(self):
        for t, key in self.each("Page up"):
            first = self.rows(t)[0]
            t.send("PgDn")
            self.wait_selected(t, lambda line: line != first, "another row")
            t.send(key)
            self.wait_selected(t, lambda line: line == first, "the first row")

    def test_page_down(self):
        for t, key in self.each("Page down"):
            t.send("v")
            t.press("Down", shows="Esc closes")
            t.send("Esc")
            last = self.rows(t)[-1]
            t.send(key)
            self.wait_selected(t, lambda line: line and line != self.rows(t)[0], f"not the first row, as {last}")

    def test_first(self):
        for t, key in self.each("First"):
            first = self.rows(t)[0]
            t.send("Down", key)
            self.wait_selected(t, lambda line: line == first, "the first row")

    def test_last(self):
        for t, key in self.each("Last"):
            t.send(key)
            self.wait_selected(t, lambda line: line == self.rows(t)[-1] != self.rows(t)[0], "the last row")

    def test_left(self):
        for t, key in self.each("Left"):
            header = t.lines()[2]
            t.send("Right")
            t.wait(lambda lines: lines[2] != header, "other columns")
            t.send(key)
            t.wait(lambda lines: lines[2] == header, "the same columns")

    def test_right(self):
        for t, key in self.each("Right"):
            self.assertIn("PID", t.lines()[2].split())
            t.send(key)
            t.wait(lambda lines: lines[2].split()[0] == "PPID", "the second column first")
            t.send(*[key] * 8)
            t.wait(lambda lines: lines[2].split()[0] == "Command", "the last column")
            self.assertEqual(len(t.lines()[2].split()), 1)

    def test_drill_down(self):
        for t, key in self.each("Drill down"):
            pid = self.select(t)
            t.press(key, shows=f"whole file > proc.pid={pid}")
            t.wait(lambda lines: lines[0].startswith("Threads, ") and " row" in lines[0], "threads")
            self.assertEqual({row.split()[0] for row in self.rows(t)}, {pid})
            t.press("v", shows="Views of this selection")
            self.search(t, "How often each")
            t.press(key, shows="System Calls, ")

    def test_back(self):
        for t, key in self.each("Back"):
            t.press("Enter", shows="Threads, ")
            t.press(key, shows="Processes, ")
            t.press("?", shows="Show the keys.")
            t.send(key)
            t.wait(lambda lines: "PID" in lines[2], "the table")

    def test_close(self):
        for t, key in self.each("Close"):
            t.press("l", shows="The view and its columns")
            t.send(key)
            t.wait(lambda lines: "PID" in lines[2], "the table")
            t.press("/", shows="Search:")
            t.press(key, shows="F1Help")

    def test_help(self):
        for t, key in self.each("Help", rows=len(keys()) + 40): # all of it on one screen
            t.press(key, shows="F1 ? h")
            for names, text in keys().values():
                t.wait(lambda lines: any(line.startswith(names[0]) and text[:40] in line for line in lines), names)

    def test_views(self):
        for t, key in self.each("Views"):
            t.press(key, shows="Views of this selection")

            def names_of(lines):
                return [line[:24].strip() for line in lines[BODY] if line]

            t.wait(lambda lines: "Connections" in names_of(lines) and names_of(lines) == sorted(names_of(lines)), "the views, sorted")
            names = names_of(t.lines())
            self.wait_selected(t, lambda line: line.startswith("Processes "), "the current view")
            self.search(t, "Statements")
            self.assertTrue(self.selected(t).startswith("Statements "), self.selected(t))
            t.send("Home")
            t.press("Enter", shows=f"{names[0]}, ")

    def test_next(self):
        for t, key in self.each("Next"):
            self.search(t, "root")
            first = self.selected(t)
            t.send(key)
            self.wait_selected(t, lambda line: line != first and "root" in line, "another row with root")

    def test_search(self):
        for t, key in self.each("Search"):
            t.press(key, shows="Search:")
            t.press("TimeOUT -k", shows="Search: TimeOUT -k")
            t.send("Enter")
            self.wait_selected(t, lambda line: "timeout -k" in line, "the row, in any case")
            t.press(key, shows="Search:")
            t.press("no such text", shows="Search: no such text")
            t.press("Enter", shows="'no such text' is in no row")
            self.assertIn("timeout -k", self.selected(t))

    def test_filter(self):
        for t, key in self.each("Filter"):
            t.press(key, shows="Filter:")
            t.press("evt.type=", shows="Filter: evt.type=")
            t.send("Enter")
            t.wait(lambda lines: "^" in lines[-2], "the place of the error")
            self.assertEqual(t.lines()[-2].index("^"), len("Filter: evt.type="))
            t.press("openat", shows="Filter: evt.type=openat")
            t.send("Enter")
            t.wait_for("filter: evt.type=openat")
            t.wait(lambda lines: "rows" in lines[0], "the table")
            t.press(key, shows="Filter: evt.type=openat")
            t.send("Ctrl-U", "Enter")
            t.wait(lambda lines: "filter" not in lines[1], "no filter")
            t.wait_for("rows")
            t.press(key, shows="Filter:")
            t.send("user.na", "Tab")
            t.wait(lambda lines: lines[-1] == "Filter: user.name", "the field")
            t.send("=roo", "Tab")
            t.wait(lambda lines: lines[-1] == "Filter: user.name=root", "the value")
            t.send(" an", "Tab", " proc.pn", "Tab")
            t.wait(lambda lines: lines[-1] == "Filter: user.name=root and proc.pname", "the next field")
            t.send("Ctrl-U")
            t.press("evt.type=openat", "Tab", shows="openat  openat2")
            t.press("Esc", shows="F1Help")

    def test_echo(self):
        for t, key in self.each("Echo"):
            t.press("v", shows="Views of this selection")
            t.send("Home")
            self.search(t, "What is read, written and opened")
            t.press("Enter", shows="Files, ")
            t.wait_for(" rows")
            t.press(key, shows="Data read and written: ")
            t.wait_for("------ ")
            t.press("Esc", shows="Files, ")

    def test_dig(self):
        for t, key in self.each("Dig"):
            self.select(t)
            t.press(key, shows="Events: ")
            t.wait(lambda lines: re.match(r"\d+ \d\d:\d\d:\d\d\.\d{9} ", lines[3]), "events")
            self.assertTrue(all(" python3 (" in line for line in t.lines()[BODY] if line), t.text())
            t.press("Esc", shows="Processes, ")

    def test_legend(self):
        for t, key in self.each("Legend"):
            t.press(key, shows="Process ID. (proc.pid)")

    def test_actions(self):
        for t, key in self.each("Actions"):
            t.press(key, shows="Commands for the selected row")
            t.press("Down", shows="kill -9 %proc.pid")

    def test_sort(self):
        for t, key in self.each("Sort"):
            t.press(key, shows="Column that sorts the rows")
            self.wait_selected(t, lambda line: line and line.startswith("CPU"), "the column that sorts")
            t.send("Home", "Down", "Enter")  # PPID: a number, the largest first
            t.wait(lambda lines: self.is_sorted(t, 1, True), "sorted by the second column")

    def test_column(self):
        for t, key in self.each("Column"):
            t.send(key)
            t.wait(lambda lines: self.is_sorted(t, 0, True), "sorted by PID")
            t.send(key)
            t.wait(lambda lines: self.is_sorted(t, 0, False), "sorted in the other order")
            t.send("2")
            t.wait(lambda lines: self.is_sorted(t, 1, True), "sorted by PPID")

    def test_reverse(self):
        for t, key in self.each("Reverse"):
            t.send("1")
            t.wait(lambda lines: self.is_sorted(t, 0, True), "sorted by PID")
            t.send(key)
            t.wait(lambda lines: self.is_sorted(t, 0, False), "sorted in the other order")

    def test_go_to(self):
        for t, key in self.each("Go to"):
            t.press(key, shows="Go to row:")
            t.press("3", shows="Go to row: 3")
            t.send("Enter")
            self.wait_selected(t, lambda line: line == self.rows(t)[2], "the third row")
            t.press(key, shows="Go to row:")
            t.press("x", shows="Go to row: x")
            t.press("Enter", shows="'x' is not the number of a row")

    def test_times(self):
        for t, key in self.each("Times"):
            n = int(re.search(r"(\d+) events", t.lines()[0]).group(1))
            t.press(key, shows="Events in each span of time")
            t.wait(lambda lines: any(re.match(r"\d\d:\d\d:\d\d\.\d\d\d +\d+ #", line) for line in lines[BODY]), "a histogram")
            begin, count = t.lines()[3].split()[:2]
            self.assertLess(int(count), n)
            t.press("Enter", shows=f"whole file > {begin} + ")
            t.wait(lambda lines: re.search(r"\d rows?,", lines[0]), "the table")
            t.press("d", shows="Events: ")
            t.wait(lambda lines: lines[3], "events")
            t.press("Esc", shows="Processes, ")
            t.send("Backspace")
            t.wait(lambda lines: lines[1] == "whole file" and f"{n} events" in lines[0], "all events")
            t.press(key, shows="Events in each span of time")
            counts = [int(line.split()[1]) for line in t.lines()[3:6]]
            t.send("Space", "Down", "Down", "Enter")
            t.wait(lambda lines: f" {sum(counts)} events" in lines[0], "three spans together")

    def test_details(self):
        for t, key in self.each("Details", rows=100): # all files of any process
            pid = self.selected(t).split()[0]
            t.press(key, shows="The selected row")
            t.wait(lambda lines: any(line.split() == ["PID", pid] for line in lines), "the PID")
            t.wait(lambda lines: any(line.startswith("Command ") for line in lines), "the last column")
            t.wait(lambda lines: any(re.match(r"Last events(, \d+ of \d+)?$", line) for line in lines), "the last events")

    def test_pause(self):
        for t, key in self.each("Pause"):
            t.press(key, shows="paused")
            t.send(key)
            t.wait(lambda lines: "paused" not in lines[0], "no pause")

    def test_spectrogram(self):
        for t, key in self.each("Spectrogram"):
            pid = self.select(t)
            t.press(key, shows="Number in a cell:")
            t.wait_for(f"> proc.pid={pid}")
            t.wait(lambda lines: re.match(r"Spectrogram, .*: [1-9]", lines[0]) and "|100ns" in lines[-2], "a heat map")
            t.press("Up", shows="latency>=")
            one = t.lines()[2]
            t.send(key, "Home")
            t.wait(lambda lines: int(lines[2].split(":")[0]) > int(one.split(":")[0]), "the calls before")
            t.press("Backspace", shows="Processes, ")

    def test_file_spectro(self):
        for t, key in self.each("File spectro"):
            self.select(t)
            t.press(key, shows="Spectrogram of Files, ")
            t.wait(lambda lines: re.search(r": [1-9]\d* latencies in lines of", lines[0]), "calls on files")

    def test_stacks(self):
        for t, key in self.each("Stacks"):
            pid = self.select(t)
            t.press(key, shows=f"Stacks of proc.pid={pid}: 0 samples")
            t.press("Esc", shows="PID")

    def test_mouse(self):
        for t, _ in self.each("Mouse"):
            pid = self.rows(t)[4].split()[0]
            t.click(5, 7)
            self.wait_selected(t, lambda line: line.split()[:1] == [pid], "the fifth row")
            t.click(5, 7)
            t.click(5, 7)  # two at once: the first click may be long ago on a busy machine
            t.wait_for(f"> proc.pid={pid}")
            t.send("Backspace")
            t.wait(lambda lines: "rows, " in lines[0] and lines[1] == "whole file", "the processes")
            t.click(t.lines()[2].index("PPID") + 1, 2)
            t.wait(lambda lines: self.is_sorted(t, 1, True), "sorted by the second column")
            t.send("Home")
            self.wait_selected(t, lambda line: line == self.rows(t)[0], "the first row")
            t.click(5, 5, 65)
            self.wait_selected(t, lambda line: line == self.rows(t)[3], "three rows below")
            t.click(5, 5, 64)
            self.wait_selected(t, lambda line: line == self.rows(t)[0], "three rows above")
            t.click(t.lines()[-1].index("Views"), 23)
            t.wait_for("Views of this selection")
            t.click(5, 4)
            name = t.lines()[4][:24].strip()
            self.wait_selected(t, lambda line: line.startswith(name), "the second view")
            t.click(5, 4)
            t.click(5, 4)
            t.wait_for(f"{name}, ")

    def test_clear(self):
        for t, key in self.each("Clear"):
            self.select(t)
            t.press("d", shows="Events: ")
            t.wait(lambda lines: lines[3], "events")
            t.press(key, shows="Events: 0 lines")

    def test_redraw(self):
        for t, key in self.each("Redraw"):
            before = t.text()
            t.screen.reset()
            t.send(key)
            t.wait(lambda lines: t.text() == before, "the same screen")

    def test_quit(self):
        for key in keys()["Quit"][0]:
            t = self.file()
            t.send(key)
            self.assertEqual(t.ended(), 0)
            self.assertTrue(t.restored())


class MoreKeys(Each):
    """The tree, the time axis, and files that are written."""

    def test_tree(self):
        for t, key in self.each("Tree"):
            self.assertNotIn("─", t.text())
            t.press(key, shows="└─ ")
            parents = {row.split()[0]: row.split()[1] for row in self.rows(t)}
            at = {pid: i for i, pid in enumerate(parents)}
            for pid, parent in parents.items():
                if parent in at:
                    self.assertLess(at[parent], at[pid], t.text())
            t.send(key)
            t.wait(lambda lines: "─" not in t.text(), "the list")
            self.show_view(t, "What is read, written and opened", shows="Files, ")
            t.wait_for(" rows")
            t.press(key, shows="only a view of processes with their parents can be a tree")

    def test_nice(self):
        """A PID in a file is not that of a process here."""
        for t, key in self.each("Nice"):
            pid = self.select(t)
            t.press(key, shows=f"PID {pid} is that of a process in the file, not of this machine")

    def played(self, t, key=" "):
        """Plays the file; returns the time of the first table."""
        t.send(key)
        return t.wait(lambda lines: re.search(r"Processes, (\d\d:\d\d:\d\d\.\d+), .* rows, .* in 0\.1 s +1x", lines[0]),
                      "a table of 0.1 s")[1]

    def test_play(self):
        for t, key in self.each("Play", "-d", "0.1"):
            n = int(re.search(r"(\d+) events", t.lines()[0]).group(1))
            first = self.played(t, key)
            t.press(key, shows="1x paused")
            t.send(key)
            t.wait(lambda lines: "paused" not in lines[0], "no pause")
            t.wait(lambda lines: f", {first}, " not in lines[0], "the next table")
            t.send("Backspace")
            t.wait(lambda lines: f"{n} events" in lines[0], "the whole file")

    def test_speed(self):
        for t, key in self.each("Speed", "-d", "0.1"):
            t.press(key, shows=f"Space plays the file at this speed: {'1/2' if key == '-' else '2'} times")
            t.send("Space")
            t.wait(lambda lines: re.search(r" 1/2x| 2x", lines[0]), "the speed")
            t.send(*[key] * 8)
            t.wait_for(f"this is the {'slowest' if key == '-' else 'fastest'} speed")

    def test_earlier(self):
        for t, key in self.each("Earlier", "-d", "0.1"):
            t.press(key, shows="this is the table of the whole file: Space plays it")
            first = self.played(t)
            t.wait(lambda lines: f", {first}, " not in lines[0], "the next table")
            t.send(key)
            t.wait(lambda lines: "1x paused" in lines[0], "a pause")
            for _ in range(9):
                t.send(key)
            t.wait_for("no earlier table is kept")
            # The first one that was seen, or one before it that was replaced too soon.
            self.assertLessEqual(t.lines()[0].split(", ")[1], first)

    def test_later(self):
        for t, key in self.each("Later", "-d", "0.1"):
            first = self.played(t)
            t.press("p", shows="1x paused")
            shown = t.lines()[0]
            t.send(key)
            t.wait(lambda lines: lines[0] != shown, "the next table")
            second = t.lines()[0]
            self.assertIn("1x paused", second)
            self.assertNotIn(f", {first}, ", second)
            t.send(",")
            t.wait(lambda lines: lines[0] == shown, "the previous table")
            t.send(key)
            t.wait(lambda lines: lines[0] == second, "the next table again")

    def test_jump(self):
        for t, key in self.each("Jump", "-d", "0.1"):
            first = self.played(t)
            t.send("Backspace")
            t.wait(lambda lines: first not in lines[0], "the whole file")
            t.press(key, shows="Go to time:")
            t.press("25:00", shows="Go to time: 25:00")
            t.press("Enter", shows="'25:00' is not a time")
            t.send("Ctrl-U")
            t.press("+0.2", shows="Go to time: +0.2")
            t.send("Enter")
            t.wait(lambda lines: re.search(r"Processes, \d\d:\d\d:\d\d\.\d+, .* 1x (end )?paused", lines[0]) and first not in lines[0],
                   "a table 0.2 s later, paused")

    def file_prompt(self, t, key, question, path):
        t.press(key, shows=question)
        t.send("Ctrl-U")
        t.press(path, shows=f"{question} {path}")
        t.send("Enter")

    def test_export(self):
        folder = e2e.own_dir(self)
        for t, key in self.each("Export", "--unconfined"):
            t.send("1")
            t.wait(lambda lines: self.is_sorted(t, 0, True), "sorted by PID")
            n = int(re.search(r"(\d+) rows", t.lines()[0]).group(1))
            pids = [row.split()[0] for row in self.rows(t)]
            path = os.path.join(folder, "table.csv")
            self.file_prompt(t, key, "Export to file:", path)
            t.wait_for(f"{path}: {n} rows")
            with open(path, newline="") as f:
                rows = list(csv.reader(f))
            self.assertEqual(rows[0][:2], ["PID", "PPID"])
            self.assertEqual([row[0] for row in rows[1:]][:len(pids)], pids)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.file_prompt(t, key, "Export to file:", path)
            t.wait_for(f"{path} exists. Replace it?")
            before = os.stat(path).st_ino
            t.press("n", shows="F1Help")
            self.assertEqual(os.stat(path).st_ino, before)
            path = os.path.join(folder, "table.json")
            self.file_prompt(t, key, "Export to file:", path)
            t.wait_for(f"{path}: {n} rows")
            slices = json.loads(e2e.read_text(path))["slices"]
            self.assertEqual([str(row["d"][0]) for row in slices[0]["data"]][:len(pids)], pids)
            path = os.path.join(folder, "table.txt")
            self.file_prompt(t, key, "Export to file:", path)
            t.wait_for(f"{path}: {n} rows")
            self.assertEqual([line.split()[0] for line in e2e.read_text(path).splitlines()[2:]][:len(pids)], pids)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            os.symlink(path, os.path.join(folder, "link"))
            self.file_prompt(t, key, "Export to file:", os.path.join(folder, "link"))
            t.wait_for("is not a regular file")
            t.press("Esc", shows="F1Help")

    def test_write(self):
        folder = e2e.own_dir(self)
        for t, key in self.each("Write", "--unconfined"):
            pid = self.select(t)
            t.press("Enter", shows=f"proc.pid={pid}")
            t.wait_for(" row")
            path = os.path.join(folder, "some.scap")
            self.file_prompt(t, key, "Write events to file:", path)
            n = int(t.wait(lambda lines: re.search(rf"{path}: (\d+) events", t.text()), "the end")[1])
            self.assertGreater(n, 0)
            self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
            shown = e2e.run(e2e.SAKER, "-r", path, "--enter-events", "-p", "%proc.pid").split()
            self.assertEqual((set(shown), len(shown)), ({pid}, n))
            self.file_prompt(t, key, "Write events to file:", capture())
            t.wait_for("is the file that is shown")
            t.press("Esc", shows="F1Help")


class Confined(Screen):
    def test_refused(self):
        """A file of strangers can run no command and write no file; each thread is confined."""
        t = self.file()
        for key, act in ("x", "write a file"), ("w", "write a file"), ("k", "run a command"):
            t.press(key, shows=f"cannot {act}: a file is shown confined")
            t.press("Esc", shows="F1Help")
        for task in glob.glob(f"/proc/{t.program.pid}/task/*/status"):
            status = dict(re.findall(r"(?m)^(\w+):\t(.*)$", e2e.read_text(task)))
            if status["Seccomp"] == "0":
                e2e.skip("this is a build with sanitizers, or a kernel without seccomp")
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        t.press("F6", shows="Events: ")  # reads the file again
        t.wait(lambda lines: re.match(r"\d+ \d\d:\d\d:\d\d\.\d{9} ", lines[3]), "events")

    def test_live(self):
        p = subprocess.run([e2e.SAKER, "top", "--unconfined"], capture_output=True, text=True, check=False)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("--unconfined applies to -r FILE", p.stderr)


class Docs(unittest.TestCase):
    def test_table(self):
        """The table of the page is that of the program."""
        page = e2e.read_text(os.path.join(e2e.SOURCE, "docs/top.md"))
        for name, (names, text) in keys().items():
            self.assertIn(f"| {' '.join(f'`{key}`' for key in names)} | {name} | {text} |\n", page)
        table = page[page.index("| key | name |"):].split("\n\n")[0]
        self.assertEqual(len(table.splitlines()), len(keys()) + 2)


class Terminals(Screen):
    """The terminal: sizes, signals, what is written to it."""

    def test_message(self):
        """A message of the capture is drawn as an error, also after one that was none."""
        path = os.path.join(e2e.own_dir(self), "cut.scap")
        with open(capture(), "rb") as whole, open(path, "wb") as cut:
            cut.write(whole.read()[:-100])
        for args in ("-j",), ("-b",), ("-b", "-v", "spectro_all"):
            p = subprocess.run([e2e.SAKER, "top", *args, "-r", path], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(p.returncode, 1)
            self.assertIn("it is truncated", p.stderr)
            self.assertGreater(len(json.loads(p.stdout)["slices"][1]["data"]) if "-j" in args else p.stdout.count("\n"), 2)
        t = terminal.Terminal(self, e2e.SAKER, "top", "-r", path)
        t.wait_for("truncated")
        self.assertRegex(t.lines()[0], r"[1-9]\d* rows, [1-9]\d* events in")
        t.press("+", shows="Space plays the file at this speed: 2 times")
        t.press("v", shows="Views of this selection")
        t.press("Enter", shows="truncated")
        y = next(i for i, line in enumerate(t.lines()) if "truncated" in line)
        self.assertEqual(t.screen.buffer[y][0].bg, "red")
        t.press("+", shows="Space plays the file at this speed: 4 times")
        self.assertEqual(t.screen.buffer[t.screen.lines - 1][0].bg, "green")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def check_columns(self, t):
        """Numbers end where the names of their columns end."""
        def aligned(lines):
            if not lines[2].endswith("NE") and "NET" not in lines[2]:
                return False
            ends = [re.search(rf"\b{name}\b", lines[2] + " ").end() for name in ("PID", "PPID", "TH")]
            return all(re.match(r"[\d-]( |$)", row[end - 1:end + 1]) for row in lines[BODY] if row for end in ends)

        t.wait(aligned, "numbers below the names of their columns")

    def test_sizes(self):
        t = self.file()
        for columns, rows in ((80, 24), (200, 50), (40, 10), (300, 100), (80, 24)):
            t.resize(columns, rows)
            t.wait(lambda lines: lines[-1].startswith("F1Help"), "the bar in the last line")
            if columns >= 80:
                t.wait(lambda lines: "Command" in lines[2], "the header, with the last column")
                self.check_columns(t)
        for columns, rows in ((1, 1), (2, 3), (10, 4), (80, 24)):
            t.resize(columns, rows)
            t.pump(0.2)
        t.wait(lambda lines: lines[-1].startswith("F1Help"), "the bar")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_signals(self):
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            t = self.file()
            self.assertFalse(t.restored())
            t.program.send_signal(sig)
            self.assertEqual(t.ended(), 0)
            self.assertTrue(t.restored())

    def test_crash(self):
        for sig in (signal.SIGSEGV, signal.SIGABRT):
            t = self.file()
            t.program.send_signal(sig)
            self.assertNotEqual(t.ended(), 0)  # a sanitizer ends it by another signal
            self.assertTrue(t.restored())

    def test_stop(self):
        """Ctrl-Z gives the terminal back to the shell as it was; fg goes on."""
        t = terminal.Terminal(self, "bash", "--norc", "--noprofile", "-i", env={"PS1": "ready> "})
        t.wait_for("ready>")
        t.press("M=$(stty -g)\r", shows="ready> M=")
        t.send(f"{e2e.SAKER} top -r {capture()}\r")
        t.wait(lambda lines: " rows, " in lines[0], "the table")
        t.send("Ctrl-Z")
        t.wait_for("Stopped")
        t.press("[ \"$M\" = \"$(stty -g)\" ]; echo same=$?\r", shows="same=0")
        t.send("fg\r")
        t.wait(lambda lines: " rows, " in lines[0] and lines[-1].startswith("F1Help"), "the table")
        t.send("Down", "q")
        t.press("[ \"$M\" = \"$(stty -g)\" ]; echo after=$?\r", shows="after=0")
        t.send("exit\r")
        t.ended()

    def test_gone(self):
        t = self.file()
        os.close(t.fd)
        os.close(t.other_end)
        t.fd = t.other_end = -1
        t.program.wait(terminal.DEADLINE_S)

    def test_no_colour(self):
        for args, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
            t = self.file(*args, env=env)
            cells = [t.screen.buffer[y][x] for y in range(24) for x in range(80)]
            self.assertEqual({(c.fg, c.bg) for c in cells}, {("default", "default")})
            self.assertTrue(any(c.reverse for c in cells))

    def test_no_terminal(self):
        p = subprocess.run([e2e.SAKER, "top", "-r", capture()], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stderr, "saker: the screen needs a terminal: use -b for text or -j for JSON\n")

    def test_messages(self):
        for args, message in ((["-v", "none"], "no view 'none': see saker top --list-views"),
                              (["evt.type="], "saker: ")):
            t = terminal.Terminal(self, e2e.SAKER, "top", "-r", capture(), *args)
            self.assertEqual(t.ended(), 1)
            self.assertIn(message, t.text())
            self.assertTrue(t.restored())


class Hostile(Screen):
    """Names that try to move the cursor, columns or other text."""

    NAMES = [b"esc\x1b[2J\x1b[1;1Hx", "c1\u009b2Jx".encode(), b"bad\xff\xfe\x80x", "wide\u4e16\u754c\U0001f600x".encode(),
             "acc\u0065\u0301\u0301\u0301x".encode(), "\u0301first".encode(), "rtl\u202eabc\u202cx".encode(),
             "zwj\u200d\u200b\ufeffx".encode(), b"nl\n\tx\r"]

    def test_names(self):
        e2e.need_live()
        folder = e2e.own_dir(self)
        script = "import os, sys\nfor n in sys.stdin.buffer.read().split(b'\\0'):\n  open(n, 'w').write('data')\n"
        path = os.path.join(folder, "hostile.scap")
        p = subprocess.run([e2e.SAKER, "-w", path, "--", "python3", "-c", script], cwd=folder,
                           input=b"\0".join(self.NAMES), capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        t = self.open("-r", path, "-v", "files", f"fd.name startswith {folder}/")
        t.wait(lambda lines: f"{len(self.NAMES)} rows" in lines[0], "a row for each name")
        header = t.lines()[2]
        end = header.index("Filename") if "Filename" in header else len(header) - len(header.split()[-1])
        for row in t.lines()[3:3 + len(self.NAMES)]:
            self.assertEqual(row[end:end + len(folder)], folder[:len(row) - end], row)
        self.assertEqual(t.lines()[3 + len(self.NAMES)], "")
        t.resize(200, 50)
        t.wait_for("esc.[2J.[1;1Hx")
        for _ in self.NAMES:
            t.press("i", shows="The selected row")
            t.press("Esc", shows="rows")
            t.press("Enter", shows="Processes, ")
            t.wait(lambda lines: "1 row," in lines[0], "the process of the file")
            t.press("Backspace", shows="Files, ")
            t.wait_for(f"{len(self.NAMES)} rows")
            t.send("Down")
        t.send("q")
        self.assertEqual(t.ended(), 0)


ACTIONS = """view_info = {{
  id = "acts", name = "Acts", view_type = "table", applies_to = {{""}}, drilldown_target = "", filter = "evt.type=openat",
  columns = {{{{name = "NA", field = "fd.name", is_key = true}},
    {{name = "OPS", field = "evt.count", aggregation = "SUM", colsize = 9}}, {{name = "NAME", field = "fd.name", colsize = 0}}}},
  actions = {{
    {{hotkey = "A", command = "{args} %fd.name \\"two words\\" %evt.count", description = "Arguments", wait_finish = false}},
    {{hotkey = "B", command = "{args} asked %fd.name", description = "Ask", ask_confirmation = true}},
    {{hotkey = "C", command = "no-such-program", description = "Missing"}},
    {{hotkey = "D", command = "sh -c 'kill -9 %pid'", description = "No value"}},
    {{hotkey = "E", command = "{args} $(id)", description = "Shell"}},
    {{hotkey = "F", command = "{dies}", description = "Dies", wait_finish = false}},
  }}}}"""


class Actions(Screen):
    """Commands of a view get the values of the row as arguments, and nothing else reads them."""

    NAME = "$(touch evil);`id`|x'\"\\ -rf \x1b[2J*"

    def setUp(self):
        e2e.need_live()
        self.folder = e2e.own_dir(self)
        self.out = os.path.join(self.folder, "out")
        self.script("args", f"import json, sys\nopen({self.out!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')")
        self.script("dies", "import os, signal, tty\ntty.setraw(0)\nos.kill(os.getpid(), signal.SIGKILL)")
        e2e.write_text(os.path.join(self.folder, "acts.lua"),
                       ACTIONS.format(args=os.path.join(self.folder, "args"), dies=os.path.join(self.folder, "dies")))
        path = os.path.join(self.folder, "acts.scap")
        e2e.run(e2e.SAKER, "-w", path, "--", "python3", "-c", "import sys; open(sys.argv[1], 'w')",
                os.path.join(self.folder, self.NAME))
        self.t = self.open("--unconfined", "-r", path, "-v", "acts", f"fd.name startswith {self.folder}/",
                           env={"SAKER_CHISEL_DIR": self.folder})
        self.t.wait_for("1 row,")

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        e2e.write_text(path, f"#!{os.path.realpath('/usr/bin/python3')} -I\n{text}\n")
        os.chmod(path, 0o755)

    def wait_args(self, n):
        e2e.wait_until(lambda: os.path.exists(self.out) and e2e.read_text(self.out).count("\n") == n, "the command")
        return json.loads(e2e.read_text(self.out).splitlines()[-1])

    def test_arguments(self):
        name = os.path.join(self.folder, self.NAME.replace("\x1b", "."))  # a dot in every output of saker
        self.t.send("A")
        self.assertEqual(self.wait_args(1), [name, "two words", "1"])
        self.t.wait(lambda _: not self.t.restored(), "the modes of the screen")
        self.t.press("B", shows="Run this command? ")
        self.t.wait_for("args asked")
        self.t.wait_for(f"{self.folder}/$(touch evil);`id`|x'")  # the rest of the question, in its second line
        self.t.press("n", shows="F1Help")
        self.t.press("B", shows="Run this command? ")
        self.t.press("y", shows="Enter returns to saker top")
        self.assertEqual(self.wait_args(2), ["asked", name])
        self.t.press("Enter", shows="1 row,")
        self.t.press("a", shows="Commands for the selected row")
        self.assertNotIn("Shell", self.t.text())
        self.t.press("Down", "Enter", shows="Run this command?")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "evil")))

    def test_failures(self):
        self.t.press("C", shows="cannot run no-such-program: No such file or directory")
        self.t.press("D", shows="the row has no value for 'sh -c 'kill -9 %pid''")
        self.t.press("F", shows="F1Help")
        self.t.press("l", shows="The view and its columns")
        self.t.send("Esc")
        self.t.wait_for("F1Help")
        self.t.send("q")
        self.assertEqual(self.t.ended(), 0)
        self.assertTrue(self.t.restored())


class Live(Screen):
    def test_live(self):
        e2e.need_live()
        e2e.somebody(self)
        t = self.open("-v", "files")
        t.wait(lambda lines: "rows" in lines[0], "rows")
        self.search(t, "/etc/hostname")
        t.press("e", shows="Data read and written")
        t.wait_for(e2e.read_text("/etc/hostname").strip())
        t.press("Esc", shows="Files, ")
        t.wait_for("rows")
        self.wait_selected(t, lambda line: line and "/etc/hostname" in line, "the same file")
        t.press("Enter", shows="> fd.name=/etc/hostname")
        t.wait(lambda lines: "rows" in lines[0], "its processes")
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertTrue(t.restored())

    def test_ended_process(self):
        """No signal goes to a process that has the PID of the selected one when the user agrees."""
        e2e.need_live()
        p = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        t = self.open("-v", "procs", f"proc.pid={p.pid}")
        t.wait_for(" 1 row,")
        t.press("k", shows=f"Run this command? kill {p.pid}")
        p.kill()
        p.wait()
        t.press("y", shows=f"process {p.pid} has ended")

    def test_own_capture(self):
        """A view of waits has switches, which the capture of the other views lacks; then these again."""
        e2e.need_live()
        e2e.somebody(self)
        t = self.open()
        self.show_view(t, "Run Queue", shows="Run Queue, this machine")
        t.wait(lambda lines: re.match(r" *[\d.]+.?s ", lines[3]), "waits for a CPU")
        self.show_view(t, "What is read, written and opened", shows="Files, this machine")
        t.wait(lambda lines: "rows" in lines[0], "rows")
        self.search(t, "/etc/hostname")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_list(self):
        """Rows of a list stay until they are cleared."""
        e2e.need_live()
        e2e.somebody(self)
        folder = e2e.own_dir(self)
        e2e.write_text(os.path.join(folder, "opens.lua"), """view_info = {
            id = "opens", name = "Opens", view_type = "list", applies_to = {""}, use_defaults = true,
            filter = "evt.type=openat and evt.dir=<", columns = {{name = "FILE", field = "fd.name", colsize = 0}}}""")
        t = self.open("-v", "opens", "fd.name=/etc/hostname", env={"SAKER_CHISEL_DIR": folder})
        rows = lambda: int(re.search(r"(\d+) rows?,", t.lines()[0] + " 0 rows,").group(1))
        for n in (20, 60):
            t.wait(lambda _: rows() >= n, f"{n} rows")
        t.press("p", shows="paused")
        n = rows()
        t.send("p")
        t.wait(lambda _: rows() > n, "more rows")
        n = rows()
        t.send("c")
        t.wait(lambda _: rows() < n, "fewer rows")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_menu_of_a_row(self):
        """A command of the menu is for the row that it was opened for, not for the one that has its place now."""
        e2e.need_live()
        folder = e2e.own_dir(self)
        e2e.write_text(os.path.join(folder, "acts.lua"), ACTIONS.format(args="/bin/true", dies="/bin/true"))
        t = self.open("-v", "acts", f"fd.name startswith {folder}/r", env={"SAKER_CHISEL_DIR": folder})

        def write(name, is_so, what):
            def is_seen(lines):
                e2e.write_text(os.path.join(folder, name), "")
                return is_so(lines)
            t.wait(is_seen, what)

        write("row1", lambda lines: "/row1" in lines[3], "the row")
        t.press("a", shows="Commands for the selected row")
        titles = set()
        write("row2", lambda lines: titles.add(lines[0]) or len(titles) > 3, "other rows")
        t.press("B", shows="the selected row is gone")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_slow_terminal(self):
        """The capture goes on while the terminal is not read."""
        e2e.need_live()
        e2e.somebody(self)
        t = self.open(columns=300, rows=100)
        ticks = lambda: sum(int(n) for path in os.listdir(f"/proc/{t.program.pid}/task")
                            for n in e2e.read_text(f"/proc/{t.program.pid}/task/{path}/schedstat").split()[2:])
        before = ticks()
        end = time.monotonic() + 3
        while time.monotonic() < end:  # not read: redrawn until the terminal is full
            t.send("Ctrl-L")
            time.sleep(0.02)
        self.assertGreater(ticks(), before)
        t.wait(lambda lines: lines[-1].startswith("F1Help"), "the bar")
        t.send("q")
        self.assertEqual(t.ended(), 0)


class Cost(Screen):
    def test_idle(self):
        """Only what changed is written: of half of the refreshes at most 2 KB."""
        e2e.need_live()
        e2e.somebody(self)
        t = self.open()
        sizes = []
        for _ in range(7):
            time_of = lambda: t.lines()[0].split(", ")[-1][:8]
            before, n = time_of(), t.n_bytes
            t.wait(lambda _: time_of() != before, "the next refresh")
            while t.pump():
                pass
            sizes.append(t.n_bytes - n)
        self.assertLessEqual(sorted(sizes)[len(sizes) // 2], 2048, sizes)
        t.send("q")
        self.assertEqual(t.ended(), 0)


class Monkey(Screen):
    def test_random_keys(self):
        seed = int(os.environ.get("SAKER_TEST_SEED") or 16)
        rng = random.Random(seed)
        names = [key for row, _ in keys().values() for key in row if key not in ("q", "F10")]
        names += list("123456789xz \"'=()") + ["evt.type=read", "proc.pid=1"]  # no y: nothing is killed
        n_keys = int(os.environ.get("SAKER_TEST_KEYS") or 0)  # 0: as many as 12 s allow
        t = self.file(cwd=e2e.own_dir(self))
        n, end = 0, time.monotonic() + 12
        while n < n_keys if n_keys else time.monotonic() < end:
            for _ in range(20):
                key = rng.choice(names)
                if key == "Mouse":
                    t.click(rng.randrange(200), rng.randrange(23), rng.choice((0, 0, 64, 65)))
                else:
                    t.send(key)
                n += 1
            if rng.random() < 0.1:
                t.resize(rng.randrange(1, 200), rng.randrange(1, 60))
            t.pump(0.01)
            self.assertIsNone(t.program.poll(), f"ended after {n} keys, seed {seed}\n{t.text()}")
        t.resize(80, 24)
        t.pump(0.2)
        t.send("Esc")
        t.pump(0.2)
        t.send("Esc")
        t.pump(0.2)
        t.send("q")
        self.assertEqual(t.ended(), 0, f"seed {seed}")
        self.assertTrue(t.restored())


if __name__ == "__main__":
    unittest.main()
