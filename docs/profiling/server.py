# SPDX-License-Identifier: Apache-2.0
"""A server that notes each visit in a database and answers with a page, and its visitors.
docs/profiling.md has it profiled. server.py VISITS [--fixed]"""
import http.server
import json
import os
import sqlite3
import sys
import threading
import time
import urllib.request

VISITS, FIXED = int(sys.argv[1]), "--fixed" in sys.argv
STOCK = [{"name": f"part {i * 7919 % 4001}", "price": i * 31 % 977, "left": i % 13} for i in range(4000)]
PAGE = json.dumps(sorted(STOCK, key=lambda part: (part["price"], part["name"])))
open_db = lambda: sqlite3.connect("visits.db", timeout=60, check_same_thread=False)
one_writer, shared_db = threading.Lock(), open_db()


def note(db, path):
    with db:
        db.execute("insert into visits values (?, ?)", (time.time(), path))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if FIXED:
            with one_writer:
                note(shared_db, self.path)
        else:
            db = open_db()
            note(db, self.path)
            db.close()
        page = PAGE if FIXED else json.dumps(
            sorted(STOCK, key=lambda part: (part["price"], part["name"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *args):
        pass


def visit(port):
    for _ in range(VISITS // 4):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/").read()


shared_db.execute("create table if not exists visits (time, path)")
if FIXED:
    shared_db.execute("pragma journal_mode=wal")
    shared_db.execute("pragma synchronous=normal")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
port = server.server_address[1]
threading.Thread(target=server.serve_forever, daemon=True).start()
began = time.time()
if os.fork() == 0:
    open("/proc/self/comm", "w").write("visitors")
    threads = [threading.Thread(target=visit, args=(port,)) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    os._exit(0)
os.wait()
print(f"{VISITS / (time.time() - began):.0f} visits a second")
