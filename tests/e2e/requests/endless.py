#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of HTTP whose header never ends: endless.py CONNECTIONS. Half of the servers close, the others answer 431.
All are open at the same time. Prints the bytes that each client sends."""

import os
import socket
import sys

LINE = b"X-Line: " + b"v" * 990 + b"\r\n"
PART = LINE * 30
PARTS = 30
ANSWER = b"HTTP/1.1 431 Too Long\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HEADS = [b"GET /closed HTTP/1.1\r\n", b"GET /answered HTTP/1.1\r\n"]


def read(s, n):
    while n:
        n -= len(s.recv(min(n, 65536)))


def serve(listener, n):
    ends = [listener.accept()[0] for _ in range(n)]
    for i, s in enumerate(ends):
        read(s, len(HEADS[i % 2]))
    for _ in range(PARTS):
        for s in ends:
            read(s, len(PART))
    for i, s in enumerate(ends):
        if i % 2:
            s.sendall(ANSWER)
        s.close()


def main(n):
    with socket.create_server(("127.0.0.1", 0), backlog=n) as listener:
        child = os.fork()
        if not child:
            serve(listener, n)
            os._exit(0)
        ends = [socket.create_connection(listener.getsockname()) for _ in range(n)]
        for i, s in enumerate(ends):
            s.sendall(HEADS[i % 2])
        for _ in range(PARTS):
            for s in ends:
                s.sendall(PART)
        for s in ends:
            s.recv(1000)
            s.close()
        os.waitpid(child, 0)
    print(*(len(head) + PARTS * len(PART) for head in HEADS))


main(int(sys.argv[1]))
