#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a server of a release's packages and its clients, over loopback: servers.py NAME ROOT. Prints as JSON what the
server or the client counted itself."""

import contextlib
import glob
import http.client
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 180 # RabbitMQ on a busy machine
USER = "65534"
SQL = "/usr/lib/postgresql/15/bin"


def chroot(root, *words, **named):
    return subprocess.run(["chroot", f"--userspec={USER}:{USER}", root, *words], check=True, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, **named).stdout


def wait_until(root, *words):
    """Runs the command until it succeeds."""
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            chroot(root, *words)
            return
        except subprocess.CalledProcessError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, address="127.0.0.1"):
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            socket.create_connection((address, port)).close()
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


def add_user(root):
    """Gives the servers' user a name in the root."""
    with open(os.path.join(root, "etc/passwd"), "w", encoding="utf-8") as f:
        f.write(f"server:x:{USER}:{USER}::/tmp:/bin/sh\n")


def add_random(root):
    path = os.path.join(root, "dev/urandom")
    if not os.path.exists(path):
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 9))


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


def http2(root):
    """Status and microseconds of each request in the log of h2load, by run, and the bytes that it counts."""
    port, proxy, truth = free_port(), free_port(), {"received": 0}
    with folder(root) as data:
        for name, size in ("small", 20), ("large", 100000):
            with open(f"{root}{data}/{name}", "w", encoding="utf-8") as f:
                f.write("x" * size)
        with open(f"{root}{data}/list", "w", encoding="utf-8") as f:
            f.write("".join(f"http://127.0.0.1:{port}{path}\n" for path in ("/small", "/small?n=1", "/none")))
        with server(root, port, "/usr/sbin/nghttpd", "--no-tls", "-d", data, str(port)):
            large = f"http://127.0.0.1:{port}/large"
            for name, *words in ("one", "-m1", "-c2", "-n300", "-i", f"{data}/list"), \
                                ("many", "-m10", "-c1", "-n300", "-i", f"{data}/list"), \
                                ("large", "-m1", "-c1", "-n50", large):
                told = chroot(root, "/usr/bin/h2load", *words, f"--log-file={data}/log")
                truth["received"] += int(re.search(r"\((\d+)\) total", told)[1])
                with open(f"{root}{data}/log", encoding="utf-8") as f:
                    truth[name] = [list(map(int, line.split()[1:])) for line in f]
                os.remove(f"{root}{data}/log")
            with server(root, proxy, "/usr/sbin/nghttpx", "--conf=/dev/null", f"--frontend=127.0.0.1,{proxy};no-tls",
                        f"--backend=127.0.0.1,{port};;proto=h2", "--single-process"):
                chroot(root, "/usr/bin/nghttp", "-u", f"http://127.0.0.1:{proxy}/small?upgraded")
    print(json.dumps(truth))


GRPC_SERVER = """import sys, threading, time, grpc
from concurrent import futures
def add(data, context):
    if data == b"none":
        context.abort(grpc.StatusCode.NOT_FOUND, "no caf\u00e9")
    if data == b"slow":
        time.sleep(1)
    return data * 2
def watch(data, context):
    for i in range(5):
        yield data
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Cart", {
    "Add": grpc.unary_unary_rpc_method_handler(add), "Watch": grpc.unary_stream_rpc_method_handler(watch)})])
server.add_insecure_port("127.0.0.1:" + sys.argv[1])
server.start()
server.wait_for_termination()
"""

GRPC_CLIENT = """import sys, time, grpc
def call(what, data, **named):
    try:
        result = what(data, **named)
        return result if isinstance(result, bytes) else list(result)
    except grpc.RpcError as error:
        return error
with grpc.insecure_channel("127.0.0.1:" + sys.argv[1]) as channel:
    add, watch, other = channel.unary_unary("/shop.Cart/Add"), channel.unary_stream("/shop.Cart/Watch"), \
                        channel.unary_unary("/shop.Cart/Other")
    trace = (("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),)
    for i in range(20):
        call(add, b"x" * i, metadata=trace)
        call(watch, b"y")
    for i in range(5):
        call(add, b"none")
        call(other, b"")
    slow = add.future(b"slow")
    time.sleep(0.2)
    slow.cancel()
    call(add, b"")
"""


def grpc(root):
    port = free_port()
    with server(root, port, "/usr/bin/python3", "-c", GRPC_SERVER, str(port)):
        chroot(root, "/usr/bin/python3", "-c", GRPC_CLIENT, str(port))
    print(json.dumps({"/shop.Cart/Add": 27, "/shop.Cart/Watch": 20, "/shop.Cart/Other": 5}))


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
        text = t.ask(b"stats\r\n", b"END\r\n", "STATS", "<NA>").decode()
    print(json.dumps({"rows": t.rows, "stats": {name: int(n) for name, n in re.findall(r"STAT (\w+) (\d+)\r", text)}}))


def redis(root):
    port = free_port()
    with server(root, port, "/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                "--dir", "/tmp", "--enable-debug-command", "yes"):
        chroot(root, "/usr/bin/redis-benchmark", "-p", str(port), "-n", "400", "-c", "5", "-P", "4", "-q",
               "-t", "ping_mbulk,set,get,incr,lpush,lrange_100,mset")
        to = ["/usr/bin/redis-cli", "-p", str(port)]
        chroot(root, *to, "-r", "20", "lpush", "key:__rand_int__", "no list")
        chroot(root, *to, "-r", "10", "incr", "mylist")
        chroot(root, *to, "-r", "5", "get")
        chroot(root, *to, "-r", "10", "debug", "sleep", "0.02")
        slow = json.loads(chroot(root, *to, "--json", "slowlog", "get", "100"))
        text = chroot(root, *to, "info", "commandstats", "errorstats", "stats")
    print(json.dumps({"slow": [us for _, _, us, words, *_ in slow if words[:2] == ["debug", "sleep"]],
                      "bytes": [int(n) for n in re.findall(r"total_net_(?:in|out)put_bytes:(\d+)", text)],
                      "calls": {name.upper(): int(n) for name, n in re.findall(r"cmdstat_(\w+)\S*?:calls=(\d+)", text)},
                      "errors": {name: int(n) for name, n in re.findall(r"errorstat_(\w+):count=(\d+)", text)}}))


SQL_FAILING = ("select * from none", "select 1/0", "selec 1", "do $$ begin raise 'mine'; end $$",
               "set statement_timeout=10; select pg_sleep(1)", "select pg_terminate_backend(pg_backend_pid())")


def pgsql(root):
    """The latencies that pgbench logs, in microseconds, by mode; statements and errors that the server logs."""
    port, truth = free_port(), {}
    add_user(root)
    with folder(root) as data:
        to = ["-h", "127.0.0.1", "-p", str(port)]
        chroot(root, f"{SQL}/initdb", "-D", f"{data}/db", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
                    "dynamic_shared_memory_type=mmap", "log_statement=all", "log_line_prefix=%e ", "logging_collector=on",
                    f"log_directory={data}", "log_filename=log")
        with server(root, port, f"{SQL}/postgres", "-D", f"{data}/db", "-p", str(port),
                    *(word for setting in settings for word in ("-c", setting))):
            wait_until(root, f"{SQL}/pg_isready", *to, "-d", "postgres")
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
            for name, sql in [("postgres", sql) for sql in SQL_FAILING] + [("none", "select 1")]:
                subprocess.run(["chroot", root, f"{SQL}/psql", *to, "-U", "server", "-c", sql, name], check=False,
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(f"{root}{data}/log", encoding="utf-8") as f:
            log = f.read().replace("\n\t", "\n")
    truth["statements"] = re.findall(r"^\w{5} LOG:  (?:statement|execute \w+|execute <unnamed>): (.*)", log, re.M)
    truth["errors"] = re.findall(r"^(\w{5}) (?:ERROR|FATAL):  (.*?)(?: at character \d+)?$", log, re.M)
    print(json.dumps(truth))


PREPARED = """use DBI;
my $db = DBI->connect("dbi:MariaDB:database=shop;host=127.0.0.1;port=$ARGV[0]", "server", "",
                      {mariadb_server_prepare => 1, RaiseError => 1, PrintError => 0});
my $insert = $db->prepare("insert into item values (?, ?)");
$insert->execute($_, "name $_") for 1 .. 20;
my $select = $db->prepare("select name from item where id < ?");
for (1 .. 20) { $select->execute($_); $select->fetchall_arrayref; }
eval { $db->do("select * from nothing") };
print $db->err, " ", $db->state;
"""


FAILING = ("selec 1", "select * from none", "insert into one values (1), (1)", "signal sqlstate '45000'",
           "kill connection connection_id()", "set max_statement_time=0.01; select sleep(1)")


def fill(port):
    """Takes all connections of a server of MySQL, and makes one more. Returns them."""
    taken = []
    while not taken or b"Too many" not in taken[-1].recv(4096):
        taken.append(socket.create_connection(("127.0.0.1", port)))
    return taken


def mysql(root):
    """The server's counters, the errors that clients got, bytes of the server's greeting."""
    port, client = free_port(), "/usr/bin/mariadb"
    add_user(root)
    with folder(root) as data, \
         server(root, port, "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", "--skip-grant-tables",
                f"--port={port}", "--bind-address=127.0.0.1", f"--socket={data}/socket", "--local-infile=1"):
        to = ["--no-defaults", "--protocol=tcp", "-h", "127.0.0.1", "-P", str(port)]
        def run(sql, *words):
            return chroot(root, client, *to, *words, "-e", sql)
        with socket.create_connection(("127.0.0.1", port)) as s:
            greeting = len(s.recv(4096))
        run("create database shop; create table shop.item (id int, name text); create table shop.one (id int primary key)")
        with open(f"{root}{data}/rows", "w", encoding="utf-8") as f:
            f.writelines(f"{i}\tname {i}\n" for i in range(1000, 4000))
        run(f"load data local infile '{data}/rows' into table item", "--local-infile=1", "shop") # the server reports progress
        run("delimiter //\nselect 1; select 2; select 3; select 4//", "shop") # one query with four results
        chroot(root, "/usr/bin/mariadb-slap", *to, "--auto-generate-sql", "--number-of-queries=200", "-c", "2")
        errors = [chroot(root, "/usr/bin/perl", "-e", PREPARED, str(port))]
        for name, sql in [("shop", sql) for sql in FAILING] + [("none", "select 1")]:
            p = subprocess.run(["chroot", root, client, *to, name, "-e", sql], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL)
            errors += map(" ".join, re.findall(r"ERROR (\d+) \((\w+)\)", p.stderr))
        run("set global max_connections=10")
        for s in fill(port):
            s.close()
        wait_until(root, client, *to, "-e", "set global max_connections=100")
        text = run("show global status", "-N")
    counts = {name: int(n) for name, n in (line.split("\t") for line in text.splitlines()) if n.isdigit()}
    print(json.dumps({"counts": counts, "errors": errors, "greeting": greeting}))


def dns_query(number, name, kind):
    labels = b"".join(bytes((len(label),)) + label.encode() for label in name.split("."))
    return struct.pack(">6H", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def dns_udp(address):
    """Ten questions in flight at a time, to one socket of many clients."""
    names = [(number, f"host{number % 40}.test" if number % 10 else f"host{number}.elsewhere", (1, 28, 16)[number % 3])
             for number in range(200)]
    with socket.socket(type=socket.SOCK_DGRAM) as a, socket.socket(type=socket.SOCK_DGRAM) as b:
        for at in range(0, len(names), 10):
            for i, row in enumerate(names[at:at + 10]):
                (a, b)[i % 2].sendto(dns_query(*row), address)
            for i in range(10):
                (a, b)[i % 2].recvfrom(4096)


def dns_tcp(address):
    with socket.create_connection(address) as s, s.makefile("rb") as answers:
        queries = [dns_query(number, f"tcp{number}.test", 1) for number in range(20)]
        s.sendall(b"".join(struct.pack(">H", len(query)) + query for query in queries))
        for _ in queries:
            answers.read(struct.unpack(">H", answers.read(2))[0])


def dns_resolver(folder_, address):
    """The C library sends its two questions by one sendmmsg."""
    conf = os.path.join(folder_, "resolv.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(f"nameserver {address}\n")
    program = "import socket\nfor i in range(10): socket.getaddrinfo(f'libc{i}.test', 80)"
    subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind "$1" /etc/resolv.conf && exec python3 -c "$2"', "sh",
                    conf, program], check=True)


def dns(root):
    """The questions that dnsmasq logs, and how many it refuses."""
    address = f"127.53.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"
    add_user(root)
    add_random(root)
    with folder(root) as data:
        log = f"{root}{data}/log"
        child = subprocess.Popen(["chroot", root, "/usr/sbin/dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null",
                                  "--no-resolv", "--no-hosts", "--pid-file=", f"--listen-address={address}",
                                  "--bind-interfaces", "--address=/test/127.0.0.9", "--address=/test/::9",
                                  "--user=server", "--group=", "--log-queries", f"--log-facility={data}/log"],
                                 stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            wait_for(53, address)
            dns_udp((address, 53))
            dns_tcp((address, 53))
            dns_resolver(root + data, address)
        finally:
            child.terminate()
            child.wait()
        with open(log, encoding="utf-8") as f:
            text = f.read()
    print(json.dumps({"questions": re.findall(r"query\[(\w+)\] (\S+) from", text),
                      "refused": text.count("is REFUSED")}))


FPM = """[global]
error_log = {0}/error.log
daemonize = no
[www]
listen = {1}
pm = static
pm.max_children = 2
access.log = {0}/access.log
access.format = "%m %r %s %{{microseconds}}d"
"""

NGINX = """daemon off;
pid {0}/pid;
error_log {0}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {0}/body;
    proxy_temp_path {0}/proxy;
    fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi;
    scgi_temp_path {0}/scgi;
    upstream tcp {{ server 127.0.0.1:{1}; keepalive 2; }}
    server {{
        listen 127.0.0.1:{2};
        fastcgi_param REQUEST_METHOD $request_method;
        fastcgi_param REQUEST_URI $request_uri;
        fastcgi_param SCRIPT_NAME $uri;
        fastcgi_param QUERY_STRING $query_string;
        fastcgi_param CONTENT_LENGTH $content_length;
        fastcgi_param SCRIPT_FILENAME {0}/page.php;
        location /unix {{ fastcgi_pass unix:{0}/socket; }}
        location /tcp {{ fastcgi_pass tcp; fastcgi_keep_conn on; }}
    }}
}}
"""

PAGE = """<?php
http_response_code((int)$_GET["status"]);
echo str_repeat("x", (int)$_GET["size"]);
usleep((int)$_GET["us"]);
"""


def fastcgi(_root):
    """The access log, with microseconds, of two servers of PHP, whose client is nginx, over TCP and over a unix socket."""
    port, web = free_port(), free_port()
    with tempfile.TemporaryDirectory() as data, contextlib.ExitStack() as stack:
        with open(f"{data}/page.php", "w", encoding="utf-8") as f:
            f.write(PAGE)
        servers = []
        for name, listen in ("unix", f"{data}/socket"), ("tcp", f"127.0.0.1:{port}"):
            os.mkdir(f"{data}/{name}")
            with open(f"{data}/{name}/conf", "w", encoding="utf-8") as f:
                f.write(FPM.format(f"{data}/{name}", listen))
            servers.append([glob.glob("/usr/sbin/php-fpm8.?")[0], "-F", "-R", "-y", f"{data}/{name}/conf"])
        with open(f"{data}/nginx.conf", "w", encoding="utf-8") as f:
            f.write("user root;\n" + NGINX.format(data, port, web))
        servers.append(["nginx", "-c", f"{data}/nginx.conf", "-e", f"{data}/nginx.log"])
        for words in servers:
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(child.wait)
            stack.callback(child.terminate)
        for number in port, web:
            wait_for(number)
        while not os.path.exists(f"{data}/socket"):
            time.sleep(0.05)
        for i in range(30):
            for name in "unix", "tcp":
                for method in "GET", "POST":
                    connection = http.client.HTTPConnection("127.0.0.1", web)
                    connection.request(method, f"/{name}/{i}?status={(200, 404, 500)[i % 3]}&size={i * 300}&us={i // 25 * 20000}",
                                       b"b" * i * 100 if method == "POST" else None)
                    connection.getresponse().read()
                    connection.close()
        stack.close()
        log = {}
        for name in "unix", "tcp":
            with open(f"{data}/{name}/access.log", encoding="utf-8") as f:
                log[name] = [line.split() for line in f]
    print(json.dumps(log))


def nats_client(port, *lines):
    """A connection with its lines, up to the server's answer to a PING behind them."""
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"".join((b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n', *lines, b"PING\r\n")))
    got = b""
    while b"PONG\r\n" not in got:
        got += s.recv(65536)
    return s


def nats(root):
    """The messages that the server counts, and those without a subscriber."""
    port, web = free_port(), free_port()
    with server(root, port, "/usr/sbin/nats-server", "-a", "127.0.0.1", "-p", str(port), "-m", str(web)):
        wait_for(web)
        worker = nats_client(port, b"SUB work 1\r\n")
        for i in range(50):
            with nats_client(port, b"SUB box.%d 1\r\n" % i) as client:
                client.sendall(b"PUB work box.%d %d\r\n%s\r\nPUB none %d\r\n%s\r\n" %
                               (i, i, b"x" * i, i * 100, b"y" * i * 100))
                got = b""
                while not got.endswith(b"x" * i + b"\r\n") or got.count(b"\r\n") < 2:
                    got += worker.recv(65536)
                worker.sendall(b"PUB box.%d 3\r\nyes\r\n" % i)
                got = b""
                while not got.endswith(b"yes\r\n"):
                    got += client.recv(65536)
                client.sendall(b"PUB unserved box.%d 0\r\n\r\n" % i)
                while b" 503" not in got:
                    got += client.recv(65536)
        worker.close()
        connection = http.client.HTTPConnection("127.0.0.1", web)
        connection.request("GET", "/varz")
        counted = json.loads(connection.getresponse().read())
    print(json.dumps({"in": counted["in_msgs"], "out": counted["out_msgs"]}))


# Argument: the port. Counts its calls by the names of methods, and their results.
AMQP = """
import collections, json, pika, sys
n, results = collections.Counter(), collections.Counter()
connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", int(sys.argv[1]), heartbeat=0))
def channel(count="channel.open"):
    n[count] += 1
    return connection.channel()
def declare(on, queue, **named):
    n["queue.declare"] += 1
    on.queue_declare(queue, **named)
def publish(on, exchange, key, size, **named):
    n["basic.publish"] += 1
    on.basic_publish(exchange, key, b"x" * size, **named)
plain, sure = channel(), channel()
sure.confirm_delivery()
for queue in "work", "sure":
    declare(plain, queue)
# The confirmation shows that the broker has read both: neither it nor the client reads more at once than is captured.
for i in range(50):
    publish(plain, "", "work", i * 30)
    publish(sure, "", "sure", i * 300)
for _ in range(5):
    try:
        publish(sure, "", "nowhere", 10, mandatory=True)
    except pika.exceptions.UnroutableError:
        n["basic.return"] += 1
for i in range(55):
    n["basic.get"] += 1
    method, _, body = sure.basic_get("sure")
    results["got" if method else "empty"] += 1
    if method:
        n["basic.ack"] += 1
        sure.basic_ack(method.delivery_tag)
plain.basic_qos(prefetch_count=1)
for method, _, body in plain.consume("work", inactivity_timeout=20):
    n["basic.deliver"] += 1
    n["basic.ack"] += 1
    plain.basic_ack(method.delivery_tag)
    if n["basic.deliver"] == 50:
        break
plain.cancel()
for i in range(10):
    on = channel()
    try:
        if i % 2:
            declare(on, "absent", passive=True)
        else:
            on.confirm_delivery()
            publish(on, "absent", "key", 10)
    except pika.exceptions.ChannelClosedByBroker as error:
        results[error.reply_code] += 1
connection.close()
print(json.dumps({"methods": n, "results": results}))
"""


@contextlib.contextmanager
def rabbitmq(root, port):
    """The broker with Erlang's port mapper, which would stay otherwise: both at the address of loopback only."""
    with open(os.path.join(root, "etc/hosts"), "w", encoding="utf-8") as f:
        f.write("127.0.0.1 localhost\n")
    mapper = free_port()
    home = glob.glob(f"{root}/usr/lib/rabbitmq/lib/rabbitmq_server-*")[0].removeprefix(root)
    bin_ = os.path.dirname(glob.glob(f"{root}/usr/lib/erlang/erts-*/bin/erlexec")[0].removeprefix(root))
    with folder(root) as data, server(root, mapper, f"{bin_}/epmd", "-port", str(mapper), "-address", "127.0.0.1"):
        with open(f"{root}{data}/rabbitmq.conf", "w", encoding="utf-8") as f: # the root has no /proc
            f.write("vm_memory_calculation_strategy = allocated\nvm_memory_high_watermark.absolute = 256MB\n")
        env = {"ROOTDIR": "/usr/lib/erlang", "BINDIR": bin_, "EMU": "beam", "PROGNAME": "erl", "HOME": data,
               "PATH": "/usr/bin:/bin", "ERL_LIBS": f"{home}/plugins", "ERL_EPMD_PORT": str(mapper),
               "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_HOME": home, "RABBITMQ_NODENAME": "rabbit@localhost",
               "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_NODE_PORT": str(port),
               "RABBITMQ_DIST_PORT": str(free_port()), "RABBITMQ_MNESIA_BASE": data, "RABBITMQ_LOG_BASE": data,
               "RABBITMQ_ENABLED_PLUGINS_FILE": f"{data}/plugins", "RABBITMQ_CONFIG_FILE": f"{data}/rabbitmq"}
        with server(root, port, "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in env.items()),
                    f"{bin_}/erlexec", "-noinput", "-s", "rabbit", "boot", "-boot", "start_sasl", "+W", "w",
                    "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-syslog", "logger", "[]",
                    "-syslog", "syslog_error_logger", "false"):
            yield


def amqp(root):
    """What the client did, and its results."""
    port = free_port()
    add_user(root)
    add_random(root)
    with rabbitmq(root, port):
        print(chroot(root, "/usr/bin/python3", "-c", AMQP, str(port)), end="")


# The broker that librdkafka has for its tests, with errors for the next requests of an API; ends with its input.
KAFKA = """
import ctypes, sys
lib = ctypes.CDLL("librdkafka.so.1")
for name in "rd_kafka_new", "rd_kafka_mock_cluster_new":
    getattr(lib, name).restype = ctypes.c_void_p
lib.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
client = ctypes.c_void_p(lib.rd_kafka_new(0, None, ctypes.create_string_buffer(512), 512))
cluster = ctypes.c_void_p(lib.rd_kafka_mock_cluster_new(client, 1))
lib.rd_kafka_mock_topic_create(cluster, b"item", 1, 1)
for api, code in (0, 7), (0, 19), (2, 6), (22, 14):
    lib.rd_kafka_mock_push_request_errors(cluster, ctypes.c_int16(api), ctypes.c_size_t(1), ctypes.c_int(code))
print(lib.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
sys.stdin.read()
"""


def kafka(root):
    """Name and bytes of each request and response in the logs of clients; without a response: 0."""
    broker = subprocess.Popen(["chroot", root, "/usr/bin/python3", "-c", KAFKA], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    to = ["chroot", root, "/usr/bin/kcat", "-b", broker.stdout.readline().strip(), "-d", "protocol", "-X",
          "fetch.wait.max.ms=10"]
    with tempfile.NamedTemporaryFile("w+") as sent:
        sent.write("a\nb\nc\n" * 10)
        sent.flush()
        rows = []
        for words in ["-P", "-t", "item"], ["-P", "-t", "item", "-X", "enable.idempotence=true"], \
                     ["-P", "-t", "item", "-X", "acks=0"], ["-C", "-e", "-t", "item"], ["-G", "group", "-e", "item"]:
            sent.seek(0)
            log = subprocess.run([*to, *words], stdin=sent, capture_output=True, text=True, check=True).stderr
            found = {}
            for thread, what, name, size, number in re.findall(
                    r"thrd:(\S+)\]: .*: (Sent|Received) (\w+)(?:Request|Response) \(v\d+, (\d+) bytes.*CorrId (\d+)", log):
                if what == "Sent":
                    found[thread, number] = [name, int(size), 0]
                else: # its size lacks that of the length and of the number
                    found[thread, number][2] = int(size) + 8
            rows += found.values()
    broker.stdin.close()
    broker.wait()
    print(json.dumps(rows))


# Argument: the port. Prints the command of each message, its bytes, and those of the answer.
MONGODB_SERVER = """
import bson, itertools, json, re, socket, struct, sys, threading, time
numbers, lock = itertools.count(1000), threading.Lock()
hello = {"ismaster": True, "maxBsonObjectSize": 1 << 24, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000,
         "minWireVersion": 0, "maxWireVersion": 9, "ok": 1.0}
unique = {"n": 0, "writeErrors": [{"index": i, "code": 11000, "errmsg": "E11000 duplicate key"} for i in range(9)]}
unsafe = {"n": 1, "writeConcernError": {"code": 64, "codeName": "WriteConcernFailed", "errmsg": "timed out"}}
none = {"ok": 0.0, "errmsg": "ns not found", "code": 26, "codeName": "NamespaceNotFound"}
def batch(name, number, n):
    return {"cursor": {name: [{"_id": i, "text": "x" * 90} for i in range(n)], "id": bson.Int64(number), "ns": "shop.item"}}
answers = {"ismaster": hello, "insert unique": unique, "insert unsafe": unsafe, "count none": none,
           "find item": batch("firstBatch", 7, 5), "find large": batch("firstBatch", 0, 50),
           "getMore 7": batch("nextBatch", 0, 2)}
def receive(s, n):
    data = s.recv(n, socket.MSG_WAITALL)
    if len(data) < n:
        raise EOFError
    return data
def serve(s):
    try:
        while True:
            size, number, _, op = struct.unpack("<4i", receive(s, 16))
            data = receive(s, size - 16)
            at = data.index(b"\\0", 4) + 9 if op == 2004 else 5
            body = bson.decode(data[at:at + struct.unpack("<i", data[at:at + 4])[0]])
            name = next(iter(body))
            time.sleep(0.01 if name == "sleep" else 0)
            out = bson.encode(dict({"ok": 1.0}, **answers.get(name, answers.get(f"{name} {body[name]}", {"n": 1}))))
            out = (struct.pack("<iqii", 8, 0, 0, 1) if op == 2004 else struct.pack("<Ib", 0, 0)) + out
            out = struct.pack("<4i", len(out) + 16, next(numbers), number, 1 if op == 2004 else 2013) + out
            if op == 2013 and data[0] & 2:
                out = b""
            with lock:
                print(json.dumps([name, size, len(out)]), flush=True)
            s.sendall(out)
    except EOFError:
        s.close()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""

# Prints what its driver tells of each command: name, microseconds, code and name of the error.
MONGODB_CLIENT = """
import json, pymongo, sys
from pymongo import errors, monitoring
class Log(monitoring.CommandListener):
    def started(self, event):
        pass
    def succeeded(self, event):
        print(json.dumps([event.command_name, event.duration_micros, 0, None]))
    def failed(self, event):
        print(json.dumps([event.command_name, event.duration_micros, event.failure["code"], event.failure["codeName"]]))
client = pymongo.MongoClient("127.0.0.1", int(sys.argv[1]), event_listeners=[Log()])
db = client.shop
def fails(do, *words):
    try:
        do(*words)
    except errors.PyMongoError:
        return
    raise SystemExit(f"no error: {words}")
for i in range(10):
    db.item.insert_many([{"_id": i, "text": "y" * 200} for i in range(30)])
    fails(db.unique.insert_one, {"_id": 1})
    fails(db.unsafe.insert_one, {"_id": 1})
    fails(db.command, "count", "none")
    list(db.item.find())
    list(db.large.find())
    db.command("sleep", 1)
    db.get_collection("item", write_concern=pymongo.WriteConcern(w=0)).insert_one({"_id": i})
client.admin.command("ping") # behind what is not acknowledged
"""


def mongodb(root):
    """What the driver tells of its commands, and their bytes, which the server counts. No server is in Debian."""
    port = free_port()
    with subprocess.Popen(["chroot", root, "/usr/bin/python3", "-c", MONGODB_SERVER, str(port)], text=True,
                          stdout=subprocess.PIPE) as child:
        wait_for(port)
        text = subprocess.run(["chroot", root, "/usr/bin/python3", "-c", MONGODB_CLIENT, str(port)], check=True,
                              capture_output=True, text=True).stdout
        child.terminate()
        served = child.stdout.read()
    client, server_ = ([json.loads(line) for line in lines.splitlines()] for lines in (text, served))
    print(json.dumps({"client": client, "server": server_}))


if __name__ == "__main__":
    {"http2": http2, "grpc": grpc, "memcached": memcached, "redis": redis, "pgsql": pgsql, "mysql": mysql, "dns": dns,
     "fastcgi": fastcgi, "nats": nats, "amqp": amqp, "kafka": kafka, "mongodb": mongodb}[sys.argv[1]](sys.argv[2])
