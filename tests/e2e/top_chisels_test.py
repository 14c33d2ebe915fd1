#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the top lists and sums of chisels/ with sysdig's chisels of the same name: each key has
the same number in both, on shared captures and on saker's own."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

FOLDER = os.path.join(e2e.SOURCE, "chisels")
ALL = "top=1000000"

# The values of our row that make the key of sysdig's row, in its order, and the number. Rows of sysdig are
# threads with their own names, while ours are processes: rows with a PID are compared by it.
ROWS = [
    ("topprocs_net", ["proc.pid"], "bytes"),
    ("topprocs_file", ["proc.pid"], "bytes"),
    ("topprocs_errors", ["proc.pid"], "errors"),
    ("topfiles_bytes", ["fd.name"], "bytes"),
    ("topfiles_time", ["fd.name"], "time_ns"),
    ("topfiles_errors", ["fd.name"], "errors"),
    ("topconns", ["fd.l4proto", "fd.name"], "bytes"),
    ("topports_server", ["fd.sport"], "bytes"),
    ("topscalls", ["evt.type"], "calls"),
    ("topscalls_time", ["evt.type"], "time_ns"),
    ("topcontainers_net", ["container.name"], "bytes"),
    ("topcontainers_file", ["container.name"], "bytes"),
    ("topcontainers_error", ["container.name"], "errors"),
    ("fdbytes_by fd.directory", ["fd.directory"], "bytes"),
    ("fdbytes_by proc.pid", ["proc.pid"], "bytes"),
    ("fdtime_by fd.type", ["fd.type"], "time_ns"),
    ("fdtime_by user.name", ["user.name"], "time_ns"),
]
MOST = {10, 30, 100} # rows that sysdig's show, by chisel
# sysdig counts the enter and the exit of a call, that of a call that makes a process in the child, too, and events that
# are not calls.
CALLS_ONLY = "evt.dir=< and not evt.type in (drop, procinfo) and not (evt.type in (clone, clone3, fork, vfork) and evt.rawres=0)"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need("sysdig")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.captures = [cls.comparable(c) for c in e2e.SHARED] + cls.made()

    @classmethod
    def comparable(cls, capture):
        """Leaves out what the two count by different rules (docs/differences.md): calls that transfer bytes
        between two files, and calls with only an exit, whose file sysdig guesses."""
        lone = e2e.run(e2e.SAKER, "-r", capture, "-p", "*%evt.num %fd.num",
                       "evt.is_io=true and evt.dir=< and not fd.num exists").split()[::2]
        out = os.path.join(cls.dir, os.path.basename(capture))
        e2e.run(e2e.SAKER, "-q", "-r", capture, "-w", out,
                f"not evt.type in (sendfile, splice, copy_file_range) and not evt.num in ({', '.join(['0', *lone])})")
        return out

    @classmethod
    def made(cls):
        out = os.path.join(cls.dir, "generated.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), out, "3000")
        files = [out]
        if os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux"):
            files.append(os.path.join(cls.dir, "live.scap"))
            e2e.run(e2e.SAKER, "-q", "-w", files[-1], "--switches", "--", sys.executable, "-c", WORK,
                    cls.dir)
        return files

    def output(self, program, *args):
        env = {**os.environ, "TZ": "UTC", "HOME": self.dir, "SAKER_CHISEL_DIR": FOLDER}
        p = subprocess.run(["timeout", "-k", "2", "100", program, *args], capture_output=True,
                           text=True, errors="replace", cwd=self.dir, env=env)
        self.assertEqual(p.returncode, 0, (args, p.stderr))
        return p.stdout

    def ours(self, capture, chisel, *args, filter=None):
        name, *words = chisel.split()
        text = self.output(e2e.SAKER, "-r", capture, "-j", "-c", name, " ".join([*words, *args]),
                           *([filter] if filter else []))
        return [json.loads(line) for line in text.splitlines()]

    def theirs(self, capture, chisel, *options, filter=None):
        return self.output("sysdig", "-r", capture, *options, "-c", *chisel.split(),
                           *([filter] if filter else []))

    def their_names(self, capture):
        """sysdig has one name for accept and accept4, and none for newer calls."""
        ours, theirs = ([line.split() for line in self.output(*args).splitlines()] for args in (
            (e2e.SAKER, "-r", capture, "-p", "%evt.num %evt.type", "evt.dir=<"),
            ("sysdig", "-r", capture, "-p", "%evt.num %evt.type", "evt.dir=<")))
        theirs = dict(theirs)
        return {name: theirs[num] for num, name in ours if num in theirs}

    def failures_known(self, capture):
        """Returns a filter for calls whose failures sysdig records. It does not have the results of all calls."""
        types = self.output("sysdig", "-r", capture, "-p", "%evt.type", "evt.failed=true").split()
        return f"evt.type in ({', '.join(sorted(set(types)))})" if types else "evt.num<0"


# Uses files, pipes, sockets of both families, named threads, failures, and an exec.
WORK = """
import ctypes, os, socket, subprocess, sys, threading, time
folder = sys.argv[1]
name = os.path.join(folder, "written")
for n in range(20):
    with open(name, "w") as f: f.write("x" * 1000 * n)
    with open(name) as f: f.read()
    try: open(os.path.join(folder, "missing"))
    except OSError: pass
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try: listener = socket.create_server((host, 0), family=family)
    except OSError: continue
    client = socket.create_connection(listener.getsockname()[:2])
    server = listener.accept()[0]
    for n in range(1, 20):
        client.sendall(b"y" * n * 100)
        server.recv(100000)
    server.sendall(b"z" * 5)
    client.recv(100)
    for n in range(3):
        client.sendall(b"GET /page HTTP/1.1\\r\\nHost: here\\r\\nAccept: x\\r\\n\\r\\n")
        server.recv(1000)
        server.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
        client.recv(1000)
def named():
    ctypes.CDLL(None).prctl(15, b"named", 0, 0, 0)
    with open(name) as f: f.read()
    os.write(os.open("/dev/null", os.O_WRONLY), b"12345")
time.sleep(1.1) # sums of seconds: of more than the last one
threads = [threading.Thread(target=named) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
subprocess.run(["sh", "-c", "cat %s >/dev/null; exec ls /nonexistent" % name], stderr=subprocess.DEVNULL)
"""


# Counts in both ways, and prints the number of rows, or the differences.
COMPARED = """
args = {{name = "key", description = "fields"}}
local handles, kept, order, counter = {}, {}, {}, nil
local values = {{field = "evt.rawres"}, {field = "evt.latency", max = true}, {count = true},
                {count = true, when = "evt.is_io_read"}, {field = "proc.fdusage", when = "fd.name"}}
function on_set_arg(_, value)
  for name in value:gmatch("[^,]+") do handles[#handles + 1] = chisel.request_field(name) end
  counter = chisel.counter(handles, values)
  for _, v in ipairs(values) do
    v.field, v.when = v.field and chisel.request_field(v.field), v.when and chisel.request_field(v.when)
  end
  return true
end
local function text(x) return math.type(x) == "float" and ("%.17g"):format(x) or type(x) .. tostring(x) end
function on_event()
  local key, row, known = "", {}, #handles == 0
  for i, h in ipairs(handles) do
    row[i] = evt.field(h)
    known = known or row[i] ~= nil
    key = key .. text(row[i]) .. "\\0"
  end
  if not known then return end
  for i, v in ipairs(values) do
    local n = 1
    if v.field then n = evt.field(v.field) end
    if n and n > 0 and (not v.when or evt.field(v.when)) then
      if not kept[key] then
        kept[key] = row
        order[#order + 1] = row
      end
      local to, at = kept[key], #handles + i
      if not to[at] then to[at] = n elseif v.max then to[at] = math.max(to[at], n) else to[at] = to[at] + n end
    end
  end
end
function on_capture_end()
  local rows = counter:rows()
  for r = 1, math.max(#rows, #order) do
    for i = 1, #handles + #values do
      local a, b = (rows[r] or {})[i], (order[r] or {})[i]
      if text(a) ~= text(b) then print(("row %d, %d: %s, not %s"):format(r, i, text(a), text(b))) end
    end
  end
  print(#rows .. " rows")
end
"""


def stolen_ns():
    """Returns the time of interrupts and the hypervisor on all CPUs, which is not part of a thread's own time."""
    values = e2e.read_text("/proc/stat").split()[1:]
    return sum(map(int, values[5:8])) * 1000000000 // os.sysconf("SC_CLK_TCK")


def summed(rows):
    sums = collections.Counter()
    for key, n in rows:
        sums[key] += n
    return dict(sums)


class Judged(Case):
    def test_tables(self):
        n_rows = collections.Counter()
        for capture in self.captures:
            names = self.their_names(capture)
            for chisel, keys, value in ROWS:
                calls_only = CALLS_ONLY if chisel.startswith("topscalls") else None
                theirs = json.loads(self.theirs(capture, chisel, "-j", filter=calls_only))
                known = self.failures_known(capture) if value == "errors" else None
                # The PID is the second part of the key.
                first = 1 if keys == ["proc.pid"] and chisel.startswith("topprocs") else 0
                want = summed((tuple(map(str, row[first:-1])), row[-1]) for row in theirs["data"])
                got = summed((tuple(names.get(row[k], str(row[k])) for k in keys),
                               row[value])
                             for row in self.ours(capture, chisel, ALL, filter=known))
                if len(theirs["data"]) in MOST: # not all that there are
                    least = min(want.values())
                    got = {k: n for k, n in got.items() if k in want or n > least}
                self.assertEqual(got, want, (chisel, capture))
                n_rows[chisel] += len(want)
        # There are rows to compare.
        for chisel, n in n_rows.items():
            self.assertTrue(n or "containers" in chisel, chisel)

    def test_counter(self):
        """chisel.counter counts the same as a script."""
        keys = ("fd.name", "proc.pid,proc.aname[0]", "fd.cip", "fd.port,fd.l4proto", "evt.is_io_read", "evt.buffer",
                "evt.rawarg.data", "evt.rawarg.res", "proc.fdusage", "evt.args", "thread.tid,evt.type,evt.res", "fd.net",
                "evt.rawtime", "evt.arg[1]", "evt.latency,fd.type", "")
        path = os.path.join(self.dir, "compared.lua")
        with open(path, "w") as f:
            f.write(COMPARED)
        n_rows = collections.Counter()
        for capture in self.captures:
            for key in keys:
                text = self.output(e2e.SAKER, "-r", capture, "-c", path, f"key='{key}'")
                self.assertRegex(text, r"^\d+ rows$", (key, capture))
                n_rows[key] += int(text.split()[0])
        for key in keys:
            self.assertTrue(n_rows[key], key)

    def test_sums(self):
        """The chisels of sysdig leave out the last second."""
        n_lines = 0
        for capture in self.captures:
            for chisel in ("iobytes", "iobytes_net", "iobytes_file"):
                want = [tuple(map(int, m)) for m in
                        re.findall(r"in:(\d+) out:(\d+)", self.theirs(capture, chisel))]
                want = [w for w in want if any(w)]
                got = [(row["read"], row["written"]) for row in self.ours(capture, chisel)]
                self.assertIn(len(got) - len(want), (0, 1), (chisel, capture))
                self.assertEqual(got[:len(want)], want, (chisel, capture))
                n_lines += len(want)
        self.assertTrue(n_lines)

    def test_httptop(self):
        n_rows = 0
        for capture in self.captures:
            for by, value in (("ncalls", "ncalls"), ("time", "time_ns"), ("bytes", "bytes")):
                data = json.loads(self.theirs(capture, "httptop " + by, "-j"))["data"]
                want = {tuple(row[:2]): int(row[2]) for row in data if row[2]}
                got = {(row["method"], row["url"]): row[value]
                       for row in self.ours(capture, "httptop " + by, ALL)}
                self.assertEqual(got.keys(), want.keys(), (by, capture))
                for key, n in got.items():
                    # sysdig has no exact numbers of nanoseconds since 1970.
                    self.assertLessEqual(abs(n - want[key]), 512 if by == "time" else 0, (key, by))
                n_rows += len(want)
        self.assertTrue(n_rows)

    def test_iotop(self):
        """It has the bytes of topprocs_file, and a file that is read again comes from the cache."""
        for capture in self.captures:
            rows, files = self.ours(capture, "iotop", ALL), self.ours(capture, "topprocs_file", ALL)
            self.assertEqual({(r["proc.pid"], r["proc.name"], r["read"], r["written"]) for r in rows},
                             {(r["proc.pid"], r["proc.name"], r["read"], r["written"]) for r in files})
            for row in rows:
                self.assertLessEqual(row.get("cached", 0), row["read"], capture)

    def test_fdcount(self):
        n_lines = 0
        for capture in self.captures:
            for key in ("fd.type", "proc.pid", "fd.directory"):
                text = self.theirs(capture, "fdcount_by " + key)
                want = {k: int(n) for k, n in re.findall(r"(?m)^(.*)\t(\d+)$", text)}
                got = {str(row[key]): row["files"] for row in self.ours(capture, "fdcount_by " + key, ALL)}
                self.assertEqual(got, want, (key, capture))
                n_lines += len(want)
        self.assertTrue(n_lines)


class Cpu(unittest.TestCase):
    """Live tables, compared with what the kernel counts for the same processes."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.prog = e2e.compile_program("top_chisels", cls.dir)

    def setUp(self):
        e2e.somebody(self)
        self.stolen = stolen_ns()
        self.used = os.path.join(self.dir, self.id())

    def capture(self, *args):
        self.out = os.path.join(self.dir, self.id() + ".out")
        env = {**os.environ, "SAKER_CHISEL_DIR": FOLDER}
        with open(self.out, "w") as f:
            # --foreground: else timeout also signals its group, and saker gets SIGINT twice.
            p = subprocess.Popen(["timeout", "--foreground", "-k", "2", "100", e2e.SAKER, "-j", *args], env=env,
                                 stdin=subprocess.DEVNULL, stdout=f, stderr=f)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def rows(self, p):
        self.assertEqual(p.wait(timeout=e2e.DEADLINE_S), 0, e2e.read_text(self.out))
        # With a command, the tables are on standard error.
        return [json.loads(line) for line in e2e.read_text(self.out).splitlines() if line.startswith("{")]

    def compare(self, rows, n):
        """Each process has the CPU time that it reports itself, under its own name, not those of its threads."""
        stolen = stolen_ns() - self.stolen
        used = [tuple(map(int, line.split())) for line in e2e.read_text(self.used).splitlines()]
        self.assertEqual(len(used), n)
        for pid, want in used:
            found = [row for row in rows if row["proc.pid"] == pid]
            got = sum(row["cpu_ns"] for row in found)
            self.assertGreater(got, 0.95 * want - 20e6, (pid, got, want, found))
            self.assertLess(got, 1.05 * want + 20e6 + stolen, (pid, got, want, stolen, found))
            self.assertIn("top_chisels", {row.get("proc.name") for row in rows if row["proc.pid"] == pid})
            self.assertNotIn("top_worker", {row.get("proc.name") for row in rows})

    def whole_lives(self, *filter):
        p = self.capture("-c", "topprocs_cpu", "top=100000", *filter)
        e2e.wait_until(lambda: os.path.getsize(self.out) or p.poll() is not None, "the first table")
        programs = [subprocess.Popen(words) for words in (
            [self.prog, self.used, "1500", "1"], [self.prog, self.used, "700", "3"],
            ["sh", "-c", 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; exec "$@"', "sh",
             self.prog, self.used, "300", "1"])]
        for program in programs:
            self.assertEqual(program.wait(timeout=e2e.DEADLINE_S), 0)
        p.send_signal(signal.SIGINT)
        return self.rows(p)

    def test_processes(self):
        rows = self.whole_lives()
        self.compare(rows, 3)
        # The process that ran longest was in a table while it ran.
        self.assertGreater(max(collections.Counter(row["proc.pid"] for row in rows
                                                   if row.get("proc.name") == "top_chisels").values()), 1)

    def test_a_filter(self):
        rows = self.whole_lives("proc.name in (top_chisels, top_worker, sh, cat, sleep)")
        self.compare(rows, 3)
        self.assertLessEqual({row.get("proc.name") for row in rows}, {"top_chisels", "sh", "cat", "sleep"})

    def test_of_a_command(self):
        """The switch events of other threads have the times when it began to run."""
        p = self.capture("-c", "topprocs_cpu", "top=100000", "--", self.prog, self.used, "500", "2")
        self.compare(self.rows(p), 1)


if __name__ == "__main__":
    unittest.main()
