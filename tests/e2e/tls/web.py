# SPDX-License-Identifier: Apache-2.0
"""An HTTPS server, and clients of several TLS libraries. Prints what the server logged: a JSON row
for each request, with its client, its path and the length of the response."""

import asyncio
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading

FOLDER = sys.argv[1]
KEY, CERTIFICATE = os.path.join(FOLDER, "key.pem"), os.path.join(FOLDER, "certificate.pem")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    rows = []

    def do_GET(self):
        body = ("secret of " + self.path).encode() * 40
        self.rows.append((self.path.split("/")[1], self.path, len(body)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


async def ask(port, name="asyncio", n=3):
    """Memory BIOs: no socket call within the calls of OpenSSL."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    for i in range(n):
        writer.write(f"GET /{name}/{i} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
    writer.close()


async def ask_many(port):
    """Connections of one thread at the same time, with requests of the same length."""
    await asyncio.gather(*[ask(port, f"c{i:02}", 4) for i in range(20)])


def main():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", KEY, "-out", CERTIFICATE,
                    "-days", "1", "-subj", "/CN=localhost"], check=True, capture_output=True)
    port = serve()
    for clients in sys.argv[2:]:
        if clients == "curl":
            urls = [f"https://127.0.0.1:{port}/curl/{i}" for i in range(3)]
            subprocess.run(["curl", "-sk", "--http1.1", *urls], check=True, stdout=subprocess.DEVNULL)
        elif clients == "wget":
            for i in range(2):
                subprocess.run(["wget", "-qO/dev/null", "--no-check-certificate",
                                f"https://127.0.0.1:{port}/wget/{i}"], check=True)
        elif clients == "many":
            asyncio.run(ask_many(port))
        else:
            asyncio.run(ask(port))
    print(json.dumps(Handler.rows))


main()
