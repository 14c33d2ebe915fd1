# SPDX-License-Identifier: Apache-2.0
"""A client and a server with names that need quotes: three requests, of which the last one fails."""
import os
import socket


def rename(name):
    with open("/proc/self/comm", "wb") as f:
        f.write(name)


listener = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    rename(b'w"\\N&lt;<b>\xff\n')
    for status in 200, 200, 500:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 %d Text\r\nContent-Length: 0\r\n\r\n" % status)
        connection.close()
    os._exit(0)
rename(b'cl\\"ient\\')
for _ in range(3):
    client = socket.create_connection(listener.getsockname())
    client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    client.recv(100)
    client.close()
os.wait()
