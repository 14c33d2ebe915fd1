#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP and its client, over loopback. Prints each request as JSON: method, path, status, bytes of the
request, bytes of the response, as the client's socket counts them."""

import http.client
import http.server
import json
import os
import sys


class Counted:
    """A file of a socket that counts the bytes it reads."""

    def __init__(self, file):
        self.file, self.n = file, 0

    def __getattr__(self, name):
        return getattr(self.file, name)

    def read(self, *args):
        data = self.file.read(*args)
        self.n += len(data)
        return data

    def readline(self, *args):
        data = self.file.readline(*args)
        self.n += len(data)
        return data

    def readinto(self, buf):
        n = self.file.readinto(buf)
        self.n += n
        return n


class Connection(http.client.HTTPConnection):
    sent = 0

    def send(self, data):
        self.sent += len(data)
        super().send(data)


class Response(http.client.HTTPResponse):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.fp = Counted(self.fp)
        self.counted = self.fp


Connection.response_class = Response


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/chunks"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for n in 5, 3000, 70000:
                self.wfile.write(b"%x\r\n%s\r\n" % (n, b"c" * n))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path.startswith("/none"):
            self.answer(404, b"none here")
        else:
            self.answer(200, b"x" * int(self.path.rsplit("/", 1)[1]))

    do_HEAD = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201)


def main():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    child = os.fork()
    if not child:
        server.serve_forever()
    port = server.server_address[1]
    server.socket.close()
    for keep in range(3):
        c = Connection("127.0.0.1", port)
        for i in range(10):
            for method, path, body in (("GET", f"/size/{i * 1000}", None), ("HEAD", "/size/500", None),
                                       ("GET", "/none", None), ("POST", f"/post/{keep}", b"b" * i * 3000),
                                       ("GET", "/chunks", None)):
                c.sent = 0
                c.request(method, path, body)
                r = c.getresponse()
                r.read()
                print(json.dumps([method, path, r.status, c.sent, r.counted.n]))
        c.close()
    sys.stdout.flush()
    os.kill(child, 15)
    os.waitpid(child, 0)


main()
