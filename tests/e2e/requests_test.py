#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests: those of a real server and its client are the ones that the client counts."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest
from xml.etree import ElementTree

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


class Map(unittest.TestCase):
    """The graph of servicemap, with names that are hostile."""
    NAMES = ["cl\\\"ient\\", 'w"\\N&lt;<b>..']

    @classmethod
    def setUpClass(cls):
        path = os.path.join(e2e.own_dir(cls), "names.scap")
        program = os.path.join(os.path.dirname(PROGRAM), "names.py")
        e2e.run(e2e.SAKER, "-q", "-w", path, "--", "/usr/bin/python3", program)
        cls.path = path
        cls.graph = e2e.run(e2e.SAKER, "-r", path, "-c", "servicemap", "format=dot")

    def test_syntax(self):
        text = r'"(?:[^"\\]|\\.)*"'
        nodes = re.findall(rf"^  n(\d) \[label=({text})\];$", self.graph, re.M)
        self.assertEqual([re.sub(r"\\(.)", r"\1", label[1:-1]).replace("&amp;", "&") for _, label in nodes], self.NAMES)
        self.assertEqual(len(re.findall(rf"^  n1 -> n2 \[label={text}, [^\]]*\];$", self.graph, re.M)), 1)
        self.assertEqual(len(self.graph.splitlines()), 6)

    def top(self, *words):
        text = e2e.run(e2e.SAKER, "-r", self.path, "-j", "-c", "requests_top", *words)
        return [json.loads(line) for line in text.splitlines()]

    def test_services(self):
        """Both ends of a request count for the process that answers it."""
        rows = self.top("group=service")
        self.assertEqual(len(rows), 2)
        for row, side in zip(rows, ("client", "server")):
            self.assertEqual((row["request.side"], row["request.proto"], row["requests"], row["failed"]), (side, "http", 3, 1))
            self.assertEqual(row["service"][:-2], self.NAMES[1][:-2])
            self.assertFalse({"proc.name", "request.method", "request.route"} & set(row))

    def test_no_statements(self):
        self.assertEqual(self.top("group=statement"), [])

    def test_picture(self):
        """The picture of saker has the same names and lines, and is XML."""
        svg = e2e.run(e2e.SAKER, "-r", self.path, "-c", "servicemap", "format=svg")
        texts = [t.text for t in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([t for t in texts if t in self.NAMES], self.NAMES)
        self.assertLessEqual({"Who calls whom", "3 requests", "3 http", "1 failed (33.3 %)"}, set(texts))

    def test_svg(self):
        if not shutil.which("dot"):
            e2e.skip_test("graphviz is not installed: scripts/setup --tests")
        svg = subprocess.run(["dot", "-Tsvg"], input=self.graph, capture_output=True, text=True, check=True)
        self.assertEqual(svg.stderr, "")
        texts = [t.text for t in ElementTree.fromstring(svg.stdout).iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([t for t in texts if t in self.NAMES], self.NAMES)
        self.assertLessEqual({"3 http", "1 failed (33.3 %)"}, set(texts))


class Evicted(unittest.TestCase):
    """More requests are open than are kept of a connection."""

    @classmethod
    def setUpClass(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "evicted.scap")
        program = os.path.join(os.path.dirname(PROGRAM), "unanswered.py")
        e2e.run(e2e.SAKER, "-q", "-s", "2048", "-w", cls.capture, "--", "/usr/bin/python3", program)

    def test_told(self):
        p = subprocess.run([e2e.SAKER, "-v", "-r", self.capture, "-p", "%request.side %request.proto %request.error",
                            "evt.type=request"], capture_output=True, text=True, check=True)
        self.assertEqual(p.stdout.splitlines().count("client redis evicted"), 104)
        self.assertRegex(p.stderr, r"(?m)^  requests +4200\n +104 evicted: too many are open$")
        self.assertIn("saker: 104 requests were evicted before their end: too many are open\n", p.stderr)

    def test_metric(self):
        page = e2e.run(e2e.SAKER, "exporter", "-r", self.capture, "--print")
        self.assertIn('saker_request_losses_total{what="evicted_requests"} 104\n', page)


class Refused(unittest.TestCase):
    """Connects that fail, as the program prints them."""

    @classmethod
    def setUpClass(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "refused.scap")
        program = os.path.join(os.path.dirname(PROGRAM), "refused.py")
        cls.truth = subprocess.run([e2e.SAKER, "-q", "--requests", "-w", cls.capture, "--", "/usr/bin/python3", program],
                                   check=True, capture_output=True, text=True).stdout.splitlines()

    def test_events(self):
        self.assertEqual(len(self.truth), 8)
        fields = "*%request.peer %request.error %request.side %request.proto %request.kind %request.method %request.bytes_out"
        found = e2e.run(e2e.SAKER, "-r", self.capture, "-p", fields, "request.proto=generic").splitlines()
        self.assertEqual(found, [line + " client generic connect <NA> 0" for line in self.truth])

    def test_latency(self):
        """Up to the event that shows the outcome: the program waits 20 ms before it reads SO_ERROR, or for a timeout."""
        latency = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%request.latency", "request.proto=generic").splitlines()
        slow = [int(ns) > 20e6 for ns in latency]
        self.assertEqual(slow, [False, False, True, True, False, False, True, True])

    def test_map(self):
        rows = e2e.run(e2e.SAKER, "-r", self.capture, "-c", "servicemap", "-j").splitlines()
        found = {row["server"]: (row["requests"], row["failed"]) for row in map(json.loads, rows)}
        self.assertEqual(found, {name: (n, n) for name, n in
                                 collections.Counter(line.split()[0] for line in self.truth).items()})


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
