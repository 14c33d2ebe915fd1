#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs nginx before servers that are dead or break off. Prints as JSON its log (path, status), and each error that it
tells of its upstreams."""

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile

import servers

N = 5 # requests of each path, as in the test

NGINX = """daemon off;
user root;
worker_processes 1;
pid {0}/pid;
error_log {0}/error.log;
events {{}}
http {{
    log_format status "$uri $status";
    access_log {0}/access.log status;
    client_body_temp_path {0}/body;
    proxy_temp_path {0}/proxy;
    fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi;
    scgi_temp_path {0}/scgi;
    proxy_read_timeout 200ms;
    upstream dead {{
        server 127.0.0.1:{2} max_fails=0;
        server 127.0.0.2:{2} max_fails=0;
    }}
    server {{
        listen 127.0.0.1:{1};
        location / {{ proxy_pass http://127.0.0.1:{3}; }}
        location /dead {{ proxy_pass http://dead; }}
    }}
}}
"""


def serve(listener):
    """Answers to each path as it says: half, reset (in the middle), silent (no answer), hang (neither closes)."""
    kept = []
    while True:
        s, _ = listener.accept()
        path = s.recv(4096).split()[1].decode()
        if path in ("/whole", "/half", "/reset"):
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n" +
                      b"x" * (100 if path == "/whole" else 50))
        if path == "/reset":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if path == "/hang":
            kept.append(s)
        else:
            s.close()


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    try:
        connection.getresponse().read()
    except http.client.HTTPException:
        pass
    connection.close()


def main():
    port = servers.free_port()
    with tempfile.TemporaryDirectory() as data, socket.create_server(("127.0.0.1", 0)) as listener, \
         socket.socket() as dead:
        os.chmod(data, 0o755)
        dead.bind(("0.0.0.0", 0))
        with open(f"{data}/conf", "w", encoding="utf-8") as f:
            f.write(NGINX.format(data, port, dead.getsockname()[1], listener.getsockname()[1]))
        child = os.fork()
        if not child:
            serve(listener)
        nginx = subprocess.Popen(["nginx", "-e", f"{data}/error.log", "-c", f"{data}/conf"])
        servers.wait_for(port)
        for _ in range(N):
            for path in "/whole", "/dead", "/half", "/reset", "/silent", "/hang":
                get(port, path)
        nginx.send_signal(signal.SIGQUIT)
        nginx.wait()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(f"{data}/access.log", encoding="utf-8") as f:
            log = [line.split() for line in f]
        with open(f"{data}/error.log", encoding="utf-8") as f:
            errors = re.findall(r": \*\d+ (.*?), client:", f.read())
    print(json.dumps({"log": log, "errors": errors}))


main()
