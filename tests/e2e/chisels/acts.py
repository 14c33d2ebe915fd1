# SPDX-License-Identifier: Apache-2.0
"""What happens in the captures of chisels_test.py: acts.py DIR ACT..., once it said so and somebody writes
to DIR/go, where that exists; then DIR/done is opened."""

import contextlib
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request


def files():
    os.mkdir("some")
    for name in "abc":
        with open(f"some/{name}.log", "wb") as f:
            for i in range(20):
                f.write(b"GET /%d from %s\n" % (i, name.encode()))
                f.flush()
    for name in sorted(os.listdir("some")):
        with open(f"some/{name}", "rb") as f:
            while f.read(100):
                pass
    with open("big", "wb") as f:
        f.truncate(1 << 20)
        f.write(bytes(100000))
    shutil.copy("/etc/passwd", "passwd")
    os.rename("some/a.log", "some/d.log")
    os.symlink("big", "link")
    with open("link", "rb") as f:
        f.seek(1000)
        f.read(10)
    os.unlink("some/b.log")


def errors():
    for name in ("missing", "missing/too", "/etc/passwd/x"):
        for call in (os.open, os.mkdir):
            with contextlib.suppress(OSError):
                call(name, os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.read(99, 1)
    with contextlib.suppress(OSError):
        os.mkdir(".")
    with contextlib.suppress(OSError), open(".", "wb"):
        pass


def pipes():
    r, w = os.pipe()
    if not os.fork():
        for i in range(10):
            os.write(w, b"line %d\n" % i)
        os._exit(3)
    os.close(w)
    while os.read(r, 1000):
        pass
    os.wait()
    subprocess.run("echo to the pipe | cat | wc -c; echo told >&2", shell=True, check=True)


def sockets():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            peer, _ = server.accept()
            for i in range(5):
                client.send(b"%d" % i * 50)
                peer.recv(1000)
                peer.send(b"thanks\n")
                client.recv(1000)
            peer.close()
        refused = server.getsockname()
    with contextlib.suppress(OSError):
        socket.create_connection(refused)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a:
        a.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b:
            b.sendto(b"a datagram", a.getsockname())
            a.recvfrom(100)
    a, b = socket.socketpair()
    a.send(b"between the two\n")
    b.recv(100)


def web():
    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<p>a page</p>\n"
            self.send_response(404 if "missing" in self.path else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    for page in ("/index.html", "/missing.html", "/index.html?q=a%20b"):
        url = f"http://127.0.0.1:{server.server_port}{page}"
        if shutil.which("curl"):
            subprocess.run(["curl", "-s", "-o", "page", url], check=True)
            continue
        with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
            answer.read()
    server.shutdown()


def threads():
    def work(n):
        with open(f"of-thread-{n}", "wb", buffering=0) as f:
            for i in range(20):
                f.write(b"x" * i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def execs():
    for _ in range(3):
        subprocess.run(["sh", "-c", "cat /etc/passwd | grep -c root; cd /tmp; (exit 3); :"],
                       check=True)
    with contextlib.suppress(OSError):
        subprocess.run(["./no-such-program"], check=False)
    if not os.fork():
        os.execvp("ls", ["ls", "-l", "/etc"])
    os.wait()


def syslog():
    os.makedirs("dev", exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind("dev/log")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.connect("dev/log")
            s.send(b"<13>Nov 22 03:00:00 acts[12]: a notice")
            s.send(b"<11>Nov 22 03:00:01 acts: an error")
        log.recv(100)
        log.recv(100)


def rest():
    """Makes the capture long enough for several intervals of 0.1 s, however fast the machine is."""
    time.sleep(0.5)


def wait():
    print("ready", flush=True)
    os.read(0, 1)


os.chdir(sys.argv[1])
for act in sys.argv[2:]:
    globals()[act]()
