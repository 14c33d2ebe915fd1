# SPDX-License-Identifier: Apache-2.0
"""nginx, an app and a store behind it: shop.py FOLDER N. Four clients at a time request /order/PID/I; for each the
app requests /stock/PID/I and /price/PID/I of the store: another shop on this machine has another PID. No request has a header of a trace. Prints a line when all are answered,
and stays until its input ends."""

import concurrent.futures
import http.client
import http.server
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../why"))
import scenes
import tiers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    store = None # port, in the app

    def log_message(self, *args):
        pass

    def do_GET(self):
        _, what, pid, number = self.path.split("?")[0].split("/")
        if what == "order":
            store = http.client.HTTPConnection("127.0.0.1", self.store)
            for part in "stock", "price":
                store.request("GET", f"/{part}/{pid}/{number}")
                store.getresponse().read()
            store.close()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


def serve(server, ready_fd):
    os.write(ready_fd, b"x")
    server.serve_forever()


def start(name):
    """Returns the port of a server in a process of that name."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    r, w = os.pipe()
    scenes.fork(name, serve, server, w)
    os.close(w)
    os.read(r, 1)
    return server.server_port


def main():
    folder, n = sys.argv[1], int(sys.argv[2])
    Handler.store = start("store")
    app, port, pid = start("app"), tiers.servers.free_port(), os.getpid()

    def order(i):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("GET", f"/order/{pid}/{i}?as=/v1/traces") # no path of a collector
        client.getresponse().read()
        client.close()

    with tiers.nginx(folder, app, port):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(order, range(n)))
        print("done", flush=True)
        sys.stdin.read()
    os._exit(0)


main()
