#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends and receives several messages by one call each, with sendmmsg and recvmmsg."""

import ctypes
import os
import socket
import struct

LIBC = ctypes.CDLL(None, use_errno=True)


KEPT = [] # memory that messages refer to


class Buffer(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("buffers", ctypes.POINTER(Buffer)),
                ("n_buffers", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_long), ("len", ctypes.c_uint32)]


def memory(data):
    KEPT.append(ctypes.create_string_buffer(data, len(data)))
    return ctypes.addressof(KEPT[-1])


def address(sock):
    host, port = sock.getsockname()
    return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(host))


def message(name, *parts):
    buffers = (Buffer * len(parts))(*(Buffer(memory(part), len(part)) for part in parts))
    return Message(memory(name) if name else None, len(name or b""), buffers, len(parts))


def send(sock, *messages):
    n = LIBC.sendmmsg(sock.fileno(), (Message * len(messages))(*messages), len(messages), 0)
    assert n == len(messages), os.strerror(ctypes.get_errno())


def receive(sock, n, with_names):
    messages = [message(bytes(28) if with_names else None, bytes(2000)) for _ in range(n)]
    got = LIBC.recvmmsg(sock.fileno(), (Message * n)(*messages), n, 0, None)
    assert got == n, os.strerror(ctypes.get_errno())


def udp():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    return sock


def text(i):
    return b"%02d" % i + b"x" * i


def main():
    one, two, three = udp(), udp(), udp()
    # To two peers, more than an event has; back from them to one socket; connected; with two buffers each; one.
    send(one, *(message(address((two, three)[i % 2]), text(i)) for i in range(40)))
    receive(two, 20, True)
    receive(three, 20, False)
    send(two, *(message(address(one), text(i)) for i in range(2)))
    send(three, message(address(one), text(2)))
    receive(one, 3, True)
    one.connect(two.getsockname())
    send(one, *(message(None, text(i)) for i in range(3)))
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    send(left, message(None, b"ab", b"cde"), message(None, b"f"), message(None, b"", b"gh", b"i"))
    receive(right, 3, False)


main()
