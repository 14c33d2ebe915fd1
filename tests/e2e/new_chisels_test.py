#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests chisels that sysdig does not have: opens, execs, signals, dnslog, tlshosts, syscall_errors,
latency_hist, offcpu_wait, drops, connections. Their output is compared with what the programs did, with strace,
tshark and openssl, and with the fields of the same capture."""

import collections
import json
import math
import os
import random
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import unittest

import saker_e2e as e2e

os.environ["SAKER_CHISEL_DIR"] = "."  # chisels that the tests write into the working directory

FOLDER = os.path.join(e2e.SOURCE, "chisels")
PYTHON = os.path.realpath(sys.executable)
ENV = {**os.environ, "TZ": "UTC", "SAKER_CHISEL_DIR": FOLDER, "LC_ALL": "C"}
can_capture = os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")
live = unittest.skipUnless(can_capture, "a live capture needs root and BTF")


def run(test, *args, status=0):
    p = subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, *args], capture_output=True, env=ENV,
                       cwd=test.dir, stdin=subprocess.DEVNULL)
    test.assertEqual(p.returncode, status, (args, p.stderr))
    return p.stdout.decode(errors="surrogateescape")


def objects(test, *args):
    return [json.loads(l) for l in run(test, "-j", *args).splitlines()]


def capture(test, name, *command, options=()):
    """Captures the command. Returns the path of the capture, and the finished command."""
    path = os.path.join(test.dir, name + ".scap")
    p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-w", path, *options, "--", *command],
                       capture_output=True, env=ENV, cwd=test.dir, stdin=subprocess.DEVNULL)
    test.assertTrue(os.path.exists(path), p.stderr)
    return path, p


def live_objects(test, command, *args):
    """Captures the command live. Returns the objects of the chisel, and the finished command."""
    out = os.path.join(test.dir, "live.json")
    p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-j", "-o", out, *args, "--", *command],
                       capture_output=True, env=ENV, cwd=test.dir, stdin=subprocess.DEVNULL)
    return [json.loads(l) for l in e2e.read_text(out).splitlines()], p


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def script(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path


# ---- connections ----

CONNECTS = """
import errno, fcntl, os, select, socket, struct
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
def say(what, s, error):
    print(what, s.fileno(), errno.errorcode[error] if error else "SUCCESS", flush=True)
def begin(address):
    s = socket.socket()
    s.setblocking(False)
    return s, s.connect_ex(address)
def wait(s):
    p = select.poll()
    p.register(s, select.POLLOUT)
    p.poll()
def so_error(s):
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
with socket.socket() as s:
    name = struct.pack("16sH14x", b"lo", 0)
    flags = struct.unpack("16xH", fcntl.ioctl(s, SIOCGIFFLAGS, name)[:18])[0]
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | 1))
server, full, free = socket.socket(), socket.socket(), socket.socket()
for s in (server, full, free):
    s.bind(("127.0.0.1", 0))
server.listen(5)
there, silent, closed = (s.getsockname() for s in (server, full, free))
a, _ = begin(there)
wait(a)
say("accepted", a, so_error(a))
b, _ = server.accept()
a.send(b"hello")
b.recv(5)
b.send(b"hi")
a.recv(2)
c, _ = begin(closed)
wait(c)
say("refused", c, so_error(c))
d, _ = begin(closed)
wait(d)
try:
    d.send(b"x")
except OSError as e:
    say("refused", d, e.errno)
e, error = begin(("192.0.2.7", 443))
say("unreachable", e, error)
f, _ = begin(there)
wait(f)
say("again", f, 0 if f.connect_ex(there) in (0, errno.EISCONN) else 1)
# Nobody takes a second connection from here: its connect ends by the option's time.
full.listen(0)
g, _ = begin(silent)
wait(g)
say("first", g, so_error(g))
h, _ = begin(silent)
h.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 100)
wait(h)
say("timeout", h, so_error(h))
i, _ = begin(closed)
say("never", i, 0)
for s in (a, b, c, d, e, f, g, h, i):
    s.close()
"""
STRACE_OUTCOME = re.compile(r"getsockopt\((\d+), SOL_SOCKET, SO_ERROR, \[(\w+)\], \[4\]\) += 0")


class Connections(Case):
    def connects(self, *command):
        prog = self.script("connects.py", CONNECTS)
        return ("unshare", "-n", *command, PYTHON, "-S", "-I", prog)

    @live
    def test_outcomes(self):
        path, p = capture(self, "connects", *self.connects())
        said = [l.split() for l in p.stdout.decode().splitlines()]
        self.assertEqual([(s[0], s[2]) for s in said], [
            ("accepted", "SUCCESS"), ("refused", "ECONNREFUSED"), ("refused", "ECONNREFUSED"),
            ("unreachable", "ENETUNREACH"), ("again", "SUCCESS"), ("first", "SUCCESS"),
            ("timeout", "ETIMEDOUT"), ("never", "SUCCESS")], p.stderr)
        rows = objects(self, "-r", path, "-c", "connections", "proc.name=" + os.path.basename(PYTHON)[:15])
        made = sorted((r for r in rows if r.get("outcome") != "accepted"), key=lambda r: r["began"])
        self.assertEqual([r.get("outcome") for r in made], [s[2] for s in said[:-1]] + ["EINPROGRESS"])
        for r in made[:-1]:
            self.assertGreater(r["connect_ns"], 0, r)
            self.assertEqual("open_ns" in r, r["outcome"] == "SUCCESS", r)
        self.assertNotIn("connect_ns", made[-1])
        self.assertGreaterEqual(made[6]["connect_ns"], 10**8)
        taken = [r for r in rows if r.get("outcome") == "accepted"]
        self.assertEqual([(r["received"], r["sent"]) for r in [made[0]] + taken], [(2, 5), (5, 2)])
        self.assertGreater(made[0]["open_ns"], 0)
        self.assertEqual(len(rows), 9)
        slow = objects(self, "-r", path, "-c", "netlower", "90", "fd.connect.done=true")
        self.assertEqual([(r["evt.type"], r["result"]) for r in slow], [("connect", "ETIMEDOUT")])
        fields = run(self, "-r", path, "-p", "%fd.num %fd.connect.result",
                     "fd.connect.done=true and fd.connect.result != SUCCESS")
        self.assertEqual([l.split() for l in fields.splitlines()],
                         [s[1:] for s in said if s[2] != "SUCCESS"])

    @live
    def test_as_strace_has_them(self):
        e2e.need("strace")
        trace = os.path.join(self.dir, "connects.strace")
        path, p = capture(self, "traced", *self.connects("strace", "-o", trace, "-e", "trace=getsockopt"))
        self.assertEqual(p.returncode, 0, p.stderr)
        ours = run(self, "-r", path, "-p", "%fd.num %fd.connect.result",
                   "evt.type=getsockopt and fd.connect.done=true").splitlines()
        theirs = [f"{fd} {'SUCCESS' if error == '0' else error}"
                  for fd, error in STRACE_OUTCOME.findall(e2e.read_text(trace))]
        self.assertEqual(len(theirs), 4)
        self.assertEqual(ours, theirs)


    # The backlog has room for one connection: the connect blocks.
    WAITING = """
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
first = socket.create_connection(s.getsockname())
print(s.getsockname()[1], flush=True)
socket.create_connection(s.getsockname())
"""

    def syn_sent(self, port):
        """Returns our ends of connections without an answer, from ss."""
        out = subprocess.run(["ss", "-Htn", "state", "syn-sent", "dport", "=", f":{port}"], capture_output=True,
                             check=True, text=True).stdout
        return [line.split()[2] for line in out.splitlines()]

    @live
    def test_one_that_waits_already(self):
        e2e.need("ss")
        p = subprocess.Popen([PYTHON, "-S", "-I", "-c", self.WAITING], stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        port = p.stdout.readline().strip()
        until = time.monotonic() + e2e.DEADLINE_S
        while not self.syn_sent(port):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)
        rows = objects(self, "-M", "1", "-c", "connections", f"proc.pid={p.pid}")
        self.assertEqual([(r["outcome"], r["fd.name"]) for r in rows],
                         [("EINPROGRESS", f"{self.syn_sent(port)[0]}->127.0.0.1:{port}")])
        self.assertEqual({"began", "connect_ns", "open_ns"} & set(rows[0]), set(), rows)

    @live
    def test_one_that_waits_until_the_end(self):
        ends = self.WAITING.replace("print(", "import signal; signal.alarm(2); print(")  # then it waits
        path, _ = capture(self, "waits", PYTHON, "-S", "-I", "-c", ends)
        rows = objects(self, "-r", path, "-c", "connections")
        self.assertEqual(sorted(r["outcome"] for r in rows), ["EINPROGRESS", "SUCCESS"])

    # One is killed while it is connected, the other while its connect waits for room in the backlog.
    KILLED = """
import socket, subprocess, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(0)
port = s.getsockname()[1]
def client(then):
    text = f"import socket, time; s = socket.create_connection(('127.0.0.1', {port})); " + then
    return subprocess.Popen([sys.executable, "-S", "-I", "-c", text])
def is_waiting():
    with open("/proc/net/tcp") as f:
        return any(l.split()[2].endswith(f":{port:04X}") and l.split()[3] == "02" for l in f)
p = client("s.send(b'x'); time.sleep(100)")
a, _ = s.accept(); a.recv(1)
p.kill(); p.wait()
first = socket.create_connection(s.getsockname())
q = client("")
while not is_waiting(): time.sleep(0.01)
q.kill(); q.wait()
b, _ = s.accept()
first.send(b"y"); b.recv(1)
print(p.pid, q.pid, port)
"""

    def check_killed(self, rows, p):
        killed, waited, _ = (int(n) for n in p.stdout.decode().split()[-3:])
        by_pid = {r["proc.pid"]: r for r in rows if r.get("outcome") != "accepted"}
        others = [r for r in rows if r["proc.pid"] not in (killed, waited)]
        self.assertEqual(len(by_pid), 3, rows)
        first = next(r for r in others if r.get("outcome") == "SUCCESS")
        last = next(r for r in rows if r.get("outcome") == "accepted" and r["began"] > first["began"])
        for pid, outcome, next_one in ((killed, "SUCCESS", first), (waited, "EINPROGRESS", last)):
            r = by_pid[pid]
            self.assertEqual(r["outcome"], outcome)
            self.assertLessEqual(r["began"] + r["open_ns"], next_one["began"], rows)

    @live
    def test_of_a_killed_process_with_a_filter(self):
        path, p = capture(self, "killed", PYTHON, "-S", "-I", self.script("killed.py", self.KILLED), "0")
        wanted = f"fd.port={p.stdout.split()[-1].decode()}"
        rows = objects(self, "-r", path, "-c", "connections", wanted)
        self.assertEqual(rows, objects(self, "-r", path, "-c", "connections"))
        self.check_killed(rows, p)
        run(self, "-r", path, "-w", "of_port.scap", wanted)
        self.assertEqual(objects(self, "-r", "of_port.scap", "-c", "connections", wanted), rows)

    @live
    def test_of_a_killed_process_with_a_filter_live(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        for wanted in (f"fd.port={port}", "evt.type in (connect, accept4, sendto)"):
            rows, p = live_objects(self, [PYTHON, "-S", "-I", self.script("killed.py", self.KILLED), str(port)],
                                   "-c", "connections", wanted)
            self.check_killed(rows, p)


# ---- opens ----

OPENS = """
import os
for path, flags in (("/etc/hostname", os.O_RDONLY), ("/none/of/it", os.O_RDWR),
                    ("made", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), ("made", os.O_RDWR | os.O_APPEND)):
    try:
        os.open(path, flags, 0o640)
    except OSError:
        pass
"""
STRACE_OPEN = re.compile(r'openat\(AT_FDCWD, "([^"]*)", ([A-Z_|]+)(?:, 0(\d+))?\) += (-?\d+)(?: (\w+))?')


class Opens(Case):
    def test_golden(self):
        text = run(self, "-r", e2e.shared_capture("cat_write.scap"), "-c", "opens")
        head, *lines = text.splitlines()
        self.assertEqual(head.split(), ["TIME", "PID", "PROCESS", "RESULT", "MODE", "FLAGS", "PATH"])
        self.assertEqual([(l.split()[2:4] + l.split()[5:]) for l in lines], [
            ["cat", "3", "RDONLY|CLOEXEC", "/etc/ld.so.cache"],
            ["cat", "3", "RDONLY|CLOEXEC", "/lib/x86_64-linux-gnu/libc.so.6"],
            ["cat", "3", "RDONLY|CLOEXEC", "/usr/lib/locale/locale-archive"],
            ["cat", "3", "RDONLY", lines[3].split()[-1]]])

    @live
    def test_as_strace_has_them(self):
        if not shutil.which("strace"):
            e2e.skip_test("strace is not installed: scripts/setup --tests")
        prog = self.script("opens.py", OPENS)
        path, _ = capture(self, "opens", PYTHON, "-S", "-I", prog)
        ours = [(o["path"], tuple(sorted(o["flags"].replace("|F_CREATED", "").split("|"))),
                 o.get("error", "")) for o in objects(self, "-r", path, "-c", "opens")]
        os.unlink(os.path.join(self.dir, "made"))
        p = subprocess.run(["strace", "-o", "opens.strace", "-e", "openat", PYTHON, "-S", "-I", prog],
                           cwd=self.dir, env=ENV, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        theirs = []
        for m in STRACE_OPEN.finditer(e2e.read_text(os.path.join(self.dir, "opens.strace"))):
            name = os.path.join(self.dir, m[1])
            theirs.append((os.path.realpath(name) if not m[5] else os.path.normpath(name),
                           tuple(sorted(f[2:] for f in m[2].split("|"))), m[5] or ""))
        ours = [(os.path.realpath(p) if not e else os.path.normpath(p), f, e) for p, f, e in ours]
        self.assertGreaterEqual(len(theirs), 4)
        self.assertEqual([o for o in ours if "__pycache__" not in o[0]],
                         [t for t in theirs if "__pycache__" not in t[0]])

    @live
    def test_arguments(self):
        prog = self.script("opens.py", OPENS)
        path, _ = capture(self, "arguments", PYTHON, "-S", "-I", prog)
        failed = objects(self, "-r", path, "-c", "opens", "failed=yes name=none/of")
        self.assertEqual([(o["result"], o["error"], o["path"], o["proc.name"]) for o in failed],
                         [(-2, "ENOENT", "/none/of/it", os.path.basename(PYTHON)[:15])])
        made = [l.split() for l in run(self, "-r", path, "-c", "opens", "name=" + self.dir + "/made").splitlines()]
        self.assertEqual([l[4:6] for l in made[1:]], [["0640", "TRUNC|CREAT|WRONLY|CLOEXEC"],
                                                      ["-", "APPEND|RDWR|CLOEXEC"]])
        self.assertIn("CONTAINER", run(self, "-r", path, "-pc", "-c", "opens").splitlines()[0])


# ---- execs ----

TREE = """
(exit 3)
/bin/true
sh -c 'sleep 0.05; exec false'
sleep 100 & kill -9 $!; wait
/none/of/it
( /bin/echo deep; /bin/true )
exit 9
"""


class Execs(Case):
    @live
    def test_tree_and_results(self):
        path, p = capture(self, "execs", "sh", self.script("tree.sh", TREE))
        self.assertEqual(p.returncode, 9, p.stderr)
        done = objects(self, "-r", path, "-c", "execs", "failed=yes")
        found = collections.Counter((o["program"].split("/")[-1], o.get("status"), o.get("signal"), o.get("error"))
                                    for o in done if o.get("exec"))
        for expected in ((("true", 0, None, None), 2), (("false", 1, None, None), 1),
                         (("sleep 0.05", 0, None, None), 1), (("echo deep", 0, None, None), 1),
                         (("tree.sh", 9, None, None), 1), (("it", None, None, "ENOENT"), 1)):
            self.assertEqual(found[expected[0]], expected[1], (expected, found))
        forks = collections.Counter((o.get("status"), o.get("signal")) for o in done if not o.get("exec"))
        killed = [o for o in done if o.get("signal") == "SIGKILL"]
        self.assertEqual(len(killed), 1, done)  # as sleep, or before its exec
        self.assertEqual(forks[(3, None)], 1, done)
        became = [o for o in done if o.get("became") == "false"]
        self.assertEqual(len(became), 1, done)
        slept = next(o for o in done if o["program"] == "sleep 0.05")
        self.assertGreaterEqual(slept["duration"], 50_000_000)
        self.assertEqual(slept["ppid"], became[0]["pid"])

        tree = run(self, "-r", path, "-c", "execs").splitlines()
        depth = {}
        for line in tree[1:]:
            m = re.match(r"\S+ +\S+ +.*? +\d+ ( *)(\S.*)$", line)
            self.assertIsNotNone(m, line)
            depth.setdefault(m[2], len(m[1]))
        root = depth["sh " + os.path.join(self.dir, "tree.sh")]
        self.assertEqual(depth["true"], root + 2, tree)
        self.assertEqual(depth["sleep 0.05"], root + 4, tree)
        self.assertEqual(depth["false"], root + 2, tree)
        self.assertIn("SIGKILL", "\n".join(tree))

    @live
    def test_ends_with_a_filter(self):
        """The filter selects the programs; the end of each is shown even if the filter excludes it."""
        script = self.script("ends.sh", TREE)
        path, _ = capture(self, "ends", "sh", script)
        every = objects(self, "-r", path, "-c", "execs")
        found = objects(self, "-r", path, "-c", "execs", "evt.type=execve")
        by_start = lambda rows: sorted(rows, key=lambda o: (o["start"], o["pid"]))
        self.assertEqual(by_start(found), by_start(o for o in every if o.get("exec")))
        for rows in (found, live_objects(self, ["sh", script], "-c", "execs", "evt.type=execve")[0]):
            signals = [o["signal"] for o in rows if "signal" in o]
            self.assertIn(signals, ([], ["SIGKILL"]))  # none if it was killed before its exec
            for o in rows:
                self.assertEqual(len({"status", "signal", "became"} & set(o)), 1, o)
        run(self, "-r", path, "-w", "ends_of.scap", "evt.type=execve")
        self.assertEqual(objects(self, "-r", "ends_of.scap", "-c", "execs", "evt.type=execve"), found)

    @live
    def test_becomes_what_the_filter_leaves_out(self):
        script = self.script("becomes.sh", TREE)
        path, _ = capture(self, "becomes", "sh", script)
        for rows in (objects(self, "-r", path, "-c", "execs", "proc.name=sh"),
                     live_objects(self, ["sh", script], "-c", "execs", "proc.name=sh")[0]):
            self.assertEqual({o["program"].split()[0] for o in rows}, {"sh"})
            self.assertEqual(sum(o.get("became") == "false" for o in rows), 1, rows)
            for o in rows:
                self.assertEqual(len({"status", "signal", "became"} & set(o)), 1, o)

    @live
    def test_a_process_lasts_as_long_as_its_threads(self):
        text = ("import ctypes, threading, time\n"
                "threading.Thread(target=time.sleep, args=(0.1,)).start()\n"
                "ctypes.CDLL(None).syscall(60, 7)\n")
        path, _ = capture(self, "threads", PYTHON, self.script("threads.py", text))
        done = [o for o in objects(self, "-r", path, "-c", "execs") if o.get("exec")]
        self.assertEqual([o["status"] for o in done], [7])
        self.assertGreaterEqual(done[0]["duration"], 100_000_000)

    @live
    def test_from_before_the_capture(self):
        """A shell of which the first event is that of a child, and which then exits."""
        for name in ("go", "over"):
            os.mkfifo(os.path.join(self.dir, name))
        before = time.time_ns()
        p = subprocess.Popen(["sh", "-c", "read x <go; exec 3>over; /bin/true; exit 3"], cwd=self.dir,
                             stdin=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        path, _ = capture(self, "before", "sh", "-c", "echo >go; cat over", options=["--all"])
        ended = [o for o in objects(self, "-r", path, "-c", "execs", f"proc.pid={p.pid} or proc.ppid={p.pid}")
                 if o["pid"] == p.pid]
        self.assertEqual([o["status"] for o in ended], [3])
        self.assertGreater(ended[0]["duration"], 0)
        self.assertLess(abs(ended[0]["start"] - before), 60_000_000_000)
        tree = run(self, "-r", path, "-c", "execs", f"proc.pid={p.pid} or proc.ppid={p.pid}").splitlines()
        line = next(l for l in tree if f" {p.pid} " in l)
        self.assertRegex(line, r"^\d\d:\d\d:\d\d\.\d{3} +\d\S* +3 ")

    def test_golden(self):
        tree = run(self, "-r", e2e.shared_capture("container_run_as_user_0.scap"), "-c", "execs").splitlines()
        self.assertEqual([l.split()[2:] for l in tree], [["STATUS", "PID", "PROGRAM"], ["-", "25754", "bash"],
                                                         ["0", "32052", "ls"]])

    @live
    def test_bounded(self):
        path, _ = capture(self, "bounded", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done")
        text = run(self, "-r", path, "-c", "execs", "keep=3").splitlines()
        self.assertEqual(len(text), 5, text)
        self.assertRegex(text[-1], r"^\d+ older programs are left out: keep=N keeps more$")


# ---- signals ----

SIGNALS = """
import os, signal, subprocess, threading
sleep = lambda **more: subprocess.Popen(["sleep", "100"], **more)
p = sleep(); os.kill(p.pid, 0); p.send_signal(15); p.wait()
try: os.kill(2 ** 22 + 1, 9)
except ProcessLookupError: pass
signal.signal(10, lambda *a: None)
os.kill(os.getpid(), 10)
signal.pthread_kill(threading.get_ident(), 10)
signal.signal(14, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
p = sleep(start_new_session=True); os.killpg(p.pid, 1); p.wait()
p = sleep(); signal.pidfd_send_signal(os.pidfd_open(p.pid), 9); p.wait()
"""
# Signals of the kernel terminate the children; the last child exits. Then a process outside of the capture
# kills the program.
KERNEL_SIGNALS = """
import ctypes, os, resource, signal, subprocess, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
def child(act):
    pid = os.fork()
    if pid: return os.waitpid(pid, 0)
    act()
    os._exit(99)
def loop():
    while True: pass
def reach_cpu_limit():
    signal.signal(signal.SIGXCPU, lambda *a: None)
    resource.setrlimit(resource.RLIMIT_CPU, (0, 1))
    loop()
def write_to_closed_pipe():
    r, w = os.pipe(); os.close(r); os.write(w, b"x")
def use_up_timer():
    signal.setitimer(signal.ITIMER_PROF, 0.01)
    loop()
def wait_for_timer():
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
for act in (reach_cpu_limit, write_to_closed_pipe, lambda: ctypes.string_at(8), use_up_timer, wait_for_timer): child(act)
signal.signal(signal.SIGCHLD, lambda *a: None)
child(lambda: os._exit(0))
print(os.getpid(), flush=True)
signal.pause()
"""
# Signals in a PID namespace, where a delivery has the sender's PID in the namespace, or 0 for a sender outside of it.
INSIDE = """
import os, signal
got = []
signal.signal(10, lambda *a: got.append(1))
signal.signal(14, lambda *a: None)
def send():
    n, pid = len(got), os.fork()
    if not pid: os.kill(os.getppid(), 10); os._exit(0)
    os.waitpid(pid, 0)
    while len(got) == n: signal.sigtimedwait([], 0.01)
def receive():
    n = len(got)
    print(flush=True)
    while len(got) == n: signal.sigtimedwait([], 0.01)
send(); receive(); send()
signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
"""
NAMESPACE_SIGNALS = """
import os, subprocess, sys
p = subprocess.Popen(["unshare", "--fork", "--pid", sys.executable, sys.argv[1]], stdout=subprocess.PIPE)
p.stdout.readline()
with open(f"/proc/{p.pid}/task/{p.pid}/children") as f: pid = int(f.read())
os.kill(pid, 10)
sys.exit(p.wait())
"""
# After the line of another thread, strace continues an interrupted line behind "resumed>".
STRACE_KILL = re.compile(r"\b(kill|tgkill|pidfd_send_signal)\((.*?)(?:\)| <unfinished \.\.\.>\n(?:.*\n)*?.*<\.\.\. \1 resumed>\)?)"
                         r" += (-?\d+)(?: (\w+))?")


class Signals(Case):
    @live
    def test_as_strace_has_them(self):
        prog = self.script("signals.py", SIGNALS)
        path, p = capture(self, "signals", PYTHON, prog)
        self.assertEqual(p.returncode, 0, p.stderr)
        told = objects(self, "-r", path, "-c", "signals")
        name = os.path.basename(PYTHON)[:15]
        self.assertEqual({(o.get("from"), o.get("call")) for o in told},
                         {(name, "kill"), (name, "tgkill"), (name, "pidfd_send_signal"), ("kernel", None)})
        effects = [(o["signal"], o.get("call"), o["effect"]) for o in told]
        self.assertEqual(effects, [
            ("SIGTERM", "kill", "sent"), ("SIGTERM", "kill", "ended it"),
            ("SIGKILL", "kill", "ESRCH"),
            ("SIGUSR1", "kill", "sent"), ("SIGUSR1", "kill", "delivered"),
            ("SIGUSR1", "tgkill", "sent"), ("SIGUSR1", "tgkill", "delivered"),
            ("SIGALRM", None, "delivered"),
            ("SIGHUP", "kill", "sent"), ("SIGHUP", "kill", "ended it"),
            ("SIGKILL", "pidfd_send_signal", "sent"), ("SIGKILL", "pidfd_send_signal", "ended it")])
        for o in told:
            self.assertEqual("after" in o, o["effect"] in ("delivered", "ended it") and o["from"] != "kernel", o)
        ended = [o for o in told if o["effect"] == "ended it"]
        self.assertEqual([o["to"] for o in ended], [ended[0]["to"]] * 3)
        group = next(o for o in told if o["signal"] == "SIGHUP" and o["effect"] == "sent")
        self.assertEqual(group["to_pid"], -ended[1]["to_pid"])
        head, *lines = run(self, "-r", path, "-c", "signals").splitlines()
        self.assertEqual([l[head.index("SIGNAL"):].split()[0] for l in lines], [o["signal"] for o in told])
        self.assertEqual([l[head.index("CALL"):].split()[0] for l in lines], [o.get("call", "-") for o in told])

        if not shutil.which("strace"):
            e2e.skip_test("strace is not installed: scripts/setup --tests")
        p = subprocess.run(["strace", "-f", "-o", "signals.strace", "-e", "trace=kill,tgkill,pidfd_send_signal",
                            PYTHON, prog], cwd=self.dir, env=ENV, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        theirs = []
        for m in STRACE_KILL.finditer(e2e.read_text(os.path.join(self.dir, "signals.strace"))):
            sig = re.search(r"SIG\w+|\b0\b", m[2].split(",", 1)[1])
            if sig[0] != "0": # it only asks
                theirs.append((m[1], sig[0], m[4] or "sent"))
        self.assertEqual([(o.get("call"), o["signal"], o["effect"]) for o in told
                          if o["effect"] not in ("delivered", "ended it")], theirs)

    @live
    def test_of_the_kernel(self):
        path = os.path.join(self.dir, "kernel.scap")
        with subprocess.Popen(["timeout", "-k", "2", "60", e2e.SAKER, "-w", path, "--", PYTHON,
                               self.script("kernel_signals.py", KERNEL_SIGNALS)],
                              env=ENV, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as p:
            pid = int(p.stdout.readline())
            os.kill(pid, signal.SIGKILL)  # sent by this process, which is outside of the capture
            p.wait()
        told = objects(self, "-r", path, "-c", "signals")
        self.assertEqual([(o.get("from"), o.get("call"), o["signal"], o["effect"]) for o in told], [
            ("kernel", None, "SIGXCPU", "delivered"), ("kernel", None, "SIGKILL", "ended it"),
            ("kernel", None, "SIGPIPE", "ended it"),
            ("kernel", None, "SIGSEGV", "delivered"), ("kernel", None, "SIGSEGV", "ended it"),
            ("kernel", None, "SIGPROF", "ended it"), ("kernel", None, "SIGALRM", "ended it"),
            (None, None, "SIGKILL", "ended it")])
        self.assertFalse([o for o in told if "from_pid" in o])
        last = [o for o in objects(self, "-r", path, "-c", "signals", "SIGCHLD") if o["to_pid"] == pid][-1]
        self.assertEqual((last["from"], last["effect"]), ("kernel", "delivered"))
        self.assertNotIn(last["from_pid"], [o["to_pid"] for o in told])

    @live
    def test_in_a_namespace(self):
        path, p = capture(self, "namespace", PYTHON, self.script("namespace_signals.py", NAMESPACE_SIGNALS),
                          self.script("inside.py", INSIDE))
        self.assertEqual(p.returncode, 0, p.stderr)
        told = [o for o in objects(self, "-r", path, "-c", "signals") if o["signal"] in ("SIGUSR1", "SIGALRM")]
        name = os.path.basename(PYTHON)[:15]
        sent = [("SIGUSR1", name, "sent"), ("SIGUSR1", name, "delivered")]
        self.assertEqual([(o["signal"], o["from"], o["effect"]) for o in told],
                         3 * sent + [("SIGALRM", "kernel", "delivered")])
        froms = [o.get("from_pid") for o in told]
        self.assertEqual(froms[0:6:2], froms[1:6:2])
        self.assertEqual(len(set(froms)), 4)  # two children, a process outside, and none

    @live
    def test_only_one_signal(self):
        path, _ = capture(self, "one", "sh", "-c", "kill -TERM $$")
        for word in ("signal=TERM", "signal=sigterm", "15"):
            told = objects(self, "-r", path, "-c", "signals", word)
            self.assertEqual([o["effect"] for o in told], ["sent", "ended it"], word)
        self.assertEqual(objects(self, "-r", path, "-c", "signals", "signal=USR2"), [])

    @live
    def test_own_group(self):
        path, _ = capture(self, "group", "setsid", "-w", "sh", "-c", "trap : USR1; kill -USR1 0")
        sent, *_ = [o for o in objects(self, "-r", path, "-c", "signals", "USR1") if o["effect"] == "sent"]
        self.assertEqual(sent["to"], f"group of {sent['from_pid']}")  # setsid makes it the leader

    def test_golden(self):
        told = objects(self, "-r", e2e.shared_capture("container_run_as_user_0.scap"), "-c", "signals")
        self.assertEqual(collections.Counter((o["signal"], o["from"], o["effect"]) for o in told),
                         {("SIGIO", "kernel", "delivered"): 8, ("SIGALRM", "kernel", "delivered"): 4})
        told = objects(self, "-r", e2e.shared_capture("container_run_as_user_0.scap"), "-c", "signals", "signal=0")
        self.assertEqual([(o["signal"], o["call"], o["effect"]) for o in told], [("0", "kill", "sent")])


# ---- dnslog ----

def dns_name(name):
    return b"".join(bytes([len(l)]) + l.encode() for l in name.split(".") if l) + b"\0"


def dns_query(ident, name, kind, flags=0x0100):
    return struct.pack(">6H", ident, flags, 1, 0, 0, 0) + dns_name(name) + struct.pack(">HH", kind, 1)


def dns_record(kind, data, name=b"\xc0\x0c"):
    return name + struct.pack(">HHIH", kind, 1, 60, len(data)) + data


def dns_answer(query, records=(), rcode=0):
    return query[:2] + struct.pack(">HHHHH", 0x8180 | rcode, 1, len(records), 0, 0) + query[12:] + b"".join(records)


A, CNAME, MX, TXT, AAAA = 1, 5, 15, 16, 28
V6 = bytes.fromhex("20010db8000000000000000000000001")
# Name, type, records of the answer, rcode; and the answers as the chisel has to print them.
QUESTIONS = [
    ("one.example", A, [dns_record(A, bytes([192, 0, 2, 1]))], 0, ["192.0.2.1"]),
    ("two.example", A, [dns_record(CNAME, dns_name("one.example")), dns_record(A, bytes([192, 0, 2, 1]))], 0,
     ["CNAME one.example", "192.0.2.1"]),
    ("six.example", AAAA, [dns_record(AAAA, V6)], 0, ["2001:db8::1"]),
    ("mail.example", MX, [dns_record(MX, struct.pack(">H", 10) + b"\x02mx\xc0\x0c")], 0, ["10 mx.mail.example"]),
    ("text.example", TXT, [dns_record(TXT, b'\x0ba "b" \x1b[2J.')], 0, ['"a \\"b\\" \\027[2J."']),
    ("none.example", A, [], 3, []),
    ("broken.example", A, [], 2, []),
]
RCODES = {0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN"}

# Malformed messages, with the reason that the chisel has to print.
LOOP = struct.pack(">6H", 1, 0x8180, 1, 0, 0, 0) + b"\xc0\x0c" + struct.pack(">HH", 1, 1)
FORWARD = struct.pack(">6H", 2, 0x8180, 1, 0, 0, 0) + b"\xc0\xff" + struct.pack(">HH", 1, 1)
LONG = struct.pack(">6H", 3, 0x8180, 1, 0, 0, 0) + (b"\x3f" + b"a" * 63) * 5 + b"\0" + struct.pack(">HH", 1, 1)
CUT = dns_query(4, "cut.example", A)[:-7]
MANY = struct.pack(">6H", 5, 0x8180, 65535, 65535, 65535, 65535) + bytes(40)
SHORT_RECORD = dns_answer(dns_query(6, "short.example", A), [dns_record(A, b"\1\2\3\4")])[:-3]
MALFORMED = {LOOP: "a pointer in a name does not lead backwards", FORWARD: "a pointer in a name does not lead backwards",
             LONG: "a name is longer than 255 bytes", CUT: "a name goes beyond the end",
             MANY: "65535 questions", b"\0\1\2": "shorter than a header",
             SHORT_RECORD: "an answer goes beyond the end"}

DNS_PROGRAM = """
import json, socket, sys, struct, threading
pairs = [(bytes.fromhex(q), bytes.fromhex(a)) for q, a in json.load(open("dns.json"))]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("127.0.0.1", 0))
tcp = socket.socket(); tcp.bind(("127.0.0.1", 0)); tcp.listen()
print(udp.getsockname()[1], tcp.getsockname()[1], flush=True)
def serve_udp():
    for _, answer in pairs:
        _, peer = udp.recvfrom(65535)
        udp.sendto(answer, peer)
t = threading.Thread(target=serve_udp); t.start()
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); client.connect(udp.getsockname())
for query, _ in pairs:
    client.send(query); client.recv(65535)
t.join()
def read(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more: raise EOFError
        data += more
    return data
def serve_tcp():
    s, _ = tcp.accept()
    for _, answer in pairs:
        read(s, struct.unpack(">H", read(s, 2))[0])
        s.sendall(struct.pack(">H", len(answer)) + answer)
t = threading.Thread(target=serve_tcp); t.start()
s = socket.create_connection(tcp.getsockname()); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for i, (query, _) in enumerate(pairs):
    data = struct.pack(">H", len(query)) + query
    step = (1, 3, len(data))[i % 3] # in pieces of any size
    for at in range(0, len(data), step): s.send(data[at:at + step])
    read(s, struct.unpack(">H", read(s, 2))[0])
s.close(); t.join()
"""


class Dnslog(Case):
    def dns_capture(self, name, pairs):
        with open(os.path.join(self.dir, "dns.json"), "w") as f:
            json.dump([(q.hex(), a.hex()) for q, a in pairs], f)
        path, p = capture(self, name, PYTHON, self.script("dns.py", DNS_PROGRAM), options=["-s", "4000"])
        self.assertEqual(p.returncode, 0, p.stderr)
        return (path, *p.stdout.decode().split())

    @live
    def test_questions_and_answers(self):
        pairs = []
        for i, (name, kind, records, rcode, _) in enumerate(QUESTIONS):
            query = dns_query(1000 + i, name, kind)
            pairs.append((query, dns_answer(query, records, rcode)))
        path, udp, tcp = self.dns_capture("dns", pairs)
        names = {A: "A", MX: "MX", TXT: "TXT", AAAA: "AAAA"}
        expected = [(n, names[k], RCODES[r], shown) for n, k, _, r, shown in QUESTIONS]
        for proto, port in (("udp", udp), ("tcp", tcp)):
            told = objects(self, "-r", path, "-c", "dnslog", "port=" + port)
            self.assertEqual({o["proto"] for o in told}, {proto})
            self.assertEqual({o["server"] for o in told}, {"127.0.0.1:" + port})
            # The end of the server comes before that of the client.
            for side in (0, 1):
                self.assertEqual([(o["name"], o["type"], o["rcode"], o["answers"]) for o in told[side::2]],
                                 expected, (proto, side))
            self.assertTrue(all(o["latency"] > 0 for o in told), told)
        both = objects(self, "-r", path, "-c", "dnslog", f"port={udp},{tcp} name=MAIL.")
        self.assertEqual([(o["name"], o["proto"]) for o in both],
                         [("mail.example", "udp")] * 2 + [("mail.example", "tcp")] * 2)
        text = run(self, "-r", path, "-c", "dnslog", "port=" + udp)
        self.assertNotIn("\x1b", text)
        self.judge(pairs)

    def judge(self, pairs):
        """Returns what tshark decodes from the same bytes."""
        if not shutil.which("tshark"):
            return
        pcap = os.path.join(self.dir, "dns.pcap")
        with open(pcap, "wb") as f:
            f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 228))  # raw IPv4
            for _, answer in pairs:
                udp = struct.pack(">4H", 53, 12345, 8 + len(answer), 0) + answer
                ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([127, 0, 0, 1]),
                                 bytes([127, 0, 0, 1])) + udp
                f.write(struct.pack("<IIII", 0, 0, len(ip), len(ip)) + ip)
        p = subprocess.run(["tshark", "-r", pcap, "-T", "fields", "-e", "dns.qry.name", "-e", "dns.qry.type",
                            "-e", "dns.flags.rcode", "-e", "dns.a", "-e", "dns.aaaa", "-e", "dns.cname"],
                           capture_output=True, text=True)
        if p.returncode:
            return
        for line, (name, kind, _, rcode, shown) in zip(p.stdout.splitlines(), QUESTIONS):
            q, t, r, *addresses = line.split("\t")
            self.assertEqual((q, int(t), int(r)), (name, kind, rcode), line)
            if kind in (A, AAAA):
                self.assertEqual([a for a in addresses if a],
                                 [s.replace("CNAME ", "") for s in sorted(shown, key=lambda s: s.startswith("C"))], line)

    @live
    def test_hostile_messages(self):
        random.seed(53)
        pairs = [(dns_query(i, "q.example", A), bad) for i, bad in enumerate(MALFORMED)]
        base = dns_answer(dns_query(7, "mutated.example", MX), QUESTIONS[3][2])
        for i in range(300):
            mutated = bytearray(base if i % 2 else random.randbytes(random.randrange(1, 200)))
            for _ in range(random.randrange(1, 6)):
                mutated[random.randrange(len(mutated))] = random.randrange(256)
            pairs.append((dns_query(100 + i, "q.example", A), bytes(mutated)))
        path, udp, tcp = self.dns_capture("hostile", pairs)
        told = objects(self, "-r", path, "-c", "dnslog", "port=" + udp)
        why = collections.Counter(o["answers"][0] for o in told if o["rcode"] == "malformed")
        for reason in set(MALFORMED.values()):
            self.assertGreaterEqual(why[reason], 2, (reason, why))  # both ends
        for o in told + objects(self, "-r", path, "-c", "dnslog", "port=" + tcp):
            self.assertLess(len(json.dumps(o)), 20000)
        text = run(self, "-r", path, "-c", "dnslog", f"port={udp},{tcp}")
        self.assertNotRegex(text, "[\0-\b\x0b-\x1f\x7f]")

    @live
    def test_what_the_capture_cut_off(self):
        query = dns_query(9, "cut.example", TXT)
        pairs = [(query, dns_answer(query, [dns_record(TXT, b"\xc8" + b"x" * 200)] * 3))] * 2
        with open(os.path.join(self.dir, "dns.json"), "w") as f:
            json.dump([(q.hex(), a.hex()) for q, a in pairs], f)
        path, p = capture(self, "cut", PYTHON, self.script("dns.py", DNS_PROGRAM), options=["-s", "100"])
        for port in p.stdout.decode().split():
            told = objects(self, "-r", path, "-c", "dnslog", "port=" + port)
            self.assertEqual([(o["name"], o["rcode"], o.get("truncated")) for o in told],
                             [("cut.example", "NOERROR", True)] * 4)

    @live
    def test_a_question_without_an_answer(self):
        text = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0))\n"
                "print(s.getsockname()[1])\nc = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                f"c.sendto(bytes.fromhex('{dns_query(1, 'lost.example', A).hex()}'), s.getsockname())\n")
        path, p = capture(self, "unanswered", PYTHON, self.script("unanswered.py", text))
        told = objects(self, "-r", path, "-c", "dnslog", "port=" + p.stdout.decode().strip())
        self.assertEqual([(o["name"], o["rcode"], o.get("latency")) for o in told],
                         [("lost.example", "unanswered", None)])

    def test_golden(self):
        told = objects(self, "-r", e2e.shared_capture("curl_google.scap"), "-c", "dnslog")
        self.assertEqual([(o["proc.name"], o["server"], o["type"], o["rcode"], o["name"], o["answers"]) for o in told],
                         [("curl", "[2001:4860:4860::8888]:53", "AAAA", "NOERROR", "www.google.com",
                           ["2607:f8b0:4004:802::2004"])])

    def test_ports(self):
        for bad in ("x", "0", "65536", "53 or 1=1", "53,,x"):
            run(self, "-r", e2e.captures()[0], "-c", "dnslog", f"'port={bad}'", status=1)


# ---- tlshosts ----

def client_hello(host, alpn=()):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if alpn:
        context.set_alpn_protocols(alpn)
    out = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=host)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


WRITER = """
import json, socket, threading
lists = json.load(open("writes.json"))
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True)
def drain():
    for _ in lists:
        c, _ = s.accept()
        while c.recv(65536): pass
t = threading.Thread(target=drain); t.start()
for writes in lists:
    c = socket.create_connection(s.getsockname())
    for w in writes: c.sendall(bytes.fromhex(w))
    c.close()
t.join()
"""


class Tlshosts(Case):
    def hellos(self, name, lists, *options):
        with open(os.path.join(self.dir, "writes.json"), "w") as f:
            json.dump([[w.hex() for w in writes] for writes in lists], f)
        path, p = capture(self, name, PYTHON, self.script("writer.py", WRITER), options=options or ["-s", "8000"])
        self.assertEqual(p.returncode, 0, p.stderr)
        told = objects(self, "-r", path, "-c", "tlshosts")
        self.assertNotRegex(run(self, "-r", path, "-c", "tlshosts"), "[\0-\b\x0b-\x1f\x7f]")
        port = p.stdout.decode().strip()
        for o in told:
            self.assertEqual(o["address"], "127.0.0.1:" + port)
        return told

    @live
    def test_in_pieces(self):
        hello = client_hello("in.pieces.example", ["h2", "http/1.1"])
        message = hello[5:]
        lists = [[hello]]
        for size in (1, 5, 7, 100):
            lists.append([hello[i:i + size] for i in range(0, len(hello), size)])
        for size in (3, 50):  # in several records
            parts = [message[i:i + size] for i in range(0, len(message), size)]
            lists.append([b"\x16\x03\x01" + struct.pack(">H", len(p)) + p for p in parts])
        lists.append([b"EHLO x\r\n", b"STARTTLS\r\n", hello])
        told = self.hellos("pieces", lists)
        self.assertEqual([(o.get("sni"), o.get("alpn"), o.get("version"), o.get("partial")) for o in told],
                         [("in.pieces.example", ["h2", "http/1.1"], "TLS1.3", None)] * len(lists))

    @live
    def test_what_the_capture_cut_off(self):
        told = self.hellos("cut", [[client_hello("cut.example")]], "-s", "60")
        self.assertEqual([(o.get("sni"), o.get("version"), o.get("partial")) for o in told], [(None, None, True)])

    @live
    def test_hostile_bytes(self):
        random.seed(443)
        hello = client_hello("mutated.example", ["h2"])
        lists = [[b"\x16" * 100], [b"\x16\x03\x01\xff\xff\x01" + bytes(100)], [b"\x16\x03\x01\x00\x04\x01\xff\xff\xff"] * 40,
                 [b"\x16\x03\x01\x00\x00"] * 30, [b"\x16\x03\x01\x00\x01\x01"] * 60]
        for i in range(300):
            mutated = bytearray(hello if i % 3 else random.randbytes(random.randrange(6, 300)))
            for _ in range(random.randrange(1, 8)):
                mutated[random.randrange(6 if i % 3 else 0, len(mutated))] = random.randrange(256)
            if i % 3 == 0:
                mutated[:6] = b"\x16\x03\x01" + struct.pack(">H", len(mutated) - 5) + b"\x01"
            lists.append([bytes(mutated)])
        for o in self.hellos("hostile", lists):
            self.assertLess(len(json.dumps(o)), 5000)
            self.assertRegex(o.get("sni", "x"), r"^[!-~]+$")

    @live
    def test_of_openssl(self):
        if not shutil.which("openssl"):
            e2e.skip_test("openssl is not installed: scripts/setup --tests")
        key, cert = os.path.join(self.dir, "key.pem"), os.path.join(self.dir, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=x"], check=True,
                       capture_output=True)
        server = subprocess.Popen(["timeout", "-k", "2", "100", "openssl", "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", cert],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate) # timeout passes it on
        m = next((m for line in server.stdout if (m := re.match(rb"ACCEPT .*:(\d+)", line))), None)
        self.assertIsNotNone(m, "openssl s_server did not begin within 100 s")
        address = "127.0.0.1:" + m[1].decode()
        path, p = capture(self, "openssl", "openssl", "s_client", "-connect", address, "-servername",
                          "host.example", "-alpn", "h2,http/1.1", options=["-s", "4000"])
        told = objects(self, "-r", path, "-c", "tlshosts", "name=host")
        self.assertEqual([(o["proc.name"], o["address"], o["sni"], o["alpn"], o["version"]) for o in told],
                         [("openssl", address, "host.example", ["h2", "http/1.1"], "TLS1.3")], p.stdout)
        path, _ = capture(self, "openssl2", "openssl", "s_client", "-connect", address, "-noservername",
                          "-tls1_2", options=["-s", "4000"])
        told = objects(self, "-r", path, "-c", "tlshosts")
        self.assertEqual([(o.get("sni"), o.get("alpn"), o["version"]) for o in told], [(None, None, "TLS1.2")])


# ---- tables ----

class Tables(Case):
    def counted(self, path, fmt, text):
        return collections.Counter(l for l in run(self, "-r", path, "-p", fmt, text).splitlines() if l)

    def test_syscall_errors(self):
        n_expected = 0
        for path in e2e.captures():
            expected = self.counted(path, "%evt.type %evt.res %proc.name", "evt.failed=true")
            n_expected += len(expected)
            told = objects(self, "-r", path, "-c", "syscall_errors", "top=100000 by=proc.name")
            self.assertEqual({f"{o['evt.type']} {o['evt.res']} {o['proc.name']}": o["errors"] for o in told
                              if "proc.name" in o}, dict(expected), path)
            rows = objects(self, "-r", path, "-c", "syscall_errors", "top=100000", "lookups=all")
            self.assertEqual(sum(r["errors"] for r in rows), sum(r["errors"] for r in told), path)
            self.assertLess({"evt.type", "evt.res", "errors"}, set().union(*rows) or {"evt.type", "evt.res", "errors", "path"})
        self.assertGreater(n_expected, 5)
        told = objects(self, "-r", e2e.captures()[-1], "-c", "syscall_errors", "top=2 by=proc.pid")
        self.assertEqual(len(told), 2)
        self.assertTrue(all("proc.pid" in o for o in told), told)

    def test_syscall_errors_of_look_ups(self):
        """Failed look-ups of the loader and of a shell are one row; a file that was found nowhere has its own."""
        path, _ = capture(self, "lookups", "sh", "-c", "no-such-program; cat /none/of/it; exit 0")
        told = objects(self, "-r", path, "-c", "syscall_errors", "top=100000")
        paths = [o.get("path") for o in told]
        self.assertEqual(paths.count("(look-ups of libraries, locales, PATH)"), 1)
        self.assertIn("/none/of/it", paths)
        self.assertEqual(paths.count("no-such-program (found nowhere)"), 1)
        self.assertFalse([p for p in paths if p and p.startswith(("cat ", "libc"))], paths)
        self.assertFalse([p for p in paths if p and p.endswith(("/no-such-program", ".so.6"))], paths)
        every = objects(self, "-r", path, "-c", "syscall_errors", "top=100000", "lookups=all")
        self.assertTrue([o for o in every if o.get("path", "").endswith("bin/no-such-program")])
        self.assertEqual(sum(o["errors"] for o in every), sum(o["errors"] for o in told))

    @live
    def test_syscall_errors_of_a_missing_library(self):
        """The loader looks for this library in many folders, and for others that it finds in a later one."""
        for text, options in (("int f(void) { return 0; }", ["-o", "libnotthere.so", "-shared", "-fPIC"]),
                              ("int f(void); int main(void) { return f(); }", ["-o", "needs", "-L.", "-lnotthere"])):
            subprocess.run(["gcc", "-xc", "-", *options], input=text.encode(), cwd=self.dir, check=True)
        os.unlink(os.path.join(self.dir, "libnotthere.so"))
        path, _ = capture(self, "needs.scap", "sh", "-c", "./needs; exit 0")
        told = objects(self, "-r", path, "-c", "syscall_errors", "top=100000")
        every = objects(self, "-r", path, "-c", "syscall_errors", "top=100000", "lookups=all")
        tries = sum(o["errors"] for o in every if o.get("path", "").endswith("/libnotthere.so"))
        self.assertGreater(tries, 1)
        self.assertEqual([o["errors"] for o in told if o.get("path") == "libnotthere.so (found nowhere)"], [tries], told)

    FAILS = """
import os, socket
a, b, u = socket.socket(), socket.socket(), [socket.socket(socket.AF_UNIX) for _ in range(2)]
a.bind(("127.0.0.1", 0))
for call in (lambda: b.bind(a.getsockname()), lambda: u[0].connect("/none/sock"), lambda: u[1].connect("/none/sock"),
             lambda: os.mkdir("here"), lambda: os.mkdir("here")):
    try:
        call()
    except OSError:
        pass
print(a.getsockname()[1])
"""

    @live
    def test_syscall_errors_are_about_something(self):
        """Errors of calls on an address (bind), on a unix socket, and on a relative path."""
        path, p = capture(self, "fails", PYTHON, "-S", "-I", "-c", self.FAILS)
        told = objects(self, "-r", path, "-c", "syscall_errors", "evt.type in (bind, connect, mkdir)")
        self.assertEqual({(o["evt.type"], o["evt.res"], o["path"], o["errors"]) for o in told}, {
            ("bind", "EADDRINUSE", "127.0.0.1:" + p.stdout.decode().strip(), 1),
            ("connect", "ENOENT", "/none/sock", 2), ("mkdir", "EEXIST", os.path.join(self.dir, "here"), 1)})

    BY = ["proc.name", "evt.type"]

    def grouped(self, path, text):
        """Computes the same from event lines: events, bytes and latencies of each group."""
        groups = collections.defaultdict(lambda: ([], [], [], set()))
        for line in run(self, "-r", path, "-j", "-p", "*%proc.name %evt.type %evt.buflen %evt.latency %fd.name", text).splitlines():
            o = json.loads(line)
            n, sizes, times, files = groups[o["proc.name"], o["evt.type"]]
            n.append(1)
            for values, field in ((sizes, "evt.buflen"), (times, "evt.latency")):
                if o[field] is not None:
                    values.append(o[field])
            if o["fd.name"] is not None:
                files.add(o["fd.name"])
        return groups

    def test_by(self):
        for path in e2e.captures():
            expected = self.grouped(path, "(evt.dir=< or not syscall.type exists) and evt.category!=internal and "
                                          "not (evt.type in (clone, clone3, fork, vfork) and evt.dir=< and evt.rawres=0)")
            self.assertGreater(len(expected), 5, path)
            told = objects(self, "-r", path, "-c", "by", ",".join(self.BY), "sum=evt.buflen", "max=evt.buflen",
                           "min=evt.latency", "p50=evt.latency", "p99=evt.latency", "avg=evt.latency", "top=100000", "distinct=fd.name")
            self.assertEqual({tuple(o.get(k) for k in self.BY) for o in told}, set(expected), path)
            for o in told:
                n, sizes, times, files = expected[tuple(o.get(k) for k in self.BY)]
                self.assertEqual((o["count"], o.get("sum(evt.buflen)"), o.get("max(evt.buflen)"), o.get("min(evt.latency)")),
                                 (len(n), sum(sizes) if sizes else None, max(sizes, default=None), min(times, default=None)), o)
                if all(f is None or f.isprintable() for f in files):
                    self.assertEqual(o["distinct(fd.name)"], len(files), o)
                if not times:
                    continue
                self.assertAlmostEqual(o["avg(evt.latency)"], sum(times) / len(times), delta=0.01 + 1e-9 * sum(times))
                times.sort()
                for name, share in (("p50", 0.5), ("p99", 0.99)):
                    true = times[math.ceil(len(times) * share) - 1]
                    self.assertAlmostEqual(o[f"{name}(evt.latency)"], true, delta=1 + 0.02 * true, msg=(o, true))
            sums = [o.get("sum(evt.buflen)", -1) for o in told]
            self.assertEqual(sums, sorted(sums, reverse=True))

    @live
    def test_calls_that_make_processes(self):
        """They return in the child, too, which is no other call."""
        path, _ = capture(self, "forks", "bash", "-c", "for i in 1 2 3 4 5; do /bin/true; done")
        condition = "evt.type in (clone, clone3, fork, vfork)"
        for name, of in ("topscalls", "calls"), ("topscalls_time", "calls"), ("by", "count"):
            told = objects(self, "-r", path, "-c", name, *["evt.type"] * (name == "by"), condition)
            self.assertEqual(sum(o[of] for o in told), 5, name)

    @live
    def test_nothing_is_cut_into_a_pipe(self):
        names = ["b" * 50, "a" * 200]
        paths = [os.path.join(self.dir, name) for name in names]
        path, _ = capture(self, "long", "sh", "-c", 'for f; do echo >"$f"; done', "sh", *paths)
        wanted = ("fd.out.name,proc.name", "sum=evt.io.bytes", "fd.out.name startswith " + os.path.join(self.dir, ""))
        lines = run(self, "-r", path, "-c", "by", *wanted).splitlines()
        self.assertEqual(sorted(l.split() for l in lines if " /" in l), sorted(["1", "1", p, "sh"] for p in paths))
        # A path of any length does not widen all lines.
        self.assertLess(max(len(l) for l in lines if paths[1] not in l), 200)

    # The last copy is more than two seconds after the first one: several tables of one second.
    COPIES = "for n in 1 2 3 4; do dd if=/dev/zero of=$0 bs=1000 count=$n; sleep 0.7; done 2>/dev/null"

    @live
    def test_by_live(self):
        """One table of a live capture of several seconds; the same table of a file; and one per interval."""
        out = os.path.join(self.dir, "copy")
        by = ("-c", "by", "proc.name", "sum=evt.io.bytes", "p99=evt.latency", f"fd.out.name={out}")
        command = ("--", "sh", "-c", self.COPIES, out)
        path, _ = capture(self, "copies", *command[1:])
        for args in ("-r", path, *by), (*by, *command):
            told = objects(self, *args) if args[0] == "-r" else self.live_objects(*args)
            self.assertEqual([(o["proc.name"], o["sum(evt.io.bytes)"], o["count"]) for o in told], [("dd", 10000, 10)], args)
        times = [int(n) for n in run(self, "-r", path, "-p", "%evt.latency", f"fd.out.name={out}").split()]
        told = objects(self, "-r", path, *by)
        self.assertAlmostEqual(told[0]["p99(evt.latency)"], max(times), delta=1 + 0.02 * max(times))
        told = self.live_objects(*by[:-1], "interval=1", by[-1], *command)
        self.assertGreater(len(told), 1)
        self.assertEqual(sum(o["sum(evt.io.bytes)"] for o in told), 10000)

    @live
    def test_one_table_of_all(self):
        """Live into a pipe, waits and latencies have one table, though the capture lasts more than a second."""
        command = ("--", "sh", "-c", "sleep 1.2; sleep 1.2; :")
        waits = self.live_objects("-c", "offcpu_wait", *command)
        self.assertEqual([o["calls"] for o in waits if (o["proc.name"], o["evt.type"]) == ("sh", "wait4")], [2])
        times = self.live_objects("-c", "latency_hist", "evt.type=clock_nanosleep", *command)
        self.assertEqual([o["count"] for o in times], [2])

    def live_objects(self, *args):
        p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-j", *args], capture_output=True, env=ENV,
                           cwd=self.dir, stdin=subprocess.DEVNULL, check=True)
        return [json.loads(line) for line in p.stderr.decode().splitlines() if line.startswith("{")]

    def test_by_more_groups_than_there_is_room_for(self):
        path = os.path.join(self.dir, "many.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), path, "25000")
        told = objects(self, "-r", path, "-c", "by", "evt.num", "max=evt.num", "top=100000")
        other = [o for o in told if o["evt.num"] == "other"]
        self.assertEqual(len(other), 1)
        self.assertLessEqual(len(told), 10001)
        self.assertEqual(sum(o["count"] for o in told), 12500) # an event of two ends a call
        self.assertEqual([o["evt.num"] for o in told[:5000]], sorted((o["evt.num"] for o in told[:-1]), reverse=True)[:5000])

    def test_mistakes_are_told_in_a_sentence(self):
        path = e2e.captures()[0]
        for args, sentence in ((("fdbytes_by", "nope.field"), "key: unknown field nope.field"),
                               (("fdtime_by", "nope.field"), "key: unknown field nope.field"),
                               (("fdcount_by", "nope.field"), "key: unknown field nope.field"),
                               (("syscall_errors", "by=nope"), "by: unknown field nope"),
                               (("latency_hist", "by=foo"), "by: unknown field foo"),
                               (("by", "evt.typ"), "fields: unknown field evt.typ"),
                               (("by", "evt.type", "sum=proc.name"), "sum: proc.name is not a number"),
                               (("by", "evt.type", "sort=sum"), "sort: one of count is needed"),
                               (("spy_port", "99999"), "host_port: a whole number from 1 to 65535 is needed")):
            p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-r", path, "-c", *args], env=ENV,
                               capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual((p.returncode, p.stdout), (1, ""), args)
            self.assertTrue(p.stderr.startswith(sentence), p.stderr)
            self.assertNotIn("traceback", p.stderr)

    def histograms(self, path, by):
        expected = collections.defaultdict(collections.Counter)
        for line in run(self, "-r", path, "-p", f"%evt.latency\t%{by}", "evt.dir=< and syscall.type exists").splitlines():
            ns, key = line.split("\t", 1)
            if key:
                expected[key][0 if ns == "0" else 1 << (int(ns).bit_length() - 1)] += 1
        return expected

    def check_histograms(self, path, by):
        expected = self.histograms(path, by)
        self.assertTrue(expected, path)
        told = objects(self, "-r", path, "-c", "latency_hist", f"top=100000 by={by}")
        self.assertEqual({str(o[by]): {b["from"]: b["count"] for b in o["buckets"]} for o in told},
                         {k: dict(v) for k, v in expected.items()}, path)
        self.assertEqual([o["sum"] for o in told], sorted((o["sum"] for o in told), reverse=True))
        for o in told:
            self.assertEqual(o["count"], sum(b["count"] for b in o["buckets"]))
            self.assertTrue(o["buckets"][-1]["from"] <= o["max"] <= o["buckets"][-1]["to"], o)

    def test_latency_hist(self):
        for path in e2e.captures():
            for by in ("evt.type", "proc.pid"):
                self.check_histograms(path, by)

    def test_latency_hist_for_people(self):
        text = run(self, "-r", e2e.captures()[0], "-c", "latency_hist", "top=1").splitlines()
        self.assertRegex(text[0], r"^evt.type \w+: \d+ calls?, \S+ in all, half within \S+, 99% within \S+, longest \S+$")
        ends = {l.index(" .. ") for l in text if " .. " in l}
        self.assertEqual(len(ends), 1, text)
        self.assertTrue([l for l in text if re.fullmatch(r"\d+ more: top=N shows them", l)], text)

    @live
    def test_latency_hist_of_saker(self):
        path, _ = capture(self, "hist", "sh", "-c", "sleep 0.02; cat /etc/passwd")
        self.check_histograms(path, "evt.type")

    WAITS = ("import os, signal, socket, subprocess, time\n"
             "r, w = os.pipe()\n"
             "if os.fork() == 0:\n    time.sleep(0.6); os.write(w, b'x'); os._exit(0)\n"
             "os.read(r, 1)\n"
             "os.wait()\n"
             "a, b = socket.socketpair()\n"
             "if os.fork() == 0:\n    os.closerange(0, 3); signal.alarm(5); b.recv(1)\n"
             "subprocess.run(['sleep', '0.6'])\n")

    @live
    def test_offcpu_wait(self):
        path, p = capture(self, "waits", PYTHON, self.script("waits.py", self.WAITS))
        waits = objects(self, "-r", path, "-c", "offcpu_wait", "top=100000")
        by_call = collections.defaultdict(list)
        for o in waits:
            if "evt.type" in o:
                by_call[o["evt.type"]].append(o)
        read = max(by_call["read"], key=lambda o: o["longest"])
        self.assertIn("pipe", read["target"])
        self.assertGreaterEqual(read["longest"], 100_000_000)
        # The read without a writer is still blocked, and counts up to the end of the capture.
        stuck = max(by_call["recvfrom"], key=lambda o: o["waited"])
        self.assertGreaterEqual(stuck["waited"], 100_000_000, stuck)
        slept = sum(o["waited"] for o in by_call["clock_nanosleep"])
        self.assertGreaterEqual(slept, 300_000_000)
        # For calls that ended: computes the time from the fields of calls whose enter event says that they slept.
        expected = collections.Counter()
        begun = set()
        for line in run(self, "-r", path, "--enter-events", "-p", "*%thread.tid %evt.dir %evt.type %evt.latency %evt.is_blocked",
                        "syscall.type exists").splitlines():
            tid, direction, call, ns, blocked = line.split()
            if direction == ">":
                (begun.add if blocked == "true" else begun.discard)(tid)
            elif tid in begun:
                begun.discard(tid)
                expected[call] += int(ns)
        for call in ("read", "wait4", "clock_nanosleep"):
            self.assertEqual(sum(o["waited"] for o in by_call[call]), expected[call], call)

    def test_offcpu_wait_golden(self):
        told = objects(self, "-r", e2e.shared_capture("container_run_as_user_0.scap"), "-c", "offcpu_wait", "top=1")
        self.assertEqual([(o["proc.name"], o["evt.type"]) for o in told if "proc.name" in o], [("dockerd", "futex")])


# ---- drops ----

class Flame(Case):
    @live
    def test_a_thread_ends_whatever_the_filter_is(self):
        path, p = capture(self, "short", "sh", "-c", "sleep 0.01 & echo $!; wait; sleep 0.1; true")
        pid = p.stdout.decode().split()[-1]
        began, *_, ended = map(int, run(self, "-r", path, "-p", "%evt.rawtime", f"proc.pid={pid}").split())
        ns = sum(o["ns"] for o in objects(self, "-r", path, "-c", "flame", "levels=pid", "evt.type=openat")
                 if o["stack"] == [f"pid {pid}"])
        self.assertGreater(ns, 0)
        self.assertLessEqual(ns, ended - began)


class Drops(Case):
    @live
    def test_overload(self):
        path, said = os.path.join(self.dir, "overload.scap"), os.path.join(self.dir, "said")
        with open(said, "w") as f:
            saker = subprocess.Popen([e2e.SAKER, "--ring-size", "256K", "-v", "-w", path], stdin=subprocess.DEVNULL,
                                     stdout=f, stderr=f, env=ENV)
        try:
            e2e.somebody(self)
            e2e.wait_for_event(path, saker)
            saker.send_signal(signal.SIGSTOP)
            subprocess.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=100000"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            for _ in range(20):
                subprocess.run(["true"], stdin=subprocess.DEVNULL)
        finally:
            saker.send_signal(signal.SIGCONT)
            saker.send_signal(signal.SIGINT)
            try:
                saker.wait(timeout=e2e.DEADLINE_S)
            finally:
                saker.kill()
        text = e2e.read_text(said)
        self.assertEqual(saker.returncode, 0, text)
        lost = int(re.search(r"(?m)^  records lost +(\d+)$", text)[1])
        self.assertGreater(lost, 0, text)
        *losses, summary = objects(self, "-r", path, "-c", "drops")
        self.assertEqual(summary["total"], lost)
        self.assertEqual(sum(o["lost"] for o in losses), lost)
        kinds = ("clone", "exec", "exit", "open", "close", "state")
        self.assertEqual(summary["changes"], sum(o[k] for o in losses for k in kinds))
        for o in losses:
            self.assertRegex(o["reason"], "^the ring was (nearly )?full$")
        people = run(self, "-r", path, "-c", "drops")
        self.assertRegex(people, rf"(?m)^{lost} events were lost, [\d.]+ % of all: ")
        by_cpu = collections.Counter()
        for o in losses:
            by_cpu[(o["cpu"], o["reason"])] += o["lost"]
        table = re.findall(r"(?m)^ *(\d+) +\d+ +(\d+)  (the ring .*)$", people)
        self.assertEqual({(int(c), r): int(n) for n, c, r in table}, dict(by_cpu))
        # Only filters that name losses get them: they are not calls.
        for filter_text in ("evt.type!=open", "not evt.type=open", "evt.dir=>"):
            self.script("t.lua", f"local f = chisel.request_field('evt.type')\nfunction on_init() chisel.set_filter"
                        f"('{filter_text}') return true end\nfunction on_event() if evt.field(f) == 'lost' then "
                        "error('a loss') end return true end\n")
            run(self, "-r", path, "-c", os.path.join(self.dir, "t"))
        self.script("t.lua", "local f, n = chisel.request_field('evt.rawarg.n'), 0\nfunction on_init() "
                    "chisel.set_filter('evt.type in (lost, read)') return true end\nfunction on_event() "
                    "n = n + (evt.field(f) or 0) return true end\nfunction on_capture_end() print(n) end\n")
        self.assertEqual(run(self, "-r", path, "-c", os.path.join(self.dir, "t")), f"{lost}\n")

    @live
    def test_nothing_lost(self):
        path, _ = capture(self, "quiet", "true")
        self.assertEqual(run(self, "-r", path, "-c", "drops"),
                         "nothing was lost: the capture has every matching event\n")
        self.assertEqual(objects(self, "-r", path, "-c", "drops")[0]["total"], 0)

    def test_others_do_not_say(self):
        path = e2e.captures_of_others()[-1]
        self.assertEqual(run(self, "-r", path, "-c", "drops"),
                         "this file does not record losses: another tool made it\n")
        self.assertNotIn("total", objects(self, "-r", path, "-c", "drops")[0])


# ---- live, and on a terminal ----

@live
class Live(Case):
    def on_terminal(self, *args, until=b"", seconds=60):
        """Returns the output of the chisel on a terminal, up to a text and what follows at once."""
        import pty
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(ENV, TERM="xterm")
            os.environ.pop("NO_COLOR", None)
            os.chdir(self.dir)
            os.execv(e2e.SAKER, [e2e.SAKER, *args])
        out, end = b"", time.monotonic() + seconds
        try:
            while until not in out:
                self.assertLess(time.monotonic(), end, out)
                if select.select([fd], [], [], 1)[0]:
                    out += os.read(fd, 65536)
            for _ in range(1000):  # reads the rest of the current output
                if not select.select([fd], [], [], 0.01)[0]:
                    break
                out += os.read(fd, 65536)
            os.kill(pid, signal.SIGINT)
            while True:
                self.assertTrue(select.select([fd], [], [], seconds)[0], "saker does not end")
                out += os.read(fd, 65536)
        except OSError:  # EIO: the other end is closed
            pass
        finally:
            os.close(fd)
            os.kill(pid, signal.SIGTERM)  # harmless if it has exited: it is reaped below
            _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, out)
        return out

    def busy(self):
        """Starts a process that makes calls until the test ends. Returns its PID."""
        p = subprocess.Popen(["sh", "-c", "while :; do cat /none/of/it; sleep 0.02; done"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return str(p.pid)

    def test_lines_have_colours(self):
        out = self.on_terminal("--pid", self.busy(), "--tree", "-c", "opens", "failed=yes name=none", until=b"/none/of/it")
        self.assertRegex(out, rb"\x1b\[31m.* ENOENT .*/none/of/it\x1b\[0m")
        self.assertNotIn(b"\x1b[2J", out)

    def test_tables_are_redrawn(self):
        pid = self.busy()
        for chisel, text in (("syscall_errors", b"ENOENT"), ("latency_hist", b"half within"), ("offcpu_wait", b"wait4")):
            out = self.on_terminal("--pid", pid, "--tree", "-c", chisel, until=text)
            self.assertIn(b"\x1b[2J\x1b[H", out, chisel)
            self.assertIn(text, out, chisel)

    def test_an_open_wait_is_one_call(self):
        """Each table adds to the time of an open call, and does not count the call again."""
        p = subprocess.Popen(["sleep", "100"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        out = self.on_terminal("--pid", str(p.pid), "-c", "offcpu_wait", until=b"\x1b[J\x1b[H")
        calls = re.findall(rb"(\d+) +\S+ +\d+ +sleep +clock_nanosleep", out)
        self.assertGreaterEqual(len(calls), 2, out)
        self.assertEqual(set(calls), {b"1"}, out)

    def test_the_head_comes_before_the_first_line(self):
        for chisel, title in (("netlower", b"CONNECTION"), ("httplog", b"METHOD"), ("signals", b"SIGNAL")):
            out = self.on_terminal("-c", chisel, "--", "true", until=b"(this never comes)")
            self.assertIn(title, out, chisel)

    def test_a_list_asks_for_no_events(self):
        out = self.on_terminal("-c", "ps", until=b"no-such-text")
        self.assertIn(b"COMMAND", out)
        self.assertNotRegex(out, rb"(?m)^saker: (?:0 of|no matching)")

    def test_several_tables_follow_each_other(self):
        out = self.on_terminal("--pid", self.busy(), "--tree", "-c", "syscall_errors", "-c", "topscalls",
                               until=b"topscalls:\r\n")
        self.assertRegex(out, rb"syscall_errors:\r\n\d\d:\d\d:\d\d\r\n(?s:.*)\r\n\r\ntopscalls:\r\n")
        self.assertNotIn(b"\x1b[", out)

    def test_redrawn_whatever_bytes_were_read(self):
        """The terminal gets the escape sequences of the chisel, but not those of captured data."""
        self.script("drawn.lua", """
          local report = require "report"
          local text = ""
          function on_init()
            chisel.set_filter("evt.type=write and evt.dir=< and evt.rawarg.data contains title")
            data = chisel.request_field("evt.rawarg.data")
            chisel.set_interval_ns(50000000)
            return true
          end
          function on_event() text = evt.field(data) return true end
          function on_interval() report.draw {"raw " .. text} return true end
        """)
        p = subprocess.Popen(["sh", "-c", r"while :; do printf 'title \033[2J\033[9A\377.'; sleep 0.02; done"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        drawn = b"\x1b[Hraw title .[2J.[9A..\x1b[K\r\n\x1b[J"
        out = self.on_terminal("--pid", str(p.pid), "--tree", "-c", "./drawn", until=drawn)
        self.assertLessEqual(out.count(b"\x1b[2J"), 1)
        self.assertNotIn(b"\x1b[9A", out)

    def test_execs_come_and_end_in_a_tree(self):
        out = self.on_terminal("--pid", self.busy(), "--tree", "-c", "execs", until=b"cat /none/of/it").decode()
        self.assertRegex(out, r"TIME +EVENT +PID")
        self.assertRegex(out, r" start +\d+ +\d+ ")
        self.assertIn("START", out[out.index("TIME"):])


if __name__ == "__main__":
    unittest.main()
