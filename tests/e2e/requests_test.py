#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests: those of a real server and its client are the ones that the client counts."""

import json
import os
import subprocess
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/web.py")
FIELDS = "%request.method %request.resource %request.status"


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.folder, "capture.scap")
        truth = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "/usr/bin/python3", PROGRAM],
                               check=True, capture_output=True, text=True).stdout
        cls.truth = [json.loads(line) for line in truth.splitlines()]

    def lines(self, *words, path=None):
        return e2e.run(e2e.SAKER, "-r", path or self.capture, *words).splitlines()

    def test_both_ends(self):
        """Method, path, status and bytes of each request, as the client has them and as the server has them."""
        self.assertEqual(len(self.truth), 150)
        for side, counts in ("client", "%request.bytes_out %request.bytes_in"), \
                            ("server", "%request.bytes_in %request.bytes_out"):
            got = self.lines("-p", f"{FIELDS} {counts}", f"request.side={side} and request.proto=http")
            self.assertEqual(got, [" ".join(map(str, row)) for row in self.truth], side)

    def test_latency(self):
        """Its parts add up, and no request is answered before it was sent."""
        rows = self.lines("-p", "%request.latency %request.send %request.ttfb %request.recv", "request.proto=http")
        self.assertEqual(len(rows), 2 * len(self.truth))
        for row in rows:
            total, *parts = map(int, row.split())
            self.assertEqual(total, sum(parts))
            self.assertGreater(total, 0)

    def test_ends_know_each_other(self):
        names = {side: self.lines("-p", "%request.conn", f"request.side={side} and request.proto=http")
                 for side in ("client", "server")}
        self.assertEqual(names["client"], names["server"])
        self.assertEqual(len(set(names["client"])), 3)

    def test_routes(self):
        routes = set(self.lines("-p", "%request.method %request.route", "request.side=client"))
        self.assertEqual(routes, {"GET /size/*", "HEAD /size/*", "GET /none", "POST /post/*", "GET /chunks"})

    def test_not_derived_twice(self):
        """A file with requests, read again for requests, and written again."""
        again = os.path.join(self.folder, "again.scap")
        e2e.run(e2e.SAKER, "-r", self.capture, "--requests", "-w", again)
        for path in self.capture, again:
            self.assertEqual(len(self.lines("--requests", "-p", FIELDS, "request.proto=http", path=path)),
                             2 * len(self.truth))
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", again, "--verify"))

    def test_numbers_of_events(self):
        """A request has no number, and takes none from others."""
        numbered = self.lines("-p", "%evt.num %evt.type", "evt.type!=request")
        self.assertEqual(len(set(numbered)), len(numbered))

    def test_others_read_it(self):
        p = subprocess.run(["sysdig", "-r", self.capture, "-p", "%evt.num", "evt.type=accept4 or evt.type=accept"],
                           capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertGreater(len(p.stdout.splitlines()), 2)


class Captures(unittest.TestCase):
    def test_of_sysdig(self):
        """Requests of captures that sysdig made, with 80 bytes of each buffer."""
        found = [e2e.run(e2e.SAKER, "-r", path, "-p", "%request.method %request.status %request.truncated",
                         "request.proto=http").splitlines()
                 for path in e2e.SHARED if os.path.basename(path) in ("workshop_nginx.scap", "curl_google.scap")]
        if not found:
            e2e.skip_test("no captures of others")
        for rows in found:
            self.assertIn("GET 200 true", rows)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
