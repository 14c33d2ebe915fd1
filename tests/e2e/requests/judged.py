#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs servers with their clients in a network of their own, while tshark captures what its loopback carries:
judged.py FILE NAME [ROOT]. Kafka and MongoDB have no server in Debian: both ends are here."""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEADLINE_S = 30


def loopback_up():
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x41).ljust(40, b"\0")) # SIOCSIFFLAGS, up and running


def wait_until(is_so):
    end = time.monotonic() + DEADLINE_S
    while not is_so():
        if time.monotonic() > end:
            raise SystemExit("tshark does not capture")
        time.sleep(0.02)


def captured(path, word):
    """Sends a datagram; returns whether the file has one like it, and so what came before."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.sendto(word, ("127.0.0.1", 9))
    if not os.path.exists(path):
        return False
    with open(path, "rb") as f:
        return word in f.read()


def exchange(port, pairs):
    """A server in a child answers each message of the client with the one that belongs to it; None: with nothing."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        child = os.fork()
        if not child:
            with listener.accept()[0] as s:
                for request, response in pairs:
                    s.recv(len(request), socket.MSG_WAITALL)
                    if response:
                        s.sendall(response)
            os._exit(0)
        with socket.create_connection(("127.0.0.1", port)) as s:
            for request, response in pairs:
                s.sendall(request)
                if response:
                    s.recv(len(response), socket.MSG_WAITALL)
        os.waitpid(child, 0)


def text(s):
    return struct.pack(">h", len(s)) + s.encode()


def batch(value):
    """One record without a key."""
    record = b"\0\0\0\1" + bytes((2 * len(value),)) + value + b"\0"
    record = bytes((2 * len(record),)) + record
    body = struct.pack(">hiqqqhii", 0, 0, 0, 0, -1, -1, -1, 1) + record
    return struct.pack(">qiibI", 0, len(body) + 9, 0, 2, 0) + body


def kafka():
    """Versions without compact numbers. Topic 3 does not exist."""
    pairs = []
    def add(key, version, request, response):
        number = len(pairs) + 1
        head = struct.pack(">hhi", key, version, number) + text("judge")
        pairs.append([struct.pack(">i", len(body)) + body if body else None for body in
                      (head + request, response and struct.pack(">i", number) + response)])
    add(18, 0, b"", struct.pack(">hi", 0, 2) + struct.pack(">3h", 0, 0, 8) + struct.pack(">3h", 1, 0, 11))
    for i in range(20):
        topic, error = f"topic{i % 4}", 3 if i % 4 == 3 else 0
        add(3, 1, struct.pack(">i", 1) + text(topic),
            struct.pack(">ii", 1, 1) + text("here") + struct.pack(">ihi", 9092, -1, 1) +
            struct.pack(">ih", 1, error) + text(topic) + struct.pack(">bi", 0, 0))
        records = batch(b"v" * i)
        acks = 0 if i % 5 == 4 else 1
        add(0, 3, struct.pack(">hhii", -1, acks, 1000, 1) + text(topic) +
            struct.pack(">iii", 1, 0, len(records)) + records,
            acks and struct.pack(">i", 1) + text(topic) + struct.pack(">iihqqi", 1, 0, error, i, -1, 0))
        add(1, 4, struct.pack(">iiiibi", -1, 100, 1, 1 << 20, 0, 1) + text(topic) + struct.pack(">iiqi", 1, 0, i, 1000),
            struct.pack(">ii", 0, 1) + text(topic) + struct.pack(">iihqqi", 1, 0, error, i, i, 0) +
            struct.pack(">i", len(records)) + records)
    exchange(9092, pairs)


def bson(**values):
    body = b""
    for name, value in values.items():
        key = name.encode() + b"\0"
        if isinstance(value, str):
            body += b"\2" + key + struct.pack("<i", len(value) + 1) + value.encode() + b"\0"
        elif isinstance(value, float):
            body += b"\1" + key + struct.pack("<d", value)
        else:
            body += b"\x10" + key + struct.pack("<i", value)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def op_msg(number, to, **values):
    body = struct.pack("<Ib", 0, 0) + bson(**values)
    return struct.pack("<4i", len(body) + 16, number, to, 2013) + body


def mongodb():
    pairs = []
    for i in range(1, 41): # 0 is the number of none
        command = ("find", "insert", "count", "ping")[i % 4]
        request = op_msg(i, 0, **{command: "item" if i % 4 < 3 else 1, "n": i, "$db": "shop"})
        result = {"errmsg": "no such thing", "code": 26, "codeName": "NamespaceNotFound"} if i % 10 == 9 else {"n": i}
        pairs.append((request, op_msg(1000 + i, i, ok=0.0 if "code" in result else 1.0, **result)))
    exchange(27017, pairs)


def main(path, name, *root):
    loopback_up()
    tshark = subprocess.Popen(["tshark", "-q", "-i", "lo", "-B", "16", "-w", path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: captured(path, b"the first datagram"))
        if name == "http":
            subprocess.run(["/usr/bin/python3", f"{HERE}/web.py"], check=True, stdout=subprocess.DEVNULL)
        elif root:
            subprocess.run(["/usr/bin/python3", f"{HERE}/servers.py", name, *root], check=True,
                           stdout=subprocess.DEVNULL)
        else:
            {"kafka": kafka, "mongodb": mongodb}[name]()
        wait_until(lambda: captured(path, b"the last datagram"))
    finally:
        tshark.send_signal(signal.SIGINT)
        tshark.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
