# SPDX-License-Identifier: Apache-2.0
"""Connections with faults, in a network namespace of their own. Prints as JSON what the kernel counted, and what
getsockopt(TCP_INFO) says of a connection before it is closed."""

import ctypes
import json
import os
import select
import socket
import struct
import subprocess
import time

V4, V6 = "127.77.0.1", "fd77::1"
SO_ATTACH_FILTER, SO_DETACH_FILTER, TCP_USER_TIMEOUT, ETH_P_ALL = 26, 27, 18, 3


def mibs():
    counts = {}
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        with open(path, encoding="ascii") as f:
            rows = [line.split() for line in f]
        for names, values in zip(rows[::2], rows[1::2]):
            counts.update(zip(names[1:], map(int, values[1:])))
    return counts


def listener(address, backlog=8):
    s = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
    s.listen(backlog)
    return s


def begin_connect(address, family=socket.AF_INET, filtered=False):
    s = socket.socket(family)
    s.setblocking(False)
    if filtered:
        drop_all(s)
    try:
        s.connect(address)
    except BlockingIOError:
        pass
    return s


def connect_by_epoll(address, family):
    s = begin_connect(address, family)
    with select.epoll() as poll:
        poll.register(s, select.EPOLLOUT)
        poll.poll(5)
    return s, s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def drop_all(s):
    """A socket filter that accepts 0 bytes of each packet."""
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0), 8)
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))


def info_of(s):
    raw = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    rtt, rttvar, _, cwnd = struct.unpack_from("4I", raw, 68)
    return {"rtt": rtt, "rttvar": rttvar, "cwnd": cwnd, "retrans": struct.unpack_from("I", raw, 100)[0],
            "acked": struct.unpack_from("Q", raw, 120)[0], "received": struct.unpack_from("Q", raw, 128)[0]}


def refused():
    for family, address in ((socket.AF_INET, V4), (socket.AF_INET6, V6)):
        with listener(address) as s:
            port = s.getsockname()[1]
        s, err = connect_by_epoll((address, port), family)
        assert err == 111, err
        s.close()


def connected():
    """Clients of IPv4, IPv6, and of IPv4 on a socket of IPv6."""
    for family, address, peer in ((socket.AF_INET, V4, V4), (socket.AF_INET6, V6, V6),
                                  (socket.AF_INET6, V4, "::ffff:" + V4)):
        with listener(address) as s:
            c, err = connect_by_epoll((peer, s.getsockname()[1]), family)
            assert err == 0, err
            s.accept()[0].close()
            c.close()


def reset():
    with listener(V4) as s:
        c = socket.create_connection(s.getsockname())
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        d = s.accept()[0]
        c.close()
        d.close()


def measured(out):
    with listener(V4) as s:
        c = socket.create_connection(s.getsockname())
        d = s.accept()[0]
        for n in (1000, 20000):
            c.sendall(bytes(n))
            d.recv(n, socket.MSG_WAITALL)
            d.sendall(bytes(500))
            c.recv(500, socket.MSG_WAITALL)
        time.sleep(0.1)  # for delayed ACKs
        out["info"], out["port"] = info_of(c), c.getsockname()[1]
        c.close()
        d.recv(1)
        d.close()


def forked(out):
    """A child accepts from its parent's socket."""
    with listener(V4) as s:
        child = os.fork()
        if child == 0:
            d = s.accept()[0]
            d.recv(1)
            d.close()
            os._exit(0)
        with socket.create_connection(s.getsockname()) as c:
            out["child"], out["child_port"] = child, s.getsockname()[1]
            c.sendall(b"x")
            c.recv(1)
        os.waitpid(child, 0)


def watched():
    """Sockets that get copies of packets and drop them, since no process reads."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.bind(("lo", 0))
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    for s in (packets, raw):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    with listener(V4) as s, socket.create_connection(s.getsockname()) as c, s.accept()[0] as d:
        for _ in range(20):
            c.sendall(bytes(1000))
            d.recv(1000, socket.MSG_WAITALL)
    packets.close()
    raw.close()


def overflowing_late(out):
    """A listener whose queue is full when a handshake ends, and one that gets no SYN for another reason."""
    before = mibs()["ListenOverflows"]
    with listener(V4, 2) as full, listener(V4) as deaf:
        drop_all(deaf)
        late = begin_connect(full.getsockname(), filtered=True)
        clients = [begin_connect(full.getsockname()) for _ in range(3)] + [begin_connect(deaf.getsockname())]
        late.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        end = time.monotonic() + 10
        while mibs()["ListenOverflows"] == before and time.monotonic() < end:
            time.sleep(0.01)  # the SYN-ACK is sent again after a second
        out["late_port"], out["deaf_port"] = full.getsockname()[1], deaf.getsockname()[1]
        out["late_filtered_port"] = late.getsockname()[1]
        late.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # leaves nothing behind
        for s in (*clients, late):
            s.close()


def waiting(out):
    """Faults that need time: a full queue, a peer that drops everything, and connects that do not end well."""
    full, other = listener(V4, 0), listener(V4)
    clients = [begin_connect(full.getsockname()) for _ in range(3)]
    patient = begin_connect(full.getsockname())
    patient.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 500)
    aborted = begin_connect(full.getsockname())
    c = socket.create_connection(other.getsockname())
    d = other.accept()[0]
    drop_all(d)
    c.sendall(b"lost")
    time.sleep(0.5)
    d.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    assert d.recv(4) == b"lost"
    aborted.close()
    select.select([], [patient], [patient], 10)
    assert patient.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 110
    full.accept()[0].close()
    time.sleep(0.1)
    out["full_port"], out["dropped_port"] = full.getsockname()[1], other.getsockname()[1]
    for s in (*clients, patient, full, c, d, other):
        s.close()


def is_reached(address, family):
    """Returns whether the kernel answers at the address: with a refusal, as no process listens."""
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        try:
            s.settimeout(0.1)
            s.connect((address, 9))
            s.send(b"x")
            s.recv(1)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False


def wait_for_routes():
    """The kernel adds those of a new address a moment after it."""
    end = time.monotonic() + 20
    for family, address in (socket.AF_INET, V4), (socket.AF_INET6, V6):
        while not is_reached(address, family) and time.monotonic() < end:
            time.sleep(0.01)


def main():
    subprocess.run("ip link set lo up && ip addr add fd77::1/128 dev lo nodad", shell=True, check=True)
    wait_for_routes()
    out, before = {"pid": os.getpid()}, mibs()
    refused()
    connected()
    reset()
    measured(out)
    forked(out)
    watched()
    overflowing_late(out)
    waiting(out)
    time.sleep(0.1)
    out["counts"] = {name: n - before.get(name, 0) for name, n in mibs().items()}
    print(json.dumps(out), flush=True)


main()
