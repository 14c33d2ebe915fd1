# SPDX-License-Identifier: Apache-2.0
"""Connects that fail: prints the peer and the error of each that has an event."""
import errno
import os
import select
import socket
import tempfile
import time

NAMES = {errno.ECONNREFUSED: "refused", errno.ENETUNREACH: "unreachable", errno.ETIMEDOUT: "timed_out"}


def connect(s, address, text, blocks=True):
    s.setblocking(blocks)
    error = s.connect_ex(address)
    if error == errno.EINPROGRESS:
        time.sleep(0.02)
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    if error in NAMES:
        print(text, NAMES[error], flush=True)


def one_retry():
    """A socket whose connect times out after three seconds."""
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
    return s


taken = socket.socket()
taken.bind(("127.0.0.1", 0))
address = taken.getsockname()
text = "%s:%d" % address
again = socket.socket()
connect(again, address, text)
connect(again, address, text)
connect(socket.socket(), address, text, False)
taken6 = socket.socket(socket.AF_INET6)
taken6.bind(("::1", 0))
connect(socket.socket(socket.AF_INET6), taken6.getsockname(), "[::1]:%d" % taken6.getsockname()[1], False)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "socket")
    connect(socket.socket(socket.AF_UNIX), path, path)  # no file: no event
    socket.socket(socket.AF_UNIX).bind(path)
    connect(socket.socket(socket.AF_UNIX), path, path)
connect(socket.socket(), ("255.255.255.255", 1), "255.255.255.255:1")
connect(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), address, text)  # datagrams have none
full = socket.create_server(("127.0.0.1", 0), backlog=0)
address = full.getsockname()
text = "%s:%d" % address
first, later = socket.create_connection(address), one_retry()
later.setblocking(False)
assert later.connect_ex(address) == errno.EINPROGRESS
connect(one_retry(), address, text)
poll = select.poll()
poll.register(later, select.POLLOUT)
poll.poll()
print(text, NAMES[later.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)])
