#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the graphs of saker top: heat maps of latencies, down to the events of some cells, and flame
graphs of stacks."""

import json
import os
import re
import subprocess
import unittest

import saker_e2e as e2e
import top_screen_test as screen

N_SLEEPS = 12
SLEEPS = f"import time\nfor _ in range({N_SLEEPS}): time.sleep(0.02)\ntime.sleep(0.3)\n"
FILTER = "evt.type in (nanosleep, clock_nanosleep) and evt.latency<200ms"
SIGNS = ".:-=+*#%@"
SCALE = re.compile(r"^ +\|")
LEGEND = "number in a cell: . 1 : 3 - 10 = 30 + 100 * 300 # 1k % 3k @ 10k"


class Heat(screen.Screen):
    """A process that sleeps 12 times for 20 ms, in a file."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.path = os.path.join(e2e.own_dir(cls), "sleeps.scap")
        e2e.run(e2e.SAKER, "-w", cls.path, "--", "python3", "-I", "-c", SLEEPS)

    def open_heat(self, *args, key="m", **size):
        t = self.open("-r", self.path, FILTER, *args, **size)
        t.press(key, shows="> proc.pid=")
        t.wait(lambda lines: SCALE.search(lines[-2]) and f": {N_SLEEPS} latencies in lines of" in lines[0], "a heat map")
        return t

    def cells(self, t):
        """Returns {(x, y): background} of the cells with a count."""
        begin = t.lines()[-2].index("|")
        return {(x, y): t.screen.buffer[y][x].bg for y in range(3, t.screen.lines - 2)
                for x in range(begin, t.screen.columns) if t.screen.buffer[y][x].bg != "default"}

    def end(self, t):
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertTrue(t.restored())

    def test_place(self):
        """20 ms are between 10 and 100 ms of the scale, at any width."""
        for columns in (60, 80, 200, 300):
            t = self.open_heat(columns=columns)
            scale = t.lines()[-2]
            bars = [i for i, c in enumerate(scale) if c == "|"]
            self.assertEqual(len(bars), 9, scale)
            found = self.cells(t)
            self.assertGreater(len(found), 1)
            for x, _ in found:
                self.assertTrue(bars[5] < x < bars[6], (x, scale))
            self.assertRegex(t.lines()[3], r"^\d\d:\d\d:\d\d\.\d+$")
            self.end(t)

    def test_first(self):
        """-v begins with a heat map, as one that is chosen later."""
        t = screen.terminal.Terminal(self, e2e.SAKER, "top", "-v", "spectro_all", "-r", self.path, FILTER)
        t.wait(lambda lines: re.search(rf"Spectrogram, \S+: {N_SLEEPS} latencies in lines of", lines[0]), "a heat map")
        self.end(t)

    def test_keys(self):
        """The cells together have all calls; the calls of the rectangle are listed, and the path shows its bounds."""
        t = self.open_heat()
        t.press("Up", shows="latency>=")
        t.send("Home", *["Left"] * 70, "m", "End", *["Right"] * 70)
        t.wait_for(f"{N_SLEEPS}: latency>=0ns")
        t.press("Enter", shows=f"Events: {N_SLEEPS} lines")
        self.assertRegex(t.lines()[1], r"> proc.pid=\d+ > evt.latency>=0ns, \d\d:")
        t.wait(lambda lines: sum("nanosleep res=0" in line for line in lines) == N_SLEEPS, "the calls")
        t.press("Esc", shows=f": {N_SLEEPS} latencies in lines of")
        self.assertNotIn("evt.latency", t.lines()[1])
        t.press("Up", shows="latency>=")  # one cell, with a count
        n = int(t.lines()[2].split(":")[0])
        t.press("Enter", shows=f"Events: {n} lines")
        t.send("Backspace")
        t.wait_for(f": {N_SLEEPS} latencies in lines of")
        t.press("Enter", shows="no cells are selected")
        t.press("Backspace", shows="Processes, ")
        self.end(t)

    def test_close(self):
        """Esc drops the mark, then the cursor."""
        t = self.open_heat()
        t.press("Up", shows="latency>=")
        t.send("m", *["Left"] * 70)
        t.wait_for(": latency<")
        t.send("Esc")
        t.wait(lambda lines: lines[2].startswith("0: latency<"), "one cell")
        t.press("Esc", shows="Number in a cell:")
        self.end(t)

    def test_mouse(self):
        t = self.open_heat(rows=60)
        found = self.cells(t)
        xs, ys = [x for x, _ in found], [y for _, y in found]
        t.send(f"\033[<0;{min(xs)};{min(ys) + 1}M", f"\033[<32;{max(xs) + 1};{max(ys)}M")
        t.wait(lambda lines: ": latency>=" in lines[2], "the selection")
        t.send(f"\033[<32;{max(xs) + 2};{max(ys) + 1}M", f"\033[<0;{max(xs) + 2};{max(ys) + 1}m")
        t.wait_for(f"Events: {N_SLEEPS} lines")
        t.press("Esc", shows=f": {N_SLEEPS} latencies in lines of")
        x, y = next(iter(found))
        t.click(x, y)
        t.wait(lambda lines: ": latency>=" in lines[2], "one cell")
        t.click(x, y)
        t.wait_for("Events: ")
        t.press("Esc", shows=f": {N_SLEEPS} latencies in lines of")
        t.click(t.lines()[-1].index("Views"), 59)
        t.wait_for("Views of this selection")
        self.end(t)

    def test_no_colour(self):
        t = self.open_heat("--no-color")
        rows = [line[10:] for line in t.lines()[3:-2]]
        self.assertTrue(any(sign in row for row in rows for sign in SIGNS), t.text())
        self.assertEqual({t.screen.buffer[y][x].bg for y in range(3, 22) for x in range(80)}, {"default"})
        self.end(t)

    def test_files(self):
        """The row of a file has the calls on it."""
        t = self.open("-r", self.path, "-v", "files", "fd.name endswith /ld.so.cache and evt.latency>0")
        t.press("m", shows="Spectrogram of Files, ")
        t.wait_for("> fd.name=/etc/ld.so.cache")
        n = int(t.wait(lambda lines: re.search(r": ([1-9]\d*) latencies in lines of", lines[0]), "calls").group(1))
        self.show_view(t, "How long calls take, over", shows="Spectrogram, ")
        t.wait(lambda lines: re.search(rf": {n} latencies in lines of", lines[0]), "the same calls")
        self.end(t)

    def test_sizes(self):
        t = self.open_heat(columns=120, rows=40)
        t.press("Up", shows="latency>=")
        for columns, rows in ((20, 24), (10, 5), (1, 1), (200, 10), (80, 24)):
            t.resize(columns, rows)
            t.send("Left", "Up", "Space")
            t.pump(0.2)
        t.wait(lambda lines: ": latency>=" in lines[2] or ": latency<" in lines[2], "the selection")
        t.send("c")
        t.wait_for("This selection has no latencies.")
        self.end(t)

    def test_text(self):
        """-b prints lines of characters; cells of all lines have all calls."""
        out = e2e.run(e2e.SAKER, "top", "-b", "-v", "spectro_all", "-r", self.path, FILTER).splitlines()
        self.assertEqual(out[0], LEGEND)
        self.assertEqual(out[1], out[-1])
        self.assertRegex(out[1], SCALE)
        rows = [line.partition(" ")[2] for line in out[2:-1]]
        self.assertTrue(any(row.strip() for row in rows))
        some = e2e.run(e2e.SAKER, "top", "-b", "-n", "3", "-d", "0.1", "-v", "spectro_all", "-r", self.path).splitlines()
        self.assertEqual(len(some), 6)
        data = json.loads(e2e.run(e2e.SAKER, "top", "-j", "-v", "spectro_all", "-r", self.path, FILTER))
        self.assertEqual(data["slices"][-1]["data"][0]["d"][1], N_SLEEPS)


class Live(screen.Screen):
    def test_live(self):
        """Lines come each second; events of the selected cells were kept."""
        e2e.need_live()
        e2e.somebody(self)
        t = self.open("-v", "syscalls", "proc.name=sleep")
        t.send("m")
        t.wait(lambda lines: re.match(r"Spectrogram, this machine: [1-9]", lines[0]), "calls")
        t.wait(lambda lines: re.match(r"\d\d:\d\d:\d\d", lines[4]), "two lines")
        t.press("Up", shows="latency>=")
        t.press("Space", shows="latency>=")
        t.send(*["Right"] * 70)
        t.press("Enter", shows="lines, kept of ")
        self.assertRegex(t.lines()[1], r"> evt.latency>=\d")
        self.assertRegex(t.lines()[3], r"^\d+ \d\d:\d\d:\d\d\.\d{9} \d+ sleep \(\d+\) < ")
        t.press("Esc", shows="in lines of 1 s")
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertTrue(t.restored())


class Requests(screen.Screen):
    def test_requests(self):
        """The row of a server has its requests."""
        e2e.need_live()
        folder = e2e.own_dir(self)
        path = os.path.join(folder, "http.scap")
        script = ("import http.client, http.server, threading\n"
                  "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler)\n"
                  "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                  "for _ in range(7):\n"
                  "  c = http.client.HTTPConnection('127.0.0.1', s.server_port)\n"
                  "  c.request('GET', '/'); c.getresponse().read()\n")
        e2e.run(e2e.SAKER, "--requests", "-s", "2048", "-w", path, "--", "python3", "-I", "-c", script)
        t = self.open("-r", path, "-v", "services")
        t.press("m", shows="Spectrogram of Requests, ")
        t.wait(lambda lines: ": 7 latencies in lines of" in lines[0], "the requests")
        t.press("Up", shows="latency>=")
        t.send("Home", *["Left"] * 70, "m", "End", *["Right"] * 70)
        t.wait_for("7: latency>=0ns")
        t.press("Enter", shows="Events: 7 lines")
        self.assertIn("> request.latency>=0ns, ", t.lines()[1])
        t.send("Esc", "q")
        self.assertEqual(t.ended(), 0)
        self.check_write(path, os.path.join(folder, "written.scap"))

    def check_write(self, path, written):
        """Requests are derived for the file that is written, too."""
        t = self.open("--unconfined", "-r", path, "-v", "requests")
        t.press("Enter", shows="> request.")
        t.press("w", shows="Write events to file:")
        t.send("Ctrl-U", written, "Enter")
        n = int(t.wait(lambda _: re.search(r"written.scap: (\d+) events", t.text()), "the end of the file")[1])
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertEqual(len(e2e.run(e2e.SAKER, "-r", written, "-p", "%evt.type").splitlines()), n)
        self.assertGreater(n, 0)


PROGRAM = r"""
#include <time.h>
#define F(name, below) __attribute__((noinline, noclone)) double name(long n) { double x = below; return x * 1.5; }
static double work(long n) { volatile double x = n; for (long i = 0; i < n; i++) x *= 1.0000001; return x; }
F(f_0, work(n)) F(f_1, work(n)) F(f_2, work(n)) F(f_3, work(n)) F(f_4, work(n))
F(many, f_0(n) + f_1(n) + f_2(n) + f_3(n) + f_4(n))
int main(void) {
  time_t end = time(0) + SECONDS;
  while (time(0) < end) many(1000000), f_0(3000000);
}
"""
NAMES = [b"esc\x1b[2J\x1b[1;1Hx", b"bad\xff\xfe\x80x", "wide\u4e16\u754c\U0001f600x".encode(), "rtl\u202eabc\u202cx".encode(),
         "acc\u0065\u0301\u0301\u0301x".encode()]


class Stacks(screen.Screen):
    """A program whose functions have hostile names."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("gcc", "objcopy")
        cls.dir = e2e.own_dir(cls)
        source = os.path.join(cls.dir, "burn.c")
        e2e.write_text(source, PROGRAM)
        for seconds in (2, 15):
            plain, out = (os.path.join(cls.dir, f"{name}{seconds}") for name in ("plain", "burn"))
            subprocess.run(["gcc", "-O1", f"-DSECONDS={seconds}", "-o", plain, source], check=True)
            renames = [part for i, name in enumerate(NAMES) for part in (b"--redefine-sym", b"f_%d=" % i + name)]
            subprocess.run([b"objcopy", *renames, plain.encode(), out.encode()], check=True)
        cls.path = os.path.join(cls.dir, "burn.scap")
        e2e.run(e2e.SAKER, "--sample", "199", "-w", cls.path, "--", os.path.join(cls.dir, "burn2"))

    def open_stacks(self, *args, **size):
        t = self.open("-r", self.path, "proc.name=burn2 and evt.type!=sample", *args, **size)
        t.press("S", shows="Stacks of proc.pid=")
        t.wait(lambda lines: re.search(r": [1-9]\d+ samples", lines[2]) and lines[3].startswith(("all samples", "|all")), "samples")
        return t

    def named(self, t):
        """The last line, of the selected frame: its share and name."""
        return re.match(r"([\d.]+)%, (\d+) samples, (\d+) of its own: (.*)", t.lines()[-2]).groups()

    def wait_named(self, t, name):
        t.wait(lambda _: self.named(t)[3] == name, name)

    def test_bars(self):
        t = self.open_stacks()
        rows = [line for line in t.lines()[3:-2] if line]
        main = next(i for i, row in enumerate(rows) if row.startswith("main"))
        self.assertIn("many", rows[main + 1])
        # f_0, called by main, is wider than many is; and within many they are sorted.
        t.send(*["Down"] * main)
        self.wait_named(t, "main")
        t.send("Down")
        t.wait(lambda _: self.named(t)[3] != "main", "a callee")
        first = self.named(t)
        t.send("Right")
        t.wait(lambda _: self.named(t) != first, "the next callee")
        second = self.named(t)
        self.assertGreaterEqual(int(first[1]), int(second[1]))
        self.assertIn("many", (first[3], second[3]))
        t.send("Left")
        t.wait(lambda _: self.named(t) == first, "the former")
        t.send("Up")
        self.wait_named(t, "main")
        t.send("Enter")
        t.wait(lambda lines: lines[3].startswith("main"), "main at the top")
        t.press("/", shows="Search:")
        t.press("many", shows="Search: many")
        t.send("Enter")
        self.wait_named(t, "many")
        t.send("Enter")
        t.wait(lambda lines: lines[3].startswith("many"), "many at the top")
        for name in ("main", "all samples"):
            t.send("Backspace")
            t.wait(lambda lines, name=name: lines[3].startswith(name), name)
        t.press("Backspace", shows="Processes, ")
        t.wait(lambda lines: "PID" in lines[2], "the table")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_hostile(self):
        """No name moves another bar: each row of bars is drawn where its frames are."""
        for args in ((), ("--no-color",)):
            t = self.open_stacks(*args, columns=200, rows=50)
            t.press("/", shows="Search:")
            t.press("many", shows="Search: many")
            t.send("Enter")
            self.wait_named(t, "many")
            t.send("Enter")
            t.wait(lambda lines: lines[3].startswith(("many", "|many")), "many at the top")
            shown = set()
            t.send("Down")
            for _ in NAMES:
                t.wait(lambda _: self.named(t)[3] not in shown | {"many"}, "another callee")
                shown.add(self.named(t)[3])
                t.send("Right")
            self.assertEqual(len(shown), len(NAMES))
            self.assertTrue(any(name.startswith("esc.[2J.[1:1Hx") for name in shown), shown)
            self.assertTrue(any(name.startswith("bad...x") for name in shown), shown)
            self.assertTrue(any(name.startswith("rtl...abc...x") for name in shown), shown)
            self.assertEqual(t.lines()[3].strip("|").split()[0], "many")
            self.assertEqual(len(re.findall("work", t.lines()[5])), len(NAMES), t.text())
            t.click(2, 5)
            t.wait(lambda _: self.named(t)[3] == "work", "the bar below")
            t.click(2, 5)
            t.wait(lambda lines: lines[3].strip("|").startswith("work"), "work at the top")
            for columns, rows in ((10, 5), (1, 1), (80, 24)):
                t.resize(columns, rows)
                t.pump(0.2)
            t.send("Esc", "q")
            self.assertEqual(t.ended(), 0)

    def test_none(self):
        """Without samples it says what to do."""
        path = os.path.join(self.dir, "none.scap")
        e2e.run(e2e.SAKER, "-w", path, "--", "true")
        t = self.open("-r", path)
        t.press("S", shows="Record some: saker profile -w FILE")
        t.press("Esc", shows="PID")
        self.show_view(t, "How often each", shows="System Calls, ")
        t.wait(lambda lines: " rows" in lines[0], "the table")
        t.press("S", shows="stacks are those of a process")
        t.send("q")
        self.assertEqual(t.ended(), 0)

    def test_live(self):
        p = subprocess.Popen([os.path.join(self.dir, "burn15")])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        t = self.open(f"proc.pid={p.pid}")
        t.press("S", shows=f"Stacks of proc.pid={p.pid}: ")
        t.wait(lambda lines: any(line.startswith("main") for line in lines), "its functions")
        n = int(re.search(r": (\d+) samples", t.lines()[2]).group(1))
        t.wait(lambda lines: int(re.search(r": (\d+) samples", lines[2]).group(1)) > n, "more samples")
        t.send("Down")
        t.wait(lambda _: self.named(t)[3] != "all samples", "a frame")
        t.send("c")
        t.wait(lambda lines: int(re.search(r": (\d+) samples", lines[2]).group(1)) < n, "fewer")
        t.send("Esc")
        t.wait(lambda lines: "PID" in lines[2], "the table")
        t.send("q")
        self.assertEqual(t.ended(), 0)
        self.assertTrue(t.restored())

    def test_idle(self):
        p = subprocess.Popen(["sleep", "20"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        t = self.open(f"proc.pid={p.pid}")
        t.press("S", shows="No samples yet.")
        t.press("?", shows="Keys")
        t.press("Esc", shows="PID")
        t.send("q")
        self.assertEqual(t.ended(), 0)


if __name__ == "__main__":
    unittest.main()
