#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a server of a release's packages and its clients, over loopback: servers.py NAME ROOT. Prints as JSON what the
server or the client counted itself."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 60
USER = "65534"
SQL = "/usr/lib/postgresql/15/bin"


def chroot(root, *words, **named):
    return subprocess.run(["chroot", f"--userspec={USER}:{USER}", root, *words], check=True, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, **named).stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def server(root, port, *words):
    """A server in the root, which listens at the port."""
    child = subprocess.Popen(["chroot", f"--userspec={USER}:{USER}", root, *words], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield
    finally:
        child.terminate()
        child.wait()


@contextlib.contextmanager
def folder(root):
    """A folder of the server's user in the root."""
    path = tempfile.mkdtemp(dir=os.path.join(root, "tmp"))
    os.chown(path, int(USER), int(USER))
    try:
        yield path.removeprefix(root)
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Talk:
    """A connection that counts the bytes of each exchange."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.rows = []

    def ask(self, request, end, *what):
        got = b""
        self.socket.sendall(request)
        while not got.endswith(end):
            data = self.socket.recv(65536)
            if not data:
                raise SystemExit(f"the server closed the connection after {got!r}")
            got += data
        self.rows.append([*what, len(request), len(got)])
        return got


def memcached(root):
    port = free_port()
    with server(root, port, "/usr/bin/memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0"):
        t = Talk(port)
        for i in range(20):
            value = b"v" * i * 1000
            t.ask(b"set key%d 0 0 %d\r\n%s\r\n" % (i, len(value), value), b"\r\n", "SET", f"key{i}")
            t.ask(b"get key%d none\r\n" % i, b"END\r\n", "GET", f"key{i}")
            t.ask(b"gets key%d key0\r\n" % i, b"END\r\n", "GETS", f"key{i}")
            t.ask(b"incr key%d 1\r\n" % i, b"\r\n", "INCR", f"key{i}")
            t.ask(b"mg key%d s v\r\n" % i, b"\r\n" if i else b"VA 0 s0\r\n\r\n", "MG", f"key{i}")
            t.ask(b"touch none 0\r\n", b"\r\n", "TOUCH", "none")
        t.ask(b"stats\r\n", b"END\r\n", "STATS", "<NA>")
    print(json.dumps(t.rows))


def redis(root):
    port = free_port()
    with server(root, port, "/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                "--dir", "/tmp"):
        chroot(root, "/usr/bin/redis-benchmark", "-p", str(port), "-n", "400", "-c", "5", "-P", "4", "-q",
               "-t", "ping_mbulk,set,get,incr,lpush,lrange_100,mset")
        text = chroot(root, "/usr/bin/redis-cli", "-p", str(port), "info", "commandstats")
    print(json.dumps({name.upper(): int(n) for name, n in re.findall(r"cmdstat_(\w+)\S*?:calls=(\d+)", text)}))


def pgsql(root):
    """The latencies that pgbench logs, in microseconds, by mode; the code of an error."""
    port, truth = free_port(), {}
    with open(os.path.join(root, "etc/passwd"), "w", encoding="utf-8") as f:
        f.write(f"nobody:x:{USER}:{USER}:nobody:/tmp:/bin/sh\n")
    with folder(root) as data:
        to = ["-h", "127.0.0.1", "-p", str(port)]
        chroot(root, f"{SQL}/initdb", "-D", f"{data}/db", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        with server(root, port, f"{SQL}/postgres", "-D", f"{data}/db", "-p", str(port), "-c",
                    "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c",
                    "dynamic_shared_memory_type=mmap"):
            chroot(root, f"{SQL}/pgbench", *to, "-i", "-I", "dtgp", "-q", "postgres")
            for mode in "simple", "extended", "prepared":
                chroot(root, f"{SQL}/pgbench", *to, "-S", "-M", mode, "-t", "100", "-c", "2", "-l", "-n",
                       f"--log-prefix={data}/{mode}", "postgres")
                truth[mode] = []
                where = root + data
                for name in sorted(os.listdir(where)):
                    if name.startswith(mode):
                        with open(os.path.join(where, name), encoding="utf-8") as f:
                            truth[mode] += [int(line.split()[2]) for line in f]
            p = subprocess.run(["chroot", root, f"{SQL}/psql", *to, "-U", "nobody", "-c", "select * from none",
                                "postgres"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            truth["error"] = p.stderr
    print(json.dumps(truth))


{"memcached": memcached, "redis": redis, "pgsql": pgsql}[sys.argv[1]](sys.argv[2])
