#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what many exporters cost one Prometheus: serves the page of one exporter as that of many machines, each at
its own path, and prints the CPU time, memory and disk that Prometheus uses.

    tests/bench/fleet.py PAGE MACHINES INTERVAL SECONDS [--drop REGEX]

PAGE is a file with a page of /metrics, PAGE.next the page of an interval later: each counter grows at the rate between
them. --drop drops the metrics with these names, by relabelling, as a configuration would."""

import argparse
import http.server
import json
import os
import re
import shutil
import signal
import socketserver
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

SAMPLE = re.compile(r"(.*) (\S+)$")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


class Replay:
    """The page as a function of the machine and the time."""

    def __init__(self, path):
        later = dict(SAMPLE.fullmatch(line).groups() for line in read(path + ".next") if not line.startswith("#"))
        self.parts = []
        for line in read(path):
            if line.startswith("#"):
                self.parts.append((line, None, None))
                continue
            name, value = SAMPLE.fullmatch(line).groups()
            self.parts.append((name, float(value), float(later.get(name, value)) - float(value)))

    def page(self, machine, n):
        scale = 1 + machine % 7 / 10  # machines differ
        return "".join(f"{name}\n" if value is None else f"{name} {(value + step * n) * scale:.17g}\n"
                       for name, value, step in self.parts).encode()


def serve(replay, interval):
    begin, counts = time.monotonic(), {"n": 0, "bytes": 0}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def do_GET(self):
            body = replay.page(int(self.path.strip("/")), int((time.monotonic() - begin) / interval))
            counts["n"] += 1
            counts["bytes"] += len(body)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True
        request_queue_size = 1024

        def handle_error(self, request, client_address):
            pass  # Prometheus is gone

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, counts


def configuration(port, machines, interval, drop):
    relabel = [{"source_labels": ["machine"], "target_label": "__metrics_path__", "replacement": "/$1"},
               {"source_labels": ["machine"], "target_label": "instance", "replacement": "node-$1"},
               {"regex": "machine", "action": "labeldrop"}]
    job = {"job_name": "saker", "scrape_interval": f"{interval}s", "relabel_configs": relabel, "static_configs": [
        {"targets": [f"127.0.0.1:{port}"], "labels": {"machine": str(i)}} for i in range(machines)]}
    if drop:
        job["metric_relabel_configs"] = [{"source_labels": ["__name__"], "regex": drop, "action": "drop"}]
    return json.dumps({"scrape_configs": [job]})


class Prometheus:
    def __init__(self, folder, port, args):
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as f:
            f.write(configuration(port, args.machines, args.interval, args.drop))
        self.log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
        self.data = os.path.join(folder, "data")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={self.data}",
             "--web.listen-address=127.0.0.1:19091"], stdout=self.log, stderr=self.log)

    def query(self, text):
        url = "http://127.0.0.1:19091/api/v1/query?query=" + urllib.parse.quote(text)
        with urllib.request.urlopen(url, timeout=300) as r:
            result = json.load(r)["data"]["result"]
        return float(result[0]["value"][1]) if result else 0.0

    def own(self, name):
        """Returns the sum of a metric of its own."""
        with urllib.request.urlopen("http://127.0.0.1:19091/metrics", timeout=300) as r:
            text = r.read().decode()
        return sum(float(v) for v in re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.M))

    def used(self):
        """Returns CPU seconds, and MiB of memory."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) / 256

    def disk(self):
        return sum(os.path.getsize(os.path.join(top, n)) for top, _, names in os.walk(self.data) for n in names)

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("machines", type=int)
    parser.add_argument("interval", type=int)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--drop")
    args = parser.parse_args()
    folder = tempfile.mkdtemp()
    server, counts = serve(Replay(args.page), args.interval)
    prometheus = Prometheus(folder, server.server_address[1], args)
    try:
        while counts["n"] < 2 * args.machines:  # then all series are there
            time.sleep(1)
        begin, before, cpu, disk = time.monotonic(), dict(counts), prometheus.used()[0], prometheus.disk()
        time.sleep(args.seconds)
        cpu_now, memory = prometheus.used()
        took, n, size = time.monotonic() - begin, counts["n"] - before["n"], counts["bytes"] - before["bytes"]
        disk_now, series = prometheus.disk(), prometheus.own("prometheus_tsdb_head_series")
        print(f"{args.machines} machines, each {args.interval} s: {series:.0f} series, "
              f"{n * series / args.machines / took:.0f} samples/s, {n / took:.1f} scrapes/s, "
              f"{size / took / 1e6:.2f} MB/s of pages; up: {prometheus.query('sum(up)'):.0f}")
        print(f"prometheus: {(cpu_now - cpu) / took:.3f} CPUs, {memory:.0f} MiB, "
              f"{(disk_now - disk) / took / 1e6:.3f} MB/s of log; "
              f"slowest scrape {prometheus.query('max(scrape_duration_seconds)'):.3f} s")
    finally:
        prometheus.close()
        server.shutdown()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
