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
    "GET /loop-waits": [r"poll fd \d+"],
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

    def test_no_level_of_small_parts_only(self):
        """Of a level whose parts are all small, no line says so: the line above has its time."""
        lines = why(self.path, "top=1000").splitlines()
        for above, line in zip(lines, lines[1:]):
            if re.search(r"% +\d+ smaller parts?\Z", line) and re.match(r" +[\d.]+[mun]?s ", above):
                self.assertLessEqual(line.index("%  ") + len(re.search(r"% +", line)[0]),
                                     above.index("%  ") + len(re.search(r"% +", above)[0]), (above, line))

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


class Library(unittest.TestCase):
    """The modules of the chisel, with events made by hand."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "10")

    def lua(self, text):
        """Runs the text when the capture ends."""
        path = os.path.join(self.dir, "t.lua")
        e2e.write_text(path, text)
        return e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)

    EXPLAIN = """
        local values, fields = {}, {}
        evt.field = function(f) return values[f] end
        chisel.request_field = function(name) return name end
        local store = require("whystore").new()
        local function put(v) values = v; return store:note() end
        local function request(b, e, conn, more)
          local v = {["thread.tid"] = 1, ["request.begin"] = b, ["request.latency"] = e - b, ["request.send"] = 0,
                     ["request.side"] = "server", ["request.conn"] = conn, ["evt.rawtime"] = e, ["request.proto"] = "http",
                     ["request.method"] = "GET", ["request.resource"] = "/" .. conn}
          for name, value in pairs(more or {}) do v[name] = value ~= "none" and value or nil end
          return put(v)
        end
        local function slice(kind, b, e)
          put {["thread.tid"] = 1, ["thread.slice.kind"] = kind, ["thread.slice.start"] = b, ["thread.slice.ns"] = e - b}
        end
        local function explain(r)
          for _, part in ipairs(require("timeparts").explain(store, r).kids) do print(part.ns, part.label) end
        end
        function on_init() store:init() return true end
        """

    def test_waiting_loop_is_not_busy(self):
        """A loop that waits for an event works on no request, though it read another one last."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              slice("running", 100, 120)
              slice("poll", 120, 170)
              slice("running", 170, 200)
              request(110, 180, "b")
              explain(request(100, 200, "a"))
            end""")
        self.assertEqual(sorted(out.splitlines()), ["10\tbusy with other requests", "10\ton CPU for one of several requests ?",
                                                    "30\ton CPU", "50\tpoll"])

    def test_unread_request_waits_for_the_other(self):
        """A thread that waits before it reads a request, does so for the other one of the same connection."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              slice("running", 100, 120)
              slice("poll", 120, 170)
              slice("running", 170, 200)
              request(100, 180, "a")
              explain(request(110, 200, "a"))
            end""")
        self.assertIn("60\tbusy with other requests", out)

    def test_requests_of_other_tools(self):
        """A capture of another tool may lack any value."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local unknown = {["request.proto"] = "none", ["request.send"] = "none", ["request.ttfb"] = 5}
              local r = request(100, 200, "a", unknown)
              print(r.name, r.answered)
              explain(r)
              unknown["request.method"], unknown["request.resource"] = "none", "none"
              print(request(200, 300, "a", unknown).name)
            end""")
        self.assertEqual(out, "request GET /a\tnil\n100\tunknown\nrequest\n")

    def test_overlapping_spans(self):
        """The tree finds the spans that a search of all finds, also when old ones were evicted."""
        out = self.lua("""local threadlog, spans = require "threadlog", require "spans"
            math.randomseed(1)
            function on_capture_end()
              local n = 0
              for max = 1, 70 do
                local log = threadlog.new(max, spans.evicted)
                for i = 1, 150 do
                  local b = math.random(100)
                  log:add(1, {b = b, e = b + math.random(math.random(100))})
                  local list = log:of(1)
                  spans.added(list)
                  local a, b, at = math.random(100), math.random(200), math.random(list.first, list.last)
                  local found = spans.next(list, at, a, b)
                  while at <= list.last and not (list[at].b < b and list[at].e > a) do at = at + 1 end
                  assert(found == (at <= list.last and at or nil))
                  n = n + (found and 1 or 0)
                end
              end
              print(n > 3000)
            end""")
        self.assertEqual(out, "true\n")

    def test_one_long_request(self):
        """A request that lasts as long as the capture makes none of the others slow to explain."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local all = {}
              for i = 1, 20000 do all[i] = request(10 * i, 10 * i + 10, "c" .. i % 7) end
              request(1, 300000, "c0")
              for i = 1, 20000 do require("timeparts").explain(store, all[i]) end
              print(#all)
            end""")
        self.assertEqual(out, "20000\n")


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
