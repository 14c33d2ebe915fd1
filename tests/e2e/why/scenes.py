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
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request

HELD_S = 0.15
libc = ctypes.CDLL(None)


def set_name(name):
    """Names the thread for the kernel."""
    libc.prctl(15, name.encode(), 0, 0, 0)


def burn(seconds):
    """Reading the clock of a thread is a system call."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(2000):
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
    except BaseException: # pylint: disable=broad-except
        traceback.print_exc()
    os._exit(1)


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


def on_full_pipe(_server):
    r, w = os.pipe()

    def read(ready):
        ready.set()
        time.sleep(HELD_S)
        os.read(r, 1 << 20)

    os.write(w, bytes(1 << 16)) # all that it holds
    start("drainer", read)
    os.write(w, b"x")


def on_pipe(_server):
    r, w = os.pipe()

    def write(ready):
        ready.set()
        time.sleep(HELD_S)
        os.write(w, b"x")

    start("feeder", write)
    os.read(r, 1)


@contextlib.contextmanager
def locked_file(server):
    """Another open of the file, whose lock a thread holds."""
    with open(server.file, "ab") as f, open(server.file, "ab") as other:
        fcntl.flock(f, fcntl.LOCK_EX)

        def release(ready):
            ready.set()
            time.sleep(HELD_S)
            fcntl.flock(f, fcntl.LOCK_UN)

        start("locker", release)
        yield other


def on_flock(server):
    with locked_file(server) as f:
        fcntl.flock(f, fcntl.LOCK_EX)


def on_flock_polled(server):
    """It tries again and again, as SQLite does."""
    with locked_file(server) as f:
        while True:
            try:
                return fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)


def on_path_polled(server):
    """The lock is a file that exists while it is held."""
    path = server.file + ".lock"

    def take():
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))

    def release(ready):
        ready.set()
        time.sleep(HELD_S)
        os.unlink(path)

    take()
    start("locker", release)
    while True:
        try:
            take()
            return os.unlink(path)
        except FileExistsError:
            time.sleep(0.02)


def tick(fd, ready):
    ready.set()
    burn(HELD_S)
    os.write(fd, b"x")


def on_tick(_server):
    """Several polls wait for the same thread, which works meanwhile."""
    r, w = os.pipe()
    start("ticker", tick, w)
    poller = select.poll()
    for fd in r, os.eventfd(0):
        poller.register(fd, select.POLLIN)
    while not poller.poll(60):
        pass


def on_worker(_server):
    done = threading.Event()
    todo.put(done)
    done.wait()


def on_sleeps(_server):
    for _ in range(4):
        time.sleep(HELD_S / 4)


def on_condition(_server):
    """Nobody notifies it."""
    condition = threading.Condition()
    with condition:
        condition.wait(HELD_S)


def fill_backlog():
    """A server that does not accept: further connects get no answer."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    clients = []
    while len(clients) < 8:
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(listener.getsockname())
        clients.append(client)
        if not select.select([], [client], [], 0.02)[1]:
            break
    return listener, clients


def on_connect(server):
    with contextlib.suppress(TimeoutError):
        socket.create_connection(server.full[0].getsockname(), timeout=HELD_S)


def on_connect_that_blocks(server):
    with socket.socket() as s, contextlib.suppress(OSError):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, int(HELD_S * 1e6)))
        s.connect(server.full[0].getsockname())


def feed(write, ready):
    ready.set()
    time.sleep(HELD_S)
    write(b"x" * 8)


def on_polled_pipe(_server):
    r, w = os.pipe()
    start("feeder", feed, functools.partial(os.write, w))
    select.select([r], [], [])


def on_polled_eventfd(_server):
    fd = os.eventfd(0)
    start("feeder", feed, functools.partial(os.write, fd))
    select.select([fd], [], [])


def on_timerfd(_server):
    fd = libc.timerfd_create(1, 0)
    libc.timerfd_settime(fd, 0, struct.pack("4q", 0, 0, 0, int(HELD_S * 1e9)), None)
    poller = select.epoll()
    poller.register(fd, select.EPOLLIN)
    poller.poll()


def on_fifo(server):
    with open(os.open(server.fifo, os.O_RDWR), "r+b", buffering=0) as f:
        start("feeder", feed, f.write)
        f.read(8)


def on_fifo_open(server):
    """The other end is opened late."""
    def open_late(ready):
        ready.set()
        time.sleep(HELD_S)
        os.close(os.open(server.fifo, os.O_WRONLY))

    start("feeder", open_late)
    os.close(os.open(server.fifo, os.O_RDONLY))


def on_gil(_server):
    """A function in C does not let go."""
    def crunch(ready):
        ready.set()
        sum(range(12_000_000))

    start("cruncher", crunch)


def on_backend(server, path="/sleep"):
    urllib.request.urlopen(f"http://127.0.0.1:{server.backend}{path}").read()


def get_key(s):
    s.sendall(b"*2\r\n$3\r\nGET\r\n$4\r\nkey1\r\n")
    s.recv(100)


def on_redis(server):
    with socket.create_connection(("127.0.0.1", server.redis)) as s, \
         socket.create_connection(("127.0.0.1", server.redis)) as other:
        for i in range(2):
            for client in s, other:
                client.sendall(b"*3\r\n$3\r\nSET\r\n$4\r\nkey%d\r\n$1\r\n1\r\n" % i)
                client.recv(100)
        s.sendall(b"*3\r\n$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$4\r\n0.15\r\n")
        thread = threading.Thread(target=get_key, args=(other,))
        thread.start()
        s.recv(100)
        thread.join()


CAUSES = {
    "/fast": lambda server: None,
    "/lock": on_lock,
    "/lock-burns": lambda server: on_lock(server, hold_and_burn),
    "/hog": on_hog,
    "/sleep": lambda server: time.sleep(HELD_S),
    "/cpu": lambda server: burn(HELD_S),
    "/pipe": on_pipe,
    "/full-pipe": on_full_pipe,
    "/flock": on_flock,
    "/flock-polled": on_flock_polled,
    "/child": lambda server: subprocess.run(["/bin/sleep", str(HELD_S)], check=True),
    "/child-polled": lambda server: subprocess.run(["/bin/sleep", str(HELD_S)], check=True, timeout=30),
    "/connect": on_connect,
    "/connect-blocks": on_connect_that_blocks,
    "/polled-pipe": on_polled_pipe,
    "/polled-eventfd": on_polled_eventfd,
    "/polled-nothing": lambda server: select.select([], [], [], HELD_S),
    "/timerfd": on_timerfd,
    "/fifo": on_fifo,
    "/fifo-open": on_fifo_open,
    "/gil": on_gil,
    "/path-polled": on_path_polled,
    "/tick": on_tick,
    "/worker": on_worker,
    "/condition": on_condition,
    "/sleeps": on_sleeps,
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


def serve_one(listener):
    """One worker, which serves one connection until its client closes it."""
    while True:
        with listener.accept()[0] as client:
            while client.recv(1000):
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def answer_async(backend, full, hogged, blocked, reader, writer):
    head = await reader.readuntil(b"\r\n\r\n")
    if b"/loop-connects" in head:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.open_connection(*full), HELD_S)
    elif b"/loop-waits" in head or b"/loop-both" in head:
        await asyncio.sleep(HELD_S)
    elif b"/loop-hog" in head:
        hogged.set()
        burn(HELD_S)
    elif b"/loop-blocks" in head:
        blocked.set()
        urllib.request.urlopen(f"http://127.0.0.1:{backend}/sleep", timeout=60).read() # polls its socket
    else:
        await (blocked if b"/loop-late" in head else hogged).wait()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()
    writer.close()


def serve_async(listener, backend, full):
    async def serve():
        answer = functools.partial(answer_async, backend, full, asyncio.Event(), asyncio.Event())
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


def get_behind_idle(port):
    """One client keeps the worker busy with an idle connection while another client waits."""
    def idle(ready):
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("GET", "/keeps")
        client.getresponse().read()
        ready.set()
        time.sleep(HELD_S)
        client.close()

    print("/keeps")
    start("idler", idle)
    get(port, "/behind-idle")


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
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    fork("backend", backend.serve_forever)
    fork("reader", serve_handed, listeners[0])
    fork("one", serve_one, listeners[2])
    server.full = fill_backlog()
    fork("loop", serve_async, listeners[1], backend.server_port, server.full[0].getsockname())
    server.backend, server.file = backend.server_port, tempfile.mkstemp()[1]
    server.fifo = server.file + ".fifo"
    os.mkfifo(server.fifo)
    start("worker", work_on_queue)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with redis(sys.argv[1] if len(sys.argv) > 1 else None) as server.redis:
        for path in CAUSES:
            if path != "/redis" or server.redis:
                get(server.server_port, path)
        get(listeners[0].getsockname()[1], "/handed")
        get_behind_idle(listeners[2].getsockname()[1])
        get(listeners[1].getsockname()[1], "/loop-connects")
        get_two(listeners[1].getsockname()[1], "/loop-waits", "/loop-both") # the loop waits, for both
        get_two(listeners[1].getsockname()[1], "/loop", "/loop-hog") # it is busy when it could answer the first
        get_two(listeners[1].getsockname()[1], "/loop-late", "/loop-blocks") # the same, but it waits for a backend
    os.unlink(server.file)
    os.unlink(server.fifo)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
