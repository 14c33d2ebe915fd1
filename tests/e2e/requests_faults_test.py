#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests to servers that are dead or break off: their errors are those that nginx, the client of the
servers, tells in its log."""

import collections
import json
import os
import re
import subprocess
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/faults.py")
N = 5 # requests of each path

# What nginx tells of an upstream, and the error of the request to it.
TOLD = (("Connection refused", "connect refused"), ("Connection reset by peer", "request reset"),
        ("prematurely closed connection while reading upstream", "request closed"),
        ("prematurely closed connection while reading response header", "request unanswered"),
        ("timed out .* while reading response header", "request unanswered"))


class Upstreams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "capture.scap")
        p = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "/usr/bin/python3", PROGRAM],
                           capture_output=True, text=True, timeout=e2e.DEADLINE_S)
        assert p.returncode == 0, p.stderr
        cls.truth = json.loads(p.stdout)

    def counts(self, fields, only):
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "*" + " ".join(f"%request.{f}" for f in fields.split()), only)
        return collections.Counter(text.splitlines())

    def test_upstreams(self):
        """An error each, as in the log; servers in turn are tried, so both of two dead ones are refused."""
        want = collections.Counter(error for line in self.truth["errors"] for text, error in TOLD if re.search(text, line))
        self.assertEqual(want, {"connect refused": 2 * N, "request reset": N, "request closed": N,
                                "request unanswered": 2 * N})
        want["request <NA>"] = N
        self.assertEqual(self.counts("kind error", "proc.name=nginx and request.side=client"), want)

    def test_clients(self):
        """Path and status of each request to nginx, as it logs them, at both ends. Only /whole is without an error."""
        want = collections.Counter(map(" ".join, self.truth["log"]))
        self.assertEqual(sum(want.values()), 6 * N)
        for only in "proc.name=nginx and request.side=server", "proc.name!=nginx and request.side=client":
            only = f"request.proto=http and {only}"
            self.assertEqual(self.counts("resource status", only), want, only)
            self.assertEqual(self.counts("resource", f"{only} and request.failed=false"), {"/whole": N}, only)

    def test_servers(self):
        """Their responses are closed in the middle, or missing."""
        self.assertEqual(self.counts("resource error", "proc.name!=nginx and request.side=server"),
                         {"/whole <NA>": N, "/half closed": N, "/reset closed": N, "/silent unanswered": N,
                          "/hang unanswered": N})


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("nginx")
    unittest.main()
