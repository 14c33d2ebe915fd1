#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker why: servers with injected causes of slowness. It must name each of them."""

import json
import os
import re
import subprocess
import unittest

import runtimes
import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "why/scenes.py")
RUN_QUEUE = "run queue"

# The largest part of each request, and the largest part below that: the injected cause.
CAUSES = {
    "GET /lock": [r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "sleep"],
    "GET /lock-burns": [r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "on CPU"],
    "GET /sleep": ["sleep"],
    "GET /cpu": ["on CPU"],
    "GET /pipe": [r"pipe fd \d+ from feeder \(\d+\)", "sleep"],
    "GET /flock": [r"lock of /\S+ held by locker \(\d+\)", "sleep"],
    "GET /child": [r"child process sleep \(\d+\)", "sleep"],
    "GET /worker": [r"work of worker \(\d+\) \?", "sleep"],
    "GET /backend": ["GET /sleep", r"in backend \(\d+\), thread handler \(\d+\)", "sleep"],
    "GET /backend-lock": ["GET /lock", r"in backend \(\d+\), thread handler \(\d+\)",
                          r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "sleep"],
    "GET /handed": ["sleep"],
    "GET /loop": ["busy with other requests", "GET /loop-hog"],
    "GET /loop-hog": ["on CPU"],
}


def why(path, *words):
    return e2e.run(e2e.SAKER, "why", "-r", path, *words)


def objects(path, *words):
    return [json.loads(line) for line in why(path, "-j", *words).splitlines()]


def is_queue(part):
    return part["part"].startswith(RUN_QUEUE)


def largest(part):
    """The largest part below, but for the run queue: other programs load the machine, too."""
    return next((p for p in part.get("parts", []) if not is_queue(p)), None)


class Scenes(unittest.TestCase):
    """One capture of all scenes."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        folder = e2e.own_dir(cls)
        cls.path = os.path.join(folder, "scenes.scap")
        try:
            root = [os.path.realpath(runtimes.root("bookworm", "redis-server"))]
        except unittest.SkipTest as reason:
            root, cls.no_redis = [], str(reason)
        cls.paths = e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--slices", "--requests", "--sample", "199", "--",
                            "/usr/bin/python3", PROGRAM, *root).split()
        cls.all = objects(cls.path, "top=1000")
        cls.by_name = {}
        for r in cls.all: # the slowest of a name: /lock and /sleep are requested from the backend, too
            cls.by_name.setdefault(r["request"], r)

    def check_cause(self, request, causes):
        part = request
        for cause in causes:
            part = largest(part)
            self.assertIsNotNone(part, request)
            self.assertRegex(part["part"], rf"\A{cause}\Z", request)

    def test_all_are_there(self):
        names = {"GET " + path for path in self.paths}
        self.assertLessEqual(names, set(self.by_name))
        self.assertLessEqual(set(CAUSES), names)

    def test_causes(self):
        for name, causes in CAUSES.items():
            with self.subTest(name):
                self.check_cause(self.by_name[name], causes)

    def test_hog(self):
        """Three hogs and the request share a CPU."""
        request = self.by_name["GET /hog"]
        queue = request["parts"][0]
        self.assertTrue(is_queue(queue), request)
        behind = {p["part"] for p in queue.get("parts", [])}
        self.assertIn("behind hog", behind)

    def test_redis(self):
        if "/redis" not in self.paths:
            self.skipTest(self.no_redis)
        request = self.by_name["GET /redis"]
        self.check_cause(request, ["redis DEBUG SLEEP", r"in redis-server \(\d+\)", "sleep"])
        self.assertEqual(largest(request)["calls"], 1)

    def check_sums(self, part):
        kids = part.get("parts")
        if kids:
            self.assertEqual(sum(k["ns"] for k in kids), part["ns"], part)
            self.assertEqual([k["ns"] for k in kids if k["part"] != "unknown"],
                             sorted((k["ns"] for k in kids if k["part"] != "unknown"), reverse=True))
            for kid in kids:
                self.check_sums(kid)

    def test_parts_sum_to_the_whole(self):
        for request in self.all:
            self.assertIn("parts", request)
            self.check_sums(request)

    def test_whole_is_the_latency(self):
        rows = e2e.run(e2e.SAKER, "-r", self.path, "-p", "*%request.begin %request.latency",
                       "request.side=server and request.kind=request").splitlines()
        self.assertEqual(sorted((r["begin"], r["ns"]) for r in self.all), sorted(tuple(map(int, r.split())) for r in rows))

    def test_slowest_first(self):
        times = [r["ns"] for r in self.all]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(objects(self.path, "top=3"), self.all[:3])

    def test_filter(self):
        """A filter selects requests; their parts are the same."""
        found = objects(self.path, "request.latency>100ms and request.resource=/backend")
        self.assertEqual(found, [self.by_name["GET /backend"]])

    def test_functions(self):
        """Samples show what the request did on the CPU, and what the holder of the lock did."""
        burning = largest(self.by_name["GET /cpu"]), largest(largest(self.by_name["GET /lock-burns"]))
        for part in burning:
            self.assertEqual(part["part"], "on CPU")
            self.assertRegex(part["functions"][0]["name"], r"\Aburn \(scenes\.py:\d+\)\Z")
            self.assertLessEqual(sum(f["ns"] for f in part["functions"]), part["ns"])

    def test_sentence(self):
        """The first line has the largest part first; the lines of the tree are the parts."""
        text = why(self.path, "top=1", "request.resource=/backend-lock")
        first, details, *tree = text.splitlines()
        self.assertEqual(first, self.by_name["GET /backend-lock"]["why"])
        time = r"[\d.]+[mun]?s"
        self.assertRegex(details, r"\A\d\d:\d\d:\d\d\.\d{3}  python3 \(\d+\), thread handler \(\d+\), from python3, status 200\Z")
        for line in tree:
            self.assertRegex(line, rf"\A +{time} +[\d.]+%  +\S")
        for request in self.all:
            part = re.escape(request["parts"][0]["part"])
            self.assertRegex(request["why"], rf"\A{re.escape(request['request'])} {time}: {time} {part}")

    def test_without_slices(self):
        """Without switches only requests to others are known, and the rest is unknown."""
        path = self.path + ".calls"
        e2e.run(e2e.SAKER, "-q", "-r", self.path, "-w", path, "not evt.type in (slice, switch, wakeup, sample, derived)")
        p = subprocess.run([e2e.SAKER, "why", "-j", "-r", path, "request.resource=/backend"], capture_output=True, text=True,
                           check=True)
        self.assertRegex(p.stderr, r"\Asaker: no slices [^\n]*--slices --requests\)\n\Z")
        request = json.loads(p.stdout)
        self.check_sums(request)
        self.assertEqual({part["part"] for part in request["parts"]}, {"GET /sleep", "unknown"})


class Live(unittest.TestCase):
    def test_live(self):
        """It requests all events that it needs."""
        e2e.need_live()
        p = subprocess.run([e2e.SAKER, "why", "-j", "request.resource in (/lock, /flock, /worker)", "--", "/usr/bin/python3",
                            PROGRAM], capture_output=True, text=True, timeout=e2e.DEADLINE_S, check=True)
        found = {r["request"]: r for r in map(json.loads, p.stderr.splitlines())}
        self.assertEqual(set(found), {"GET /lock", "GET /flock", "GET /worker"})
        for name, request in found.items():
            self.assertRegex(largest(request)["part"], rf"\A{CAUSES[name][0]}\Z")


if __name__ == "__main__":
    unittest.main()
