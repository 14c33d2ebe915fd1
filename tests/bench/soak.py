#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how the memory of saker exporter grows while containers come and go: each has a pod and a name of its own, runs
ten short processes, requests a page, and is removed. Prints the memory beside how many there were.

    tests/bench/soak.py CONTAINERS [OPTION...]

Needs root, and cgroups that can be made. OPTIONs are those of saker exporter; it sends OTLP to a server that takes all."""

import collections
import http.server
import json
import os
import re
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e"))
import saker_e2e as e2e

LIFE = os.path.join(e2e.BUILD, "tests/short_lives")
ALIVE, ROWS, SCRAPE_S = 20, 20, 5
SHOWN = ("saker_exporter_series", "saker_events_lost_total", "saker_accounting_losses_total", "saker_otlp_dropped_items_total",
         "saker_exporter_refused_values_total", "saker_exporter_cpu_seconds_total")


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = answer


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def cgroup_roots():
    """Returns the hierarchies that saker counts by: that of cpuacct, and version 2."""
    with open("/proc/mounts", encoding="ascii") as f:
        mounts = [line.split() for line in f]
    return [m[1] for m in mounts if m[2] == "cgroup2" or m[2] == "cgroup" and "cpuacct" in m[3].split(",")]


class Container:
    def __init__(self, n, host, port):
        self.id = uuid.uuid4().hex * 2
        self.parents = [f"{root}/kubepods/burstable/pod{uuid.uuid4()}" for root in cgroup_roots()]
        self.state = f"{host}/run/containerd/io.containerd.runtime.v2.task/k8s.io/{self.id}"
        os.makedirs(self.state)
        with open(self.state + "/config.json", "w", encoding="ascii") as f:
            json.dump({"annotations": {
                "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": f"web-{n}",
                "io.kubernetes.cri.sandbox-name": f"shop-{n}", "io.kubernetes.cri.sandbox-namespace": "prod"}}, f)
        self.paths = [f"{parent}/{self.id}" for parent in self.parents]
        for path in self.paths:
            os.makedirs(path)
        self.process = subprocess.Popen([LIFE, str(port), *self.paths], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def close(self):
        self.process.stdout.read(1)
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.state)
        for path in self.paths + self.parents:
            os.rmdir(path)


class Exporter:
    def __init__(self, *options):
        self.process = subprocess.Popen([e2e.SAKER, "exporter", "--listen", "127.0.0.1:0", *options], stderr=subprocess.PIPE,
                                        text=True)
        self.url = re.search(r"http://\S+", self.process.stderr.readline())[0]

    def scrape(self):
        """Returns the sums of the metrics that are shown."""
        with urllib.request.urlopen(self.url, timeout=60) as r:
            text = r.read().decode()
        return {name: sum(float(v) for v in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M)) for name in SHOWN}


def main():
    n, options = int(sys.argv[1]), sys.argv[2:]
    host = tempfile.mkdtemp()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    exporter = Exporter("--host-root", host, "--otlp", f"http://127.0.0.1:{port}", *options)
    alive, scraped = collections.deque(), time.monotonic()
    print(f"{'containers':>10}{'RSS MiB':>9}{'own MiB':>9}  " + " ".join(name.removeprefix("saker_") for name in SHOWN))
    try:
        for i in range(n + 1):
            if i % max(n // ROWS, 1) == 0:
                counts = exporter.scrape()
                rss, own = e2e.memory(exporter.process.pid)
                print(f"{i:10}{rss:9.1f}{own:9.1f}  " + " ".join(f"{v:.0f}" for v in counts.values()), flush=True)
            elif time.monotonic() > scraped + SCRAPE_S:
                exporter.scrape()
                scraped = time.monotonic()
            alive.append(Container(i, host, port))
            if len(alive) > ALIVE:
                alive.popleft().close()
    finally:
        for container in alive:
            container.close()
        exporter.process.terminate()
        print(exporter.process.communicate()[1], end="")
        server.shutdown()
        shutil.rmtree(host)


if __name__ == "__main__":
    main()
