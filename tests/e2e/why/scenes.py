#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers with injected causes of slowness, and their client: scenes.py [ROOT of redis]. The path of each request is
the cause. Prints the paths that were requested."""

import asyncio
import contextlib
import ctypes
import fcntl
import functools
import http.client
import http.server
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HELD_S = 0.15
libc = ctypes.CDLL(None)


def set_name(name):
    """Names the thread for the kernel."""
    libc.prctl(15, name.encode(), 0, 0, 0)


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def start(name, work, *args):
    ready = threading.Event()

    def named():
        set_name(name)
        work(*args, ready)

    thread = threading.Thread(target=named, daemon=True)
    thread.start()
    ready.wait()
    return thread


def fork(name, work, *args):
    """A process that never returns from work."""
    pid = os.fork()
    if pid:
        return pid
    libc.prctl(1, 9, 0, 0, 0) # ends with its parent
    set_name(name)
    try:
        work(*args)
    finally:
        os._exit(0)


# ---- causes ----

lock = threading.Lock()
todo = queue.Queue()


def hold(ready):
    with lock:
        ready.set()
        time.sleep(HELD_S)


def hold_and_burn(ready):
    with lock:
        ready.set()
        time.sleep(0.02)
        burn(HELD_S)


def work_on_queue(ready):
    ready.set()
    while True:
        done = todo.get()
        time.sleep(HELD_S)
        done.set()


def on_lock(_server, holder=hold):
    start("holder", holder)
    with lock:
        pass


def on_hog(_server):
    all_cpus = os.sched_getaffinity(0)
    cpu = min(all_cpus)
    r, w = os.pipe()

    def hog():
        os.sched_setaffinity(0, {cpu})
        os.write(w, b"x")
        while True:
            pass

    hogs = [fork("hog", hog) for _ in range(3)]
    for _ in hogs:
        os.read(r, 1)
    os.sched_setaffinity(0, {cpu})
    burn(0.1)
    os.sched_setaffinity(0, all_cpus)
    for pid in hogs:
        os.kill(pid, 9)


def on_pipe(_server):
    r, w = os.pipe()

    def write(ready):
        ready.set()
        time.sleep(HELD_S)
        os.write(w, b"x")

    start("feeder", write)
    os.read(r, 1)


def on_flock(server):
    with open(server.file, "wb") as f, open(server.file, "wb") as other:
        fcntl.flock(f, fcntl.LOCK_EX)

        def release(ready):
            ready.set()
            time.sleep(HELD_S)
            fcntl.flock(f, fcntl.LOCK_UN)

        start("locker", release)
        fcntl.flock(other, fcntl.LOCK_EX)


def on_worker(_server):
    done = threading.Event()
    todo.put(done)
    done.wait()


def on_backend(server, path="/sleep"):
    urllib.request.urlopen(f"http://127.0.0.1:{server.backend}{path}").read()


def on_redis(server):
    with socket.create_connection(("127.0.0.1", server.redis)) as s:
        for i in range(2):
            s.sendall(b"*3\r\n$3\r\nSET\r\n$4\r\nkey%d\r\n$1\r\n1\r\n" % i)
            s.recv(100)
        s.sendall(b"*3\r\n$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$4\r\n0.15\r\n")
        s.recv(100)


CAUSES = {
    "/fast": lambda server: None,
    "/lock": on_lock,
    "/lock-burns": lambda server: on_lock(server, hold_and_burn),
    "/hog": on_hog,
    "/sleep": lambda server: time.sleep(HELD_S),
    "/cpu": lambda server: burn(HELD_S),
    "/pipe": on_pipe,
    "/flock": on_flock,
    "/child": lambda server: subprocess.run(["/bin/sleep", str(HELD_S)], check=True),
    "/worker": on_worker,
    "/backend": on_backend,
    "/backend-lock": lambda server: on_backend(server, "/lock"),
    "/redis": on_redis,
}


# ---- servers ----

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        set_name("handler")
        CAUSES[self.path](self.server)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


def new_server():
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def serve_handed(listener):
    """A thread reads the request, another one answers it."""
    ready = queue.Queue()

    def answer(started):
        started.set()
        while True:
            client = ready.get()
            time.sleep(HELD_S)
            client.sendall(b"HTTP/1.0 200 OK\r\n\r\nok")
            client.close()

    start("answerer", answer)
    set_name("reader")
    while True:
        client = listener.accept()[0]
        client.recv(1000)
        ready.put(client)


async def answer_async(hogged, reader, writer):
    head = await reader.readuntil(b"\r\n\r\n")
    if b"/loop-waits" in head or b"/loop-both" in head:
        await asyncio.sleep(HELD_S)
    elif b"/loop-hog" in head:
        hogged.set()
        burn(HELD_S)
    else:
        await hogged.wait()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()
    writer.close()


def serve_async(listener):
    async def serve():
        answer = functools.partial(answer_async, asyncio.Event())
        await (await asyncio.start_server(answer, sock=listener)).serve_forever()

    asyncio.run(serve())


def get(port, path):
    print(path)
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request("GET", path)
    client.getresponse().read()
    client.close()


def get_two(port, first, second):
    """The second request comes while the first one is open."""
    one, two = (http.client.HTTPConnection("127.0.0.1", port) for _ in range(2))
    one.connect()
    two.connect()
    print(f"{first}\n{second}")
    one.request("GET", first)
    time.sleep(0.005)
    two.request("GET", second)
    for client in one, two:
        client.getresponse().read()
        client.close()


@contextlib.contextmanager
def redis(root):
    if not root:
        yield None
        return
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    child = subprocess.Popen(["chroot", root, "/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save",
                              "", "--enable-debug-command", "yes"], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < end:
            time.sleep(0.05)
        yield port
    finally:
        child.terminate()
        child.wait()


def main():
    backend, server = new_server(), new_server()
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    fork("backend", backend.serve_forever)
    fork("reader", serve_handed, listeners[0])
    fork("loop", serve_async, listeners[1])
    server.backend, server.file = backend.server_port, tempfile.mkstemp()[1]
    start("worker", work_on_queue)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with redis(sys.argv[1] if len(sys.argv) > 1 else None) as server.redis:
        for path in CAUSES:
            if path != "/redis" or server.redis:
                get(server.server_port, path)
        get(listeners[0].getsockname()[1], "/handed")
        get_two(listeners[1].getsockname()[1], "/loop-waits", "/loop-both") # the loop waits, for both
        get_two(listeners[1].getsockname()[1], "/loop", "/loop-hog") # it is busy when it could answer the first
    os.unlink(server.file)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
