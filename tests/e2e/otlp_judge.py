# SPDX-License-Identifier: Apache-2.0
"""A collector for tests, which answers as it is told, and the decoder that others wrote: that of npm's
@opentelemetry/otlp-transformer."""

import base64
import gzip
import http.server
import json
import os
import socketserver
import subprocess
import threading

import saker_e2e as e2e

ROOT = os.path.join(e2e.SOURCE, "build/npm/node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js")
DECODE = os.path.join(e2e.SOURCE, "tests/e2e/otlp/decode.js")


def need_judge():
    e2e.need("node")
    if not os.path.exists(ROOT):
        e2e.skip_test("@opentelemetry/otlp-transformer is not in build/npm: scripts/setup --tests, which needs npm")


class Request:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.signal = path, headers, path.rpartition("/")[2]
        self.body = gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.collector.receive(self, Request(self.path, self.headers, body))

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": "application/x-protobuf", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass # a client that aborts a request


class Collector:
    """Answers 200, or as `behave(handler, request)` does, which returns whether it accepted the request."""

    def __init__(self, test, port=0, context=None):
        self.accepted, self.seen, self.behave, self.lock = [], [], None, threading.Lock()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.collector = self
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.open = True
        (test.addClassCleanup if isinstance(test, type) else test.addCleanup)(self.close)

    def close(self):
        if self.open:
            self.open = False
            self.server.shutdown()
            self.server.server_close()

    def receive(self, handler, request):
        with self.lock:
            self.seen.append(request)
            behave = self.behave
        if behave and not behave(handler, request):
            return
        with self.lock:
            self.accepted.append(request)
        if not behave:
            handler.answer(200)

    def of(self, signal):
        with self.lock:
            return [r for r in self.accepted if r.signal == signal]


def decode(requests):
    """Returns what the judge reads in the requests."""
    text = "".join(f"{r.signal} {base64.b64encode(r.body).decode()}\n" for r in requests)
    p = subprocess.run(["node", DECODE, ROOT], input=text, capture_output=True, text=True, timeout=60)
    if p.returncode:
        raise AssertionError(p.stderr)
    return [json.loads(line) for line in p.stdout.splitlines()]


def value_of(v):
    """Of an AnyValue."""
    if "intValue" in v:
        return int(v["intValue"])
    return next(iter(v.values()), None)


def attributes(items):
    found = [(a["key"], value_of(a["value"])) for a in items or []]
    if len(dict(found)) != len(found):
        raise AssertionError(f"a key twice: {found}")
    return dict(found)


def items(requests, resources, scopes, kind):
    """Yields (attributes of the resource, item)."""
    for message in decode(requests):
        for resource in message[resources]:
            about = attributes(resource["resource"].get("attributes"))
            for scope in resource[scopes]:
                if scope["scope"]["name"] != "saker":
                    raise AssertionError(scope["scope"])
                for item in scope[kind]:
                    yield about, item


def spans(requests):
    """Returns the spans, with their attributes and those of their resource as dicts."""
    return [{**s, "attributes": attributes(s.get("attributes")), "resource": about}
            for about, s in items(requests, "resourceSpans", "scopeSpans", "spans")]


def logs(requests):
    return [{**r, "attributes": attributes(r.get("attributes")), "resource": about}
            for about, r in items(requests, "resourceLogs", "scopeLogs", "logRecords")]


def number(point):
    return point["asDouble"] if "asDouble" in point else int(point["asInt"])


def samples(requests):
    """Returns the metrics as Prometheus names them: {(name, ((label, value), ...)): number}."""
    found = {}

    def put(name, labels, value):
        key = (name, tuple(sorted(labels.items())))
        if key in found:
            raise AssertionError(f"twice: {key}")
        found[key] = value

    for _, m in items(requests, "resourceMetrics", "scopeMetrics", "metrics"):
        data = m.get("sum") or m.get("gauge") or m["histogram"]
        for p in data["dataPoints"]:
            labels = attributes(p.get("attributes"))
            if "histogram" not in m:
                put(m["name"], labels, number(p))
                continue
            n = 0
            for bound, count in zip([*p["explicitBounds"], "+Inf"], p["bucketCounts"], strict=True):
                n += int(count)
                put(m["name"] + "_bucket", {**labels, "le": bound if bound == "+Inf" else repr(float(bound))}, n)
            put(m["name"] + "_sum", labels, p["sum"])
            put(m["name"] + "_count", labels, int(p["count"]))
            if n != int(p["count"]):
                raise AssertionError(m)
    return found
