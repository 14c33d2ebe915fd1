#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests chisels that log events or list state. Their output is compared, as data, with that of the sysdig
chisel of the same name for the same captures; and with what programs of the test did."""

import collections
import datetime
import fcntl
import json
import os
import pty
import re
import shutil
import socket
import struct
import subprocess
import sys
import termios
import unittest

import saker_e2e as e2e

FOLDER = os.path.join(e2e.SOURCE, "chisels")
ACTIVITY = os.path.join(e2e.SOURCE, "tests/e2e/spies/activity.py")
# The chisels, with their arguments.
SPIES = {
    "around": ["out.scap", "evt.type=fsync"], "bottlenecks": [], "echo_fds": [], "fileslower": ["0"],
    "flame": [], "httplog": [], "list_login_shells": [], "lscontainers": [], "lsof": [],
    "memcachelog": [], "netlower": ["0"], "netstat": [], "proc_exec_time": [], "ps": [],
    "scallslower": ["0"], "shellshock_detect": [], "spectrogram": [], "spy_file": [],
    "spy_ip": ["127.0.0.1"], "spy_logs": [], "spy_port": ["80"], "spy_syslog": [], "spy_users": [],
    "stderr": [], "stdin": [], "stdout": [], "subsecoffset": [], "udp_extract": [],
}


def environment(home):
    return {**os.environ, "TZ": "UTC", "HOME": home, "SAKER_CHISEL_DIR": FOLDER}


def run(cwd, *args):
    return subprocess.run(["timeout", "-k", "2", "100", *args], capture_output=True, cwd=cwd,
                          env=environment(cwd), stdin=subprocess.DEVNULL)


def rows(test, cwd, capture, name, *args):
    """Returns the objects that a chisel prints with -j."""
    p = run(cwd, e2e.SAKER, "-j", "-r", capture, "-c", name, *args)
    test.assertEqual((p.returncode, p.stderr), (0, b""), f"{name} of {capture}")
    return [json.loads(line) for line in p.stdout.decode().splitlines()]


def live(test, cwd, name, args, *command):
    """Returns the same for a live command without output: then the objects are on standard error."""
    p = run(cwd, e2e.SAKER, "-j", "-c", name, *args, "--", *command)
    test.assertEqual((p.returncode, p.stdout), (0, b""), p.stderr)
    return [json.loads(line) for line in p.stderr.decode().splitlines() if line.startswith("{")]


def clock(ns, digits):
    second = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc)
    return f"{second:%H:%M:%S}." + f"{ns % 10**9:09d}"[:digits]


# ---- functions that make tuples from the output of sysdig's chisels, and of ours ----

def slow_judged(line):
    m = re.match(r"\S+ (\d\d:\S+) (.{12}) (.{8}) +(\d+) (.*)", line)
    return m and (m[1], m[2].strip()[:11], m[3].strip()[:7], int(m[4]), m[5])


# Calls that transfer bytes without a buffer, wait for the disk or reserve space: sysdig does not show them.
NOT_SYSDIGS = ("connect", "fsync", "fdatasync", "sync_file_range", "msync", "fallocate", "sendfile", "copy_file_range",
               "splice", "tee", "vmsplice", "ioctl")


def slow_ours(row):
    if row["evt.type"] in NOT_SYSDIGS:
        return None
    return (clock(row["time"], 3), row["proc.name"][:11], row["evt.type"][:7],
            row.get("evt.latency", 0) // 10**6, row.get("fd.name", ""))


def calls_judged(line):
    m = re.match(r"\S+ (\d\d:\S+) (.{23}) (.{20}) (.*)", line)
    if not m or m[4].strip() == "switch":
        return None  # not a call, though sysdig gives it a latency
    return m[1], m[2].strip()[:22], float(m[3]), m[4].strip()


def calls_ours(row):
    # A call whose enter was not captured: sysdig shows some without a duration, and not the others.
    if "evt.latency" not in row:
        return None
    return (clock(row["time"], 3), row["proc.name"][:22], row["evt.latency"] / 1e6, row["evt.type"])


def bottlenecks_judged(line):
    m = re.match(r"\d+\) (\d+)\.(\d+) (.*) \(\d+\) < (\S+) ", line)
    return m and (int(m[1] + m[2]), m[3], m[4])


def bottlenecks_ours(row):
    return row["evt.latency"], row["proc.name"], row["evt.type"]


def users_judged(line):
    m = re.match(r" *(\d+) (\S+) (\S+)\) (.*)", line)
    return m and (int(m[1]), m[2], m[3].replace("<NA>", ""), m[4].strip())


def users_ours(row):
    return (row["proc.loginshellid"], clock(row["time"], 0)[:-1], row.get("user.name", ""),
            row["command"])


def file_judged(line):
    m = re.match(r"(\d\d:\S+) (.*)\((\d+)\) ([RW]) (\S+) (.*)", line)
    if not m or m[6].startswith("/dev/"):
        return None
    return m[1], m[2], int(m[3]), m[4], m[6].strip()


def file_ours(row):
    return (clock(row["time"], 9), row["proc.name"], row["proc.pid"], row["evt.io_dir"][0].upper(),
            row["fd.name"])


def io_judged(line):
    m = re.match(r"------ (Read|Write) \S+ (?:from|to) +(.*) \((.*)\)$", line)
    return m and (m[1].lower(), m[2].strip(), m[3])


def io_ours(row):
    return row["evt.io_dir"], row["fd.name"], row["proc.name"]


def short_io_judged(line):
    # sysdig shows writev as a read: only their number is compared.
    return re.fullmatch(r"------ (Read|Write) \S+", line) and "moved"


def http_judged(line):
    m = re.match(r"\S+ (\S+) ([<>]) method=(\S+) url=(\S+) response_code=(\d+) latency=(\d+)ms", line)
    return m and (m[1], {"<": "server", ">": "client"}[m[2]], m[3], m[4], int(m[5]), int(m[6]))


def http_ours(row):
    return (clock(row["time"], 9), row["side"], row["method"], row["url"], row["status"],
            row["latency"] // 10**6)


def lsof_judged(line):
    m = re.match(r"(\S+) +(\d+) +\d+ +(\S+) +(\d+) +(\S+) +(.*)", line)
    return m and m[1] != "COMMAND" and (int(m[2]), int(m[4]), m[5], m[6].strip())


def lsof_ours(row):
    return row["proc.pid"], row["fd.num"], row.get("fd.type", "<NA>"), row.get("fd.name", "")


def ps_judged(line):
    words = line.split()
    if words[0] != words[1]:  # the head, or another thread
        return None
    return int(words[1]), words[2][:11], " ".join(words[6:])


def ps_ours(row):
    return row["proc.pid"], row.get("user.name", "<NA>")[:11], row["proc.name"]


def net_judged(line):
    words = line.split()
    if words[0] not in ("tcp", "udp") or words[1].count(":") > 1:
        return None  # sysdig cuts IPv6 addresses
    ends = [words[1]] if words[2] == "0.0.0.0:*" else sorted(words[1:3])
    return words[0], tuple(ends), int(words[-1].split("/")[1])


def net_ours(row):
    if row["local"].startswith("["):
        return None
    ends = [row["local"]] if row["peer"] == "*" else sorted((row["local"], row["peer"]))
    return row["fd.l4proto"], tuple(ends), row["proc.pid"]


def containers_judged(line):
    words = line.split()
    return len(words) == 4 and words[0][0].isalpha() and "." not in words[0] and words[3]


def shells_judged(line):
    return line.isdigit() and int(line)


def logs_judged(line):
    return tuple(line.split()[:2]) or None


# By chisel: its arguments, both functions, and whether sysdig repeats entries.
ROWS = {
    "fileslower": (["0"], slow_judged, slow_ours, False),
    "netlower": (["0"], slow_judged, slow_ours, False),
    "scallslower": (["0"], calls_judged, calls_ours, False),
    "bottlenecks": ([], bottlenecks_judged, bottlenecks_ours, False),
    "spy_users": ([], users_judged, users_ours, False),
    "spy_file": ([], file_judged, file_ours, False),
    "echo_fds": ([], io_judged, io_ours, False),
    "spy_port": (["80"], short_io_judged, lambda row: "moved", False),
    "spy_ip": (["172.18.0.1"], short_io_judged, lambda row: "moved", False),
    "httplog": ([], http_judged, http_ours, False),
    "lsof": ([], lsof_judged, lsof_ours, True),
    "ps": ([], ps_judged, ps_ours, False),
    "netstat": ([], net_judged, net_ours, True),
    "lscontainers": ([], containers_judged, lambda row: row["id"], False),
    "list_login_shells": ([], shells_judged, lambda row: row["proc.loginshellid"], True),
    "spy_logs": ([], logs_judged, lambda row: (row["proc.name"], row["fd.name"]), False),
}


class Judged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("sysdig"):
            e2e.skip_test("sysdig is not installed: scripts/setup --tests")
        cls.captures = e2e.captures_of_others()
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def sysdig(self, capture, name, *args):
        p = run(self.dir, "sysdig", "-r", capture, "-c", name, *args)
        self.assertEqual(p.returncode, 0, p.stderr)
        text = p.stdout.decode(errors="replace")
        for thread, process in set(e2e.thread_names(capture).values()):
            text = re.sub(rf"\b{re.escape(thread)}\b", process, text)
        return re.sub(r"\x1b\[\d*m", "", text)

    def test_same_rows(self):
        n_compared = collections.Counter()
        for name, (args, judged, ours, repeats) in ROWS.items():
            for capture in self.captures:
                if name == "echo_fds":
                    capture = e2e.without_lone_exits(capture, self.dir)
                lines = self.sysdig(capture, name, *args).splitlines()
                a = collections.Counter(t for line in lines if line.strip() and (t := judged(line)))
                b = collections.Counter(t for row in rows(self, self.dir, capture, name, *args)
                                        if (t := ours(row)))
                if repeats:
                    a, b = set(a), set(b)
                if name == "bottlenecks":  # open calls take the places of faster ones
                    slowest = min(b, default=(0,))[0]
                    a, b = {t for t in a if t[0] > slowest}, set(a) & set(b)
                    b = {t for t in b if t[0] > slowest}
                self.assertEqual(a, b, f"{name} of {capture}")
                n_compared[name] += len(a)
        for name in ROWS if e2e.SHARED else ("echo_fds", "scallslower", "bottlenecks", "lsof", "ps"):
            self.assertGreater(n_compared[name], 0, name)

    def test_same_moments(self):
        """With a filter on the command line, at the first event that matches."""
        n_changed = 0
        for name in ("lsof", "ps", "netstat"):
            _, judged, ours, _ = ROWS[name]
            for capture in self.captures:
                numbers = e2e.run(e2e.SAKER, "-r", capture, "-p", "%evt.num").split()
                words = ["fd.num>=0", f"evt.num={numbers[len(numbers) * 3 // 4]}"]
                a = {t for line in self.sysdig(capture, name, *words).splitlines()
                     if line.strip() and (t := judged(line))}
                b = {t for row in rows(self, self.dir, capture, name, "filter=" + words[0], words[1]) if (t := ours(row))}
                self.assertEqual(a, b, f"{name} of {capture}: {words}")
                at_start = {t for row in rows(self, self.dir, capture, name, "fd.num>=0")
                            if (t := ours(row))}
                n_changed += a != at_start
                self.assertEqual(rows(self, self.dir, capture, name, words[1]),
                                 rows(self, self.dir, capture, name, "filter=", words[1]), name)
        self.assertGreater(n_changed, 3 if e2e.SHARED else 0)

    def test_containers(self):
        capture = e2e.shared_capture("container_run_as_user_0.scap")
        # The first events have its name.
        for words, name in ((), "697956520d89"), (["filter=fd.num>=0", "evt.num>1000"], "hopeful_taussig"):
            p = run(self.dir, e2e.SAKER, "-pc", "-j", "-r", capture, "-c", "ps", *words)
            names = {r["proc.pid"]: r["container.name"] for r in map(json.loads, p.stdout.splitlines())}
            self.assertEqual((names[1], names[25754]), ("host", name))
        p = run(self.dir, e2e.SAKER, "-pc", "-r", capture, "-c", "spy_users")
        self.assertRegex(p.stdout.decode(), r"CONTAINER.*\n.* hopeful_taussig  root ")

    def test_same_text(self):
        for name in ("stdin", "stdout", "stderr"):
            for capture in self.captures:
                capture = e2e.without_lone_exits(capture, self.dir)
                judged = self.sysdig(capture, name)
                ours = "".join(row["data"] for row in rows(self, self.dir, capture, name))
                self.assertEqual(re.sub(r"\s", "", judged), re.sub(r"\s", "", ours), (name, capture))

    def test_same_excerpts(self):
        capture = e2e.shared_capture("container_run_as_user_0.scap")
        for name, words in (("around", ["proc.name=ls and evt.type=getdents"]), ("spy_logs", [])):
            events = []
            for tool in ("sysdig", e2e.SAKER):
                out = os.path.join(self.dir, f"{name}-{os.path.basename(tool)}.scap")
                p = run(self.dir, tool, "-r", capture, "-c", name, f"{out} 5", *words)
                self.assertEqual(p.returncode, 0, p.stderr)
                events.append(e2e.run("sysdig", "-r", out, "-p", "%evt.rawtime %thread.tid %evt.type"))
            self.assertGreater(len(events[0].splitlines()), 40)
            self.assertEqual(*events, name)


class Replay(unittest.TestCase):
    """Chisels over a generated capture, which is the same in each run."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "5000")

    def count(self, text):
        return len(e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.num", text).splitlines())

    def test_heat_maps_have_each_call(self):
        for name, text in (("spectrogram", "evt.latency>0"),
                           ("subsecoffset", "syscall.type exists and evt.dir=<")):
            for period in ("1", "500"):
                shown = rows(self, self.dir, self.capture, name, period)
                counts = [cell["count"] for row in shown for cell in row["cells"]]
                self.assertEqual(sum(counts), self.count(text), name)

    def test_spectrogram_cells(self):
        cells = [c for row in rows(self, self.dir, self.capture, "spectrogram") for c in row["cells"]]
        for cell in cells:
            bounds = f"evt.latency>={cell['from']} and evt.latency<={cell.get('to', 10**18)}"
            self.assertLessEqual(cell["count"], self.count(bounds))

    def test_flame_accounts_for_all_time(self):
        """The time of each thread is that from its first event to its last one, or to the end of the capture."""
        fields = "%thread.tid %evt.rawtime %evt.dir %evt.latency %evt.type"
        first, end = {}, 0
        for line in e2e.run(e2e.SAKER, "-r", self.capture, "-p", fields,
                            "syscall.type exists and evt.dir in (<, >)").splitlines():
            tid, time, way, latency, _ = line.split()
            known = int(latency) if way == "<" and latency != "<NA>" else 0
            first.setdefault(tid, int(time) - known)
        end = int(e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.rawtime").split()[-1])
        expected = {f"thread {tid}": end - time for tid, time in first.items() if time < end}
        spent = collections.Counter()
        for row in rows(self, self.dir, self.capture, "flame", "thread,call,file"):
            spent[row["stack"][0]] += row["ns"]
        self.assertEqual(spent, expected)

    def test_tops_are_the_slowest(self):
        def numbers(text):
            return [int(line) for line in text.splitlines() if line.isdigit()]
        all_calls = numbers(e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.latency",
                                    "syscall.type exists and evt.latency>0"))
        shown = rows(self, self.dir, self.capture, "bottlenecks", "25")
        self.assertEqual([r["evt.latency"] for r in shown], sorted(all_calls, reverse=True)[:25])

    def test_thresholds(self):
        for name in ("fileslower", "scallslower"):
            shown = rows(self, self.dir, self.capture, name, "0")
            slowest = max(r["evt.latency"] for r in shown)
            some = rows(self, self.dir, self.capture, name, f"{slowest / 2e6:f}")
            self.assertEqual(some, [r for r in shown if r["evt.latency"] >= int(slowest / 2)])
            self.assertEqual(rows(self, self.dir, self.capture, name, "1000000"), [])

    def on_terminal(self, *args, columns=0):
        """Returns the output on a terminal of this width."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen(["timeout", "-k", "2", "100", e2e.SAKER, "-r", self.capture, *args],
                             stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=self.dir,
                             env=environment(self.dir))
        os.close(theirs)
        out = e2e.read_terminal(ours)
        self.assertEqual(p.wait(), 0, out[-500:])
        return out

    def test_narrow_terminals(self):
        for columns in (36, 40, 60, 80):
            out = self.on_terminal("-c", "spectrogram", columns=columns).decode()
            scale = re.findall(r"\|100ns.*", out)[-1].split()
            marks = "".join(scale).split("|")[1:]
            self.assertLessEqual(set(marks), {"100ns", "1us", "10us", "100us", "1ms", "10ms", "100ms", "1s", "10s"})
        for line in self.on_terminal("-c", "ps", columns=80).decode().splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_colors(self):
        self.assertIn(b"\x1b[31m------ ", self.on_terminal("-c", "echo_fds"))
        plain = self.on_terminal("-c", "echo_fds", "disable_colors")
        self.assertGreater(len(plain), 100000)
        self.assertNotIn(b"\x1b", plain)
        self.assertIn(b"\x1b[48;5;", self.on_terminal("-c", "spectrogram"))
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "echo_fds")
        self.assertNotIn(b"\x1b", p.stdout)


@unittest.skipIf(os.geteuid() != 0, "a live capture needs root")
@unittest.skipIf(not os.path.exists("/sys/kernel/btf/vmlinux"), "this kernel has no BTF")
class Activity(unittest.TestCase):
    """Chisels over a capture of a program that does what they show."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.capture = os.path.join(cls.dir, "in.scap")
        # httplog needs this many bytes of buffers live; udp_extract needs more.
        p = run(cls.dir, e2e.SAKER, "-s", "20000", "-w", cls.capture, "--", sys.executable, ACTIVITY)
        if p.returncode:
            raise AssertionError(p.stderr.decode(errors="replace"))
        with open(os.path.join(cls.dir, "facts.json")) as f:
            cls.facts = json.load(f)
        cls.pid = cls.facts["pid"]

    def rows(self, name, *args):
        return rows(self, self.dir, self.capture, name, *args)

    def check_web(self, shown):
        port = self.facts["port"]
        own = f"127.0.0.1:{port}"
        expected = [("GET", f"{own}/first", 200), ("GET", f"{own}/missing", 404),
                    ("HEAD", f"{own}/head", 200), ("POST", f"{own}/post", 500),
                    ("GET", f"{own}/last", 200), ("GET", "in.pieces/split", 200), ("GET", "h/one", 200),
                    ("GET", "h/two/missing", 404)]
        for side in ("server", "client"):
            seen = [(r["method"], r["url"], r["status"]) for r in shown
                    if r["side"] == side and "status" in r]
            self.assertEqual(seen, expected, side)
        for row in shown:
            self.assertEqual(row["pid"], self.pid)
            if row["side"] == "client" and "status" in row:
                self.assertEqual(row["peer"], own)
                self.assertGreater(row["latency"], 0)
        silent = [r for r in shown if "status" not in r]
        self.assertEqual(sorted(r["side"] for r in silent), ["client", "server"])
        for row in silent:
            self.assertTrue(row["url"].startswith("h/silent."), row)
            self.assertNotIn("latency", row)

    def test_httplog(self):
        self.check_web(self.rows("httplog"))

    def test_httplog_live(self):
        home = os.path.join(self.dir, "live")
        os.mkdir(home)
        shown = live(self, home, "httplog", [], sys.executable, ACTIVITY)
        with open(os.path.join(home, "facts.json")) as f:
            facts = json.load(f)
        kept, self.facts, self.pid = self.facts, facts, facts["pid"]
        self.check_web(shown)
        self.facts, self.pid = kept, kept["pid"]

    def test_memcachelog(self):
        seen = [(r["side"], r["method"], r["answer"], r.get("size")) for r in self.rows("memcachelog")]
        for side in ("client", "server"):
            self.assertEqual([s[1:] for s in seen if s[0] == side],
                             [("get", "miss", None), ("set", "STORED", 5), ("get", "hit", 5),
                              ("delete", "NOT_FOUND", None)])
        self.assertEqual({r["method"] for r in self.rows("memcachelog", "set")}, {"set"})
        self.assertEqual({r["answer"] for r in self.rows("memcachelog", "get 5")}, {"hit"})

    def test_udp_extract(self):
        flows = self.rows("udp_extract")
        sent = [f for f in flows if f["direction"] == "sent" and f["connection"] == self.facts["udp"]]
        self.assertEqual([f["datagrams"] for f in sent], [3])
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "udp_extract", str(sent[0]["flow"]))
        self.assertEqual(p.stdout, b"one\x1b]0;owned\x07\x1b[31m\x9b1m\xc2\x9b2m" + b"z" * 3000)
        folder = os.path.join(self.dir, "flows")
        os.mkdir(folder)
        words = ["-r", self.capture, "-c", "udp_extract", f"0 {folder}"]
        refused = run(self.dir, e2e.SAKER, *words)
        self.assertEqual((refused.returncode, os.listdir(folder)), (1, []))
        self.assertIn(b"--chisel-unsafe", refused.stderr)
        self.assertEqual(run(self.dir, e2e.SAKER, "--chisel-unsafe", *words).returncode, 0)
        sizes = {os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)}
        self.assertIn(len(p.stdout), sizes)

    def test_fileslower(self):
        name = os.path.join(self.dir, "slow.txt")
        seen = [(r["evt.type"], r["result"]) for r in self.rows("fileslower", "0", f"fd.name={name}")]
        self.assertEqual(seen, [("write", 10000), ("fsync", 0)])

    def test_fileslower_live(self):
        home = os.path.join(self.dir, "slow")
        os.mkdir(home)
        shown = live(self, home, "fileslower", ["0"], "dd", "if=/dev/zero", "of=out", "bs=1000",
                     "count=3", "conv=fsync", "status=none")
        seen = [(r["proc.name"], r["evt.type"], r["result"]) for r in shown
                if r.get("fd.name") == os.path.join(home, "out")]
        self.assertEqual(seen, [("dd", "write", 1000)] * 3 + [("dd", "fsync", 0)])
        for row in shown:
            self.assertNotEqual(row.get("evt.latency"), 0, row)

    def check_users(self, shown):
        depth = {r["command"]: r["depth"] for r in shown}
        shell = "sh -c ls /etc/hostname /etc/spies-a; ls /etc/spies-b"
        self.assertIn("cd /usr", depth)
        self.assertEqual(depth["ls /etc/hostname /etc/spies-a"], depth[shell] + 1)
        self.assertEqual({r["proc.loginshellid"] for r in shown if r["command"].startswith("ls ")},
                         {r["proc.loginshellid"] for r in shown if r["command"] == shell})

    def test_spy_users(self):
        self.check_users(self.rows("spy_users"))
        lines = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "spy_users").stdout.splitlines()
        columns = {m.end() for line in lines if (m := re.search(rb"  (?=ls /etc/)", line))}
        self.assertEqual(len(columns), 1, lines)
        # The login shell's own commands have depth 0; possibly no shell is above that of the program.
        least = min(r["depth"] for r in self.rows("spy_users") if r["depth"])
        self.assertEqual({r["depth"] for r in self.rows("spy_users", str(least)) if r["depth"]}, {least})

    def test_spy_users_live(self):
        shown = live(self, self.dir, "spy_users", [], "bash", "-c",
                     "cd /usr; sh -c 'ls /etc/hostname /etc/spies-a >/dev/null 2>&1; "
                     "ls /etc/spies-b 2>/dev/null'; exit 0")
        depth = {r["command"]: r["depth"] for r in shown}
        self.assertIn("cd /usr", depth)
        outer = [d for c, d in depth.items() if c.startswith("sh -c ls")]
        self.assertEqual(depth["ls /etc/hostname /etc/spies-a"], outer[0] + 1)

    def test_list_login_shells(self):
        shells = self.rows("list_login_shells", "ls")
        self.assertEqual(len(shells), 1)
        self.assertGreaterEqual(shells[0]["commands"], 4)
        self.assertEqual(self.rows("list_login_shells", "ls /nowhere"), [])

    def test_proc_exec_time(self):
        status = {r["proc.exeline"]: r["status"] for r in self.rows("proc_exec_time")}
        self.assertEqual(status["ls /etc/hostname /etc/spies-a"], "exit 2")
        self.assertEqual([s for c, s in status.items() if c.startswith("bash -c cd /usr")], ["exit 7"])

    def test_logs(self):
        (message,) = [r for r in self.rows("spy_syslog") if r["proc.pid"] == self.pid]
        self.assertEqual((message["syslog.facility.str"], message["syslog.severity.str"]),
                         ("daemon", "err"))
        self.assertTrue(message["syslog.message"].startswith("spies: it failed"))
        name = os.path.join(self.dir, "app.log")
        seen = [r["line"] for r in self.rows("spy_logs", f"fd.name={name}")]
        self.assertEqual(seen, ["all is well", "ERROR: it is not"])

    def test_streams(self):
        for name, text in (("stdin", "asked"), ("stdout", "said"), ("stderr", "/etc/spies-b")):
            self.assertIn(text, "".join(r["data"] for r in self.rows(name)), name)

    def test_shellshock(self):
        seen = [r["variable"] for r in self.rows("shellshock_detect")]
        self.assertEqual(seen, ["ATTACK=() { :;}; echo shock"])

    def test_around(self):
        out = os.path.join(self.dir, "around.scap")
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "around", f"{out} 10000", "evt.type=fsync")
        self.assertEqual(p.returncode, 0, p.stderr)
        tids = set(e2e.run(e2e.SAKER, "-r", out, "-p", "%thread.tid").split())
        self.assertEqual(tids, {str(self.pid)})
        for source in ([], ["-r", "-"]):  # live, and a capture that cannot be read twice
            p = run(self.dir, e2e.SAKER, *source, "-c", "around", f"{out} 10", "evt.type=fsync")
            self.assertEqual(p.returncode, 1)
            self.assertIn(b"-r", p.stderr)
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "around", "evt.type=fsync")
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"evt.type=fsync is a filter", p.stderr)

    def test_state(self):
        """The list has what /proc has for this process, which sleeps."""
        with open(os.path.join(self.dir, "kept"), "w") as kept:
            p = run(self.dir, e2e.SAKER, "-j", "-c", "lsof", f"proc.pid={os.getpid()}")
            self.assertEqual(p.returncode, 0, p.stderr)
            files = {r["fd.num"]: r["fd.name"] for r in map(json.loads, p.stdout.decode().splitlines())}
            self.assertEqual(files.get(kept.fileno()), kept.name)
        p = run(self.dir, e2e.SAKER, "-j", "-c", "ps")
        processes = {r["proc.pid"]: r for r in map(json.loads, p.stdout.decode().splitlines())}
        own = processes[os.getpid()]
        with open("/proc/self/status") as f:
            status = dict(line.split(":\t", 1) for line in f.read().splitlines() if ":\t" in line)
        self.assertEqual((own["proc.ppid"], own["proc.name"], own["proc.nthreads"]),
                         (os.getppid(), status["Name"], int(status["Threads"])))
        self.assertGreater(own["res"], 1 << 20)

    def test_netstat(self):
        listener = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
        at, other = ("%s:%d" % s.getsockname() for s in (listener, client))
        p = run(self.dir, e2e.SAKER, "-j", "-c", "netstat", f"proc.pid={os.getpid()}")
        self.assertEqual(p.returncode, 0, p.stderr)
        seen = {(r["local"], r["peer"], r.get("state")) for r in
                map(json.loads, p.stdout.decode().splitlines())}
        self.assertEqual(seen & {(at, "*", "LISTEN"), (other, at, "ESTABLISHED"),
                                 (at, other, "ESTABLISHED")}, {
            (at, "*", "LISTEN"), (other, at, "ESTABLISHED"), (at, other, "ESTABLISHED")})
        server.close()
        client.close()
        listener.close()

    def test_hostile_bytes(self):
        for name, args in SPIES.items():
            home = os.path.join(self.dir, "hostile-" + name)
            os.mkdir(home)
            for more in ([], ["-j"]):
                p = run(home, e2e.SAKER, *more, "-r", self.capture, "-c", name, *args)
                self.assertEqual((p.returncode, p.stderr), (0, b""), name)
                text = p.stdout.decode()  # UTF-8
                self.assertNotRegex(text, "[\0-\x08\x0b-\x1f\x7f-\x9f]", (name, more))
                for line in text.splitlines() if more else []:
                    json.loads(line)


if __name__ == "__main__":
    unittest.main()
