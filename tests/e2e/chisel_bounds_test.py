#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that large or hostile input from peers and processes does not harm chisels."""

import json
import math
import os
import shutil
import subprocess
import sys
import unittest
import xml.dom.minidom

import saker_e2e as e2e

# A client that sends N requests before the server answers any; then the server answers all. Each request
# has its own path, and the last one is sent after all others are answered.
PIPELINE = """
import socket, sys
n = int(sys.argv[1])
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()

def exchange(first, last):
    numbers = range(first, last + 1)
    for i in range(first, last + 1, 50):
        part = [b"GET /%d HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n" % j for j in numbers if i <= j < i + 50]
        client.sendall(b"".join(part))
        left = len(b"".join(part))
        while left:
            left -= len(peer.recv(3000))
    for i in range(first, last + 1, 50):
        part = [b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (j % 7, b"x" * (j % 7))
                for j in numbers if i <= j < i + 50]
        peer.sendall(b"".join(part))
        left = len(b"".join(part))
        while left:
            left -= len(client.recv(3000))

exchange(1, n)
exchange(n + 1, n + 1)
"""

# Requests with a header that is two letters with many spaces between them.
SPACES = """
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
for i in range(12):
    part = b"GET /%d HTTP/1.1\\r\\nA: x%sy\\r\\nHost: h  \\r\\n\\r\\n" % (i, b" " * 60000)
    client.sendall(part)
    left = len(part)
    while left:
        left -= len(peer.recv(65536))
    peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
    client.recv(1000)
"""

# Bodies and objects with impossible lengths.
SIZES = """
import socket
server = socket.create_server(("127.0.0.1", 0))

def exchange(request, answer):
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    client.sendall(request)
    peer.recv(1000)
    peer.sendall(answer)
    client.recv(1000)

for n in b"99999999999999999999", b"9223372036854775807", b"9" * 400, b"3":
    exchange(b"POST / HTTP/1.1\\r\\nContent-Length: %s\\r\\nHost: h\\r\\n\\r\\nabc" % n,
             b"HTTP/1.1 200 OK\\r\\nContent-Length: %s\\r\\n\\r\\nabc" % n)
    exchange(b"get abc\\r\\n", b"VALUE abc 0 %s\\r\\nabc\\r\\nEND\\r\\n" % n)
    exchange(b"set abc 0 0 %s\\r\\nabc\\r\\n" % n, b"STORED\\r\\n")
"""


class Http(unittest.TestCase):
    def setUp(self):
        e2e.need_live()
        self.dir = e2e.own_dir(self)

    def test_requests_that_nobody_answers(self):
        """Of many pending requests the chisel keeps a limited number, and reports how many it dropped."""
        out = os.path.join(self.dir, "out.scap")
        p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--chisel-limit", "16:1000", "-j", "-w", out,
                            "-c", "httplog", "--", sys.executable, "-c", PIPELINE, "20000"],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr[-2000:])
        rows = [json.loads(line) for line in p.stderr.splitlines() if line.startswith("{")]
        # The first hundred of each side, and the one that was sent when none was pending.
        for side in ("client", "server"):
            seen = [(r["url"], r["status"], r.get("size")) for r in rows if r["side"] == side]
            expected = [(f"h/{i}", 200, i % 7) for i in [*range(1, 101), 20001]]
            self.assertEqual(seen, expected, side)
        self.assertIn("saker: 39800 requests were not counted: more than 100 of a connection", p.stderr)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", out, "--verify"))


    def test_sizes_that_cannot_be(self):
        """A size that does not fit a number is unknown; it does not end the chisel."""
        capture = os.path.join(self.dir, "sizes.scap")
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-q", "-w", capture, "--", sys.executable, "-c",
                        SIZES], check=True, capture_output=True)
        for chisel, n in ("httplog", 1), ("memcachelog", 2):
            lines = e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", capture, "-j", "-c", chisel)
            rows = [json.loads(line) for line in lines.splitlines()]
            sizes = [r.get("size") for r in rows if r["side"] == "client"]
            self.assertEqual(sizes, 3 * n * [None] + n * [3], chisel)
        e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", capture, "-c", "httptop")

    def test_spaces_in_headers(self):
        """A line of spaces takes as long as another one. In quadratic time it would take minutes."""
        capture = os.path.join(self.dir, "spaces.scap")
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-q", "-s", "64000", "-w", capture, "--",
                        sys.executable, "-c", SPACES], check=True, capture_output=True)
        lines = e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", capture, "-j", "-c", "httplog")
        rows = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([r["url"] for r in rows if r["side"] == "client"], [f"h/{i}" for i in range(12)])


# Processes that exit with an open connection.
ENDS = """
import os, socket
server = socket.create_server(("127.0.0.1", 0))
for i in range(5):
    pid = os.fork()
    if not pid:
        client = socket.create_connection(server.getsockname())
        os._exit(0)
    server.accept()[0].close()
    os.waitpid(pid, 0)
"""


class Connections(unittest.TestCase):
    def test_end_of_a_process(self):
        """Its cost depends on the connections of the process, not on those of all processes."""
        e2e.need_live()
        home = e2e.own_dir(self)
        capture, chisels = os.path.join(home, "ends.scap"), os.path.join(home, "chisels")
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-q", "-w", capture, "--", sys.executable, "-c",
                        ENDS], check=True, capture_output=True)
        shutil.copytree(os.path.join(e2e.SOURCE, "chisels"), chisels)
        path = os.path.join(chisels, "lib/bounded.lua")
        e2e.write_text(path, e2e.read_text(path).replace("function Bounded:each()", """function Bounded:each()
          io.stderr:write("all were looked at\\n")"""))
        p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-r", capture, "-j", "-c", "connections"],
                           capture_output=True, text=True, env={**os.environ, "SAKER_CHISEL_DIR": chisels})
        rows = [json.loads(line) for line in p.stdout.splitlines()]
        self.assertEqual(sorted(r["outcome"] for r in rows), 5 * ["SUCCESS"] + 5 * ["accepted"], p.stderr)
        self.assertEqual(p.stderr.count("all were looked at"), 1, "only at the end of the capture")


class Rows(unittest.TestCase):
    """Chisels that count by keys that watched processes make up."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "110000")

    def test_what_is_not_known_has_one_sign(self):
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, """local report = require "report"
              function on_capture_end()
                report.put_once({{title = "A", name = "a"}, {title = "B", name = "b"}, {title = "C", name = "c"}},
                                {{"<NA>", nil, "x"}})
              end""")
        self.assertEqual(e2e.run(e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path), "A  B  C\n-  -  x\n")
        self.assertEqual(e2e.run(e2e.SAKER, "-r", self.capture, "-n", "1", "-j", "-c", path), '{"c":"x"}\n')

    def test_trim(self):
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, """local report = require "report"
              function on_capture_end()
                local text = report.trim(("%sx%sy  "):format((" "):rep(9), (" "):rep(1000000)))
                print(#text, text:sub(-2), report.trim("  ") == "", report.trim("") == "", report.trim("a"))
              end""")
        out = e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)
        self.assertEqual(out, "1000011\t y\ttrue\ttrue\ta\n")

    def test_base_name(self):
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, """local report = require "report"
              function on_capture_end()
                local long = ("a"):rep(1000000)
                print(report.base_name("/" .. long .. "/b"), report.base_name("/b/"), report.base_name(long) == long)
              end""")
        out = e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)
        self.assertEqual(out, "b\t\ttrue\n")

    def test_ends_of_paths(self):
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, """local report = require "report"
              function on_capture_end()
                local long = ("a"):rep(1000000) .. "/"
                for n = 1, 3 do print(report.end_of("/c/b/a.py", n), report.end_of("a.py", n), report.end_of(long, n) == long) end
                print(report.end_of("c/b/a.py", 3), report.end_of("/a.py", 2), report.end_of("node:fs/promises", 1))
              end""")
        out = e2e.run("timeout", "-k", "2", "10", e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)
        self.assertEqual(out, "a.py\ta.py\ttrue\nb/a.py\ta.py\ttrue\nc/b/a.py\ta.py\ttrue\n"
                              "c/b/a.py\t/a.py\tnode:fs/promises\n")

    def test_paths_of_look_ups(self):
        """Paths like those of libraries take as long as others. In quadratic time they would take minutes."""
        e2e.need_live()
        capture = os.path.join(self.dir, "paths.scap")
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-q", "-w", capture, "--", sys.executable, "-S",
                        "-I", "-c", "import os\nfor i in range(3000): os.access('/lib' * 1000 + '/x%d' % i, 0)"],
                       check=True, capture_output=True)
        out = e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", capture, "-j", "-c", "syscall_errors",
                      "evt.arg.name contains /lib/lib/lib")
        self.assertEqual(len(out.splitlines()), 20, out[-300:])

    def test_other(self):
        """Rows counted in Lua, and by the host: those beyond the limit are one row, and the sum is that of all."""
        for count in ("of = function() return 1 end", "count = true"):
            path = os.path.join(self.dir, "t.lua")
            e2e.write_text(path, """require "toplist" {keys = {{"NUM", "evt.num"}},
                  values = {{"CALLS", name = "calls", %s}}, top = 2}""" % count)
            p = subprocess.run([e2e.SAKER, "-r", self.capture, "-c", path], capture_output=True, text=True,
                               env={**os.environ, "SAKER_CHISEL_DIR": os.path.join(e2e.SOURCE, "chisels")})
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            words = [line.split() for line in p.stdout.splitlines()]
            self.assertEqual(words[0], ["CALLS", "NUM"])
            self.assertEqual(words[3][1], "other")
            self.assertEqual(words[3][0], words[3][2])
            self.assertEqual(words[4], ["110000", "all", "110000"])

    def test_quantiles_of_other(self):
        """Quantiles of one field share a set of numbers: also of the rows beyond the limit, whichever they are sorted by."""
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, """require "toplist" {keys = {{"NUM", "evt.num"}}, top = 2, values = {
              {"HALF", name = "half", field = "evt.num", quantile = 0.5}, {"CALLS", name = "calls", count = true},
              {"MOST", name = "most", field = "evt.num", quantile = 0.99}}}""")
        for sort in "half", "most":
            out = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", path, f"sort={sort}")
            rows = [json.loads(line) for line in out.splitlines()]
            numbers = [int(n) for n in e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.num").split()]
            self.assertEqual(len(numbers), 110000)
            for row, n in zip(rows, sorted(numbers)[:-3:-1]):
                self.assertEqual((row["half"], row["calls"], row["most"]), (n, 1, n))
            other = sorted(numbers)[:rows[2]["calls"]]
            self.assertGreaterEqual(len(other), 50000)
            for name, share in ("half", 0.5), ("most", 0.99):
                exact = other[math.ceil(len(other) * share) - 1]
                self.assertLessEqual(exact, rows[2][name])
                self.assertLessEqual(rows[2][name], exact * 17 / 16)


class Groups(unittest.TestCase):
    """The chisel `by` over keys that a process makes up, with lower limits than by default."""
    N = 8000
    PATHS = f"""
import os
for i in range({N}):
    os.access("/%06d/" % i + "x/" * 1900, 0)
"""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.dir = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.dir, "in.scap")
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--ring-size", "64M", "-w", cls.capture, "--",
                        sys.executable, "-S", "-I", "-c", cls.PATHS], check=True, capture_output=True)
        text = e2e.read_text(os.path.join(e2e.SOURCE, "chisels/by.lua"))
        for name in ("DISTINCT_BYTES_MAX = 256", "KEY_BYTES_MAX = 128"):
            text = text.replace(name, name.split()[0] + " = 4")
        e2e.write_text(os.path.join(cls.dir, "by.lua"), text)

    def by(self, args):
        p = subprocess.run([e2e.SAKER, "--chisel-limit", "24:1000", "-r", self.capture, "-j", "-c",
                            os.path.join(self.dir, "by"), args, "evt.type=access and evt.path startswith /00"],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        return [json.loads(line) for line in p.stdout.splitlines()], p.stderr

    def test_values_that_are_told_apart(self):
        rows, said = self.by("evt.type distinct=evt.path")
        self.assertEqual([r["count"] for r in rows], [self.N])
        told = rows[0]["distinct(evt.path)"]
        self.assertGreater(told, 1000)
        self.assertLess(told, 2000)
        self.assertIn(f"{self.N - told} values are not counted as distinct", said)

    def test_keys(self):
        rows, _ = self.by("evt.path top=100000")
        self.assertGreater(len(rows), 400)
        self.assertEqual([r["evt.path"] for r in rows].count("other"), 1)
        self.assertEqual(sum(r["count"] for r in rows), self.N)


SESSION = {"SAKER_SAMPLER_SESSION": f"bounds-{os.getpid()}"}
PR_SET_NAME = 15


def run_as(name, body):
    """Returns a command that runs the Python code under this name (bytes, at most 15)."""
    return [sys.executable, "-c", f"import ctypes; ctypes.CDLL(None).prctl({PR_SET_NAME}, {name!r})\n{body}"]


class Names(unittest.TestCase):
    """Programs can give themselves any name."""

    SPIN = """
import time
end = time.thread_time() + 0.3
while time.thread_time() < end:
    pass
"""

    def setUp(self):
        e2e.need_live()
        self.dir = e2e.own_dir(self)
        self.capture = os.path.join(self.dir, "in.scap")

    def record(self, name, body, *args):
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, *args, "-w", self.capture, "--", *run_as(name, body)],
                       check=True, capture_output=True, env={**os.environ, **SESSION})

    def shown(self, *args):
        p = subprocess.run([e2e.SAKER, "-r", self.capture, *args], capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout

    def test_samples(self):
        """A name with newlines does not fake samples, and a name that XML cannot hold does not break the drawing."""
        self.record(b"x\n\na 1/1 [0", self.SPIN, "--sample", "999")
        heads = [line for line in self.shown("-c", "perfscript").split(b"\n") if line and not line.startswith(b"\t")]
        ours = [line for line in heads if line.startswith(b"x..a 1/1 [0 ")]
        self.assertGreater(len(ours), 10)
        for line in heads:
            self.assertRegex(line, rb"^.+ \d+/\d+ \[\d{3}\] \d+\.\d{9}: \d+ cpu-clock:$")
        for line in self.shown("-c", "folded").splitlines():
            self.assertRegex(line, rb"^[^;]+(;[^;]+)* \d+$")
        svg = self.shown("-c", "flamegraph")
        xml.dom.minidom.parseString(svg)
        self.assertIn(b"x..a 1/1 [0", svg.replace(b"\n", b"."))

    def test_a_drawing_of_any_name(self):
        for name in (b"\xef\xbf\xbf\xef\xbf\xbe]]>&<", b"\xff\xed\xa0\x80\x01\x1b[8m", b"\xc2\x9b\xf4\x90\x80\x80"):
            self.record(name, self.SPIN, "--sample", "499")
            xml.dom.minidom.parseString(self.shown("-c", "flamegraph"))

    def test_lines(self):
        """In every format of lines, a name adds neither lines nor columns."""
        self.record(b"=1\t2\n\x1b[8m\xc2\x9b3m", "import os; os.getppid()")
        text = self.shown("-p", "%proc.name", "evt.type=getppid")
        self.assertEqual(text, b"=1.2..[8m..3m\n")
        self.assertEqual(self.shown("--tsv", "-p", "%proc.name %evt.type", "evt.type=getppid").splitlines()[1],
                         b"'=1.2..[8m..3m\tgetppid")
        self.assertEqual([json.loads(line) for line in
                          self.shown("-j", "-p", "%proc.name", "evt.type=getppid").splitlines()],
                         [{"proc.name": "=1.2..[8m..3m"}])
        for chisel in ("topscalls", "topprocs_errors", "execs", "opens", "syscall_errors", "ps", "bottlenecks"):
            for form in ((), ("-j",)):
                out = self.shown(*form, "-c", chisel)
                self.assertNotRegex(out, rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", chisel)


    def test_the_environment_is_no_part_of_json(self):
        """It can have secrets, and JSON does not cut it."""
        subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "-w", self.capture, "--", "env", "SECRET=hunter2", "true"],
                       check=True, capture_output=True)
        fmt = ["-j", "evt.type=execve and proc.name=true"]
        self.assertIn(b"exe=true", self.shown(*fmt))
        self.assertNotIn(b"hunter2", self.shown(*fmt))
        self.assertNotIn(b"hunter2", self.shown("--tsv", "-p", "%evt.args", fmt[1]))
        self.assertIn(b"hunter2", self.shown("-j", "-p", "%evt.arg.env", fmt[1]))
        self.assertIn(b"hunter2", self.shown("-v", *fmt))


class Files(unittest.TestCase):
    """A chisel reads regular files only, and comes from the folders that are documented."""

    def setUp(self):
        self.dir = e2e.own_dir(self)
        self.capture = os.path.join(self.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), self.capture, "10")
        self.env = {**os.environ, "SAKER_CHISEL_DIR": os.path.join(self.dir, "mine"), "HOME": self.dir}
        os.makedirs(os.path.join(self.dir, "mine"))

    def chisel(self, *args):
        return subprocess.run(["timeout", "-k", "2", "30", e2e.SAKER, *args], capture_output=True, text=True,
                              cwd=self.dir, env=self.env)

    def test_a_fifo_is_not_read(self):
        os.mkfifo(os.path.join(self.dir, "fifo"))
        os.mkfifo(os.path.join(self.dir, "mine/pipe.lua"))
        for text in ("assert(io.open('fifo'))", "for l in io.lines('fifo') do end", "dofile('fifo')", "require 'pipe'"):
            with open(os.path.join(self.dir, "mine/t.lua"), "w") as f:
                f.write(text)
            p = self.chisel("-r", self.capture, "-c", "t")
            self.assertEqual(p.returncode, 1, p.stderr)
            self.assertIn("not a regular file", p.stderr, text)
        self.assertIn("not a regular file", self.chisel("-r", self.capture, "-c", "pipe").stderr)
        self.assertEqual(self.chisel("-cl").returncode, 0)

    def test_not_the_working_directory(self):
        """saker in the folder of another user does not run chisels from there."""
        for folder in (".", "chisels"):
            os.makedirs(os.path.join(self.dir, folder), exist_ok=True)
            with open(os.path.join(self.dir, folder, "theirs.lua"), "w") as f:
                f.write("function on_capture_end() print('ran') end")
        p = self.chisel("-r", self.capture, "-c", "theirs")
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("no chisel 'theirs'", p.stderr)
        self.assertIn("-c ./theirs", p.stderr)
        p = self.chisel("-r", self.capture, "-c", "./theirs")
        self.assertEqual((p.returncode, p.stdout), (0, "ran\n"), p.stderr)


if __name__ == "__main__":
    unittest.main()
