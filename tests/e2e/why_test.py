#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker why: servers with injected causes of slowness. It must name each of them."""

import contextlib
import html
import json
import os
import re
import shutil
import subprocess
import unittest

import browser
import runtimes
import saker_e2e as e2e

try:
    import terminal
except ImportError:
    terminal = None

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "why/scenes.py")
RUN_QUEUE = "run queue"

# The largest part of each request, and the largest part below that: the injected cause.
CAUSES = {
    "GET /lock": [r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "sleep"],
    "GET /lock-burns": [r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "on CPU"],
    "GET /sleep": ["sleep"],
    "GET /cpu": ["on CPU"],
    "GET /pipe": [r"pipe fd \d+ from feeder \(\d+\)", "sleep"],
    "GET /full-pipe": [r"full pipe fd \d+ until drainer \(\d+\) reads", "sleep"],
    "GET /flock": [r"lock of /\S+ held by locker \(\d+\)", "sleep"],
    "GET /flock-polled": [r"lock of /\S+ \?"],
    "GET /path-polled": [r"sleep while openat of /\S+ fails with EEXIST"],
    "GET /tick": [r"(poll until ticker \(\d+\)|work of ticker \(\d+\) \?)", "on CPU"],
    "GET /child": [r"child process sleep \(\d+\)", "sleep"],
    "GET /child-polled": [r"child process sleep \(\d+\) \?", "sleep"],
    "GET /connect": [r"connect to 127\.0\.0\.1:\d+ until a timeout"],
    "GET /connect-blocks": [r"connect to 127\.0\.0\.1:\d+( until a timeout)?"],
    "GET /polled-pipe": [r"pipe fd \d+ from feeder \(\d+\)", "sleep"],
    "GET /polled-eventfd": [r"poll eventfd \d+ until feeder \(\d+\)", "sleep"],
    "GET /polled-nothing": ["sleep"],
    "GET /timerfd": [r"timer timerfd \d+"],
    "GET /fifo": [r"pipe /\S+\.fifo from feeder \(\d+\)", "sleep"],
    "GET /fifo-open": [r"pipe /\S+\.fifo from feeder \(\d+\)", "sleep"],
    "GET /gil": [r"GIL held by cruncher \(\d+\) \?", "on CPU"],
    "GET /worker": [r"work of worker \(\d+\) \?", "sleep"],
    "GET /condition": [r"wait for a timeout \(futex\)"],
    "GET /sleeps": ["sleep"],
    "GET /backend": ["GET /sleep", r"in backend \(\d+\), thread handler \(\d+\)", "sleep"],
    "GET /backend-lock": ["GET /lock", r"in backend \(\d+\), thread handler \(\d+\)",
                          r"lock 0x[0-9a-f]+ held by holder \(\d+\)", "sleep"],
    "GET /handed": ["sleep"],
    "GET /loop": ["busy with other requests", "GET /loop-hog"],
    "GET /loop-hog": ["on CPU"],
    "GET /loop-late": ["busy with other requests", "GET /loop-blocks"],
    "GET /loop-blocks": ["GET /sleep", r"in backend \(\d+\), thread handler \(\d+\)", "sleep"],
    "GET /loop-waits": ["timer of epoll_wait"],
    "GET /loop-connects": [r"connect to 127\.0\.0\.1:\d+ \? until a timeout"],
}


def why(path, *words):
    return e2e.run(e2e.SAKER, "why", "-r", path, *words)


def objects(path, *words):
    return [json.loads(line) for line in why(path, "-j", *words).splitlines()]


def is_queue(part):
    return part["part"].startswith(RUN_QUEUE)


def largest(part):
    """The largest part below, but for what a loaded machine adds: the run queue, what was lost, and the time until the
    server reads the request."""
    added = "unknown", "request under way"
    return next((p for p in part.get("parts", []) if not is_queue(p) and p["part"] not in added), None)


def longest_unknown(part):
    return max([part["ns"] if part.get("part") == "unknown" else 0, *map(longest_unknown, part.get("parts", []))])


class Parts(unittest.TestCase):
    @classmethod
    def record_clearly(cls, causes):
        """Calls record of the class. Some kernels trace nothing while a certain process runs, as the agent of a virtual
        machine: neither interrupts nor task switches. A capture in which that changes a cause, or hides a wait, is repeated.
        Causes of each name in by_name."""
        for _ in range(3):
            cls.record()
            with contextlib.suppress(AssertionError, KeyError):
                for name, parts in causes.items():
                    Parts().check_causes(cls.by_name[name], parts)
                    assert longest_unknown(cls.by_name[name]) < 30_000_000
                break

    def check_causes(self, request, causes):
        """Follows the largest part of each level, which must be these. Returns the last one."""
        part = request
        for cause in causes:
            part = largest(part)
            self.assertIsNotNone(part, request)
            self.assertRegex(part["part"], rf"\A{cause}\Z", request)
        return part


class Scenes(Parts):
    """One capture of all scenes."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        folder = e2e.own_dir(cls)
        cls.path = os.path.join(folder, "scenes.scap")
        try:
            cls.root = [os.path.realpath(runtimes.root("bookworm", "redis-server"))]
        except unittest.SkipTest as reason:
            cls.root, cls.no_redis = [], str(reason)
        cls.record_clearly(CAUSES)

    @classmethod
    def record(cls):
        cls.paths = e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--slices", "--requests", "--sample", "199",
                            "--sample-on", "off_cpu", "--", "/usr/bin/python3", PROGRAM, *cls.root).split()
        cls.all = objects(cls.path, "top=1000")
        cls.by_name = {}
        for r in cls.all: # the slowest of a name: /lock and /sleep are requested from the backend, too
            cls.by_name.setdefault(r["request"], r)

    def test_all_are_there(self):
        names = {"GET " + path for path in self.paths}
        self.assertLessEqual(names, set(self.by_name))
        self.assertLessEqual(set(CAUSES), names)

    def test_causes(self):
        for name, causes in CAUSES.items():
            with self.subTest(name):
                self.check_causes(self.by_name[name], causes)

    def test_hog(self):
        """Three hogs and the request share a CPU."""
        request = self.by_name["GET /hog"]
        queue = request["parts"][0]
        self.assertTrue(is_queue(queue), request)
        behind = {p["part"] for p in queue.get("parts", [])}
        self.assertIn("behind hog", behind)

    def test_redis(self):
        if "/redis" not in self.paths:
            e2e.skip_test(self.no_redis)
        request = self.by_name["GET /redis"]
        self.check_causes(request, ["redis DEBUG SLEEP", r"in redis-server \(\d+\)", "sleep"])
        self.assertEqual(largest(request)["calls"], 1)

    def test_unread_in_redis(self):
        """A request that its server reads late, since it works on that of another client, begins when it is sent."""
        if "/redis" not in self.paths:
            e2e.skip_test(self.no_redis)
        request = self.by_name["redis GET key1"]
        self.check_causes(request, ["busy with other requests", "redis DEBUG SLEEP"])
        self.assertGreater(request["ns"], 140_000_000)

    def test_kept_worker(self):
        """A server with one worker, which the client of another connection keeps: a filter on the latency, which was short
        once the request was read, has it."""
        for request in self.by_name["GET /behind-idle"], objects(self.path, "request.latency>100ms and request.resource=/behind-idle")[0]:
            self.check_causes(request, [r"another client, idler \(\d+\), idle after GET /keeps", "sleep"])

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
        """The whole is the latency, or longer if the server read the request late."""
        latency, sent = {}, set()
        for row in e2e.run(e2e.SAKER, "-r", self.path, "-p", "*%request.side %request.begin %request.latency",
                           "request.kind=request").splitlines():
            side, begin, ns = row.split()
            if side == "server":
                latency[int(begin) + int(ns)] = int(ns)
            else:
                sent.add(int(begin))
        self.assertEqual(sorted(r["begin"] + r["ns"] for r in self.all), sorted(latency))
        for r in self.all:
            ns = latency[r["begin"] + r["ns"]]
            self.assertTrue(r["ns"] == ns or r["begin"] in sent and r["ns"] > ns, r)

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

    def test_places(self):
        """Off-CPU samples show where each wait began, and several waits are counted."""
        request = self.by_name["GET /sleeps"]
        part = largest(request)
        place, = part["functions"]
        self.assertRegex(place["name"], r"\Aon_sleeps \(scenes\.py:\d+\)\Z")
        self.assertEqual(place["ns"], part["ns"])
        self.assertRegex(request["why"], r" sleep \(4 waits in on_sleeps \(scenes\.py:\d+\)\)")

    def test_no_place_in_the_scheduler(self):
        """A thread without own functions waits nowhere in particular."""
        self.assertNotIn("__schedule", why(self.path, "top=1000"))

    def test_sentence(self):
        """The first line has the largest part first; the lines of the tree are the parts."""
        text = why(self.path, "top=1", "request.resource=/backend-lock")
        first, details, *tree = text.splitlines()
        self.assertEqual(first, self.by_name["GET /backend-lock"]["why"])
        time = r"[\d.]+[mun]?s"
        self.assertRegex(first, rf": {time} GET /lock \(1 call to backend:\d+\), of which {time} lock 0x\w+ held by "
                                rf"holder \(\d+\)[^;]*, of which {time} sleep[^;]*(; {time} |\Z)")
        self.assertRegex(details, r"\A\d\d:\d\d:\d\d\.\d{3}  python3 scenes\.py \(\d+\), thread handler \(\d+\), from python3, status 200\Z")
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
        # A busy machine loses events, and the next line says so.
        self.assertRegex(p.stderr, r"\Asaker: no slices [^\n]*--slices --requests\)\n(saker: \d+ events were lost [^\n]*\n)?\Z")
        request = json.loads(p.stdout)
        self.check_sums(request)
        self.assertEqual({part["part"] for part in request["parts"]}, {"GET /sleep", "unknown"})


class Tiers(Parts):
    """A fault in one of three tiers: it is found behind nginx, by the largest part of each level."""

    IN_APP = r"in app \(\d+\), thread handler \(\d+\)"
    SQL, REDIS = r"in postgres \(\d+\)", r"in redis-server \(\d+\)"
    FAULTS = {
        "slow-query": [r"pgsql SELECT pg_sleep\(\?\)", SQL, "timer of epoll_wait"],
        "row-lock": ["pgsql UPDATE item", SQL, r"poll until postgres \(\d+\)"],
        "big-query": ["pgsql SELECT generate_series", SQL, "on CPU"],
        "many-queries": ["pgsql SELECT item"],
        "redis-sleeps": ["redis DEBUG SLEEP", REDIS, "sleep"],
        "redis-script": [r"redis EVAL local x = 0; .*", REDIS, "on CPU"],
        "redis-busy": ["redis GET cart", REDIS, "busy with other requests", "redis DEBUG SLEEP"],
        "lock-json": [r"lock 0x[0-9a-f]+ held by json-dumper \(\d+\)", "on CPU"],
        "lock-sleep": [r"lock 0x[0-9a-f]+ held by cacher \(\d+\)", "sleep"],
        "pool": [r"lock 0x[0-9a-f]+ held by exporter \(\d+\)", r"pgsql SELECT pg_sleep\(\?\)", SQL],
        "cpu": ["on CPU"],
        "sleep": ["sleep"],
        "no-reply": ["GET /price: unanswered"],
        "disk": [r"fsync of /\S+/orders"],
        "child": [r"child process sleep \(\d+\)", "sleep"],
        "dns": ["dns A price.example", r"in resolver \(\d+\)", "sleep"],
        "queue": [r"(work of worker \(\d+\) \?|lock 0x[0-9a-f]+ held by worker \(\d+\))", "on CPU"],
        "flock": [r"lock of /\S+ held by locker \(\d+\)", "sleep"],
        "pipe": [r"pipe fd \d+ from feeder \(\d+\)", "sleep"],
        "stopped": [r"stopped by a signal or a debugger until python3 tiers\.py \(\d+\), in kill"],
    }

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        if not shutil.which("nginx"):
            e2e.skip_test("nginx is not installed: scripts/setup --tests")
        folder = e2e.own_dir(cls)
        os.chmod(folder, 0o755)
        cls.path = os.path.join(folder, "tiers.scap")
        cls.roots = [os.path.realpath(runtimes.root("bookworm", *packages))
                     for packages in (("dash", "postgresql-15"), ("redis-server",))]
        cls.record_clearly({f"GET /{name}": cls.of_app(name) for name in cls.FAULTS})

    @classmethod
    def of_app(cls, name):
        return [f"GET /{name}", cls.IN_APP, *cls.FAULTS[name]]

    @classmethod
    def record(cls):
        # initdb tries 80,000 files. Where records are lost, slices are unknown.
        out = e2e.record("-w", cls.path, "--ring-size", "64M", "-U", "initdb", "--slices", "--requests", "--sample", "199",
                         "--", "/usr/bin/python3", os.path.join(os.path.dirname(PROGRAM), "tiers.py"),
                         os.path.dirname(cls.path), *cls.roots).stdout
        assert out.endswith("done\n"), out
        cls.by_name = {}
        for r in objects(cls.path, "top=100", "proc.name=nginx"):
            cls.by_name[r["request"]] = r

    def test_faults(self):
        self.assertEqual({name.split("/")[1] for name in self.by_name},
                         set(self.FAULTS) | {"none", "hog", "slow-client"})
        for name in self.FAULTS:
            with self.subTest(name):
                self.check_causes(self.by_name[f"GET /{name}"], self.of_app(name))

    def test_number_of_queries(self):
        request = self.by_name["GET /many-queries"]
        queries = self.check_causes(request, ["GET /many-queries", self.IN_APP, "pgsql SELECT item"])
        self.assertEqual(queries["calls"], 400)
        text = why(self.path, "top=1", "proc.name=nginx and request.resource=/many-queries")
        self.assertRegex(text, r"% +pgsql SELECT item \(400 calls\)\n")

    def test_hog(self):
        app = self.check_causes(self.by_name["GET /hog"], ["GET /hog", self.IN_APP])
        queue = next(part for part in app["parts"] if is_queue(part))
        self.assertIn("behind hog", [part["part"] for part in queue["parts"]])

    def test_slow_client(self):
        self.check_causes(self.by_name["POST /slow-client"], ["client sends the request"])

    def image(self, name):
        """Where a picture of the documentation is made; None: nowhere."""
        folder = os.environ.get("SAKER_IMAGES")
        return folder and os.path.join(folder, name)

    # Views of saker top, and what a line of each has.
    SCREENS = {"procs": "nginx", "threads": "redis-server", "files": "/orders", "connections": "tcp", "syscalls": "futex",
               "requests": "pgsql SELECT item", "edges": r"http +nginx +app", "statements": r"pg_sleep\(\?\)",
               "waits": "lock", "functions": "burn"}
    OF_TIERS = "proc.name in (nginx, app, postgres, redis-server, resolver, hog)"

    def test_screens(self):
        """The main views of saker top have the tiers."""
        if not terminal:
            e2e.skip_test("python3-pyte is not installed: scripts/setup --tests")
        for view, row in self.SCREENS.items():
            with self.subTest(view):
                t = terminal.Terminal(self, e2e.SAKER, "top", "-r", self.path, "-v", view, self.OF_TIERS, columns=110,
                                      rows=20 if os.environ.get("SAKER_IMAGES") else 200)
                t.wait(lambda lines: any(re.search(row, line) for line in lines[3:-1]), row)
                if self.image(f"top-{view}.svg"):
                    e2e.write_text(self.image(f"top-{view}.svg"), t.svg())
                t.close()

    def map(self, form):
        return e2e.run(e2e.SAKER, "-r", self.path, "-c", "servicemap", "format=" + form, "top=20",
                       "proc.name in (python3, nginx, app) and request.proto!=generic")

    def test_map(self):
        """The tiers are in the picture, and in that of Graphviz."""
        names = {"python3", "nginx", "app", "postgres", "redis-server", "resolver"}
        picture = os.path.join(os.path.dirname(self.path), "map.svg")
        e2e.write_text(picture, self.map("svg"))
        svgs = [e2e.read_text(picture)]
        if shutil.which("dot"):
            svgs.append(subprocess.run(["dot", "-Tsvg"], input=self.map("dot"), capture_output=True, text=True,
                                       check=True).stdout)
        for svg in svgs:
            self.assertLessEqual(names, {html.unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", svg)})
        if self.image("servicemap.png"):
            width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', svgs[0]).groups())
            window = browser.Browser(os.path.join(os.path.dirname(self.path), "map-browser"), width, height)
            self.addCleanup(window.close)
            window.size(width, height)
            window.open("file://" + picture)
            window.screenshot(self.image("servicemap.png"))

    def test_page(self):
        """The page of the timeline has the lanes of all tiers, in a browser."""
        if browser.missing():
            e2e.skip_test(f"{browser.missing()} is not installed: scripts/setup --tests")
        page = os.path.join(os.path.dirname(self.path), "tiers.html")
        e2e.run(e2e.SAKER, "-r", self.path, "-o", page, "-c", "timeline",
                "thread.name in (python3, nginx, handler, redis-server, resolver, holder, worker, exporter, json-dumper) or "
                "request.proto=pgsql")
        window = browser.Browser(os.path.join(os.path.dirname(self.path), "browser"), 1200, 760)
        self.addCleanup(window.close)
        window.open("file://" + page)
        self.assertTrue(window.wait("return document.querySelector('canvas').width > 0"))
        self.assertEqual(window.errors(), [])
        if self.image("timeline.png"):
            window.screenshot(self.image("timeline.png"))


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
        for module in "logs.lua", "spans.lua":
            shutil.copy(os.path.join(os.path.dirname(PROGRAM), module), self.dir)
        return e2e.run("timeout", "-k", "2", "60", e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)

    EXPLAIN = """
        local feed = require "logs"
        local store = require("whystore").new()
        local function put(v)
          feed(v)
          local seen = store:note()
          local log = seen and (seen.is_server and store.served or store.calls)
          return log and log:get(log:last())
        end
        local function request(b, e, conn, more)
          local v = {["thread.tid"] = 1, ["request.begin"] = b, ["request.latency"] = e - b, ["request.send"] = 0,
                     ["request.side"] = "server", ["request.conn"] = conn, ["evt.rawtime"] = e, ["request.proto"] = "http",
                     ["request.method"] = "GET", ["request.resource"] = "/" .. conn}
          for name, value in pairs(more or {}) do v[name] = value ~= "none" and value or nil end
          return put(v)
        end
        local function slice(kind, b, e, more)
          local v = {["thread.tid"] = 1, ["thread.name"] = "it", ["thread.slice.kind"] = kind, ["thread.slice.start"] = b, ["thread.slice.ns"] = e - b}
          for name, value in pairs(more or {}) do v[name] = value end
          put(v)
        end
        local function explain(r)
          for _, part in ipairs(require("timeparts").explain(store, r).kids) do print(part.ns, part.label) end
        end
        function on_init() store:init() return true end
        """

    def test_goroutines(self):
        """No thread of a process of Go holds what another one waits for: a futex in Go's heap shows that it is one."""
        for second, label in ("0xc000040948", "goroutine parked ?"), ("0x7f0000040948", None):
            out = self.lua(self.EXPLAIN + f"""
                function on_capture_end()
                  slice("lock", 1000, 2000, {{["proc.pid"] = 1, ["thread.slice.lock"] = 0x8be6c8, ["thread.slice.waker"] = 2}})
                  slice("running", 2000, 3000, {{["proc.pid"] = 1}})
                  slice("lock", 3000, 4500, {{["proc.pid"] = 1, ["thread.slice.lock"] = {second}, ["thread.slice.waker"] = 2}})
                  slice("running", 4500, 5000, {{["proc.pid"] = 1}})
                  explain(request(1000, 5000, "a"))
                end
            """)
            waits = [line.split("\t")[1] for line in out.splitlines() if "on CPU" not in line]
            self.assertEqual(waits, [label] if label else ["lock 0x8be6c8", f"lock {second}"])

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

    def test_poll_loop_is_not_busy(self):
        """A loop of poll is like one of epoll, also while a call of another request is open: it gets this request's
        data, too. But a wait for one descriptor is for the other request."""
        for kind, part in ("poll", "50\tpoll"), ("network", "80\tbusy with other requests"):
            out = self.lua(self.EXPLAIN + f"""function on_capture_end()
                  slice("running", 100, 120)
                  slice("{kind}", 120, 170, {{["thread.slice.call"] = "poll"}})
                  slice("running", 170, 200)
                  request(110, 190, "b")
                  request(115, 165, "c", {{["request.side"] = "client"}})
                  explain(request(100, 200, "a"))
                end""")
            self.assertIn(part, out.splitlines())

    def waits(self, text, exe="/usr/bin/python3.11"):
        return self.lua(self.EXPLAIN + f"""function on_capture_end()
              local function waits(what, ms, b, more)
                more["thread.name"], more["proc.pid"], more["proc.exepath"] = "it", 1, "{exe}"
                slice(what, b * 1000000, (b + ms) * 1000000, more)
                slice("running", (b + ms) * 1000000, (b + ms) * 1000000 + 1,
                      {{["proc.pid"] = 1, ["proc.exepath"] = "{exe}"}})
              end
              {text}
            end""").splitlines()

    def test_gil(self):
        """Waits of 5 ms on one address are for the interpreter, in Python. Its holder is the thread that ran."""
        text = """
              slice("running", 1000000, 30000000, {["thread.tid"] = 7, ["thread.name"] = "seven", ["proc.pid"] = 1, ["proc.exepath"] = "/usr/bin/python3.11"})
              for i = 0, 2 do
                waits("lock", 5.1, 6 * i, {["thread.slice.lock"] = 4096 + 4 * i, ["thread.slice.waker"] = 0})
              end
              waits("lock", 2, 18, {["thread.slice.lock"] = 4096, ["thread.slice.waker"] = 7})
              local r = require("timeparts").explain(store, request(0, 20000000, "a"))
              for _, part in ipairs(r.kids) do print(part.label, (require("timeparts").main_name(part)), part.ns) end"""
        self.assertIn("GIL\tseven (7) ?\t17300000", self.waits(text))
        self.assertFalse([line for line in self.waits(text, "/usr/bin/other") if line.startswith("GIL")])

    def test_gil_in_one_slice(self):
        """The holder's slice ends, and is seen, after the short ones in which the waiting thread asks again."""
        text = """
              for i = 0, 3 do
                waits("lock", 5.1, 5.2 * i, {["thread.slice.lock"] = 4096 + 4 * i, ["thread.slice.waker"] = 0})
              end
              slice("running", 0, 20000000, {["thread.tid"] = 7, ["thread.name"] = "seven", ["proc.pid"] = 1,
                                             ["proc.exepath"] = "/usr/bin/python3.11"})
              local r = require("timeparts").explain(store, request(0, 15500000, "a"))
              for _, part in ipairs(r.kids) do print(part.label, (require("timeparts").main_name(part)), part.ns) end"""
        self.assertIn("GIL\tseven (7) ?\t15300000", self.waits(text))

    def test_gil_of_many_threads(self):
        """Threads that ended, and one whose TID another process has now, do not hide the holder."""
        text = """
              for tid = 100, 400 do
                slice("running", tid, tid + 1, {["thread.tid"] = tid, ["thread.name"] = "short", ["proc.pid"] = 1})
              end
              slice("running", 500000, 600000, {["thread.tid"] = 8, ["thread.name"] = "eight", ["proc.pid"] = 1, ["proc.exepath"] = "/usr/bin/python3.11"})
              slice("running", 700000, 39000000, {["thread.tid"] = 8, ["thread.name"] = "eight", ["proc.pid"] = 2, ["proc.exepath"] = "/usr/bin/python3.11"})
              slice("running", 1000000, 30000000, {["thread.tid"] = 7, ["thread.name"] = "seven", ["proc.pid"] = 1, ["proc.exepath"] = "/usr/bin/python3.11"})
              for i = 0, 2 do
                waits("lock", 5.1, 6 * i + 1, {["thread.slice.lock"] = 4096 + 4 * i, ["thread.slice.waker"] = 0})
              end
              local r = require("timeparts").explain(store, request(1000000, 19000000, "a"))
              for _, part in ipairs(r.kids) do print(part.label, (require("timeparts").main_name(part)), part.ns) end"""
        self.assertIn("GIL\tseven (7) ?\t15300000", self.waits(text))

    def why(self, text):
        """Returns what the chisel itself prints for the events."""
        with open(os.path.join(e2e.SOURCE, "chisels/why.lua"), encoding="utf-8") as f:
            chisel = f.read()
        return self.lua(f"""local feed = require "logs"
            {chisel}
            local event, finish = on_event, on_capture_end
            local function put(tid, v, more)
              v["thread.tid"], v["thread.name"] = tid, "t" .. tid
              for name, value in pairs(more or {{}}) do v[name] = value end
              feed(v)
              event()
            end
            local MS = 1000000
            local function request(tid, b, e, resource, more)
              put(tid, {{["request.begin"] = b * MS, ["request.latency"] = (e - b) * MS, ["request.send"] = 0,
                         ["request.side"] = "server", ["request.conn"] = "c" .. tid, ["evt.rawtime"] = e * MS,
                         ["request.proto"] = "http", ["request.method"] = "GET", ["request.resource"] = resource}}, more)
            end
            local function slice(tid, kind, b, e, more)
              put(tid, {{["thread.slice.kind"] = kind, ["thread.slice.start"] = b * MS, ["thread.slice.ns"] = (e - b) * MS}}, more)
            end
            function on_event() end
            function on_capture_end()
              {text}
              finish()
            end""").splitlines()

    def test_behind_several(self):
        """Only a thread that ran for nearly all of the wait is part of the name."""
        text = """
              slice(1, "runnable", 0, 60, {["thread.slice.behind"] = 5, ["thread.slice.behind.comm"] = "five"})
              slice(1, "runnable", 60, 100, {["thread.slice.behind"] = 6, ["thread.slice.behind.comm"] = "six"})
              slice(1, "running", 100, %d)
              request(1, 0, %d, "/a")"""
        self.assertEqual(self.why(text % (101, 101))[0], "GET /a 101.00ms: 100.00ms run queue, of which 60.00ms behind five")
        alone = self.why(text.replace("6, ", "5, ").replace("six", "five") % (110, 110))
        self.assertEqual(alone[0], "GET /a 110.00ms: 100.00ms run queue behind five; 10.00ms on CPU")
        self.assertEqual(len(alone), 4, alone)

    CLIENT = '["request.side"] = "client", ["request.ttfb"]'

    def test_call_of_another_request(self):
        """A call that was sent before the request came is not its own, though its response ends the wait."""
        text = f"""
              slice(1, "running", 0, 31)
              slice(1, "poll", 31, 90)
              slice(1, "running", 90, 92)
              slice(3, "sleep", 0, 90)
              request(3, 1, 89, "/rates", {{["request.conn"] = "k"}})
              request(1, 0, 90, "/rates", {{{self.CLIENT} = 90 * MS, ["request.conn"] = "k"}})
              request(2, 0, 95, "/refresh")
              request(1, 30, 92, "/quote", {{["request.ttfb"] = 61 * MS}})"""
        first = next(line for line in self.why(text) if line.startswith("GET /quote"))
        self.assertIn("59.00ms wait for a call of another request ?, of which 59.00ms GET /rates (1 call), of which 58.00ms sleep", first)

    def test_until_another_request(self):
        """What a loop read before it answered a request that had waited: another request, and what its client did before."""
        text = f"""
              slice(1, "running", 0, 1)
              slice(1, "poll", 1, 50, {{["thread.slice.timed_out"] = true, ["thread.slice.call"] = "epoll_wait"}})
              slice(1, "poll", 50, 90)
              slice(1, "running", 90, 95)
              slice(9, "child", 0, 90)
              request(1, 91, 93, "/push", {{["request.conn"] = "p"}})
              request(9, 90, 94, "/push", {{{self.CLIENT} = 3 * MS, ["request.conn"] = "p"}})
              request(1, 0, 95, "/pop", {{["request.ttfb"] = 94 * MS}})"""
        self.assertIn("GET /pop 95.00ms: 89.00ms until GET /push from t9 (9) ?, of which 89.00ms child", self.why(text)[0])

    def test_idle_in_transaction(self):
        """A holder that waits for its client, on this machine: what that one does."""
        text = f"""
              slice(7, "running", 0, 10)
              slice(7, "poll", 10, 90)
              slice(7, "running", 90, 100)
              slice(9, "sleep", 10, 90)
              request(7, 0, 10, "/update", {{["request.conn"] = "x"}})
              request(9, 0, 10, "/update", {{{self.CLIENT} = 10 * MS, ["request.conn"] = "x"}})
              slice(1, "lock", 5, 100, {{["thread.slice.waker"] = 7, ["thread.slice.lock"] = 64}})
              request(1, 5, 100, "/a")"""
        self.assertIn("lock 0x40 held by t7 (7), of which 80.00ms its client t9 (9), idle after GET /update, of which 80.00ms sleep",
                      self.why(text)[0])

    def test_retries_of_a_lock(self):
        """Waits with a timeout, each after the other on the same lock, were for the thread that ended the last one."""
        text = """
              slice(1, "lock", 0, 40, {["thread.slice.waker"] = 0, ["thread.slice.lock"] = 64})
              slice(1, "running", 40, 40.5)
              slice(1, "lock", 40.5, 100, {["thread.slice.waker"] = 7, ["thread.slice.lock"] = 64})
              request(1, 0, 100, "/a")"""
        self.assertIn(": 99.50ms lock 0x40 held by thread (7)", self.why(text)[0])
        late = self.why(text.replace("40.5", "50"))[0]
        self.assertIn("40.00ms wait for a timeout (futex)", late)

    def asks(self, n, wait='"sleep"'):
        """A thread that asks n times, and waits for 18 ms after each."""
        return "".join(f"""
              slice(1, "running", {20 * i}, {20 * i + 1})
              slice(1, "network", {20 * i + 1}, {20 * i + 2})
              request(1, {20 * i + 1}, {20 * i + 2}, "/lock", {{{self.CLIENT} = MS, ["request.conn"] = "k{i}",
                      ["request.error"] = "409", ["request.error_text"] = "Conflict"}})
              slice(1, {wait}, {20 * i + 2}, {20 * i + 20}, {{["thread.slice.waker"] = 0, ["thread.slice.call"] = "futex",
                    ["thread.slice.lock"] = 64}})""" for i in range(n))

    def test_polling(self):
        """Sleeps between calls that ask the same again name these, and a failed call its error's text."""
        first = next(line for line in self.why(self.asks(5) + 'request(1, 0, 100, "/a")') if line.startswith("GET /a"))
        self.assertIn("90.00ms sleep (5 waits between calls of GET /lock: 409 Conflict); 5.00ms GET /lock: 409 Conflict (5 calls)",
                      first)

    def test_retry(self):
        """Of calls that failed, one names the wait after it."""
        for wait, label in ('"sleep"', "sleep"), ('"lock"', "wait for a timeout (futex)"):
            first = next(line for line in self.why(self.asks(1, wait) + 'request(1, 0, 20, "/a")') if line.startswith("GET /a"))
            self.assertIn(f"18.00ms {label} (1 wait between calls of GET /lock: 409 Conflict)", first)
        refused = self.asks(1).replace('["request.error"] = "409", ["request.error_text"] = "Conflict"',
                                       '["request.error"] = "refused", ["request.kind"] = "connect", ["request.peer"] = "1.2.3.4:5"')
        first = next(line for line in self.why(refused + 'request(1, 0, 20, "/a")') if line.startswith("GET /a"))
        self.assertIn("(1 wait between attempts to connect to 1.2.3.4:5: refused)", first)
        succeeds = self.asks(1).replace('["request.error"] = "409", ["request.error_text"] = "Conflict"', "")
        first = next(line for line in self.why(succeeds + 'request(1, 0, 20, "/a")') if line.startswith("GET /a"))
        self.assertNotIn("between calls", first)

    def test_start_of_process(self):
        """A process that began after the request was sent starts, until it has read it."""
        text = f"""
              slice(9, "running", 0, 1)
              slice(1, "running", 20, 100, {{["proc.pid"] = 1, ["proc.name"] = "worker"}})
              request(1, 90, 100, "/a", {{["request.conn"] = "k", ["proc.pid"] = 1, ["proc.name"] = "worker"}})
              request(9, 1, 100, "/a", {{{self.CLIENT} = 98 * MS, ["request.conn"] = "k"}})"""
        self.assertIn("GET /a 99.00ms: 70.00ms start of worker (1), thread t1 (1), of which 70.00ms on CPU; 19.00ms request under way",
                      self.why(text)[0])

    def test_not_accepted(self):
        """Until the thread of a connection begins, the main thread of the server tells why it does not: no wait for one."""
        text = f"""
              slice(8, "sleep", 0, 10, {{["proc.pid"] = 8, ["proc.name"] = "server"}})
              slice(8, "stopped", 10, 80, {{["proc.pid"] = 8, ["proc.name"] = "server"}})
              slice(8, "network", 80, 90, {{["proc.pid"] = 8, ["proc.name"] = "server"}})
              slice(1, "running", 90, 100, {{["proc.pid"] = 8, ["proc.name"] = "server"}})
              request(1, 90, 100, "/a", {{["request.conn"] = "k", ["proc.pid"] = 8}})
              request(9, 1, 100, "/a", {{{self.CLIENT} = 98 * MS, ["request.conn"] = "k"}})"""
        first = self.why(text)[0]
        self.assertRegex(first, r"79.00ms not yet accepted by \S+ \(8\), of which 70.00ms stopped by a signal.*10.00ms request under way")

    def test_order_of_records(self):
        """A request begins when its client sent it, whichever of the two records comes first."""
        slices = 'slice(1, "running", 0, 100)\n'
        served = 'request(1, 90, 101, "/a", {["request.conn"] = "k"})\n'
        asked = f'request(9, 1, 100, "/a", {{{self.CLIENT} = 98 * MS, ["request.conn"] = "k"}})\n'
        for text in served + asked, asked + served:
            self.assertRegex(self.why(slices + text)[0], r"\AGET /a 100.00ms: ")

    def test_name_of_script(self):
        """An interpreter that runs another script has its name."""
        program = '["proc.pid"] = 7, ["proc.exepath"] = "/p", ["proc.name"] = "python3", ["thread.name"] = "python3"'
        text = f"""
              slice(7, "running", 0, 1, {{{program}, ["proc.args"] = "a.py"}})
              slice(7, "running", 1, 2, {{{program}, ["proc.args"] = "-u b.py"}})
              slice(1, "file", 0, 100, {{["thread.slice.waker"] = 7, ["thread.slice.call"] = "openat"}})
              request(1, 0, 100, "/a")"""
        self.assertIn("python3 b.py", "\n".join(self.why(text)))

    def test_file_until_a_program(self):
        """A program that ends the wait for a file is named (it thawed the file system), a thread of the kernel is not."""
        text = """
              slice(7, "running", 0, 1, {["proc.pid"] = 7, ["proc.exepath"] = %s})
              slice(1, "file", 0, 100, {["thread.slice.waker"] = 7, ["thread.slice.call"] = "openat"})
              request(1, 0, 100, "/a")"""
        self.assertIn("openat of a file until t7 (7)", self.why(text % '"/sbin/fsfreeze"')[0])
        self.assertNotIn("until", self.why(text % "nil")[0])

    def test_unanswered_call(self):
        text = f"""
              slice(1, "network", 0, 100)
              request(1, 0, 99, "/b", {{{self.CLIENT} = nil, ["request.error"] = "unanswered", ["request.conn"] = "k",
                      ["request.peer"] = "127.0.0.1:80", ["request.peer_proc"] = "upstream"}})
              request(1, 0, 100, "/a")"""
        self.assertIn("99.00ms GET /b: unanswered (1 call to upstream:80)", self.why(text)[0])

    def test_busy_with(self):
        """What the thread did for the other request is below that."""
        text = """
              slice(1, "running", 0, 5)
              slice(1, "sleep", 5, 95)
              slice(1, "running", 95, 100)
              request(1, 4, 98, "/slow", {["request.conn"] = "s"})
              request(1, 0, 100, "/a")"""
        first = next(line for line in self.why(text) if line.startswith("GET /a"))
        self.assertRegex(first, r"busy with other requests, of which [\d.]+ms GET /slow, of which 90.00ms sleep")

    def test_client_sends(self):
        """What the client did before it had sent all; then the request is under way."""
        text = f"""
              slice(1, "network", 0, 80, {{["thread.slice.object"] = "c1"}})
              slice(1, "running", 80, 100)
              slice(9, "sleep", 0, 30)
              request(9, 0, 100, "/a", {{{self.CLIENT} = 60 * MS, ["request.send"] = 30 * MS, ["request.conn"] = "c1"}})
              request(1, 0, 100, "/a", {{["request.send"] = 80 * MS}})"""
        self.assertIn("50.00ms request under way; 30.00ms client sends the request, of which 30.00ms sleep", self.why(text)[0])

    def test_unfinished(self):
        """The capture ended before the request: its time is a lower bound."""
        text = 'slice(1, "running", 0, 10) request(1, 0, 10, "/a", {["request.error"] = "unfinished"})'
        self.assertEqual(self.why(text)[0], "GET /a at least 10.00ms: 10.00ms on CPU")

    def test_unknown_is_in_order(self):
        """Unknown time is a line like others, and none if nothing else is known."""
        text = """
              slice(7, "sleep", 10, 20, {["thread.slice.waker"] = 0})
              slice(1, "poll", 0, 50, {["thread.slice.waker"] = 7})
              slice(1, "lock", 50, 100, {["thread.slice.waker"] = 8, ["thread.slice.call"] = "futex"})
              request(1, 0, 100, "/a")"""
        lines = [line.split("%  ")[1] for line in self.why(text)[2:]]
        self.assertEqual(lines, ["lock held by thread (8)", "poll until t7 (7)", "  unknown", "  sleep"])

    def test_request_of_waker(self):
        """Of a thread that served another request meanwhile, that one is named; of one that served several, none."""
        text = """
              slice(7, "sleep", 0, 90, {["thread.slice.waker"] = 0})
              slice(1, "poll", 0, 100, {["thread.slice.waker"] = 7, ["thread.slice.waker.comm"] = "seven"})
              request(7, 0, 10, "/short")
              request(7, 10, 95, "/long", {["request.proto"] = "%s", ["request.conn"] = "%s"})
              %s
              request(1, 0, 100, "/a")"""
        other = 'request(7, 20, 80, "/other")'
        client = 'request(7, 0, 100, "/a", {["request.side"] = "client", ["request.conn"] = "c1"})'
        for proto, more, name in (("http", "", ", in GET /long"), ("generic", "", ""), ("http", other, ""), ("http", client, "")):
            self.assertIn(f"100.00ms poll until seven (7){name}, of which 90.00ms sleep", self.why(text % (proto, "c7", more))[0])

    def test_pool_of_connections(self):
        """A request that is sent when that of another one on the connection is answered, waited for that."""
        peer = ', ["request.peer"] = "p"'  # the server closes connections
        for conn, more, part in (("k", "", "68\twait for a connection ?\tGET /k"), ("other", "", "73\tpoll\tnil"),
                                 ("other", peer, "68\twait for a connection ?\tGET /other")):
            out = self.lua(self.EXPLAIN + f"""function on_capture_end()
                  slice("running", 100, 110)
                  slice("poll", 110, 120)
                  slice("running", 120, 122)
                  slice("poll", 122, 190, {{["thread.slice.waker"] = 0}})
                  slice("running", 190, 193)
                  slice("poll", 193, 198)
                  slice("running", 198, 200)
                  request(105, 190, "{conn}", {{["request.side"] = "client"{more}}})
                  request(100, 192, "b")
                  request(192, 198, "k", {{["request.side"] = "client"{more}}})
                  for _, part in ipairs(require("timeparts").explain(store, request(120, 200, "a")).kids) do
                    print(part.ns, part.label, part.kids[1] and part.kids[1].label)
                  end
                end""")
            self.assertIn(part, out.splitlines())

    def pool(self, idle_from, resumes, answered=100):
        """Thread 7 works for a request from 20 to 90. A timer of the loop ends at 60."""
        return self.lua(self.EXPLAIN + f"""function on_capture_end()
              local function of_seven(kind, b, e, more)
                local v = {{["thread.tid"] = 7, ["thread.name"] = "seven"}}
                for name, value in pairs(more or {{}}) do v[name] = value end
                slice(kind, b, e, v)
              end
              local idle = {{["thread.slice.call"] = "futex", ["thread.slice.lock"] = 16, ["thread.slice.waker"] = 1}}
              slice("running", 1, 20)
              of_seven("lock", {idle_from}, 20, idle)
              {resumes}
              slice("poll", 20, 60, {{["thread.slice.call"] = "epoll_pwait", ["thread.slice.timed_out"] = true,
                                      ["thread.slice.waker"] = 0, ["thread.slice.waker.comm"] = "interrupt"}})
              slice("running", 60, 62)
              slice("poll", 62, 90, {{["thread.slice.call"] = "epoll_pwait", ["thread.slice.waker"] = 7}})
              slice("running", 90, 100)
              local r = request(10, 100, "a", {{["request.ttfb"] = {answered} - 10}})
              for _, part in ipairs(require("timeparts").explain(store, r).kids) do
                print(part.ns, part.label, (require("timeparts").main_name(part)))
              end
            end""").splitlines()

    def test_timer_beside_work(self):
        """A timer of a loop does not end the wait for a thread of the pool that works on, also a new one."""
        works = 'of_seven("running", 20, 90)'
        for idle_from in 5, 15:
            self.assertIn("68\twork\tseven (7)", self.pool(idle_from, works))
        rests = 'of_seven("running", 20, 30) of_seven("lock", 30, 70, idle) of_seven("running", 70, 90)'
        for resumes, answered in (rests, 100), (works, 61):
            self.assertIn("40\ttimer of epoll_pwait ?\tnil", self.pool(5, resumes, answered))

    def test_interrupted_wait(self):
        """A signal, as that of PostgreSQL's look for a deadlock, does not end the wait for a thread that this one did not wake."""
        text = """
              slice(7, "running", 0, 90)
              slice(1, "running", 0, 1)
              slice(1, "poll", 1, 60, {["thread.slice.waker"] = 0, ["thread.slice.call"] = "epoll_wait"})
              slice(1, "running", 60, 61)
              slice(1, "poll", 61, 90, {["thread.slice.waker"] = 7, ["thread.slice.waker.comm"] = "t7", ["thread.slice.call"] = "epoll_wait"})
              slice(1, "running", 90, 95)
              request(1, 0, 95, "/a")"""
        self.assertIn("88.00ms poll until t7 (7)", self.why(text)[0])
        other = text.replace('"t7", ["thread.slice.call"] = "epoll_wait"', '"t7", ["thread.slice.call"] = "poll"')
        self.assertIn("88.00ms poll;", self.why(other)[0])
        busy = text.replace('"running", 60, 61', '"running", 60, 85').replace('"poll", 61, 90', '"poll", 85, 90')
        self.assertIn("64.00ms poll;", self.why(busy)[0])

    def test_timer_before_busy_pool(self):
        """Nor does it end the wait for a thread of the pool that works for another request meanwhile."""
        text = """
              slice(7, "running", 0, 90)
              slice(1, "running", 0, 1)
              slice(1, "poll", 1, 60, {["thread.slice.timed_out"] = true, ["thread.slice.waker"] = 0, ["thread.slice.call"] = "epoll_pwait"})
              slice(1, "running", 60, 61)
              slice(1, "poll", 61, 90, {["thread.slice.waker"] = 7, ["thread.slice.waker.comm"] = "seven"})
              slice(1, "running", 90, 95)
              request(1, 0, 95, "/a", {["request.ttfb"] = 94 * MS})"""
        self.assertIn("88.00ms poll until t7 (7)", self.why(text)[0])
        idle = text.replace('"running", 0, 90', '"lock", 0, 61')
        self.assertIn("59.00ms timer of epoll_pwait ?", self.why(idle)[0])

    def test_bounded_work(self):
        """The limit of the chisel holds for one slow request of a loop among many, for streams through several threads, and
        for threads with many requests, and for those that wait for locks again and again."""
        slow = """
              for i = 0, 1500 do slice("running", i * 10, i * 10 + 5) slice("poll", i * 10 + 5, i * 10 + 10) end
              for i = 1, 1500 do request(i * 10 + 1, i * 10 + 20, "c" .. i) end
              explain(request(1, 15000, "slow"))"""
        stream = """
              local function of(tid, waker) return {["thread.tid"] = tid, ["thread.slice.waker"] = waker} end
              for t = 0, 1200000, 100 do
                slice("running", t, t + 50, of(3)) slice("runnable", t + 50, t + 100, of(3))
                slice("pipe", t, t + 50, of(2, 3)) slice("running", t + 50, t + 100, of(2))
                slice("pipe", t, t + 80, of(1, 2)) slice("running", t + 80, t + 100, of(1))
              end
              explain(request(0, 1200000, "sink"))"""
        later = """
              local function of(tid, waker) return {["thread.tid"] = tid, ["thread.slice.waker"] = waker} end
              for t = 0, 400000, 100 do
                slice("network", t, t + 60, of(2)) slice("running", t + 60, t + 100, of(2))
                slice("lock", t, t + 80, of(1, 2)) slice("running", t + 80, t + 100, of(1))
              end
              local r = request(0, 400000, "early")
              for b = 700000, 3600000, 100 do request(b, b + 50, "k", {["thread.tid"] = 2}) end
              explain(r)"""
        timers = """
              for t = 0, 1000000, 100 do
                slice("poll", t, t + 90, {["thread.slice.timed_out"] = true, ["thread.slice.waker"] = 0,
                                               ["thread.slice.call"] = "epoll_wait"})
                slice("running", t + 90, t + 100)
              end
              explain(request(0, 1000000, "long"))"""
        timed = """
              local function wait(t) slice("lock", t, t + 900, {["thread.slice.waker"] = 0, ["thread.slice.lock"] = 64}) end
              for t = 1, 80000 do wait(t * 1000) end
              explain(request(1000, 80001000, "retries"))"""
        polled = """
              for t = 1, 80000 do
                slice("lock", t * 1000, t * 1000 + 900, {["thread.slice.waker"] = 2, ["thread.slice.polled"] = "/a",
                                                         ["thread.slice.polled.call"] = "fcntl"})
              end
              explain(request(1000, 80001000, "polls"))"""
        for text, part in ((slow, r"5\d+\tbusy with other requests"), (stream, r"960\d+\tpipe"), (later, r"320\d+\tlock"), (timers, r"900\d+\ttimer"),
                           (timed, r"72000000\twait for a timeout"),
                           (polled, r"72000000\tlock")):
            with self.subTest(part):
                self.assertRegex(self.lua(f"{self.EXPLAIN} function on_capture_end() {text} end"), part)

    def test_polled_child(self):
        """Two sleeps, before each of which the thread looked for a child, are the wait for it; one is a sleep."""
        for n, label in (1, "sleep"), (2, "child process"):
            out = self.waits(f"""
                  for i = 1, {n} do
                    waits("sleep", 2, 10 * i, {{["thread.slice.child"] = 7, ["thread.slice.child.comm"] = "seven"}})
                    waits("lock", 1, 10 * i + 4, {{["thread.slice.waker"] = 7}})
                  end
                  waits("sleep", 1, 50, {{}})
                  explain(request(10000000, {10 * n + 2}000000, "a"))""")
            self.assertIn(f"{2000000 * n}\t{label}", out)

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

    def test_requests_that_are_not_selected(self):
        """The log forgets which they were when it has them no more, however many came in between."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local log, first, last = require("requestlog").new("request.side=server"), 1, 10
              log.all = {span = function() return first, last end}
              log:unselect()
              first, last = 1000000000000, 1000000000001
              log:unselect()
              for number in pairs(log.unselected) do print(number) end
              first, last = first + 5, last + 5
              log:unselect()
              for number in pairs(log.unselected) do print(number) end
            end""")
        self.assertEqual(out, "1000000000001\n1000000000006\n")

    def test_requests_of_other_tools(self):
        """A capture of another tool may lack any value."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local unknown = {["request.proto"] = "none", ["request.send"] = "none", ["request.ttfb"] = 5}
              local r = request(100, 200, "a", unknown)
              print(r.name, r.answered)
              explain(r)
              print(request(150, 250, "a", {["request.side"] = "none"}), request(1 << 62, 1 << 62, "a"))
              unknown["request.method"], unknown["request.resource"] = "none", "none"
              print(request(200, 300, "a", unknown).name)
            end""")
        self.assertEqual(out, "request GET /a\tnil\n100\tunknown\nnil\tnil\nrequest\n")

    SLOWEST = """
        local MS, slowest_of = 1000000, require("slowest").new
        local function note(lists, side, b, e, seen, conn)
          local r = request(b * MS, e * MS, conn, {["request.side"] = side, ["evt.rawtime"] = seen * MS})
          local seen = {is_server = side == "server", b = r.b, e = r.e, seen = r.seen, conn = r.key}
          for _, list in ipairs(lists) do list:note(seen, true) end
        end
        """

    def test_call_in_flight(self):
        """With several calls in flight on a connection the first one that is known may not be that of the request."""
        out = self.lua(self.EXPLAIN + self.SLOWEST + """function on_capture_end()
              local list = slowest_of(store)
              note({list}, "client", 45, 90, 91, "c")
              note({list}, "server", 83, 90, 92, "c")
              note({list}, "server", 77, 116, 116, "c")
              print(#list, list[1].begin // MS, list[1].request.e // MS)
              note({list}, "client", 54, 119, 120, "c")
              print(#list, list[1].begin // MS, list[1].request.e // MS)
            end""")
        self.assertEqual(out, "1\t45\t116\n1\t54\t116\n")

    def test_what_is_left_out(self):
        """A list that considers each call has the same items."""
        out = self.lua(self.EXPLAIN + self.SLOWEST + """
            math.randomseed(1)
            local random = math.random
            local function rows_of(n)
              local rows = {}
              for _ = 1, n do
                local sent = random(0, 50)
                local read = sent + random(1, 60)
                local begun = random(sent, read)
                local done = random(begun, read)
                rows[#rows + 1] = {"client", sent, read, read + random(0, 3)}
                rows[#rows + 1] = {"server", begun, done, done + random(0, 6)}
              end
              table.sort(rows, function(x, y) return x[4] < y[4] end)
              return rows
            end
            function on_capture_end()
              local n_left_out, n_moved = 0, 0
              for i = 1, 3000 do
                local lists = {}
                for at = 1, 4 do
                  local list = slowest_of(store)
                  list.top = (at + 1) // 2
                  if at % 2 == 0 then list.time_of_calls = function() return math.maxinteger end end
                  lists[at] = list
                end
                for _, row in ipairs(rows_of(4)) do
                  note(lists, row[1], 1000 * i + row[2], 1000 * i + row[3], 1000 * i + row[4], "c" .. i)
                end
                for at = 1, 3, 2 do
                  local list, all = lists[at], lists[at + 1]
                  assert(#list == #all)
                  for k, s in ipairs(list) do
                    assert(s.request == all[k].request and s.begin == all[k].begin)
                    n_moved = n_moved + (s.begin ~= s.request.b and 1 or 0)
                  end
                  n_left_out = n_left_out + all.n_seen - list.n_seen
                end
              end
              print(n_moved > 1000, n_left_out > 10)
            end""")
        self.assertEqual(out, "true\ttrue\n")

    def test_search(self):
        """A search from the end finds what a look at each item finds, wherever it lies."""
        out = self.lua("""local threadlog = require "threadlog"
            math.randomseed(1)
            local function at(item) return item end
            function on_capture_end()
              local n = 0
              for max = 1, 70 do
                local log, value = threadlog.new(max), 0
                for i = 1, 150 do
                  value = value + math.random(0, 2)
                  log:add(1, value)
                  local list = log:of(1)
                  local wanted = math.random(value - 2 * max - 2, value + 1)
                  local index = list.first
                  while index <= list.last and list[index] <= wanted do index = index + 1 end
                  assert(threadlog.search(list, wanted, at) == index)
                  n = n + (index < list.last and 1 or 0)
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

    def test_one_wait_of_many_timers(self):
        """A wait that 80,000 timers interrupt is explained at once, and so are 20,000 waits for different files."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local n, poll = 80000, {["thread.slice.call"] = "poll", ["thread.slice.object"] = "x", ["thread.slice.waker"] = 0}
              slice("running", 0, 1000 * n, {["thread.tid"] = 9})
              for i = 0, n - 1 do
                poll["thread.slice.timed_out"] = true
                slice("poll", 1000 * i, 1000 * i + 999, poll)
                slice("running", 1000 * i + 999, 1000 * i + 1000)
              end
              poll["thread.slice.timed_out"], poll["thread.slice.waker"] = nil, 9
              slice("poll", 1000 * n, 1000 * n + 999, poll)
              explain(request(0, 1000 * n + 1000, "a"))
            end""")
        self.assertRegex(out, r"(?m)^\d+\tpoll")
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local try = {["thread.slice.polled.call"] = "stat", ["thread.slice.polled.error"] = "ENOENT"}
              for i = 0, 39999 do
                try["thread.slice.polled"] = "/tmp/" .. i // 2
                slice("sleep", 1000 * i, 1000 * i + 1000, try)
              end
              print(#require("timeparts").explain(store, request(0, 40000000, "a")).kids)
            end""")
        self.assertEqual(out, "20000\n")

    def test_long_stacks(self):
        """Stacks of long names are not kept as they are: 20,000 would exceed the limit of memory."""
        out = self.lua(self.EXPLAIN + """function on_capture_end()
              local rest = (";" .. ("n"):rep(1000)):rep(60)
              slice("running", 0, 2000)
              for i = 1, 2000 do
                put {["thread.tid"] = 1, ["sample.reason"] = "cpu", ["evt.rawtime"] = i, ["sample.weight"] = 1,
                     ["stack.folded"] = "main;f" .. i .. rest}
              end
              collectgarbage()
              print(collectgarbage("count") < 60000, #require("timeparts").explain(store, request(0, 2000, "a")).kids)
            end""")
        self.assertEqual(out, "true\t1\n")


class Node(unittest.TestCase):
    def test_own_functions(self):
        """Time in builtins is the time of the program's own function that called them."""
        e2e.need_live()
        path = os.path.join(e2e.own_dir(self), "node.scap")
        e2e.run(e2e.SAKER, "-q", "-w", path, "--slices", "--requests", "--sample", "499", "--",
                runtimes.node(runtimes.NODES[2]), os.path.join(os.path.dirname(PROGRAM), "server.js"))
        sums = {}
        for request in objects(path, "top=1000", "request.resource=/page"):
            for part in request["parts"]:
                for function in part.get("functions", []):
                    sums[function["name"]] = sums.get(function["name"], 0) + function["ns"]
        own = sum(ns for name, ns in sums.items() if re.fullmatch(r"(handle|<anonymous>) \(server\.js:\d+\)", name))
        self.assertGreater(own, 0.8 * sum(sums.values()), sums)


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
