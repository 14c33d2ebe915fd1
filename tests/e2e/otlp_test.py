#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker exporter --otlp against a collector that behaves well or badly; a decoder that others wrote reads what it
receives."""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import unittest

import exporter_test as exporter
import otlp_judge as judge
import runtimes
import saker_e2e as e2e

NO_SERVER = ("--listen", "127.0.0.1:0")

# Ends a program while its question for a name waits.
SILENT_DNS = """
import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.settimeout(60)
server.bind(("127.0.0.1", 53))
with subprocess.Popen(sys.argv[2:]) as p:
    try:
        server.recv(512)
        p.terminate()
        sys.exit(p.wait(timeout=60))
    finally:
        p.kill()
"""


def record(test, path):
    """Records the scene of the exporter's tests. Returns what its client counted."""
    return json.loads(e2e.run(e2e.SAKER, "--requests", "--tcp", "-w", path, "--", sys.executable, "-I", exporter.SCENE,
                              "shop", "buyer"))


def tls(folder):
    """Returns a context for a server, and the file of its certificate."""
    e2e.need("openssl")
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    e2e.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


def export(*options):
    """Returns the page of a file that is exported."""
    p = subprocess.run([e2e.SAKER, "exporter", *options, "--print"], capture_output=True, text=True, timeout=60)
    if p.returncode:
        raise AssertionError(p.stderr)
    return p


class File(unittest.TestCase):
    """A capture file: metrics are those of the page, spans those of the requests."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        judge.need_judge()
        cls.capture = os.path.join(e2e.own_dir(cls), "scene.scap")
        cls.truth = record(cls, cls.capture)
        cls.collector = judge.Collector(cls)
        cls.page = exporter.parse(export("-r", cls.capture, "--otlp", cls.collector.url + "/").stdout)
        spans = judge.spans(cls.collector.of("traces"))
        cls.spans = [s for s in spans if "url.path" in s["attributes"]]
        cls.refused = [s for s in spans if "url.path" not in s["attributes"]]

    def test_paths_and_headers(self):
        self.assertEqual({r.path for r in self.collector.seen}, {"/v1/traces", "/v1/metrics"})
        for r in self.collector.seen:
            self.assertEqual(r.headers["Content-Type"], "application/x-protobuf")
            self.assertRegex(r.headers["User-Agent"], r"^saker/\d")

    def test_metrics_are_those_of_the_page(self):
        found = judge.samples(self.collector.of("metrics"))
        own = lambda key: key[0].startswith(("saker_otlp_", "saker_exporter_", "target_"))
        page = {k: v for k, v in self.page.items() if not own(k)}
        self.assertEqual({k for k in found if not own(k)}, set(page))
        for key, value in page.items():
            self.assertAlmostEqual(found[key], value, 9, key)

    def test_the_page_has_all_requests(self):
        self.assertEqual(exporter.value(self.page, "saker_otlp_requests_total", outcome="accepted"), len(self.collector.seen))

    def test_kinds_of_metrics(self):
        by_name = {m["name"]: m for _, m in judge.items(self.collector.of("metrics"), "resourceMetrics", "scopeMetrics",
                                                        "metrics")}
        total = by_name["saker_edge_requests_total"]["sum"]
        self.assertTrue(total["isMonotonic"])
        self.assertEqual(total["aggregationTemporality"], 2) # cumulative
        for p in total["dataPoints"]:
            self.assertLess(int(p["startTimeUnixNano"]), int(p["timeUnixNano"]))
        self.assertEqual(by_name["saker_edge_request_duration_seconds"]["unit"], "s")
        self.assertEqual(by_name["saker_edge_sent_bytes_total"]["unit"], "By")
        exemplars = [x for p in by_name["saker_edge_request_duration_seconds"]["histogram"]["dataPoints"]
                     for x in p.get("exemplars", [])]
        self.assertEqual({x["traceId"] for x in exemplars}, {self.truth["trace"]})

    def test_a_span_for_each_request(self):
        servers = [s for s in self.spans if s["kind"] == 2]
        clients = [s for s in self.spans if s["kind"] == 3]
        self.assertEqual((len(servers), len(clients)), (self.truth["requests"],) * 2)
        self.assertEqual(len({s["spanId"] for s in self.spans}), len(self.spans))
        self.assertEqual({s["traceId"] for s in self.spans}, {self.truth["trace"]})

    def test_refused_connect(self):
        """A connect that failed is a span of the client."""
        self.assertEqual([(s["kind"], s["attributes"].get("error.type")) for s in self.refused], [(3, "refused")])

    def test_parents(self):
        """The client's spans have the parent of the header, the server's those of the client at the other end."""
        clients = {s["spanId"]: s for s in self.spans if s["kind"] == 3}
        self.assertEqual({s["parentSpanId"] for s in clients.values()}, {"00f067aa0ba902b7"})
        for s in self.spans:
            if s["kind"] != 2:
                continue
            client = clients.pop(s["parentSpanId"])
            self.assertEqual(client["attributes"]["url.path"], s["attributes"]["url.path"])
            self.assertLessEqual(int(client["startTimeUnixNano"]), int(s["startTimeUnixNano"]))
            self.assertGreaterEqual(int(client["endTimeUnixNano"]), int(s["startTimeUnixNano"]))
        self.assertEqual(clients, {})

    def test_attributes(self):
        good = [s for s in self.spans if s["attributes"]["url.path"] == "/good"]
        bad = [s for s in self.spans if s["attributes"]["url.path"] == "/bad"]
        self.assertEqual(len(bad), 2 * self.truth["errors"])
        for s in good + bad:
            a = s["attributes"]
            self.assertEqual((s["name"], a["http.request.method"]), (f"GET {a['url.path']}", "GET"))
            self.assertEqual((a["server.address"], a["network.protocol.name"]), ("127.0.0.1", "http"))
            self.assertEqual(s["resource"]["service.name"], "buyer" if s["kind"] == 3 else "shop")
            self.assertGreater(s["resource"]["process.pid"], 0)
            self.assertEqual(s["resource"]["host.name"], os.uname().nodename)
        self.assertEqual({s["attributes"]["http.response.status_code"] for s in good}, {200})
        self.assertEqual({(s["attributes"]["error.type"], s["status"]["code"]) for s in bad}, {("500", 2)})
        self.assertFalse([s for s in good if "status" in s and s["status"].get("code")])

    def test_again_is_the_same(self):
        """Identifiers of a file do not change; gzip changes nothing."""
        again = judge.Collector(self)
        export("-r", self.capture, "--otlp", again.url, "--otlp-gzip", "--otlp-no-metrics")
        self.assertEqual(judge.spans(again.of("traces")), self.spans + self.refused)
        self.assertEqual({r.headers["Content-Encoding"] for r in again.seen}, {"gzip"})
        self.assertEqual({r.signal for r in again.seen}, {"traces"})

    def test_logs(self):
        collector = judge.Collector(self)
        export("-r", self.capture, "--otlp", collector.url, "--otlp-no-metrics", "--otlp-no-traces", "--otlp-logs",
               "evt.type=tcp_connect")
        expected = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.info", "evt.type=tcp_connect").splitlines()
        found = judge.logs(collector.of("logs"))
        self.assertEqual([judge.value_of(r["body"]).rstrip() for r in found], [line.rstrip() for line in expected])
        self.assertEqual({r["eventName"] for r in found}, {"tcp_connect"})
        self.assertEqual({r["resource"]["service.name"] for r in found}, {"buyer"})


class Spans(unittest.TestCase):
    """Each span of a file arrives, or is counted by the reason why it did not."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        judge.need_judge()
        cls.capture = os.path.join(e2e.own_dir(cls), "scene.scap")
        cls.n = 2 * record(cls, cls.capture)["requests"] + 1 # spans, with that of a refused connect

    def start(self, url, *options):
        return exporter.Exporter(self, "-r", self.capture, "--otlp", url, *options)

    def count(self, page, name, **labels):
        return exporter.value(page, f"saker_otlp_{name}", signal="traces", **labels)

    def wait_for_end(self, x):
        """Returns the page when no span waits any more."""
        def is_so():
            page = x.samples()
            done = (self.count(page, "sent_items_total") or 0) + (self.count(page, "dropped_items_total") or 0)
            return page if done >= self.n else None
        page = e2e.wait_until(is_so, "all spans were sent or dropped")
        self.assertEqual(self.count(page, "items_total"), self.n)
        return page

    def run_with(self, behave, *options):
        """Returns the collector, and the page in the end."""
        collector = judge.Collector(self)
        collector.behave = behave
        x = self.start(collector.url, "--otlp-no-metrics", *options)
        page = self.wait_for_end(x)
        self.assertEqual(x.end(), 0)
        return collector, page

    def check_all_arrived(self, collector, page):
        ids = [s["spanId"] for s in judge.spans(collector.of("traces"))]
        self.assertEqual((len(ids), len(set(ids))), (self.n, self.n))
        self.assertEqual(self.count(page, "sent_items_total"), self.n)
        self.assertEqual(self.count(page, "dropped_items_total"), 0)


class Answers(Spans):
    """What collectors answer."""

    def test_throttles(self):
        """429, 502, 503 and 504: sent again, when the collector wants it."""
        statuses, times = [429, 502, 503, 504], []

        def behave(handler, request):
            times.append(time.monotonic())
            if not statuses:
                handler.answer(200)
                return True
            status = statuses.pop(0)
            handler.answer(status, b"busy", **({"Retry_After": "1"} if status == 503 else {}))
            return False

        collector, page = self.run_with(behave)
        self.check_all_arrived(collector, page)
        self.assertEqual(exporter.value(page, "saker_otlp_requests_total", outcome="throttled"), 4)
        self.assertGreaterEqual(times[3] - times[2], 1)
        self.assertEqual(len({r.body for r in collector.seen}), 1) # the same bytes each time
        statuses.append(429)
        export("-r", self.capture, "--otlp", collector.url, "--otlp-no-metrics") # waits, too
        self.assertEqual((len(collector.seen), len(collector.of("traces"))), (7, 2))

    def test_refuses(self):
        for status in 400, 500, 301:
            def behave(handler, request):
                handler.answer(status, b"no", Location="http://127.0.0.1:1/")
                return False

            collector, page = self.run_with(behave)
            self.assertEqual(len(collector.seen), 1, status)
            self.assertEqual(self.count(page, "dropped_items_total", reason="refused"), self.n)

    def test_refuses_after_a_failure(self):
        """Each is said, though the other one was, too; at the end what was lost."""
        statuses = [503]

        def behave(handler, request):
            handler.answer(statuses.pop() if statuses else 401, b"no")
            return False

        collector = judge.Collector(self)
        collector.behave = behave
        x = self.start(collector.url, "--otlp-no-metrics", "--otlp-interval", "0.1")
        self.wait_for_end(x)
        self.assertEqual(x.end(), 0)
        said = x.process.stderr.read()
        self.assertRegex(said, r"status 503; trying again\n(.*\n)*.*status 401; what it refuses is dropped\n")
        self.assertIn(f"the collector refused {self.n} spans", said)

    def test_never_accepts_one(self):
        """What the collector never takes, with or without an answer, does not block what follows."""
        for hangs_up in False, True:
            def behave(handler, request):
                if request.signal == "metrics":
                    handler.answer(200)
                    return True
                if hangs_up:
                    handler.close_connection = True
                else:
                    handler.answer(502)
                return False

            collector = judge.Collector(self)
            collector.behave = behave
            x = self.start(collector.url, "--otlp-interval", "0.1", "--otlp-max-age", "0.5")
            page = self.wait_for_end(x)
            self.assertEqual(self.count(page, "dropped_items_total", reason="expired"), self.n)
            e2e.wait_until(lambda: len(collector.of("metrics")) > 3, "metrics arrive")
            self.assertEqual(x.end(), 0)
            self.assertIn(f"it did not accept {self.n} of the traces for", x.process.stderr.read())

    def test_accepts_a_part(self):
        def behave(handler, request):
            handler.answer(200, b"\x0a\x09\x08\x05\x12\x05quota")
            return True

        _, page = self.run_with(behave)
        self.assertEqual(self.count(page, "dropped_items_total", reason="rejected"), 5)
        self.assertEqual(self.count(page, "sent_items_total"), self.n - 5)

    def test_answers_garbage(self):
        """What follows a status 200 decides nothing."""
        def send(handler, *parts):
            handler.wfile.write(b"".join(parts))
            handler.wfile.flush()
            handler.close_connection = True
            return True

        def endless(handler, head, part):
            try:
                handler.wfile.write(head)
                for _ in range(100000):
                    handler.wfile.write(part)
            except OSError:
                pass
            handler.close_connection = True
            return True

        ok = b"HTTP/1.1 200 OK\r\n"
        for behave in (
                lambda h, r: send(h, ok, b"Content-Length: 9\r\n\r\n\xff\xff\xff\xff\0<\0\0\0"),
                lambda h, r: send(h, ok, b"Content-Length: 100\r\n\r\ncut"),
                lambda h, r: send(h, ok, b"\r\n", os.urandom(2000)),
                lambda h, r: endless(h, ok + b"\r\n", bytes(1000)),
        ):
            collector, page = self.run_with(behave)
            self.check_all_arrived(collector, page)
            self.assertLess(exporter.value(page, "saker_exporter_resident_memory_bytes"), 200 << 20)

    def test_answers_no_http(self):
        """Endless headers, no HTTP, and closed connections are no answer: the batch is sent again."""
        n = [0]

        def behave(handler, request):
            n[0] += 1
            if n[0] > 3:
                handler.answer(200)
                return True
            try:
                if n[0] == 1:
                    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
                    for i in range(100000):
                        handler.wfile.write(b"X-%d: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" % i)
                elif n[0] == 2:
                    handler.wfile.write(os.urandom(3000))
            except OSError:
                pass
            handler.close_connection = True
            return False

        collector, page = self.run_with(behave)
        self.check_all_arrived(collector, page)
        self.assertEqual(exporter.value(page, "saker_otlp_requests_total", outcome="failed"), 3)


class Outages(Spans):
    """Collectors that are not there, and what keeps others out."""

    def test_is_down_and_comes_back(self):
        """Metrics of each interval wait in their order; one message says why."""
        collector = judge.Collector(self)
        collector.close()
        x = self.start(collector.url, "--otlp-interval", "0.1")
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_otlp_requests_total", outcome="failed") > 1, "it failed")
        self.assertGreater(exporter.value(x.samples(), "saker_otlp_queue_bytes", place="memory"), 0)
        back = judge.Collector(self, collector.port)
        page = self.wait_for_end(x)
        self.check_all_arrived(back, page)
        e2e.wait_until(lambda: len(back.of("metrics")) > 20, "metrics arrive")
        self.assertEqual(x.end(), 0)
        times = [int(m["gauge"]["dataPoints"][0]["timeUnixNano"]) for _, m in
                 judge.items(back.of("metrics"), "resourceMetrics", "scopeMetrics", "metrics")
                 if m["name"] == "saker_capture_running"]
        self.assertEqual(times, sorted(times))
        said = x.process.stderr.read()
        self.assertEqual(said.count("cannot send to the collector"), 1, said)
        self.assertIn("accepts data again", said)

    def test_absence_is_no_age(self):
        """A collector that is down for longer than --otlp-max-age loses nothing."""
        collector = judge.Collector(self)
        collector.close()
        x = self.start(collector.url, "--otlp-no-metrics", "--otlp-max-age", "0.1")
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_otlp_requests_total", outcome="failed") > 2, "it failed")
        back = judge.Collector(self, collector.port)
        self.check_all_arrived(back, self.wait_for_end(x))
        self.assertEqual(x.end(), 0)

    def test_reload(self):
        """SIGHUP changes the URL and the headers; what waits is sent with the new ones."""
        folder = e2e.own_dir(self)
        conf, token = os.path.join(folder, "exporter.conf"), os.path.join(folder, "token")
        one, two = judge.Collector(self), judge.Collector(self)
        for key in "first", "second":
            e2e.write_text(token, f"Authorization: {key}\n")
            os.chmod(token, 0o600)
            url = one.url if key == "first" else two.url
            e2e.write_text(conf, f"otlp = {url}\notlp-header = @{token}\notlp-interval = 0.1\n")
            if key == "first":
                x = exporter.Exporter(self, "-r", self.capture, "--config", conf)
                e2e.wait_until(lambda: one.seen, "the first one is sent to")
            x.process.send_signal(signal.SIGHUP)
        e2e.wait_until(lambda: len(two.seen) > 3, "the second one is sent to")
        self.assertEqual(x.end(), 0)
        self.assertEqual({r.headers["Authorization"] for r in one.seen}, {"first"})
        self.assertEqual({r.headers["Authorization"] for r in two.seen}, {"second"})
        ids = [s["spanId"] for s in judge.spans(one.of("traces") + two.of("traces"))]
        self.assertEqual((len(ids), len(set(ids))), (self.n, self.n))

    def test_fails_now_and_then(self):
        """A collector does not fill the log with what it answers."""
        collector = judge.Collector(self)

        def behave(handler, request):
            status = 404 if len(collector.seen) % 2 else 200
            handler.answer(status)
            return status == 200

        collector.behave = behave
        x = self.start(collector.url, "--otlp-interval", "0.05")
        e2e.wait_until(lambda: len(collector.seen) > 40, "metrics come")
        self.assertEqual(x.end(), 0)
        said = x.process.stderr.read()
        self.assertEqual((said.count("cannot send to the collector"), said.count("accepts data again")), (1, 1), said)

    def test_queue_outlives_saker(self):
        queue = os.path.join(e2e.own_dir(self), "queue")
        collector = judge.Collector(self)
        collector.close()
        x = self.start(collector.url, "--otlp-no-metrics", "--queue", queue)
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_otlp_requests_total", outcome="failed"), "it failed")
        self.assertEqual(x.end(), 0)
        self.assertIn("they stay in", x.process.stderr.read())
        self.assertEqual((len(os.listdir(queue)), os.stat(queue).st_mode & 0o777), (1, 0o700))
        back = judge.Collector(self, collector.port)
        empty = os.path.join(e2e.own_dir(self), "empty.scap")
        e2e.run(e2e.SAKER, "-r", self.capture, "-w", empty, "evt.num=1")
        export("-r", empty, "--otlp", back.url, "--otlp-no-metrics", "--queue", queue)
        self.assertEqual(len({s["spanId"] for s in judge.spans(back.of("traces"))}), self.n)
        self.assertEqual(os.listdir(queue), [])

    def test_hangs(self):
        """The page is served, and saker ends, while the collector does not answer."""
        ends = threading.Event()
        self.addCleanup(ends.set)
        collector = judge.Collector(self)
        collector.behave = lambda handler, request: ends.wait()
        x = self.start(collector.url, "--otlp-no-metrics")
        e2e.wait_until(lambda: collector.seen, "a request came")
        page = x.samples()
        self.assertEqual(exporter.value(page, "saker_otlp_queued_items"), self.n)
        x.process.send_signal(signal.SIGINT)
        self.assertEqual(x.process.wait(timeout=60), 0)
        self.assertIn("were not sent", x.process.stderr.read())

    def test_headers_are_secret(self):
        path = os.path.join(e2e.own_dir(self), "headers")
        e2e.write_text(path, "Authorization: Bearer s3cret\nX-Scope: b\n")
        os.chmod(path, 0o600)
        collector = judge.Collector(self)
        p = export("-v", "-r", self.capture, "--otlp", collector.url, "--otlp-header", "@" + path, "--otlp-header",
                   "X-Team: a")
        for r in collector.seen:
            self.assertEqual((r.headers["Authorization"], r.headers["X-Scope"], r.headers["X-Team"]),
                             ("Bearer s3cret", "b", "a"))
        self.assertNotIn("s3cret", p.stdout + p.stderr)
        os.chmod(path, 0o644)
        p = subprocess.run([e2e.SAKER, "exporter", "-r", self.capture, "--print", "--otlp", collector.url,
                            "--otlp-header", "@" + path], capture_output=True, text=True, timeout=20)
        self.assertEqual(p.returncode, 1)

    def test_tls(self):
        folder = e2e.own_dir(self)
        context, ca = tls(folder)
        collector = judge.Collector(self, context=context)
        export("-r", self.capture, "--otlp", collector.url, "--otlp-ca", ca, "--otlp-no-metrics")
        self.assertEqual(len(judge.spans(collector.of("traces"))), self.n)
        x = self.start(collector.url) # not trusted: nothing is sent
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_otlp_requests_total", outcome="failed"), "it failed")
        self.assertEqual(len(collector.seen), 1)
        self.assertEqual(x.end(), 0)
        self.assertIn("certificate", x.process.stderr.read())

    def test_ca_replaces_those_of_the_system(self):
        system, other = e2e.own_dir(self), e2e.own_dir(self)
        context, _ = tls(system)
        _, ca = tls(other)
        collector = judge.Collector(self, context=context)
        send = lambda *options: subprocess.run(
            ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/ssl/certs && exec "$@"', system, e2e.SAKER, "send", "--for",
             "1", *options, collector.url, self.capture], capture_output=True, text=True, timeout=60)
        self.assertEqual(send().returncode, 0) # the folder is that of the system
        p = send("--ca", ca)
        self.assertEqual((p.returncode, len(collector.seen)), (1, 1), p.stderr)
        self.assertIn("certificate", p.stderr)

    def test_names_that_nobody_resolves(self):
        """saker ends, and keeps what waits, while the resolver waits for a server of DNS that does not answer."""
        folder = e2e.own_dir(self)
        queue, conf = os.path.join(folder, "queue"), os.path.join(folder, "resolv.conf")
        e2e.write_text(conf, "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
        e2e.run("unshare", "-mn", sys.executable, "-I", "-c", SILENT_DNS, conf, e2e.SAKER, "exporter", "-r", self.capture,
                "--listen", "127.0.0.1:0", "--otlp", "http://collector.test", "--otlp-no-metrics", "--queue", queue)
        self.assertEqual(len(os.listdir(queue)), 1)


class Hour(unittest.TestCase):
    """What a machine with 28 spans a second sends in an hour, all of it while the collector is down."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        judge.need_judge()
        cls.folder = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.folder, "hour.scap")
        e2e.run(e2e.SAKER, "-q", "-w", cls.capture, "--ring-size", "64M", "--", os.path.join(e2e.BUILD, "tests/request_load"),
                "8000", "6")
        collector = judge.Collector(cls)
        export("-r", cls.capture, "--otlp", collector.url, "--otlp-no-metrics")
        cls.ids = cls.ids_of(collector)
        cls.n = sum(map(len, cls.ids.values()))
        assert cls.n > 50000, f"{cls.n} spans: events were lost"

    @staticmethod
    def ids_of(collector):
        """Returns {kind of span: identifiers in the order in which they came}."""
        requests, ids = collector.of("traces"), {}
        for i in range(0, len(requests), 8):
            for message in judge.decode(requests[i:i + 8]):
                for s in (s for r in message["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]):
                    ids.setdefault(s["kind"], []).append(s["spanId"])
        return ids

    def size_of(self, queue):
        """Returns the bytes of its files, which come and go."""
        size = 0
        for name in os.listdir(queue):
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(queue, name)).st_size
        return size

    def outage(self, queue_size):
        """Returns what arrived when the collector came back, and the page then."""
        collector = judge.Collector(self)
        collector.close()
        queue = os.path.join(self.folder, f"queue{queue_size}")
        x = exporter.Exporter(self, "-r", self.capture, "--otlp", collector.url, "--otlp-no-metrics", "--queue", queue,
                              "--queue-size", str(queue_size))

        def value(page, name, **labels):
            return exporter.value(page, "saker_" + name, **labels)

        def all_are_queued():
            page = x.samples()
            memory = value(page, "otlp_queue_bytes", place="memory")
            self.assertLessEqual(memory, 16 << 20)
            self.assertLessEqual(value(page, "otlp_queue_bytes", place="disk"), queue_size)
            self.assertLessEqual(self.size_of(queue), queue_size + (1 << 20)) # and the one that is being written
            self.assertLess(value(page, "exporter_resident_memory_bytes"), 200 << 20)
            # While its thread still writes files it may remove those that come next.
            return value(page, "otlp_items_total", signal="traces") == self.n and memory < 9 << 20
        e2e.wait_until(all_are_queued, "all spans are queued")
        back = judge.Collector(self, collector.port)
        page = e2e.wait_until(lambda: (page := x.samples()) and value(page, "otlp_queued_items") == 0 and page, "all were sent")
        self.assertEqual(x.end(), 0)
        self.assertEqual(os.listdir(queue), [])
        said = x.process.stderr.read()
        self.assertEqual((said.count("cannot send to the collector"), said.count("accepts data again")), (1, 1), said)
        return self.ids_of(back), page

    def check_counts(self, arrived, page):
        n = sum(map(len, arrived.values()))
        self.assertEqual(exporter.value(page, "saker_otlp_sent_items_total", signal="traces"), n)
        self.assertEqual(exporter.value(page, "saker_otlp_dropped_items_total", signal="traces", reason="queue_full"), self.n - n)
        self.assertEqual(exporter.value(page, "saker_otlp_dropped_items_total"), self.n - n)

    def test_all_arrive(self):
        """Each once, in the order of a collector that was there."""
        arrived, page = self.outage(256 << 20)
        self.check_counts(arrived, page)
        self.assertEqual(arrived, self.ids)

    def test_too_small(self):
        """The newest arrive, once and in order; the number of the others is exported."""
        arrived, page = self.outage(16 << 20)
        self.check_counts(arrived, page)
        for kind, ids in arrived.items():
            place = {one: i for i, one in enumerate(self.ids[kind])}
            places = [place[one] for one in ids]
            self.assertEqual(places, sorted(set(places)))
            # All but the batch that was being sent are the last ones.
            gaps = [i for i in range(1, len(places)) if places[i] != places[i - 1] + 1]
            self.assertLessEqual(len(gaps), 1)
            self.assertEqual(places[-1], len(place) - 1)
            self.assertLess(len(places), len(place))


class Tree(unittest.TestCase):
    """nginx, an app and a store, live and without headers: each order is one tree with the true parents."""

    N = 60

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("nginx")
        judge.need_judge()
        folder = e2e.own_dir(cls)
        os.chmod(folder, 0o755)
        cls.collector = collector = judge.Collector(cls)
        cls.exporter = exporter.Exporter(cls, "--no-accounting", "--otlp", collector.url, "--otlp-interval", "0.5",
                                         "--ring-size", "32M")
        shop = subprocess.Popen([sys.executable, "-I", os.path.join(e2e.SOURCE, "tests/e2e/otlp/shop.py"), folder, str(cls.N)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(lambda: (shop.stdin.close(), shop.stdout.close(), shop.wait()))
        if shop.stdout.readline() != "done\n":
            raise AssertionError("the shop failed")

        def all_there():
            spans = [s for s in judge.spans(collector.of("traces")) if
                     s["attributes"].get("url.path", "").split("/")[2:3] == [str(shop.pid)]]
            return spans if len(spans) >= 8 * cls.N else None
        cls.spans = e2e.wait_until(all_there, "all spans arrived")
        cls.by_id = {s["spanId"]: s for s in cls.spans}
        cls.pid = shop.pid

    def path_to(self, span):
        """The span and what it is part of, as texts from the outermost one."""
        names = []
        while span:
            kind = {2: "server", 3: "client"}[span["kind"]]
            names.append(f"{kind} {span['resource']['service.name']} {span['attributes']['url.path']}")
            span = self.by_id.get(span.get("parentSpanId"))
        return names[::-1]

    def test_trees(self):
        lost = exporter.value(self.exporter.samples(), "saker_events_lost_total")
        self.assertEqual(len(self.by_id), 8 * self.N, f"{lost} events were lost")
        found = sorted(self.path_to(s) for s in self.spans)
        expected = []
        for i in range(self.N):
            order = [f"{who} /order/{self.pid}/{i}" for who in ("client python3", "server nginx", "client nginx", "server app")]
            expected += [order[:n] for n in range(1, 5)]
            for part in "stock", "price":
                ends = [f"client app /{part}/{self.pid}/{i}", f"server store /{part}/{self.pid}/{i}"]
                expected += [order + ends[:1], order + ends]
        self.assertEqual(found, sorted(expected))

    def test_one_trace_each(self):
        traces = {}
        for s in self.spans:
            traces.setdefault(s["traceId"], []).append(s)
        self.assertEqual({len(t) for t in traces.values()}, {8})
        for t in traces.values():
            self.assertEqual(len({s["attributes"]["url.path"].split("/")[3] for s in t}), 1)
            self.assertEqual(len([s for s in t if "parentSpanId" not in s]), 1)

    def test_spans_lie_in_their_parents(self):
        """A server's span may end a moment after the client's: its last call does."""
        for s in self.spans:
            parent = self.by_id.get(s.get("parentSpanId"))
            if parent:
                self.assertGreaterEqual(int(s["startTimeUnixNano"]), int(parent["startTimeUnixNano"]))
                self.assertLessEqual(int(s["startTimeUnixNano"]), int(parent["endTimeUnixNano"]))

    def test_its_own_requests_are_no_spans(self):
        """Those of other tests may be there."""
        spans = judge.spans(self.collector.of("traces"))
        pid = self.exporter.process.pid
        self.assertNotIn(pid, {s["resource"]["process.pid"] for s in spans})

    def test_metrics_arrive_each_interval(self):
        def served():
            values = [judge.samples([r]) for r in self.collector.of("metrics")]
            last = exporter.value(values[-1], "saker_service_requests_total", service="store") if values else 0
            return len(values) > 2 and last >= 2 * self.N
        e2e.wait_until(served, "metrics arrived")

    def test_nothing_was_lost(self):
        page = self.exporter.wait_for("saker_otlp_queued_items", 0)
        for name in "traces", "metrics":
            self.assertEqual(exporter.value(page, "saker_otlp_items_total", signal=name),
                             exporter.value(page, "saker_otlp_sent_items_total", signal=name))
        self.assertEqual(exporter.value(page, "saker_otlp_dropped_items_total"), 0)


class Accounting(unittest.TestCase):
    """What accounting counts is sent as it is served, with each bucket of its histograms."""

    def test_names(self):
        e2e.need_live()
        judge.need_judge()
        collector = judge.Collector(self)
        x = exporter.Exporter(self, "--otlp", collector.url, "--otlp-interval", "0.3", "--otlp-no-traces")

        def shape(samples):
            return {(name, float(dict(labels).get("le", -1))) for name, labels in samples if name != "target_info"}

        def is_same():
            sent = collector.of("metrics")
            return sent and shape(judge.samples(sent[-1:])) == shape(x.samples()) and sent
        sent = e2e.wait_until(is_same, "the metrics are those of the page")
        self.assertIn("saker_node_cpu_seconds_total", {name for name, _ in judge.samples(sent[-1:])})


class Tiers(unittest.TestCase):
    """The shop of why_test.py: nginx, an app, PostgreSQL and redis, as a file."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("nginx")
        judge.need_judge()
        folder = e2e.own_dir(cls)
        os.chmod(folder, 0o755)
        capture = os.path.join(folder, "tiers.scap")
        roots = [os.path.realpath(runtimes.root("bookworm", *packages))
                 for packages in (("dash", "postgresql-15"), ("redis-server",))]
        out = e2e.run(e2e.SAKER, "-q", "-w", capture, "--ring-size", "64M", "-U", "initdb", "--requests", "--",
                      "/usr/bin/python3", os.path.join(e2e.SOURCE, "tests/e2e/why/tiers.py"), folder, *roots)
        assert out.endswith("done\n"), out
        collector = judge.Collector(cls)
        export("-r", capture, "--otlp", collector.url, "--otlp-no-metrics")
        cls.spans = judge.spans(collector.of("traces"))
        cls.by_id = {s["spanId"]: s for s in cls.spans}

    def below(self, path):
        """Returns the spans of the trace of a path, as (name of the service, kind, name of the span)."""
        root = next(s for s in self.spans if s["kind"] == 2 and s["resource"]["service.name"] == "nginx" and
                    s["attributes"].get("url.path") == path)
        found = []
        for s in self.spans:
            at = s
            while at and at is not root:
                at = self.by_id.get(at.get("parentSpanId"))
            if at:
                self.assertEqual(s["traceId"], root["traceId"])
                found.append((s["resource"]["service.name"], s["kind"], s["name"]))
        return found

    def check(self, path, *parts):
        name = f"GET {path}"
        self.assertEqual(sorted(self.below(path)),
                         sorted([("nginx", 2, name), ("nginx", 3, name), ("app", 2, name), *parts]))

    def test_nothing_below(self):
        for path in "/cpu", "/sleep", "/disk", "/child":
            self.check(path)

    def test_servers(self):
        self.check("/redis-sleeps", *self.query("redis-server", "DEBUG"))
        self.check("/dns", *self.query("resolver", "A"))

    def query(self, server, name):
        return [("app", 3, name), (server, 2, name)]

    def test_many_queries(self):
        found = [part for part in self.below("/many-queries") if part[2].startswith("SELECT")]
        self.assertEqual({part[:2] for part in found}, {("app", 3), ("postgres", 2)})
        self.assertEqual(len(found), 800)

    def test_statement(self):
        slow = [s for s in self.spans if s["attributes"].get("db.query.text", "").startswith("SELECT pg_sleep")]
        self.assertEqual({s["attributes"]["db.system.name"] for s in slow}, {"postgresql"})
        self.assertGreater(len(slow), 2)


class Options(unittest.TestCase):
    def check(self, message, *options):
        p = subprocess.run([e2e.SAKER, "exporter", "-r", "/dev/null", "--print", *options], capture_output=True,
                           text=True, timeout=20)
        self.assertEqual((p.returncode, len(p.stderr.splitlines())), (1, 1), p.stderr)
        self.assertIn(message, p.stderr)
        self.assertNotIn("secret", p.stderr)

    def test_errors(self):
        url = "http://127.0.0.1:1"
        self.check("is not a URL of HTTP", "--otlp", "127.0.0.1:4318")
        self.check("has a password", "--otlp", "http://me:secret@127.0.0.1/")
        self.check("need --otlp URL", "--otlp-gzip")
        self.check("need --otlp URL", "--queue", "/tmp")
        self.check("--queue-size needs --queue", "--otlp", url, "--queue-size", "1M")
        self.check("leave nothing to send", "--otlp", url, "--otlp-no-metrics", "--otlp-no-traces")
        self.check("is not NAME: VALUE", "--otlp", url, "--otlp-header", "secret")
        self.check("No such file", "--otlp", url, "--otlp-ca", "/nowhere/ca.pem")
        self.check("No such file", "--otlp", url, "--queue", "/nowhere/queue")

    def test_filter(self):
        p = subprocess.run([e2e.SAKER, "exporter", "-r", "/dev/null", "--print", "--otlp", "http://127.0.0.1:1",
                            "--otlp-logs", "evt.tipe=open"], capture_output=True, text=True, timeout=20)
        self.assertEqual(p.returncode, 1)
        self.assertIn("--otlp-logs: ", p.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
