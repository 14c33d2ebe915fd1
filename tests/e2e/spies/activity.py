# SPDX-License-Identifier: Apache-2.0
"""Makes the activity for spy_chisels_test.py: HTTP, memcached, datagrams, files, shells, hostile
bytes. Works in the current directory, prints nothing, and writes what it did to facts.json."""

import http.client
import http.server
import json
import os
import socket
import subprocess
import threading

ESCAPE = b"\x1b]0;owned\x07\x1b[31m\x9b1m\xc2\x9b2m"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.answer(404 if "missing" in self.path else 200, b"hello\n")

    do_HEAD = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(500, b"")

    def log_message(self, *args):
        pass


def until_closed(s):
    while s.recv(10000):
        pass
    s.close()


def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    kept = http.client.HTTPConnection("127.0.0.1", port)
    for method, path, body in (("GET", "/first", None), ("GET", "/missing", None), ("HEAD", "/head", None),
                               ("POST", "/post", b"x" * 9000), ("GET", "/last", None)):
        kept.request(method, path, body)
        kept.getresponse().read()
    kept.close()
    split = socket.create_connection(("127.0.0.1", port))
    split.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in (b"GE", b"T /split HTTP/1.", b"1\r\nHo", b"st: in.pieces\r\nConnection: close\r", b"\n\r\n"):
        split.sendall(piece)
    until_closed(split)
    two = socket.create_connection(("127.0.0.1", port))
    two.sendall(b"GET /one HTTP/1.1\r\nHost: h\r\n\r\n"
                b"GET /two/missing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    until_closed(two)
    return port


def silent_web():
    """A request that is never answered, with a hostile name."""
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server = listener.accept()[0]
    client.sendall(b"GET /silent" + ESCAPE + b" HTTP/1.1\r\nHost: h\r\n\r\n")
    server.recv(1000)
    client.close()
    server.close()


def memcached():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server = listener.accept()[0]
    for asked, answered in ((b"get k\r\n", b"END\r\n"), (b"set k 0 60 5\r\nhello\r\n", b"STORED\r\n"),
                            (b"get k\r\n", b"VALUE k 0 5\r\nhello\r\nEND\r\n"),
                            (b"delete " + ESCAPE + b"\r\n", b"NOT_FOUND\r\n")):
        client.sendall(asked)
        server.recv(1000)
        server.sendall(answered)
        client.recv(1000)


def datagrams():
    to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to.bind(("127.0.0.1", 0))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(to.getsockname())
    for data in (b"one", ESCAPE, b"z" * 3000):
        sender.send(data)
        to.recv(10000)
    return "%s:%d->%s:%d" % (sender.getsockname() + to.getsockname())


def files():
    with open(b"file" + ESCAPE, "wb") as f:
        f.write(ESCAPE * 3)
    fd = os.open("slow.txt", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x" * 10000)
    os.fsync(fd)
    os.close(fd)
    with open("app.log", "w", buffering=1) as f:
        f.write("all is well\nERROR: it is not\n")


def syslog():
    """sysdig and saker recognize the log by the end of the socket's name."""
    os.makedirs("dev")
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind("dev/log")
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.connect(os.path.abspath("dev/log"))
    client.send(b"<27>spies: it failed " + ESCAPE)
    log.recv(1000)


def programs():
    subprocess.run(["bash", "-c", "cd /usr; sh -c 'ls /etc/hostname /etc/spies-a; ls /etc/spies-b'; exit 7"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([b"/bin/true", ESCAPE], env={"ATTACK": "() { :;}; echo shock"})
    subprocess.run(["sh", "-c", "cat >/dev/null; echo said"], input=b"asked\n",
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    facts = {"pid": os.getpid(), "port": web()}
    silent_web()
    memcached()
    facts["udp"] = datagrams()
    files()
    syslog()
    programs()
    with open("facts.json", "w") as f:
        json.dump(facts, f)


main()
