# SPDX-License-Identifier: Apache-2.0
"""A client of Redis that sends 4200 commands to a server that does not answer."""
import socket

listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
for _ in range(42):
    client.sendall(b"*1\r\n$4\r\nPING\r\n" * 100)
