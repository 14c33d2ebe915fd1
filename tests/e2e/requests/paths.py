#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers of HTTP and their clients, whose sockets take unusual paths: duplicates, other processes, reused numbers,
calls without data. Each end prints as JSON what it counts: side, method, path, status, bytes sent, bytes received,
process, thread."""

import array
import json
import os
import re
import socket
import sys
import tempfile
import threading

import uring

N = 6 # requests of a connection
CHILDREN = []
read, write = os.read, os.write


def report(side, method, path, sent, received):
    row = [side, method, path, 200, sent, received, os.getpid(), threading.get_native_id()]
    os.write(1, json.dumps(row).encode() + b"\n")


def spawn(work, *args):
    """Does the work in a child."""
    child = os.fork()
    if not child:
        try:
            work(*args)
        finally:
            os._exit(0)
    CHILDREN.append(child)
    return child


def read_head(fd):
    data = b""
    while b"\r\n\r\n" not in data:
        part = read(fd, 65536)
        if not part:
            return b"", b""
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    return head + b"\r\n\r\n", body


def length(head):
    m = re.search(rb"Content-Length: (\d+)", head)
    return int(m[1]) if m else 0


def read_body(fd, n):
    while n:
        n -= len(read(fd, min(n, 65536)))


def write_all(fd, data):
    while data:
        data = data[write(fd, data):]


def answer(fd, out=None, take=read_body, put=write_all):
    """Serves one request: reads from fd, writes to out. Returns whether there was one."""
    out = fd if out is None else out
    head, got = read_head(fd)
    if not head:
        return False
    method, path = head.decode().split()[:2]
    take(fd, length(head) - len(got))
    body = b"r" * (int(path.rsplit("/", 1)[1]) * 7000 + 1)
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    write_all(out, reply)
    put(out, body)
    # The row is there before the client ends: it waits for this process.
    report("server", method, path, len(reply) + len(body), len(head) + length(head))
    return True


def ask(fd, name, i, out=None, put=write_all):
    """Sends a request, reads its response."""
    method, body = ("POST", b"b" * i * 5000 + b"b") if i % 2 else ("GET", b"")
    path = f"/{name}/{i}"
    head = f"{method} {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    out = fd if out is None else out
    write_all(out, head)
    if body:
        put(out, body)
    reply, got = read_head(fd)
    read_body(fd, length(reply) - len(got))
    report("client", method, path, len(head) + len(body), len(reply) + length(reply))


def ask_all(fd, name, **named):
    for i in range(N):
        ask(fd, name, i, **named)


def serve_all(fd, **named):
    while answer(fd, **named):
        pass


def file_of(data):
    f = tempfile.TemporaryFile()
    f.write(data)
    f.seek(0)
    return f


def put_sendfile(fd, data):
    with file_of(data) as f:
        at = 0
        while at < len(data):
            at += os.sendfile(fd, f.fileno(), at, len(data) - at)


def put_splice(fd, data):
    """File, pipe, socket."""
    r, w = os.pipe()
    with file_of(data) as f:
        left = len(data)
        while left:
            n = moved = os.splice(f.fileno(), w, left)
            while moved:
                moved -= os.splice(r, fd, moved)
            left -= n
    os.close(r)
    os.close(w)


def take_splice(fd, n):
    """Socket, pipe, nowhere."""
    r, w = os.pipe()
    while n:
        moved = os.splice(fd, w, min(n, 65536))
        n -= moved
        while moved:
            moved -= len(os.read(r, moved))
    os.close(r)
    os.close(w)


def plain(client, server, **named):
    """A server in a child, which accepts one connection."""
    def run(name, listener, connect):
        def serve():
            fd = listener.accept()[0].detach()
            server(fd)
        spawn(serve)
        client(connect().detach(), name, **named)
    return run


def duplicates_server(fd):
    """Reads the original, writes to a duplicate; the original is closed halfway."""
    other = os.dup(fd)
    for _ in range(N // 2):
        answer(fd, other)
    os.close(fd)
    serve_all(other)


def duplicates_client(fd, name):
    other = os.dup(fd)
    for i in range(N):
        ask((fd, other)[i % 2], name, i, out=(other, fd)[i % 2])


def passed(name, listener, connect):
    """The process that accepts answers twice, and passes the socket to one that was there before."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    def other():
        _, ancillary, _, _ = b.recvmsg(1, socket.CMSG_SPACE(4))
        serve_all(array.array("i", ancillary[0][2])[0])
    def acceptor():
        fd = listener.accept()[0].detach()
        answer(fd)
        answer(fd)
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
    spawn(other)
    spawn(acceptor)
    ask_all(connect().detach(), name)


def forked_server(fd):
    """A child answers, another one, and then the parent again."""
    for _ in range(2):
        child = os.fork()
        if not child:
            answer(fd)
            answer(fd)
            os._exit(0)
        os.waitpid(child, 0)
    serve_all(fd)


def forked_client(fd, name):
    """A child sends what the parent reads the response to, and the other way round."""
    for i in range(N):
        child = os.fork()
        if not child:
            ask(fd, name, i)
            os._exit(0)
        os.waitpid(child, 0)


def reused(name, listener, connect):
    """Both ends put a second connection in the place of the first one, without close."""
    def serve():
        fd = listener.accept()[0].detach()
        for _ in range(N // 2):
            answer(fd)
        second = listener.accept()[0].detach()
        os.dup2(second, fd)
        os.close(second)
        serve_all(fd)
    spawn(serve)
    fd = connect().detach()
    for i in range(N // 2):
        ask(fd, name, i)
    second = connect().detach()
    os.dup2(second, fd)
    os.close(second)
    for i in range(N // 2, N):
        ask(fd, name, i)


def threads_server(fd):
    """Three threads that read the socket in turn."""
    turns = [threading.Semaphore(i == 0) for i in range(3)]
    def work(me):
        for _ in range(N // 3):
            turns[me].acquire()
            answer(fd)
            turns[(me + 1) % 3].release()
    workers = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def by_io_uring(work):
    def run(*args):
        global read, write
        ring = uring.Ring()
        read, write = ring.read, ring.write
        try:
            work(*args)
        finally:
            read, write = os.read, os.write
    return run


WAYS = {"plain": plain(ask_all, serve_all), "dup": plain(duplicates_client, duplicates_server), "passed": passed,
        "fork": plain(forked_client, forked_server), "reused": reused, "threads": plain(ask_all, threads_server),
        "sendfile": plain(ask_all, lambda fd: serve_all(fd, put=put_sendfile), put=put_sendfile),
        "splice": plain(ask_all, lambda fd: serve_all(fd, put=put_splice, take=take_splice), put=put_splice)}
if uring.works():
    WAYS["io_uring"] = plain(by_io_uring(ask_all), by_io_uring(serve_all))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for family in "tcp", "unix":
            for way, run in WAYS.items():
                path = os.path.join(folder, way)
                with socket.socket(socket.AF_UNIX if family == "unix" else socket.AF_INET) as listener:
                    listener.bind(path if family == "unix" else ("127.0.0.1", 0))
                    listener.listen()
                    address = listener.getsockname()
                    def connect():
                        s = socket.socket(listener.family)
                        s.connect(address)
                        return s
                    run(f"{family}-{way}", listener, connect)
                    os.closerange(listener.fileno() + 1, 64)
                    while CHILDREN:
                        os.waitpid(CHILDREN.pop(), 0)


if __name__ == "__main__":
    sys.exit(main())
