#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker exporter: its values are those that a client counted, promtool and Prometheus read them, and no client
or file can harm it."""

import base64
import contextlib
import glob
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import unittest
import urllib.parse

import saker_e2e as e2e

SCENE = os.path.join(e2e.SOURCE, "tests/e2e/exporter/scene.py")
EXAMPLES = os.path.join(e2e.SOURCE, "contrib/prometheus")
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)(?: # .*)?')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parse(page):
    """Returns {(name, ((label, value), ...)): number}; fails at a line that is none of the format."""
    samples = {}
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        m = SAMPLE.fullmatch(line)
        if not m:
            raise AssertionError(f"no sample: {line!r}")
        key = (m[1], tuple(sorted(LABEL.findall(m[2] or ""))))
        if key in samples:
            raise AssertionError(f"twice: {line!r}")
        samples[key] = float(m[3])
    return samples


def value(samples, name, **labels):
    """Returns the sum of the series that have these labels; None if there is none."""
    found = [v for (n, of), v in samples.items() if n == name and set(labels.items()) <= set(of)]
    return sum(found) if found else None


def check_page(page):
    """promtool reads it without a complaint."""
    e2e.need("promtool")
    p = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, timeout=60)
    if p.returncode or p.stderr:
        raise AssertionError(f"promtool: {p.stdout}{p.stderr}")


class Exporter:
    """A running exporter at a free port."""

    def __init__(self, test, *options, listen=("--listen", "127.0.0.1:0"), env=None, prefix=()):
        self.process = subprocess.Popen([*prefix, e2e.SAKER, "exporter", *listen, *options], stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})
        clean = test.addClassCleanup if isinstance(test, type) else test.addCleanup
        clean(self.close)
        self.said = ""
        while not (m := re.search(r"at (https?)://127.0.0.1:(\d+)/", self.said)):
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError(f"the exporter ended: {self.said}")
            self.said += line
        self.scheme, self.port = m[1], int(m[2])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def end(self):
        """Returns its status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=e2e.DEADLINE_S)

    def wait_for_line(self, pattern):
        """Waits for a line of its standard error. Returns the match."""
        for line in self.process.stderr:
            self.said += line
            if m := re.fullmatch(pattern, line.rstrip("\n")):
                return m
        raise AssertionError(f"the exporter ended without {pattern}: {self.said}")

    def get(self, path="/metrics", source="127.0.0.1", method="GET", **headers):
        """Returns status, headers and body."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=(source, 0))
        with contextlib.closing(c):
            c.request(method, path, headers=headers)
            r = c.getresponse()
            return r.status, r.headers, r.read().decode()

    def samples(self, **headers):
        status, _, body = self.get(**headers)
        if status != 200:
            raise AssertionError(status)
        return parse(body)

    def wait_for(self, name, expected, **labels):
        def is_so():
            samples = self.samples()
            return samples if value(samples, name, **labels) == expected else None
        return e2e.wait_until(is_so, f"{name}{labels} is {expected}")


def fresh(exporter):
    """Returns the samples of a page that is printed from now on: pages are shared for a while."""
    n = value(exporter.samples(), "saker_exporter_scrapes_total")
    return e2e.wait_until(lambda: (s := exporter.samples()) and value(s, "saker_exporter_scrapes_total") > n and s, "a page")


def start_scene(test, server, client):
    """Runs the scene, which stays. Returns what it counted."""
    p = subprocess.Popen([sys.executable, "-I", SCENE, server, client], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True)
    def close():
        p.stdin.close()
        p.stdout.close()
        p.wait()
    (test.addClassCleanup if isinstance(test, type) else test.addCleanup)(close)
    return json.loads(p.stdout.readline())


class Table(unittest.TestCase):
    """What documents and uses the table of metrics."""

    @classmethod
    def setUpClass(cls):
        cls.table = e2e.run(e2e.SAKER, "exporter", "--list-metrics", "--markdown")
        kinds = dict(re.findall(r"^\| `(\w+)` \| (\w+) ", cls.table, re.M))
        cls.names = set(kinds)
        for name, kind in kinds.items():
            if kind == "histogram":
                cls.names |= {name + suffix for suffix in ("_bucket", "_sum", "_count")}

    def test_page_is_current(self):
        self.assertIn(self.table, e2e.read_text(os.path.join(e2e.SOURCE, "docs/exporter.md")),
                      "docs/exporter.md is old: saker exporter --list-metrics --markdown")

    def test_examples_use_metrics_that_exist(self):
        files = glob.glob(os.path.join(EXAMPLES, "*"))
        self.assertGreaterEqual(len(files), 3)
        for path in files:
            used = set(re.findall(r"\bsaker_\w+(?!\w|\.\*)", e2e.read_text(path))) # no expressions
            self.assertEqual(used - self.names - {"saker_exporter"}, set(), path)

    def test_dashboard(self):
        board = json.loads(e2e.read_text(os.path.join(EXAMPLES, "saker-dashboard.json")))
        ids = [p["id"] for p in board["panels"]]
        self.assertEqual(len(set(ids)), len(ids))
        expressions = [t["expr"] for p in board["panels"] for t in p.get("targets", [])]
        self.assertGreater(len(expressions), 10)
        e2e.need("promtool")
        rules = os.path.join(e2e.own_dir(self), "rules.yml")
        fixed = [e.replace("$__rate_interval", "5m").replace("$instance", "x") for e in expressions]
        e2e.write_text(rules, json.dumps({"groups": [{"name": "g", "rules": [
            {"record": f"x:{i}", "expr": e} for i, e in enumerate(fixed)]}]}))
        e2e.run("promtool", "check", "rules", rules)

    def test_configurations(self):
        e2e.need("promtool")
        for name in "saker-scrape.yml", "saker-fleet.yml":
            self.assertIn("SUCCESS", e2e.run("promtool", "check", "config", os.path.join(EXAMPLES, name)))

    def test_rules(self):
        e2e.need("promtool")
        out = e2e.run("promtool", "check", "rules", os.path.join(EXAMPLES, "saker-alerts.yml"))
        self.assertRegex(out, r"SUCCESS: \d+ rules found")


class Replay(unittest.TestCase):
    """Metrics of a capture file are what the client in it counted."""

    @classmethod
    def setUpClass(cls):
        cls.capture = os.path.join(e2e.own_dir(cls), "scene.scap")
        out = e2e.run(e2e.SAKER, "--requests", "--tcp", "-w", cls.capture, "--", sys.executable, "-I", SCENE, "shop", "buyer")
        cls.truth = json.loads(out)
        cls.page = cls.print()
        cls.samples = parse(cls.page)

    @classmethod
    def print(cls, *options):
        return e2e.run(e2e.SAKER, "exporter", "-r", cls.capture, "--print", *options)

    def value(self, name, **labels):
        return value(self.samples, name, **labels)

    def test_service(self):
        labels = {"service": "shop", "protocol": "http"}
        self.assertEqual(self.value("saker_service_requests_total", **labels), self.truth["requests"])
        self.assertEqual(self.value("saker_service_request_errors_total", error="500", **labels), self.truth["errors"])
        self.assertEqual(self.value("saker_service_request_errors_total"), self.truth["errors"])
        self.assertEqual(self.value("saker_service_request_duration_seconds_count", **labels), self.truth["requests"])
        self.assertEqual(self.value("saker_service_request_duration_seconds_bucket", le="+Inf", **labels),
                         self.truth["requests"])
        self.assertGreater(self.value("saker_service_sent_bytes_total", **labels), self.truth["body"])

    def test_edge(self):
        labels = {"client": "buyer", "server": "shop", "protocol": "http"}
        self.assertEqual(self.value("saker_edge_requests_total", **labels), self.truth["requests"])
        self.assertEqual(self.value("saker_edge_requests_total"), self.truth["requests"] + 1)
        refused = {"client": "buyer", "protocol": "generic"}
        self.assertEqual(self.value("saker_edge_requests_total", **refused), 1)
        self.assertEqual(self.value("saker_edge_request_errors_total", **refused), 1)
        self.assertEqual(self.value("saker_edge_request_errors_total", **labels), self.truth["errors"])
        self.assertEqual(self.value("saker_edge_received_bytes_total", **labels),
                         self.value("saker_service_sent_bytes_total", service="shop"))

    def test_tcp(self):
        self.assertEqual(self.value("saker_tcp_connects_total", service="buyer", outcome="established"), 1)
        self.assertEqual(self.value("saker_tcp_connects_total", service="buyer", outcome="refused"), 1)

    def test_histograms(self):
        """Buckets are cumulative; the sum is that of request.latency."""
        buckets = [v for (name, labels), v in self.samples.items()
                   if name == "saker_edge_request_duration_seconds_bucket"]
        self.assertEqual(buckets, sorted(buckets))
        sums = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%request.latency",
                       "request.side=client and request.proto=http").split()
        self.assertAlmostEqual(self.value("saker_edge_request_duration_seconds_sum"), sum(map(int, sums)) / 1e9, 9)

    def test_judge(self):
        check_page(self.page)

    def test_openmetrics(self):
        page = self.print("--openmetrics")
        self.assertTrue(page.endswith("\n# EOF\n"))
        self.assertEqual({k: v for k, v in parse(page).items() if "saker_exporter" not in k[0]},
                         {k: v for k, v in self.samples.items() if "saker_exporter" not in k[0]})
        self.assertIn(f'# {{trace_id="{self.truth["trace"]}"}}', page)
        self.assertIn("# TYPE saker_edge_requests counter\n", page)
        self.assertIn("# UNIT saker_edge_sent_bytes bytes\n", page)

    def test_unknown_is_absent(self):
        """A file has no counters of a live capture: their series are missing, not 0."""
        self.assertIsNone(self.value("saker_events_seen_total"))
        self.assertEqual(self.value("saker_capture_running"), 0)

    def test_served(self):
        exporter = Exporter(self, "-r", self.capture)
        samples = exporter.wait_for("saker_capture_running", 0)
        self.assertEqual(value(samples, "saker_edge_requests_total"), self.truth["requests"] + 1)
        self.assertEqual(exporter.end(), 0)

    def test_damaged(self):
        """What a file has before its damage is printed and served; the status is 1."""
        path = os.path.join(e2e.own_dir(self), "cut.scap")
        shutil.copy(self.capture, path)
        os.truncate(path, os.path.getsize(path) - 50)
        p = subprocess.run([e2e.SAKER, "exporter", "-r", path, "--print"], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, len(p.stderr.splitlines())), (1, 1), p.stderr)
        self.assertIn("truncated", p.stderr)
        requests = value(parse(p.stdout), "saker_edge_requests_total")
        self.assertGreater(requests, 0)
        exporter = Exporter(self, "-r", path)
        samples = exporter.wait_for("saker_capture_running", 0)
        self.assertEqual(value(samples, "saker_edge_requests_total"), requests)
        self.assertEqual(exporter.end(), 1)

    def test_few_series(self):
        """Without room, nothing is lost: all is in the series other."""
        samples = parse(self.print("--max-series", "100"))
        for name in ("saker_service_requests_total", "saker_edge_requests_total", "saker_tcp_connects_total"):
            self.assertEqual(value(samples, name), self.value(name), name)


class Hostile(unittest.TestCase):
    """Names of processes that would end a label, a line or the page."""

    def test_names(self):
        capture = os.path.join(e2e.own_dir(self), "scene.scap")
        e2e.run(e2e.SAKER, "--requests", "-w", capture, "--", sys.executable, "-I", SCENE, 'a"} 1\n#\\', "\x01\t{é€")
        for options in ((), ("--openmetrics",)):
            page = e2e.run(e2e.SAKER, "exporter", "-r", capture, "--print", *options)
            self.assertEqual(value(parse(page), "saker_edge_requests_total", server='a\\"} 1\\n#\\\\',
                                   client="\ufffd\ufffd{é€"), 47)
        check_page(e2e.run(e2e.SAKER, "exporter", "-r", capture, "--print"))


TALKER = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as server:
    a = socket.create_connection(server.getsockname())
    b, _ = server.accept()
print("connected", flush=True)
for _ in range(int(sys.argv[1])):
    a.send(b"GET / HTTP/1.1\\r\\n\\r\\n")
    b.recv(100)
"""


class Losses(unittest.TestCase):
    """A process that sends and receives as fast as it can."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()

    def talk(self, n):
        p = subprocess.Popen([sys.executable, "-I", "-c", TALKER, str(n)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        assert p.stdout.readline() == "connected\n"
        return p

    def test_start(self):
        """None: what takes long at the start is done before events are captured."""
        self.talk(1 << 40)
        s = fresh(Exporter(self, "--processes", "--container-socket", "none", prefix=("nice", "-n", "-10")))
        self.assertGreater(value(s, "saker_events_seen_total"), 0)
        self.assertEqual(value(s, "saker_events_lost_total"), 0)

    def test_said(self):
        """Those that a reader loses that does not read are said once."""
        exporter = Exporter(self, "--ring-size", "256K", "--no-accounting", "--container-socket", "none")
        exporter.process.send_signal(signal.SIGSTOP)
        self.talk(20000).wait()
        exporter.process.send_signal(signal.SIGCONT)
        m = exporter.wait_for_line(r"saker: (\d+) of \d+ events were lost: the ring was (?:nearly )?full; use a larger "
                                   "--ring-size; saker_events_lost_total counts what is lost later")
        self.assertGreater(int(m[1]), 0)
        s = exporter.samples()
        self.assertGreaterEqual(value(s, "saker_events_lost_total"), int(m[1]))


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.exporter = Exporter(cls)

    def test_counts(self):
        truth = start_scene(self, "liveshop", "livebuyer")
        self.exporter.wait_for("saker_edge_requests_total", truth["requests"], client="livebuyer", server="liveshop")
        samples = self.exporter.wait_for("saker_tcp_connects_total", 1, service="livebuyer", outcome="refused")
        self.assertEqual(value(samples, "saker_service_requests_total", service="liveshop"), truth["requests"])
        self.assertEqual(value(samples, "saker_service_request_errors_total", service="liveshop"), truth["errors"])

    def test_overflow(self):
        """Connection requests that find the listen queue full, and the reset when it is closed."""
        own = e2e.read_text("/proc/self/comm").strip()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            clients = [socket.socket() for _ in range(5)]
            for c in clients:
                self.addCleanup(c.close)
                c.setblocking(False)
                c.connect_ex(listener.getsockname())
        e2e.wait_until(lambda: value(self.exporter.samples(), "saker_tcp_listen_overflows_total", service=own),
                       "overflows are counted")
        e2e.wait_until(lambda: value(self.exporter.samples(), "saker_tcp_resets_total", service=own, direction="received"),
                       "resets are counted")

    def test_identity(self):
        """In each page what was seen is what was delivered and lost."""
        e2e.somebody(self)
        for _ in range(10):
            s = self.exporter.samples()
            self.assertEqual(value(s, "saker_events_seen_total"),
                             value(s, "saker_events_delivered_total") + value(s, "saker_events_lost_total"))
        self.assertGreater(value(s, "saker_events_seen_total"), 0)

    def test_own_use(self):
        stat = e2e.proc_stat(self.exporter.process.pid)
        s = self.exporter.samples()
        self.assertGreaterEqual(value(s, "saker_exporter_cpu_seconds_total") + 0.02,
                                (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"))
        self.assertGreater(value(s, "saker_exporter_resident_memory_bytes"), 1 << 20)
        self.assertEqual(value(s, "saker_capture_running"), 1)

    def test_counters_never_decrease(self):
        before = self.exporter.samples()
        e2e.somebody(self)
        after = self.exporter.samples()
        decreased = [k for k, v in before.items() if re.search("_(total|bucket|sum|count)$", k[0]) and after.get(k, -1) < v]
        self.assertEqual(decreased, [])

    def test_judge(self):
        check_page(self.exporter.get()[2])

    def test_pages(self):
        status, headers, body = self.exporter.get("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("not measured", body)
        self.assertEqual(self.exporter.get("/healthz")[::2], (200, "ok\n"))
        self.assertEqual(self.exporter.get("/metrics?x=1")[0], 200)
        self.assertEqual(self.exporter.get("/other")[0], 404)
        self.assertEqual(self.exporter.get(method="POST")[0], 405)
        self.assertEqual(self.exporter.get(method="HEAD")[::2], (200, ""))

    def test_formats(self):
        _, headers, body = self.exporter.get(Accept=OPENMETRICS)
        self.assertTrue(headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0"))
        self.assertTrue(body.endswith("# EOF\n"))
        _, headers, body = self.exporter.get()
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))

    def test_server_has_no_capabilities(self):
        """The thread that reads what clients send can do nothing that the capture can, before the first one comes."""
        threads = {}
        for path in glob.glob(f"/proc/{self.exporter.process.pid}/task/*/status"):
            fields = dict(re.findall(r"^(\w+):\s*(.*)$", e2e.read_text(path), re.M))
            threads.setdefault(fields["CapPrm"], []).append(fields["Name"])
        self.assertIn("0000000000000000", threads)


BURNER = """
import resource, sys
sys.stdin.readline()
while sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) < 0.5: pass
print("done", flush=True)
sys.stdin.readline()
"""


def cpu_mounts():
    """Returns where the cgroups are mounted that count CPU time: version 1 with cpuacct, version 2. None: not mounted."""
    mounts = [line.split() for line in e2e.read_text("/proc/mounts").splitlines()]
    return (next((m[1] for m in mounts if m[2] == "cgroup" and "cpuacct" in m[3].split(",")), None),
            next((m[1] for m in mounts if m[2] == "cgroup2"), None))


def accounted_cgroup(test, name):
    """Makes a cgroup, of the hierarchy that accounting uses, for the test. Returns its folder."""
    one, two = cpu_mounts()
    return e2e.make_cgroup(test, one or two or e2e.skip_test("no cgroups that count CPU time are mounted"), name)


class Accounting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.exporter = Exporter(cls, "--processes", "--container-socket", "none")

    def burner(self):
        p = subprocess.Popen([sys.executable, "-I", "-c", BURNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        return p

    @staticmethod
    def burn(p):
        p.stdin.write("go\n")
        p.stdin.flush()
        assert p.stdout.readline() == "done\n"

    def test_process(self):
        """Its CPU time is the kernel's; when it ends, its series ends, and its value is in other."""
        p = self.burner()
        self.burn(p)
        samples = self.exporter.samples()
        used = float(e2e.read_text(f"/proc/{p.pid}/schedstat").split()[0]) / 1e9
        self.assertAlmostEqual(value(samples, "saker_process_cpu_seconds_total", pid=str(p.pid)), used, delta=0.02)
        before = value(samples, "saker_process_cpu_seconds_total", pid="other") or 0
        p.kill()
        p.wait()
        samples = e2e.wait_until(lambda: (s := self.exporter.samples()) and
                                 value(s, "saker_process_cpu_seconds_total", pid=str(p.pid)) is None and s, "it ended")
        self.assertGreaterEqual(value(samples, "saker_process_cpu_seconds_total", pid="other"), before + used - 0.02)

    def test_short_processes(self):
        """The sum of the processes is the node's in each page: other has those that end before any."""
        cpu, started = "saker_process_cpu_seconds_total", "saker_process_processes_started_total"
        before = fresh(self.exporter)
        def of_children():
            return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        used = -of_children()
        subprocess.run(["sh", "-c", "for i in $(seq 1000); do (:); done"], check=True)
        used += of_children()
        def are_seen():
            s = self.exporter.samples()
            for name in ("cpu_seconds", "voluntary_switches", "minor_faults", "processes_started"):
                self.assertAlmostEqual(value(s, f"saker_process_{name}_total"), value(s, f"saker_node_{name}_total"), 6, name)
            new = {name: value(s, name, pid="other") - (value(before, name, pid="other") or 0) for name in (cpu, started)}
            return new[started] >= 1000 and new[cpu] >= used - 0.02
        e2e.wait_until(are_seen, f"other has 1,000 processes and {used} s more")

    def test_container(self):
        name = f"docker/{os.getpid():064x}"
        path = accounted_cgroup(self, name)
        p = self.burner()
        e2e.write_text(os.path.join(path, "cgroup.procs"), str(p.pid))
        self.exporter.samples()
        self.burn(p)
        samples = self.exporter.samples()
        found = value(samples, "saker_cgroup_cpu_seconds_total", cgroup="/" + name, container_id=name[7:19])
        if os.path.exists(os.path.join(path, "cpuacct.usage")):
            self.assertAlmostEqual(found, int(e2e.read_text(os.path.join(path, "cpuacct.usage"))) / 1e9, delta=0.02)
        self.assertGreater(found, 0.4)

    def test_disk(self):
        """The times of its requests, by the cgroup that wrote; each is one of a disk."""
        name = f"saker-disk-{os.getpid()}"
        folder = accounted_cgroup(self, name)
        def counts():
            s = fresh(self.exporter)
            self.assertEqual(value(s, "saker_cgroup_disk_request_duration_seconds_count") or 0,
                             sum(value(s, "saker_disk_request_duration_seconds_count", operation=op) or 0
                                 for op in ("read", "write")))
            return (value(s, "saker_cgroup_disk_request_duration_seconds_count", cgroup="/" + name, operation="write"),
                    value(s, "saker_disk_request_duration_seconds_count", operation="write"))
        before = counts()[1] or 0
        with open(f"/var/tmp/{name}", "w+b") as f:
            self.addCleanup(os.unlink, f.name)
            subprocess.run(["sh", "-c", 'echo $$ >"$0"/cgroup.procs; exec dd if=/dev/zero of="$1" bs=1M count=1 conv=fsync',
                            folder, f.name], check=True, stderr=subprocess.DEVNULL)
        of_cgroup, after = counts()
        if not after or after == before:
            e2e.skip_test("the file system of /var/tmp is on no disk")
        self.assertGreaterEqual(of_cgroup, 1)
        self.assertLessEqual(of_cgroup, after - before)

    def test_full(self):
        """Without room for all processes nothing is lost, it is said once, and cgroups have their room."""
        exporter = Exporter(self, "--processes", "--max-series", "400", "--container-socket", "none")
        s = exporter.samples()
        self.assertAlmostEqual(value(s, "saker_cgroup_cpu_seconds_total"), value(s, "saker_node_cpu_seconds_total"), 6)
        self.assertLessEqual(sum(n.startswith("saker_process_") for n, _ in s), 300 + 40)
        self.assertGreater(value(s, "saker_exporter_refused_values_total"), 0)
        exporter.wait_for_line("saker: there is no room for more series: their values are added to the series other of their "
                               "metric; raise --max-series")

    def test_room(self):
        """The default has room for the processes that there are."""
        self.assertEqual(value(self.exporter.samples(), "saker_exporter_series_limit"), 250000)

    def test_node_is_the_sum_of_cgroups(self):
        e2e.somebody(self)
        for _ in range(5):
            s = self.exporter.samples()
            for name in ("cpu_seconds", "voluntary_switches", "minor_faults", "network_sent_bytes"):
                self.assertAlmostEqual(value(s, f"saker_node_{name}_total"), value(s, f"saker_cgroup_{name}_total"), 6, name)

    def test_support(self):
        """A counter has values if it is supported, else it has a reason."""
        s = self.exporter.samples()
        rows = {dict(labels)["counter"]: (v, dict(labels).get("reason")) for (n, labels), v in s.items()
                if n == "saker_accounting_supported"}
        self.assertEqual(rows["cpu"], (1, None))
        for name, (supported, reason) in rows.items():
            has = any(n.startswith(f"saker_node_{name}_") for n, _ in s)
            self.assertEqual((has, reason is None), (bool(supported), bool(supported)), name)

    def test_failed_read(self):
        """Without descriptors accounting cannot be read: that is counted, and values stay."""
        pid = self.exporter.process.pid
        def used():
            return set(map(int, os.listdir(f"/proc/{pid}/fd")))
        def sockets():
            found = set()
            for fd in used():
                with contextlib.suppress(OSError):  # closed meanwhile
                    found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
            return {name for name in found if name.startswith("socket:")}
        failures, cpu = "saker_accounting_read_failures_total", "saker_node_cpu_seconds_total"
        fresh(self.exporter)
        old = sockets()
        c = http.client.HTTPConnection("127.0.0.1", self.exporter.port, timeout=60)
        self.addCleanup(c.close)
        c.connect()
        e2e.wait_until(lambda: sockets() - old, "it accepts the connection")
        before = fresh(self.exporter)
        def page():
            c.request("GET", "/metrics")
            return parse(c.getresponse().read().decode())
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(set(range(len(used()) + 1)) - used()), limits[1]))
        try:
            failed = e2e.wait_until(lambda: (p := page()) and value(p, failures) > value(before, failures) and p,
                                    "a read that fails")
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        self.assertEqual(value(failed, cpu), value(before, cpu))
        self.assertGreater(value(fresh(self.exporter), cpu), value(failed, cpu))

    def test_front_page(self):
        """It says what is measured: here processes, too; nothing of features that saker does not use."""
        page = self.exporter.get("/")[2]
        self.assertRegex(page, "<td>the same by process</td><td>measured</td>")
        self.assertNotIn("not needed", page)

    def test_judge(self):
        check_page(self.exporter.get()[2])


class Energy(unittest.TestCase):
    """Meters of a fake sysfs: what is used is split exactly."""

    def setUp(self):
        e2e.need_live()
        self.zones = os.path.join(e2e.own_dir(self), "sys/class/powercap")
        shutil.rmtree(self.zones, ignore_errors=True)
        for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core"), ("intel-rapl:1", "psys")):
            os.makedirs(os.path.join(self.zones, zone))
            e2e.write_text(os.path.join(self.zones, zone, "name"), name + "\n")
            e2e.write_text(os.path.join(self.zones, zone, "max_energy_range_uj"), "100000000\n")
            self.set(zone, 70000000)
        self.exporter = Exporter(self, "--processes", "--sysfs", os.path.dirname(os.path.dirname(self.zones)),
                                 "--container-socket", "none")

    def set(self, zone, uj):
        e2e.write_text(os.path.join(self.zones, zone, "energy_uj"), f"{uj}\n")

    def test_split(self):
        """Idle and active are what the meter counted, past its wrap; processes and cgroups are what is active."""
        supported = {dict(k[1])["zone"]: v for k, v in fresh(self.exporter).items() if k[0] == "saker_energy_supported"}
        self.assertEqual(supported, {"package": 0, "core": 0, "psys": 0})
        used = 0
        for uj in (70000001, 99000000, 4000000, 54321987):
            used += (uj - (70000000 + used)) % 100000000
            self.set("intel-rapl:0", uj)
            e2e.somebody(self)
            s = fresh(self.exporter)
            self.assertAlmostEqual(value(s, "saker_node_energy_joules_total", zone="package", package="0"), used / 1e6, 6)
            active = value(s, "saker_node_energy_joules_total", zone="package", mode="active")
            for kind in ("process", "cgroup"):
                self.assertAlmostEqual(value(s, f"saker_{kind}_energy_joules_total"), active, 6, kind)
        self.assertEqual([(dict(k[1])["zone"], v) for k, v in s.items() if k[0] == "saker_energy_supported" and v],
                         [("package", 1)])
        self.assertIsNone(value(s, "saker_node_energy_joules_total", zone="core"))
        self.assertGreater(active, 0)
        check_page(self.exporter.get()[2])

    def test_no_meter(self):
        exporter = Exporter(self, "--sysfs", e2e.own_dir(self), "--container-socket", "none")
        s = exporter.samples()
        self.assertEqual(value(s, "saker_energy_supported"), 0)
        self.assertIsNone(value(s, "saker_node_energy_joules_total"))


class Counters(unittest.TestCase):
    """Stand-ins for counters of the CPU: the software clock counts ns."""

    def test_clock(self):
        e2e.need_live()
        exporter = Exporter(self, "--counters", "cpu_cycles=software:cpu-clock", "--container-socket", "none")
        e2e.somebody(self)
        s = fresh(exporter)
        used = value(s, "saker_node_cpu_seconds_total")
        self.assertAlmostEqual(value(s, "saker_node_cpu_cycles_total") / 1e9, used, delta=used / 10 + 0.05)
        self.assertAlmostEqual(value(s, "saker_cgroup_cpu_cycles_total"), value(s, "saker_node_cpu_cycles_total"), 0)
        self.assertEqual(value(s, "saker_accounting_supported", counter="cpu_cycles"), 1)
        self.assertEqual(value(s, "saker_accounting_supported", counter="cache_misses", reason="not requested"), 0)
        self.assertIsNone(value(s, "saker_node_cache_misses_total"))
        self.assertEqual(value(s, "saker_counter_running_seconds_total"), value(s, "saker_counter_enabled_seconds_total"))
        self.assertEqual([n for n, _ in s if n.endswith("_frequency_hertz")], [])

    def test_frequency(self):
        """That of the reference, which the software clock has, times the ratio of the counters."""
        e2e.need_live()
        exporter = Exporter(self, "--counters", "cpu_cycles=msr:tsc,cpu_reference_cycles=software:cpu-clock",
                            "--container-socket", "none")
        s = exporter.samples()
        if not value(s, "saker_accounting_supported", counter="cpu_cycles"):
            e2e.skip_test("this machine has no counter msr:tsc")
        reference, found = (value(s, f"saker_{n}_frequency_hertz") for n in ("cpu_reference", "node_cpu"))
        self.assertAlmostEqual(reference, 1e9, delta=1e7)
        ratio = value(s, "saker_node_cpu_cycles_total") / value(s, "saker_node_cpu_reference_cycles_total")
        self.assertAlmostEqual(found, ratio * reference, delta=found / 50)


class Clients(unittest.TestCase):
    """Slow and broken clients."""

    def setUp(self):
        e2e.need_live()
        self.exporter = Exporter(self)

    def connect(self, source="127.0.0.1"):
        s = socket.create_connection(("127.0.0.1", self.exporter.port), timeout=60, source_address=(source, 0))
        self.addCleanup(s.close)
        return s

    def test_slow_ones(self):
        """As many as one address may have, which send no whole request or read no answer: others are served, events
        are counted, and the exporter ends at once."""
        for i in range(5):
            self.connect().sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            self.connect().sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        truth = start_scene(self, "slowshop", "slowbuyer")
        e2e.wait_until(lambda: value(parse(self.exporter.get(source="127.0.0.2")[2]), "saker_edge_requests_total",
                                     client="slowbuyer", protocol="http") == truth["requests"], "requests are counted")
        self.assertEqual(self.exporter.end(), 0)

    def test_broken_ones(self):
        whole = (b"GET " + b"/" * 100000, b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20000,
                 b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nabc",
                 b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n")
        for data in (*whole, b"\0" * 5000, b"\x16\x03\x01\x02\x00\x01"):
            s = self.connect()
            with contextlib.suppress(OSError):
                s.sendall(data)
                while data in whole and s.recv(65536):
                    pass
            s.close()
            self.assertEqual(self.exporter.get("/healthz", source="127.0.0.3")[0], 200)
        self.assertEqual(self.exporter.end(), 0)

    def test_two_at_once(self):
        """Each gets a whole page."""
        both = [self.connect() for _ in range(2)]
        for s in both:
            s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        for s in both:
            page = b""
            while part := s.recv(65536):
                page += part
            head, body = page.split(b"\r\n\r\n", 1)
            self.assertEqual(len(body), int(re.search(rb"Content-Length: (\d+)", head)[1]))
            parse(body.decode())


class Secured(unittest.TestCase):
    """HTTPS and basic authentication, with Prometheus as the client."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("openssl")
        cls.folder = e2e.own_dir(cls)
        cls.cert, cls.key, cls.auth = (os.path.join(cls.folder, name) for name in ("cert.pem", "key.pem", "auth"))
        e2e.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", cls.key, "-out", cls.cert)
        with open(cls.auth, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write("# users\nother:x\nprom:se:cret\n")
        cls.exporter = Exporter(cls, "--tls-cert", cls.cert, "--tls-key", cls.key, "--auth-file", cls.auth)

    def status(self, user, path="/metrics"):
        context = ssl.create_default_context(cafile=self.cert)
        c = http.client.HTTPSConnection("127.0.0.1", self.exporter.port, context=context, timeout=60)
        with contextlib.closing(c):
            headers = {"Authorization": "Basic " + base64.b64encode(user).decode()} if user else {}
            c.request("GET", path, headers=headers)
            return c.getresponse().status

    def test_authentication(self):
        self.assertEqual(self.exporter.scheme, "https")
        self.assertEqual(self.status(b"prom:se:cret"), 200)
        self.assertEqual(self.status(b"other:x"), 200)
        for user in (None, b"prom:se:cre", b"prom:se:crett", b"prom", b"prom:", b":", b"", b"# users", b"# users:x",
                     b"nobody:x", b"\xff:\xff"):
            self.assertEqual(self.status(user), 401, user)
        self.assertEqual(self.status(None, "/"), 401)
        self.assertEqual(self.status(None, "/nothing"), 401)
        self.assertEqual(self.status(None, "/healthz"), 200)

    def test_prometheus(self):
        """It scrapes, and its API has the values and the trace of an exemplar."""
        e2e.need("prometheus")
        truth = start_scene(self, "promshop", "prombuyer")
        prometheus = Prometheus(self, self.folder, {
            "scheme": "https", "basic_auth": {"username": "prom", "password": "se:cret"}, "tls_config": {"ca_file": self.cert},
            "static_configs": [{"targets": [f"127.0.0.1:{self.exporter.port}"]}]})
        for query, expected in (
                ('saker_edge_requests_total{client="prombuyer",server="promshop",protocol="http"}', truth["requests"]),
                ('saker_edge_request_errors_total{client="prombuyer",protocol="http"}', truth["errors"]),
                ('saker_service_request_duration_seconds_count{service="promshop"}', truth["requests"]),
                ('saker_service_request_duration_seconds_bucket{service="promshop",le="10.0"}', truth["requests"]),
                ("saker_build_info", 1)):
            e2e.wait_until(lambda q=query, e=expected: prometheus.query(q) == [e], query)
        series = urllib.parse.quote('saker_service_request_duration_seconds_bucket{service="promshop"}')
        found = e2e.wait_until(lambda: prometheus.get(f"query_exemplars?query={series}&start=0&end={time.time() + 60}"),
                               "exemplars")
        self.assertEqual({x["labels"]["trace_id"] for x in found[0]["exemplars"]}, {truth["trace"]})
        self.assertEqual(prometheus.get("targets")["activeTargets"][0]["lastError"], "")


class Prometheus:
    """A Prometheus with one target, on loopback."""

    def __init__(self, test, folder, job):
        data = os.path.join(folder, "data")
        self.port = e2e_free_port()
        config = os.path.join(folder, "prometheus.yml")
        e2e.write_text(config, json.dumps({"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"},
                                           "scrape_configs": [{"job_name": "saker", **job}]}))
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address=127.0.0.1:{self.port}",
             "--enable-feature=exemplar-storage", "--log.level=error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(shutil.rmtree, data, ignore_errors=True)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.terminate)

    def get(self, path):
        """Returns the data of an answer; None while there is none."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(c), contextlib.suppress(OSError, http.client.HTTPException):
            c.request("GET", "/api/v1/" + path)
            r = c.getresponse()
            return json.loads(r.read())["data"] if r.status == 200 else None

    def query(self, query):
        data = self.get("query?query=" + urllib.parse.quote(query))
        return [float(r["value"][1]) for r in data["result"]] if data else []


def e2e_free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Messages(unittest.TestCase):
    """Each mistake is one sentence, and the status is 1."""

    def fails(self, *options):
        p = subprocess.run([e2e.SAKER, "exporter", *options], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stdout), (1, ""), options)
        self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        return p.stderr.removeprefix("saker: ").rstrip()

    def test_options(self):
        for words, said in (
                (["--listn", "x"], "unknown option --listn: did you mean --listen?"),
                (["--listen"], "--listen needs an argument: ADDRESS:PORT"),
                (["--listen", "localhost:1"], "--listen needs an address and a port, as in 127.0.0.1:9435 or [::1]:9435, not "
                                              "'localhost:1'"),
                (["--listen", "::1:9435"], "--listen needs an address and a port, as in 127.0.0.1:9435 or [::1]:9435, not "
                                           "'::1:9435'"),
                (["--listen", "127.0.0.1:65536"], "--listen needs an address and a port, as in 127.0.0.1:9435 or [::1]:9435, "
                                                  "not '127.0.0.1:65536'"),
                (["--tls-cert", "x"], "--tls-cert and --tls-key need each other"),
                (["--max-series", "5"], "--max-series is a number from 100 to 10000000, not 5"),
                (["--counters", "yes"], "--counters is all, or names of counters with commas between them, not 'yes': see "
                                        "saker exporter --help"),
                (["--sysfs", "/none"], "--sysfs needs a directory, not '/none'"),
                (["--sysfs", "/etc/passwd"], "--sysfs needs a directory, not '/etc/passwd'"),
                (["--print"], "--print needs a file: saker exporter -r FILE --print"),
                (["--markdown"], "--markdown needs --list-metrics"),
                (["evt.type=open"], "unexpected argument 'evt.type=open': see saker exporter --help"),
                (["-r", "/none", "--print"], "cannot open /none: No such file or directory")):
            self.assertEqual(self.fails(*words), said)

    def test_files(self):
        e2e.need("openssl")
        folder = e2e.own_dir(self)
        key, cert, auth = (os.path.join(folder, name) for name in ("key", "cert", "auth"))
        e2e.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
        e2e.write_text(cert, "no certificate\n")
        capture = e2e.captures()[0]
        self.assertEqual(self.fails("--tls-cert", "/none", "--tls-key", key), "cannot read --tls-cert /none: No such file or "
                                                                             "directory")
        self.assertEqual(self.fails("--tls-cert", cert, "--tls-key", folder), f"cannot read --tls-key {folder}: not a regular "
                                                                             "file")
        self.assertIn(f"cannot serve HTTPS with certificate {cert} and key {key}: ",
                      self.fails("-r", capture, "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key))
        e2e.write_text(auth, "prom\n")
        os.chmod(auth, 0o644)
        self.assertEqual(self.fails("--auth-file", auth), f"refusing --auth-file {auth}: others can read it; chmod o= {auth}")
        os.chmod(auth, 0o600)
        self.assertEqual(self.fails("--auth-file", auth), f"{auth}: line 1 is not USER:PASSWORD")
        e2e.write_text(auth, "a:b\r\n\r\nprom\r\n")
        self.assertEqual(self.fails("--auth-file", auth), f"{auth}: line 3 is not USER:PASSWORD")
        e2e.write_text(auth, "a:long\0password\n")
        self.assertEqual(self.fails("--auth-file", auth), f"cannot use --auth-file {auth}: it has a NUL byte")
        e2e.write_text(auth, "\n# none\n")
        self.assertEqual(self.fails("--auth-file", auth), f"{auth} has no user: add a line USER:PASSWORD")

    def test_port_in_use(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            name = f"127.0.0.1:{s.getsockname()[1]}"
            self.assertEqual(self.fails("--listen", name), f"cannot listen on {name}: another program uses this port; select "
                                                           "one with --listen ADDRESS:PORT")

    def test_program_is_missing(self):
        copy = os.path.join(e2e.own_dir(self), "saker")
        shutil.copy(e2e.SAKER, copy)
        p = subprocess.run([copy, "exporter"], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (1, "saker: cannot run saker-exporter: No such file or directory; install "
                                                       "saker-exporter in the folder of saker\n"))

    def test_help(self):
        self.assertEqual(e2e.run(e2e.SAKER, "help", "exporter"), e2e.run(e2e.SAKER, "exporter", "--help"))
        self.assertLessEqual(max(map(len, e2e.run(e2e.SAKER, "exporter", "--help").splitlines())), 80)


if __name__ == "__main__":
    unittest.main()
