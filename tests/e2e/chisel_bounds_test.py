#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What peers and processes send to chisels: neither much of it nor bytes that mean harm do any."""

import json
import os
import shutil
import socket
import subprocess
import sys
import unittest

import saker_e2e as e2e

# A client that asks N times before anybody answers, and a server that answers all: each request has its
# own path, and the last one comes when all else was answered.
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


class Http(unittest.TestCase):
    def setUp(self):
        e2e.need_live()
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, True)

    def test_requests_that_nobody_answers(self):
        """A client that asks and asks: the chisel keeps some, and says how many it did not."""
        out = os.path.join(self.dir, "out.scap")
        p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--chisel-limit", "16:1000", "-j", "-w", out,
                            "-c", "httplog", "--", sys.executable, "-c", PIPELINE, "20000"],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr[-2000:])
        rows = [json.loads(line) for line in p.stderr.splitlines() if line.startswith("{")]
        # The first hundred of each side, and the one that came when nothing waited any more.
        for side in ("client", "server"):
            seen = [(r["url"], r["status"], r.get("size")) for r in rows if r["side"] == side]
            expected = [(f"h/{i}", 200, i % 7) for i in [*range(1, 101), 20001]]
            self.assertEqual(seen, expected, side)
        self.assertIn("saker: 39800 requests were not counted: more than 100 of a connection", p.stderr)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", out, "--verify"))


class Rows(unittest.TestCase):
    """Chisels that count by what others make up."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "110000")

    def test_other(self):
        """A list in Lua and one of the host: what has no room is one row, and the sum is that of all."""
        for count in ("of = function() return 1 end", "count = true"):
            path = os.path.join(self.dir, "t.lua")
            with open(path, "w") as f:
                f.write("""require "toplist" {keys = {{"NUM", "evt.num"}},
                  values = {{"CALLS", name = "calls", %s}}, top = 2}""" % count)
            p = subprocess.run([e2e.SAKER, "-r", self.capture, "-c", path], capture_output=True, text=True,
                               env={**os.environ, "SAKER_CHISEL_DIR": os.path.join(e2e.SOURCE, "chisels")})
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            words = [line.split() for line in p.stdout.splitlines()]
            self.assertEqual(words[0], ["CALLS", "NUM"])
            self.assertEqual(words[3][1], "other")
            self.assertEqual(words[3][0], words[3][2])
            self.assertEqual(words[4], ["110000", "all", "110000"])


if __name__ == "__main__":
    unittest.main()
