#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker top: its tables are those of csysdig, and views are data."""

import collections
import fcntl
import glob
import json
import os
import re
import struct
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

# Why cells differ from csysdig's: docs/top.md.
ANY_CELLS = {
    ("connections", "LIP"), ("connections", "RIP"),  # csysdig prints IPv4 addresses as IPv6
    ("containers", "PROCS"), ("containers", "THREADS"),  # averages of whole numbers are sums in csysdig's JSON
    ("syscall_procs", "CALLS/S"), ("syscall_procs", "TIME"),  # csysdig counts events that are no system calls
    ("procs_cpu", "USER"), ("procs_cpu", "SYS"),  # csysdig's sums of averages depend on the order of rows
}
# The most that a process had: csysdig uses the memory in calls by the main thread only.
AT_LEAST = {("procs", "VIRT"), ("procs", "RES")}
SYSCALL_VIEWS = ("syscalls", "syscall_procs")  # csysdig has rows of events that are no system calls
# csysdig has an event more of a thread that ended with the last event of a file.
SIMILAR = {"OPS", "IOPS", "SYSCALLS"}
OTHER_TOOLS = ("kubernetes", "marathon", "mesos")


# A server, and its client.
SERVED = """
import http.server, threading, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_error(404)
    def log_message(self, *args): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
for i in range(20):
    try: urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/item/{i}")
    except OSError: pass
"""


# A client that closes before the server has answered.
UNANSWERED = """
import socket
with socket.create_server(("127.0.0.1", 0)) as s, socket.create_connection(s.getsockname()) as c:
    at = s.accept()[0]
    c.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    at.recv(1000)
    c.close()
"""


def top(*args, status=0):
    return e2e.run("timeout", "15", e2e.SAKER, "top", *args, status=status)


FLOCK = 73 # number of the call


def slices(text):
    return [s for s in json.loads(text)["slices"] if "info" in s]


def views():
    return [line.split()[:2] for line in top("--list-views").splitlines()]


def rows(piece):
    return {r["k"]: r["d"] for r in piece.get("data", [])}


def differences(view, theirs, ours):
    """Returns what differs although docs/top.md has no reason for it."""
    a, b = rows(theirs), rows(ours)
    names = [c["name"] for c in theirs["info"]["legend"]]
    found = sorted(set(b) - set(a) if view in SYSCALL_VIEWS else set(a) ^ set(b))
    for key in set(a) & set(b):
        for name, x, y in zip(names, a[key], b[key]):
            if isinstance(x, str):
                x = re.sub(r"[\x01-\x1f\x7f]", ".", x)  # as in every text of saker
            is_named = name == "Command" and x == " " and re.fullmatch(r"\[.+\]", str(y))  # a kernel thread
            if x == y or is_named or (view, name) in ANY_CELLS or ((view, name) in AT_LEAST and x < y):
                continue
            near = isinstance(x, (int, float)) and isinstance(y, (int, float)) and (
                abs(x - y) <= (max(2, 0.02 * abs(x)) if name in SIMILAR else 1e-9 * max(1, abs(x))))
            if not near:
                found.append((key, name, x, y))
    return found


def born_late(path):
    """The processes whose parent's fork returns after their end: csysdig makes them anew, as copies of their parents."""
    ended, late = set(), set()
    for line in e2e.run(e2e.SAKER, "-r", path, "-p", "*%evt.type %thread.tid %evt.rawres", "evt.type=procexit or evt.type in "
                        "(clone, clone3, fork, vfork) and evt.rawres>0").splitlines():
        kind, tid, child = line.split()
        if kind == "procexit":
            ended.add(tid)
        elif child in ended:
            late.add(child)
    return late


def info_of(piece):
    """The description of a view, without fields of orchestrators that saker has not. saker's captures
    have accept4 by that name."""
    info = json.loads(json.dumps(piece["info"]).replace("evt.type in (accept, accept4)", "evt.type=accept"))
    info.pop("appliesTo", None)
    return info


class Judged(unittest.TestCase):
    """csysdig and saker print the same."""

    def compare(self, path):
        wrong, late = [], born_late(path)
        for view, _ in views():
            if view.startswith(OTHER_TOOLS):
                continue
            theirs = subprocess.run(["timeout", "15", "csysdig", "-r", path, "-j", "-v", view],
                                    capture_output=True, text=True)
            if theirs.returncode or "not found" in theirs.stdout:
                continue  # it lacks the view, or cannot read the file
            theirs, ours = slices(theirs.stdout)[-1], slices(top("-r", path, "-j", "-v", view))[-1]
            if info_of(theirs) != info_of(ours):
                wrong.append((view, "info"))
            wrong += [(view, d) for d in differences(view, theirs, ours) if d[0] not in late]
        self.assertEqual(wrong[:5], [], path)

    def test_captures(self):
        e2e.need("csysdig")
        self.compare(next(p for p in e2e.captures() if p.endswith("/plain.scap")))

    def test_rows_and_sorting(self):
        path = e2e.captures()[0]
        every = slices(top("-r", path, "-j", "-v", "syscalls"))[0]
        some = slices(top("-r", path, "-j", "-v", "syscalls", "--from", "1", "--to", "2"))[0]
        self.assertEqual(some["data"], every["data"][1:3])
        self.assertEqual(some["count"], 2)
        by_name = slices(top("-r", path, "-j", "-v", "syscalls", "--sortingcol", "4"))[0]
        names = [r["d"][3] for r in by_name["data"]]
        self.assertEqual(names, sorted(names))


class Counts(unittest.TestCase):
    """Tables that people read count calls, not events, as csysdig's JSON does."""

    path = next(p for p in e2e.captures() if p.endswith("/plain.scap"))

    def lines(self, view):
        return top("-r", self.path, "-b", "-v", view).splitlines()[2:]

    def values(self, field, condition):
        return e2e.run(e2e.SAKER, "-r", self.path, "-p", "%" + field, condition).split()

    def test_calls(self):
        for call in "read", "write":
            returned = [int(ns) for ns in self.values("evt.latency", f"evt.type={call} and evt.dir=<")]
            rate, _, mean, _ = next(line.split() for line in self.lines("syscalls") if line.split()[3] == call)
            events = next(r["d"][0] for r in slices(top("-r", self.path, "-j", "-v", "syscalls"))[-1]["data"] if r["k"] == call)
            value, unit = re.fullmatch(r"([\d.]+)(ns|us|ms)", mean).groups()
            unit = {"ns": 1, "us": 1e3, "ms": 1e6}[unit]
            last_digit = unit / 10 ** len(value.partition(".")[2])
            # cut, as csysdig does: 14.9 us are shown as 14us
            self.assertAlmostEqual(float(value) * unit + last_digit / 2, sum(returned) / len(returned), delta=last_digit / 2 + 1)
            self.assertEqual(events, 2 * len(returned))  # as csysdig
            duration = float(top("-r", self.path, "-b", "-v", "syscalls").split(", ")[2].split()[0])
            self.assertAlmostEqual(float(rate) * duration, len(returned), delta=1)

    def test_cpus(self):
        """Threads without events are no events of CPU 0."""
        counts = collections.Counter(self.values("evt.cpu", "evt.num>0"))
        rows = slices(top("-r", self.path, "-j", "-v", "cpus"))[-1]["data"]
        self.assertEqual({r["k"]: r["d"][0] for r in rows}, counts)

    def test_list(self):
        """Calls when they return, and what never returns; no row of a thread."""
        types = collections.Counter(self.values("evt.type", "evt.type!=switch and (evt.dir=< or evt.type in (exit, exit_group) "
                                                "or not syscall.type exists)"))
        rows = slices(top("-r", self.path, "-j", "-v", "events"))[-1]["data"]
        self.assertEqual(collections.Counter(r["d"][4] for r in rows), types)
        self.assertLess({"procexit": 0, "exit_group": 0}.keys(), types.keys())

    def test_opens(self):
        """Opens of every kind, and none that failed."""
        opened = len(self.values("evt.num", "evt.type in (open, openat, openat2, creat) and evt.dir=< and "
                                 "fd.type in (file, directory) and evt.failed=false"))
        self.assertGreater(opened, 100)
        for view in "files", "directories":
            self.assertEqual(sum(int(line.split()[3]) for line in self.lines(view)), opened, view)


class Views(unittest.TestCase):
    """Views are files."""

    def test_own_view(self):
        folder = e2e.own_dir(self)
        with open(os.path.join(folder, "mine.lua"), "w", encoding="utf-8") as f:
            f.write("view_info = {id = 'mine', name = 'Mine', view_type = 'table', columns = {\n"
                    "  {field = 'evt.type', is_key = true},\n"
                    "  {name = 'N', field = 'evt.count', aggregation = 'SUM'}}}\n")
        out = e2e.run(e2e.SAKER, "top", "-r", e2e.captures()[0], "-j", "-v", "mine",
                      env=dict(os.environ, SAKER_CHISEL_DIR=folder))
        self.assertGreater(slices(out)[0]["count"], 1)

    def test_targets(self):
        """A drill-down needs no view of sysdig, which may not be installed."""
        folder = os.path.join(e2e.SOURCE, "chisels/views")
        built_in = {name.removesuffix(".lua") for name in os.listdir(folder)}
        for view in sorted(built_in):
            text = e2e.read_text(os.path.join(folder, view + ".lua"))
            self.assertIn(f'id = "{view}"', text)
            self.assertLessEqual(set(re.findall('drilldown_target = "([^"]+)"', text)), built_in, view)

    def test_built_in_views(self):
        """Each runs over a capture with requests and slices, and has rows if that has such events."""
        path = os.path.join(e2e.own_dir(self), "made.scap")
        e2e.need_live()
        e2e.run("timeout", "15", e2e.SAKER, "-q", "-w", path, "--requests", "--slices", "--", sys.executable, "-I", "-c", SERVED)
        found = set()
        for file in glob.glob(os.path.join(e2e.SOURCE, "chisels/views/*.lua")):
            view = os.path.basename(file).removesuffix(".lua")
            if slices(top("-r", path, "-j", "-v", view))[0]["count"]:
                found.add(view)
        self.assertLessEqual({"services", "requests", "requests_list", "edges", "waits", "waiters", "runqueue", "cpus",
                              "events", "users", "backlog", "incoming_connections"}, found)
        rows = slices(top("-r", path, "-j", "-v", "requests"))[0]["data"]
        self.assertEqual([r["d"][1:3] for r in rows if r["k"].endswith(" GET /item/*")], [[20, 20]])  # all failed

    def test_unknown(self):
        """A request without an answer has no status, which is not 0."""
        path = os.path.join(e2e.own_dir(self), "made.scap")
        e2e.need_live()
        e2e.run("timeout", "15", e2e.SAKER, "-q", "-w", path, "--requests", "--", sys.executable, "-I", "-c", UNANSWERED)
        rows = slices(top("-r", path, "-j", "-v", "requests_list"))[0]["data"]
        self.assertEqual({tuple(r["d"][5:7]) for r in rows if r["d"][2] == "client"}, {(None, "unanswered")})

    def test_live_requests(self):
        """The kernel records what requests are made from."""
        e2e.need_live()
        server = subprocess.Popen([sys.executable, "-I", "-c", SERVED.replace("range(20)", "iter(int, 1)")])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        out = top("-j", "-n", "1", "-d", "1", "-v", "services", f"proc.pid={server.pid}")
        self.assertGreater(slices(out)[0]["data"][0]["d"][1], 0)

    def test_live_waits(self):
        """A wait that goes on has a row in each table, and its time grows."""
        e2e.need_live()
        path = os.path.join(e2e.own_dir(self), "locked")
        with open(path, "w", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            waiter = subprocess.Popen(["flock", path, "true"])
            self.addCleanup(waiter.wait)
            self.addCleanup(waiter.kill)
            e2e.wait_until(lambda: e2e.in_call(waiter.pid, FLOCK), "flock waits")
            out = top("-j", "-n", "2", "-d", "1", "-v", "waiting", f"proc.pid={waiter.pid}")
        first, second = (rows["data"] for rows in slices(out))
        self.assertEqual([(r["d"][1], *r["d"][4:]) for r in second], [(waiter.pid, "lock", "flock", "", None, path)])
        self.assertGreater(second[0]["d"][0], first[0]["d"][0])

    def test_live_holder(self):
        """Who holds the mutex for which a thread waits now."""
        e2e.need_live()
        program = e2e.compile_program("held", e2e.own_dir(self))
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
            holder, waiter = map(int, p.stdout.readline().split())
            out = top("-j", "-n", "2", "-d", "1", "-v", "waiting", f"proc.pid={p.pid}")
            p.stdin.close()
        rows = {r["k"]: r["d"] for r in slices(out)[-1]["data"]}
        self.assertEqual(rows[str(waiter)][4:8], ["lock", "futex", "holder", holder])
        self.assertEqual(rows[str(holder)][4:6], ["pipe", "read"])

    def test_wrong_view(self):
        folder = e2e.own_dir(self)
        path = os.path.join(folder, "bad.lua")
        with open(path, "w", encoding="utf-8") as f:
            f.write("view_info = {id = 'bad', name = 'Bad', view_type = 'table', columns = {\n"
                    "  {name = 'N', field = 'evt.nothing', is_key = true}}}\n")
        p = subprocess.run([e2e.SAKER, "top", "-r", e2e.captures()[0], "-b", "-v", "bad"], text=True,
                           capture_output=True, env=dict(os.environ, SAKER_CHISEL_DIR=folder), timeout=15)
        self.assertEqual(p.returncode, 1)
        self.assertIn("evt.nothing", p.stderr)

    def test_messages(self):
        path = e2e.captures()[0]
        for args, text in ((("-r", path), "-b"), (("-b", "-r", path, "-v", "nothing"), "--list-views"),
                           (("-b", "-r", path, "no.field=1"), "no.field; see saker -l\n  no.field=1\n  ^\n"),
                           (("-b", "-r", path, "proc.name=x) or (proc.name=y"), "unmatched )"),
                           (("-b", "-r", path, "-r", path), "only one capture file"),
                           (("-b", "-r", path, "--sortingcol", "99"), "column 99"),
                           (("-b", "-r", path, "--sortingcol", "0"), "above 0"),
                           (("-b", "-r", path, "--from", "14:30"), "--from needs a number, not '14:30': First row"),
                           (("-b", "-r", path, "--from", "3", "--to", "1"), "--from 3 is behind --to 1"),
                           (("-r", path, "--sortingcol", "99"), "column 99")):
            p = subprocess.run([e2e.SAKER, "top", *args], text=True, capture_output=True, timeout=15)
            self.assertEqual((p.returncode, text in p.stderr), (1, True), p.stderr)


class Text(unittest.TestCase):
    """Tables as text."""

    def test_table(self):
        out = top("-b", "-r", e2e.captures()[0], "-v", "procs").splitlines()
        self.assertRegex(out[0], r"^Processes, \d\d:\d\d:\d\d, \d+\.\d{3} s, \d+ rows$")
        self.assertEqual(out[1].split(), "PID PPID CPU USER TH VIRT RES FILE NET Command".split())
        self.assertEqual(len(out) - 2, int(out[0].split()[-2]))

    def test_gap(self):
        """A file whose second half is 30 years later has no table for each second between."""
        source = next(p for p in e2e.captures() if p.endswith("/plain.scap"))
        path = os.path.join(e2e.own_dir(self), "gap.scap")
        data = bytearray(e2e.read_bytes(source))
        places = [at + e2e.EVENT_BLOCKS[kind] for kind, at, _ in e2e.blocks(data) if kind in e2e.EVENT_BLOCKS]
        for place in places[8000:]:
            ns, = struct.unpack_from("<Q", data, place)
            struct.pack_into("<Q", data, place, ns + 10**18)
        with open(path, "wb") as file:
            file.write(data)
        p = subprocess.run([e2e.SAKER, "top", "-b", "-d", "1", "-r", path, "-v", "files"], capture_output=True, text=True,
                           timeout=60, check=True)
        self.assertEqual(p.stderr.count("999999999 intervals without events are left out"), 1, p.stderr)
        self.assertLess(p.stdout.count("Files, "), 10)
        self.assertNotIn(", 0 rows", p.stdout.splitlines()[0])

    def test_live(self):
        e2e.need_live()
        out = top("-b", "-n", "2", "-d", "0.2", "-v", "syscalls")
        self.assertEqual(sum(line.startswith("System Calls, ") for line in out.splitlines()), 2)

    def test_live_json_is_valid(self):
        e2e.need_live()
        self.assertEqual(len(slices(top("-j", "-n", "2", "-d", "0.2", "-v", "files"))), 2)

    def test_unknown_is_not_zero(self):
        """A file without procinfo events has no CPU use; JSON has 0, as csysdig's."""
        e2e.need_live()
        path = e2e.made_captures()[0]
        lines = top("-b", "-r", path, "-v", "procs").splitlines()
        self.assertEqual({cells[2] for cells in map(str.split, lines[2:])}, {"-"})
        self.assertEqual({row["d"][2] for row in slices(top("-r", path, "-j", "-v", "procs"))[0]["data"]}, {0})


CPU_VIEW = """view_info = {id = 'cpu', name = 'Cpu', view_type = 'table', use_defaults = true, columns = {
  {name = 'NA', field = 'thread.tid', is_key = true},
  {name = 'TID', field = 'thread.tid'},
  {name = 'CPU', field = 'thread.cpu', aggregation = 'AVG'},
  {name = 'USER', field = 'thread.cpu.user', aggregation = 'AVG'},
  {name = 'SYS', field = 'thread.cpu.system', aggregation = 'AVG'}}}
"""
BURN = "import time\nwhile time.process_time() < {}: pass\n"
TICK = 0.01  # of /proc; USER and SYS are each rounded


def cpu_seconds(pid):
    times = e2e.proc_stat(pid)
    return (int(times[11]) + int(times[12])) * TICK


class Cpu(unittest.TestCase):
    """CPU use in a live capture is that of /proc. Under load a process may get any share of its CPU, so
    that sums of CPU time are compared, and the time that no table covers is the tolerance."""

    def setUp(self):
        e2e.need_live()
        self.env = dict(os.environ, SAKER_CHISEL_DIR=e2e.own_dir(self))
        e2e.write_text(os.path.join(self.env["SAKER_CHISEL_DIR"], "cpu.lua"), CPU_VIEW)

    def start(self, *args, **more):
        p = subprocess.Popen(args, text=True, stdout=subprocess.PIPE, **more)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.terminate)
        return p

    def burn(self, seconds):
        return self.start("taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "-I", "-c",
                          BURN.format(seconds))

    def tables(self, *args):
        """Yields length in seconds and rows by TID of each table."""
        p = self.start("timeout", "18", e2e.SAKER, "top", "-b", "-v", "cpu", *args, env=self.env)
        for title in p.stdout:
            if not title.startswith("Cpu, "):
                continue  # a blank line between tables
            words = title.split()
            p.stdout.readline()  # names of columns
            rows_of_table = [p.stdout.readline().split() for _ in range(int(words[4]))]
            yield float(words[2]), {int(r[0]): r[1:] for r in rows_of_table}

    def test_share(self):
        burner, idle = self.burn(1000), self.start("sleep", "1000")
        e2e.wait_until(lambda: cpu_seconds(burner.pid) > 0, "it burns")
        before, began = cpu_seconds(burner.pid), time.monotonic()
        tables = list(self.tables("-n", "3", "-d", "0.8", f"thread.tid in ({burner.pid}, {idle.pid})"))
        used, passed = cpu_seconds(burner.pid) - before, time.monotonic() - began
        self.assertEqual(len(tables), 3)
        seen = 0.0
        for length, found in tables:
            cpu, user, system = map(float, found[burner.pid])
            self.assertAlmostEqual(cpu, min(100, user + system), delta=0.02)
            seen += cpu / 100 * length
            self.assertEqual(float(found[idle.pid][0]), 0)
        not_covered = passed - sum(length for length, _ in tables)
        self.assertLess(seen, used + 3 * TICK)
        self.assertGreater(seen, max(0, used - not_covered - 3 * TICK))

    def test_ended_thread(self):
        """The time of a process that began and ended while tables were printed is that of its procexit event."""
        seen, burner, ended = 0.0, None, False
        for length, found in self.tables("-d", "1"):
            cells = found.get(burner.pid) if burner else None
            if cells and cells[0] != "-":
                seen += float(cells[0]) / 100 * length
            if ended:
                break
            burner = burner or self.burn(0.3)
            ended = burner.poll() is not None
        self.assertTrue(ended)
        self.assertAlmostEqual(seen, 0.3, delta=0.15)

    def test_json(self):
        out = e2e.run("timeout", "15", e2e.SAKER, "top", "-j", "-n", "1", "-d", "0.3", "-v", "cpu",
                      f"thread.tid={os.getpid()}", env=self.env)
        self.assertEqual([r["k"] for r in slices(out)[0]["data"]], [str(os.getpid())])
        self.assertIsInstance(slices(out)[0]["data"][0]["d"][1], (int, float))


if __name__ == "__main__":
    unittest.main()
