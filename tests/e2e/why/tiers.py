#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shop in three tiers with injected faults: nginx, a server of Python, PostgreSQL and redis. tiers.py ROOT-OF-POSTGRES
ROOT-OF-REDIS. The path of each request is the fault. Prints the paths that were requested."""

import http.client
import http.server
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import contextlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../requests"))
import scenes
import servers

FAULT_S = 0.15
NGINX = """daemon off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream app {{ server 127.0.0.1:{app}; keepalive 4; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


class Sql:
    """A connection to PostgreSQL: simple queries only."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")
        start = struct.pack("!i", 196608) + b"user\0server\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(start) + 4) + start)
        self.until_ready()

    def close(self):
        self.file.close()
        self.socket.close()

    def until_ready(self):
        kind = None
        while kind != b"Z":
            kind = self.file.read(1)
            body = self.file.read(struct.unpack("!i", self.file.read(4))[0] - 4)
            if kind == b"E":
                raise ValueError(body)

    def run(self, query):
        query = query.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
        self.until_ready()


class Redis:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def run(self, *words):
        words = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.file.readline()


class Shop(http.server.ThreadingHTTPServer):
    daemon_threads = True
    sql_port = redis_port = silent_port = None
    pool = threading.Semaphore(1)
    jobs = queue.Queue()
    own = threading.local()

    def sql(self):
        if not hasattr(self.own, "sql"):
            self.own.sql, self.own.redis = Sql(self.sql_port), Redis(self.redis_port)
        return self.own.sql

    def redis(self):
        self.sql()
        return self.own.redis


# ---- faults ----

def row_lock(shop):
    def hold(ready):
        began = time.monotonic()
        sql = Sql(shop.sql_port)
        sql.run("BEGIN")
        sql.run("UPDATE item SET n = n + 1 WHERE id = 1")
        ready.set()
        time.sleep(max(FAULT_S, 3 * (time.monotonic() - began))) # what comes before may take long
        sql.run("COMMIT")

    scenes.start("stocktaker", hold)
    shop.sql().run("UPDATE item SET n = n - 1 WHERE id = 1")


def many_queries(shop):
    for i in range(400):
        shop.sql().run(f"SELECT sum(n) FROM item, generate_series(1, 2500) WHERE id = {i % 10}")


def redis_is_busy(shop):
    """Somebody else's command keeps redis busy."""
    def scan(ready):
        ready.set()
        Redis(shop.redis_port).run("DEBUG", "SLEEP", FAULT_S)

    scenes.start("reporter", scan)
    time.sleep(0.01)
    shop.redis().run("GET", "cart")


def lock_is_held(name, work):
    """Another thread holds the lock while it works."""
    lock = threading.Lock()

    def hold(ready):
        with lock:
            ready.set()
            work(FAULT_S)

    scenes.start(name, hold)
    with lock:
        pass


def pool_is_empty(shop):
    """The only connection is used by another thread, for a slow query."""
    def use(ready):
        with shop.pool:
            ready.set()
            Sql(shop.sql_port).run(f"SELECT pg_sleep({FAULT_S})")

    scenes.start("exporter", use)
    with shop.pool:
        shop.sql().run("SELECT 1")


def no_reply(shop):
    with socket.create_connection(("127.0.0.1", shop.silent_port)) as s:
        s.settimeout(FAULT_S)
        s.sendall(b"GET /price HTTP/1.1\r\nHost: prices\r\n\r\n")
        with contextlib.suppress(TimeoutError):
            s.recv(100)


def slow_disk(shop):
    """Of a call that writes little to a fast disk, the CPU has a good part."""
    end, data = time.monotonic() + FAULT_S, bytes(1 << 20)
    with open(shop.file, "wb", buffering=0) as f:
        while time.monotonic() < end:
            os.pwrite(f.fileno(), data, 0)
            os.fsync(f.fileno())


def dns(shop):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", shop.dns_port))
        s.send(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\5price\7example\0\0\1\0\1")
        s.recv(512)


def work_queue(shop):
    done = threading.Event()
    shop.jobs.put(done)
    done.wait()


FAULTS = {
    "/none": lambda shop: shop.sql().run("SELECT 1"),
    "/slow-query": lambda shop: shop.sql().run(f"SELECT pg_sleep({FAULT_S})"),
    "/row-lock": row_lock,
    "/big-query": lambda shop: shop.sql().run("SELECT count(*) FROM generate_series(1, 1500000) AS g(i) WHERE i % 3 = 0"),
    "/many-queries": many_queries,
    "/redis-sleeps": lambda shop: shop.redis().run("DEBUG", "SLEEP", FAULT_S),
    "/redis-script": lambda shop: shop.redis().run("EVAL", "local x = 0; for i = 1, 20000000 do x = x + i end", 0),
    "/redis-busy": redis_is_busy,
    "/lock-json": lambda shop: lock_is_held("json-dumper", scenes.burn),
    "/lock-sleep": lambda shop: lock_is_held("cacher", time.sleep),
    "/pool": pool_is_empty,
    "/cpu": lambda shop: scenes.burn(FAULT_S),
    "/hog": scenes.on_hog,
    "/sleep": lambda shop: time.sleep(FAULT_S),
    "/no-reply": no_reply,
    "/disk": slow_disk,
    "/child": lambda shop: subprocess.run(["/bin/sleep", str(FAULT_S)], check=True),
    "/dns": dns,
    "/queue": work_queue,
    "/flock": scenes.on_flock,
    "/pipe": scenes.on_pipe,
}


# ---- tiers ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16 # one write: a second one would wait for the client's delayed ACK

    def log_message(self, *args):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path in FAULTS:
            FAULTS[self.path](self.server)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        return body

    do_GET = do_POST = answer

    def handle(self):
        scenes.set_name("handler")
        super().handle()


def serve_dns(s):
    while True:
        question, peer = s.recvfrom(512)
        time.sleep(FAULT_S)
        s.sendto(question[:2] + b"\x81\x80" + question[4:6] + b"\0\0\0\0\0\0" + question[12:], peer)


def serve_nothing(listener):
    kept = []
    while True:
        kept.append(listener.accept())


def work_on_jobs(shop, ready):
    ready.set()
    while True:
        done = shop.jobs.get()
        scenes.burn(FAULT_S)
        done.set()


def serve_app(shop, ready_fd):
    scenes.start("worker", work_on_jobs, shop)
    os.write(ready_fd, b"x")
    shop.serve_forever()


def post_slowly(port, path):
    """A client with a slow line."""
    print(path)
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"POST %s HTTP/1.0\r\nContent-Length: 4\r\n\r\nab" % path.encode())
        time.sleep(FAULT_S)
        s.sendall(b"cd")
        while s.recv(1000):
            pass


def has_unread(port):
    """Whether a connection to the port has data that its server has not read."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and int(row[4].split(":")[1], 16) for row in rows if row[3] == "01")


def wait_for_stop(pid):
    """Waits until all threads are stopped: each runs until it sees the signal."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        states = []
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        if set(states) == {"T"}:
            return
        time.sleep(0.01)


def get_while_stopped(port, path, pid, app_port):
    """The app is stopped when the request comes."""
    print(path)
    os.kill(pid, signal.SIGSTOP)
    wait_for_stop(pid)
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request("GET", path)
    end = time.monotonic() + 10
    while not has_unread(app_port) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(FAULT_S)
    os.kill(pid, signal.SIGCONT)
    client.getresponse().read()
    client.close()


@contextlib.contextmanager
def postgres(root, port):
    servers.add_user(root)
    with servers.folder(root) as data:
        servers.chroot(root, f"{servers.SQL}/initdb", "-D", f"{data}/db", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        with servers.server(root, port, f"{servers.SQL}/postgres", "-D", f"{data}/db", "-p", str(port), "-c",
                            "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c",
                            "dynamic_shared_memory_type=mmap", "-c", "max_parallel_workers_per_gather=0"):
            servers.wait_until(root, f"{servers.SQL}/pg_isready", "-h", "127.0.0.1", "-p", str(port))
            sql = Sql(port)
            sql.run("CREATE TABLE item (id int PRIMARY KEY, n int)")
            sql.run("INSERT INTO item SELECT i, 100 FROM generate_series(0, 9) AS g(i)")
            sql.close()
            yield


@contextlib.contextmanager
def nginx(folder, app, port):
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(NGINX.format(folder=folder, app=app, port=port))
    child = subprocess.Popen(["nginx", "-p", folder, "-c", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        servers.wait_for(port)
        yield
    finally:
        child.terminate()
        child.wait()


def run(shop, port, app_pid):
    for path in FAULTS:
        scenes.get(port, path)
    post_slowly(port, "/slow-client")
    get_while_stopped(port, "/stopped", app_pid, shop.server_port)
    print("done")


def main():
    folder, sql_root, redis_root = sys.argv[1:]
    shop = Shop(("127.0.0.1", 0), Handler)
    shop.sql_port, shop.redis_port, port = (servers.free_port() for _ in range(3))
    shop.file = os.path.join(folder, "orders")
    silent, names = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 0))
    shop.silent_port, shop.dns_port = silent.getsockname()[1], names.getsockname()[1]
    redis = ("/usr/bin/redis-server", "--port", str(shop.redis_port), "--bind", "127.0.0.1", "--save", "",
             "--enable-debug-command", "yes")
    with postgres(sql_root, shop.sql_port), servers.server(redis_root, shop.redis_port, *redis):
        scenes.fork("silent", serve_nothing, silent)
        scenes.fork("resolver", serve_dns, names)
        r, w = os.pipe()
        app = scenes.fork("app", serve_app, shop, w)
        os.close(w)
        os.read(r, 1)
        with nginx(folder, shop.server_port, port):
            run(shop, port, app)
        os.kill(app, 9)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
