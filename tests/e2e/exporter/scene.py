# SPDX-License-Identifier: Apache-2.0
"""A server and a client in processes of their own: requests that succeed, with a trace, and that fail; a connect that
is refused. Prints what the client counted, and stays until its input ends."""

import ctypes
import http.client
import http.server
import json
import multiprocessing
import socket
import sys

GOOD, BAD, TRACE = 40, 7, "4bf92f3577b34da6a3ce929d0e0e4736"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"x" * 100
        self.send_response(200 if self.path.startswith("/good") else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def set_name(name):
    ctypes.CDLL(None).prctl(15, name)


def serve(conn, name):
    set_name(name)
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    conn.send(server.server_port)
    server.serve_forever()


def refused_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    server_name, client_name = (name.encode() for name in sys.argv[1:3])
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there, server_name), daemon=True)
    server.start()
    port = here.recv()
    set_name(client_name)
    client = http.client.HTTPConnection("127.0.0.1", port)
    n_bytes = 0
    for path in ["/good"] * GOOD + ["/bad"] * BAD:
        client.request("GET", path, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
        n_bytes += len(client.getresponse().read())
    client.close()
    refused = socket.socket()
    error = refused.connect_ex(("127.0.0.1", refused_port()))
    print(json.dumps({"requests": GOOD + BAD, "errors": BAD, "body": n_bytes, "refused": error, "trace": TRACE}), flush=True)
    sys.stdin.read()
    server.terminate()
    server.join()


main()
