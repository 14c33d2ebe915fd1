#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that requests belong to connections, not to descriptors: sockets that are duplicated, passed, inherited,
replaced, shared by threads, and whose bytes no call carries."""

import collections
import json
import os
import subprocess
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/paths.py")
WAYS = "plain", "dup", "passed", "fork", "reused", "threads", "sendfile", "splice", "io_uring"


class Paths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "capture.scap")
        p = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "/usr/bin/python3", PROGRAM],
                           capture_output=True, text=True, timeout=e2e.DEADLINE_S)
        assert p.returncode == 0, p.stderr
        cls.truth = collections.defaultdict(list)
        for side, method, path, *rest in map(json.loads, p.stdout.splitlines()):
            cls.truth[side, path.split("/")[1]].append([method, path, *rest])
        cls.found = {side: cls.rows(side) for side in ("client", "server")}

    @classmethod
    def rows(cls, side):
        fields = ("method", "resource", "status", "bytes_out", "bytes_in", "conn", "error", "truncated")
        text = e2e.run(e2e.SAKER, "-r", cls.capture, "-p", "*" + " ".join(f"%request.{f}" for f in fields) +
                       " %proc.pid %thread.tid", f"request.side={side}")
        return [line.split() for line in text.splitlines()]

    def of_way(self, side, name):
        return [row for row in self.found[side] if row[1].startswith(f"/{name}/")]

    def each(self):
        for family in "tcp", "unix":
            for way in WAYS if self.truth["client", f"{family}-io_uring"] else WAYS[:-1]:
                for side in "client", "server":
                    yield side, f"{family}-{way}"

    def test_io_uring(self):
        """The other tests have it unless the machine has not."""
        if not self.truth["client", "tcp-io_uring"]:
            e2e.skip_test("no io_uring here")

    def test_counts(self):
        """Method, path, status and bytes in both directions of each request, as that end counts them."""
        for side, name in self.each():
            got = [row[:5] for row in self.of_way(side, name)]
            want = [list(map(str, row[:5])) for row in self.truth[side, name]]
            self.assertEqual(len(want), 6)
            self.assertEqual(sorted(got), sorted(want), (side, name))

    def test_whole(self):
        """No request fails, and none is cut."""
        for side, name in self.each():
            self.assertEqual({tuple(row[6:8]) for row in self.of_way(side, name)}, {("<NA>", "false")}, (side, name))

    def test_threads(self):
        """The process and the thread are those that sent the request or its response."""
        for side, name in self.each():
            got = sorted([row[1], *row[8:]] for row in self.of_way(side, name))
            want = sorted([row[1], *map(str, row[5:])] for row in self.truth[side, name])
            self.assertEqual(got, want, (side, name))

    def test_ends_know_each_other(self):
        """A request has the same connection at both ends: one, or two where the second replaces the first."""
        for side, name in self.each():
            conns = {row[1]: row[5] for row in self.of_way(side, name)}
            self.assertEqual(conns, {row[1]: row[5] for row in self.of_way("server", name)}, name)
            self.assertEqual(len(set(conns.values())), 2 if name.endswith("-reused") else 1, (side, name))
            self.assertNotIn("<NA>", conns.values())

    def test_nothing_else(self):
        """No other requests: what goes through pipes and the socket of descriptors is none."""
        for side in "client", "server":
            want = [path for (end, _), rows in self.truth.items() if end == side for _, path, *_ in rows]
            self.assertEqual(sorted(row[1] for row in self.found[side]), sorted(want))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
