#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --tls with Go's crypto/tls: the events are the calls that programs of Go log."""

import collections
import glob
import os
import subprocess
import unittest

import runtimes
import saker_e2e as e2e

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tls_go", "conns.go")
CALLS = "evt.type in (tls_read, tls_write)"
STRIPPED = "-ldflags=-s -w"


def build(folder, *flags, root=None):
    """Builds the program, with the Go in /usr/lib/go-* of @root."""
    program = os.path.join(folder, "conns")
    env = {**os.environ, "GOCACHE": os.path.join(e2e.BUILD, "go-cache"), "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    go = "go"
    if root:
        env["GOROOT"] = sorted(glob.glob(os.path.join(os.path.realpath(root), "usr/lib/go-1.*")))[-1]
        go = env["GOROOT"] + "/bin/go"
    subprocess.run([go, "build", *flags, "-o", program, SOURCE], check=True, env=env)
    return program


class Case(unittest.TestCase):
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = e2e.own_dir(cls)
        cls.program = build(cls.folder, *cls.flags)

    def record(self, *words):
        """Runs the program with the words under saker. Returns its lines."""
        self.capture = os.path.join(self.folder, "-".join(words) + ".scap")
        return e2e.run(e2e.SAKER, "--tls", "--requests", "-w", self.capture, "--", self.program, *words).splitlines()

    def lines(self, *words):
        return e2e.run(e2e.SAKER, "-r", self.capture, *words).splitlines()

    def check_calls(self, how):
        """Each call has its socket, result and bytes: also where the stack moved during the call, with the buffer."""
        truth = self.record("log", how)
        got = self.lines("-p", "%evt.type %fd.num %evt.rawres %evt.arg.data", CALLS)
        self.assertEqual(len(truth), 29)
        for name in "tls_read", "tls_write":
            want = [line for line in truth if line.startswith(name)]
            have = [line for line in got if line.startswith(name)]
            for line, expected in zip(have, want, strict=True):
                self.assertEqual(line.rstrip(" .")[:len(expected.rstrip())], expected.rstrip())

    def check_requests(self, askers=8, requests=5):
        """Requests are those that the server logged, each with the same connection at both ends."""
        truth = sorted(self.record("web", str(askers), str(requests)))
        self.assertEqual(len(truth), askers * requests)
        ends = []
        for side in "client", "server":
            chosen = f"request.side={side} and request.proto=http"
            got = self.lines("-p", "*%request.method %request.resource %request.status", chosen)
            self.assertEqual(sorted(got), truth, side)
            ends.append(sorted(self.lines("-p", "*%request.resource %request.conn", chosen)))
        self.assertEqual(*ends)

    def check_unharmed(self):
        """Probes come and go, while goroutines call on stacks that grow and shrink, and others wait in a read."""
        program = subprocess.Popen([self.program, "load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        for _ in range(3):
            got = e2e.run(e2e.SAKER, "--tls", "--pid", str(program.pid), "-n", "300", "-p",
                          "%evt.type %fd.num %evt.arg.data", CALLS).splitlines()
            self.assertEqual(len(got), 300)
            self.assertFalse([line for line in got if " a message " not in line])
            messages = collections.defaultdict(set) # a socket has those of one pair
            for line in got:
                messages[line.split()[1]].add(line.split(" of ")[1].rstrip("."))
            self.assertTrue(all(len(numbers) == 1 for numbers in messages.values()), messages)
        self.assertEqual(program.communicate()[0], "true true\n")
        self.assertEqual(program.returncode, 0)


class Calls(Case):
    def test_tcp(self):
        self.check_calls("tcp")

    def test_wrapped(self):
        """A connection that hides its socket."""
        self.check_calls("wrapped")

    def test_unix(self):
        self.check_calls("unix")


class Requests(Case):
    flags = (STRIPPED,)

    def test_requests(self):
        self.check_requests()


class Detach(Case):
    flags = (STRIPPED,)

    def test_program_goes_on(self):
        self.check_unharmed()


class Versions(Case):
    """Other ways to build a program, and other versions of Go."""

    @classmethod
    def setUpClass(cls):
        cls.folder = e2e.own_dir(cls)

    def check_build(self, *flags, root=None):
        self.program = build(self.folder, *flags, root=root)
        self.check_calls("tcp")
        self.check_calls("wrapped")
        self.check_requests(2, 2)
        self.check_unharmed()

    def test_unoptimized(self):
        self.check_build("-gcflags=crypto/tls=-N -l")

    def test_trixie(self):
        self.check_build("-buildmode=pie", STRIPPED, root=runtimes.root("trixie", "golang-go"))


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("go")
    unittest.main()
