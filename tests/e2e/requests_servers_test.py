#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests to real servers: they are the ones that the server, or its own client, counts."""

import collections
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import unittest

import runtimes
import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/servers.py")


class Server(unittest.TestCase):
    """A capture of one server with its clients."""
    name, packages = None, ()

    @classmethod
    def setUpClass(cls):
        if not cls.name:
            raise unittest.SkipTest("each subclass has a server")
        cls.capture = os.path.join(e2e.own_dir(cls), "capture.scap")
        root = os.path.realpath(runtimes.root("bookworm", *cls.packages)) if cls.packages else "/"
        p = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "/usr/bin/python3", PROGRAM,
                            cls.name, root], capture_output=True, text=True, timeout=3 * e2e.DEADLINE_S)
        assert p.returncode == 0, p.stderr
        cls.truth = json.loads(p.stdout)

    def rows(self, fields, *words):
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "*" + fields, f"request.proto={self.name}", *words)
        return text.splitlines()

    def counts(self, field, *words):
        return collections.Counter(self.rows(field, *words))


def load_tests(loader, _tests, _pattern):
    cases = Http2, Grpc, Memcached, Redis, Pgsql, Mysql, Dns, Fastcgi, Nats, Kafka, Mongodb # Amqp takes long to start
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


class Http2(Server):
    name, packages = "http2", ("nghttp2-client", "nghttp2-proxy", "nghttp2-server")
    LOAD = {"client": "and request.side=client and proc.name=h2load and request.resource",
            "server": "and request.side=server and proc.name=nghttpd and request.resource!=/small?upgraded and "
                      "request.resource"}

    def test_load(self):
        """As many of each status as h2load logs, in streams one after the other and at the same time, at both ends."""
        for run in "one", "many":
            self.assertEqual(collections.Counter(status for status, _ in self.truth[run]), {200: 200, 404: 100}, run)
        for side in "client", "server":
            got = self.counts("%request.method %request.resource %request.status %request.error %request.truncated",
                              self.LOAD[side] + "!=/large")
            self.assertEqual(got, {"GET /small 200 <NA> false": 200, "GET /small?n=1 200 <NA> false": 200,
                                   "GET /none 404 404 false": 200}, side)

    def test_latency(self):
        """The median is the one that h2load logs. With several streams its times are those of its queues, too."""
        got = self.rows("%request.latency", self.LOAD["client"] + "!=/large")
        want = [us for _, us in self.truth["one"]]
        median = statistics.median(int(ns) / 1000 for ns in got[:len(want)])
        self.assertLessEqual(abs(median - statistics.median(want)), max(0.05 * statistics.median(want), 20))

    def test_bytes(self):
        """Those that h2load counts, but frames of no stream: SETTINGS of one value and an acknowledgement, 24 bytes on
        each of its four connections."""
        for side, field in ("client", "in"), ("server", "out"):
            got = sum(map(int, self.rows(f"%request.bytes_{field}", self.LOAD[side] + " exists")))
            self.assertEqual(got, self.truth["received"] - 4 * 24, side)

    def test_large(self):
        """Responses whose frames are not all captured end where the next request begins."""
        self.assertEqual(len(self.truth["large"]), 50)
        for side in "client", "server":
            rows = self.counts("%request.status %request.failed", self.LOAD[side] + "=/large")
            self.assertEqual(rows, {"200 false": 50}, side)

    def test_upgrade(self):
        """The request of HTTP/1 is that of stream 1."""
        for side, name in ("client", "nghttp"), ("server", "nghttpx"):
            rows = self.rows("%request.resource %request.status %request.error %request.bytes_in",
                             f"and request.side={side} and request.stream=1 and proc.name={name}")
            self.assertEqual([row.rsplit(maxsplit=1)[0] for row in rows], ["/small?upgraded 200 <NA>"], side)
            self.assertGreater(int(rows[0].split()[-1]), 60, side)


class Grpc(Server):
    name, packages = "grpc", ("python3-grpcio",)

    def test_calls(self):
        """Methods and status of each call, at both ends."""
        for side in "client", "server":
            got = self.counts("%request.route %request.status %request.error %request.error_text",
                              f"and request.side={side} and not request.error=CANCEL")
            self.assertEqual(got, {"/shop.Cart/Add 200 <NA> <NA>": 21, "/shop.Cart/Watch 200 <NA> <NA>": 20,
                                   "/shop.Cart/Add 200 NOT_FOUND no caf\u00e9": 5,
                                   "/shop.Cart/Other 200 UNIMPLEMENTED Method not found!": 5}, side)
            got = self.counts("%request.resource", f"and request.side={side}")
            self.assertEqual(got, self.truth, side)
            self.assertEqual(self.counts("%request.trace_id", f"and request.side={side} and request.trace_id exists"),
                             {"0af7651916cd43dd8448eb211c80319c": 20}, side)

    def test_both_ends(self):
        """A call has the same connection and stream at both ends."""
        ends = [sorted(self.rows("%request.conn %request.stream %request.resource %request.error", "and "
                                 f"request.side={side}")) for side in ("client", "server")]
        self.assertEqual(ends[0], ends[1])
        self.assertEqual(sum(row.endswith(" CANCEL") for row in ends[0]), 1, ends[0])


class Memcached(Server):
    name, packages = "memcached", ("memcached",)

    def test_both_ends(self):
        """Command, key and bytes of each request, as the client counts them."""
        self.assertEqual(len(self.truth["rows"]), 121)
        for side, bytes_ in ("client", "%request.bytes_out %request.bytes_in"), \
                            ("server", "%request.bytes_in %request.bytes_out"):
            got = self.rows(f"%request.method %request.resource {bytes_}", f"and request.side={side}")
            self.assertEqual(got, [" ".join(map(str, row)) for row in self.truth["rows"]], side)

    def test_counters(self):
        """Commands and bytes that the server counts; keys of GET and GETS are two each."""
        stats, got = self.truth["stats"], self.counts("%request.method", "and request.side=server")
        self.assertEqual((2 * got["GET"] + 2 * got["GETS"] + got["MG"], got["SET"], got["TOUCH"]),
                         (stats["cmd_get"], stats["cmd_set"], stats["cmd_touch"]))
        for what, count, but in ("in", "bytes_read", ""), ("out", "bytes_written", "and request.method!=STATS"):
            self.assertEqual(sum(map(int, self.rows(f"%request.bytes_{what}", "and request.side=server", but))),
                             stats[count], count)

    def test_errors(self):
        """Values that are no numbers cannot be incremented."""
        self.assertEqual(self.counts("%request.method %request.error", "and request.failed=true and request.side=client"),
                         {"INCR CLIENT_ERROR": 20})


class Redis(Server):
    name, packages = "redis", ("redis-server",)

    def test_commands(self):
        """As many of each command as the server counts, at both ends."""
        want = {name: n for name, n in self.truth["calls"].items() if name not in ("CONFIG", "INFO")}
        self.assertEqual(len(want), 10)
        for side in "client", "server":
            got = self.counts("%request.method", f"and request.side={side} and not request.method in (CONFIG, INFO) "
                              "and not request.error=ERR") # the server does not count what has too few arguments
            self.assertEqual(dict(got), want, side)

    def test_errors(self):
        """As many of each error as the server counts, with its text."""
        self.assertEqual(self.truth["errors"], {"WRONGTYPE": 30, "ERR": 5})
        text = "Operation against a key holding the wrong kind of value"
        for side in "client", "server":
            got = self.counts("%request.method %request.error %request.error_text",
                              f"and request.side={side} and request.failed=true and request.error!=lost")
            self.assertEqual(got, {f"LPUSH WRONGTYPE {text}": 20, f"INCR WRONGTYPE {text}": 10,
                                   "GET ERR wrong number of arguments for 'get' command": 5}, side)
            # Four replies of one call are longer than what is kept of it: the third one is cut, the fourth is missing.
            self.assertEqual(self.counts("%request.method %request.truncated",
                                         f"and request.side={side} and request.error=lost"), {"LRANGE true": 100}, side)


    def test_bytes(self):
        """Those that the server counts, up to its answer."""
        for what, want, but in zip(("in", "out"), self.truth["bytes"], ("", "and request.method!=INFO")):
            got = self.rows(f"%request.bytes_{what}", "and request.side=server", but)
            self.assertEqual(sum(map(int, got)), want, what)

    def test_latency(self):
        """Commands of 20 ms take as long as the server logs, within 5 %: the median, as of each it lacks the calls."""
        got = self.rows("%request.latency", "and request.side=server and request.method=DEBUG")
        self.assertEqual((len(got), len(self.truth["slow"])), (10, 10))
        want = statistics.median(self.truth["slow"])
        self.assertLessEqual(abs(statistics.median(int(ns) / 1000 for ns in got) - want), 0.05 * want)


class Pgsql(Server):
    name, packages = "pgsql", ("dash", "postgresql-15")
    SELECTS = "and request.method=SELECT and request.resource=pgbench_accounts and request.side="

    def test_modes(self):
        """As many queries as pgbench logs, simple, extended and prepared, at both ends."""
        want = sum(len(self.truth[mode]) for mode in ("simple", "extended", "prepared"))
        self.assertEqual(want, 600)
        for side in "client", "server":
            self.assertEqual(len(self.rows("%request.query", self.SELECTS + side)), want, side)
        queries = self.counts("%request.query", self.SELECTS + "client")
        self.assertEqual(queries, {"SELECT abalance FROM pgbench_accounts WHERE aid = ?;": 200,
                                   "SELECT abalance FROM pgbench_accounts WHERE aid = $1;": 400})
        self.assertEqual(self.counts("%request.method", "and request.side=client and request.method=PARSE"),
                         {"PARSE": 2})

    def test_latency(self):
        """The median is the one that pgbench logs."""
        log = sum((self.truth[mode] for mode in ("simple", "extended", "prepared")), [])
        got = [int(row) / 1000 for row in self.rows("%request.latency", self.SELECTS + "client")]
        want = statistics.median(log)
        self.assertLessEqual(abs(statistics.median(got) - want), max(0.05 * want, 20))

    def test_top(self):
        """requests_top counts the queries, and its quantiles are those of the latencies."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "requests_top", "request.side=client")
        row, = (row for row in map(json.loads, text.splitlines())
                if (row.get("request.method"), row.get("request.route")) == ("SELECT", "pgbench_accounts"))
        times = sorted(int(row) for row in self.rows("%request.latency", self.SELECTS + "client"))
        self.assertEqual((row["requests"], row["failed"], row["longest"]), (len(times), 0, times[-1]))
        for name, share in ("p50", 50), ("p90", 90), ("p99", 99):
            exact = times[-(-len(times) * share // 100) - 1]
            self.assertLessEqual(exact, row[name])
            self.assertLessEqual(row[name], exact * 17 / 16)

    def test_statements(self):
        """Statements count by their text without literals."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "requests_top", "group=statement", "top=1000",
                       "request.side=client and request.proto=pgsql")
        rows = list(map(json.loads, text.splitlines()))
        counted = self.counts("%request.query", "and request.side=client and request.query exists")
        got = collections.Counter()
        for row in rows:
            got[row["request.query"]] += row["requests"]
        self.assertEqual(got, counted)
        self.assertEqual(got["SELECT abalance FROM pgbench_accounts WHERE aid = ?;"], 200)

    def test_map(self):
        """servicemap counts each request once, with the names of both processes."""
        rows = map(json.loads, e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "servicemap").splitlines())
        got = {(row["client"], row["server"]): row for row in rows if row.get("proto") == "pgsql"}
        got = {names: row for names, row in got.items() if names[0] != "pg_isready"} # asks before the server accepts
        self.assertEqual(set(got), {("pgbench", "postgres"), ("psql", "postgres")}) # also of servers that end first
        bench = got["pgbench", "postgres"]
        for key, field in ("requests", None), ("sent", "%request.bytes_out"), ("received", "%request.bytes_in"):
            values = self.rows(field or "%request.num", "and request.side=client and proc.name=pgbench")
            self.assertEqual(bench[key], sum(map(int, values)) if field else len(values), key)

    def test_log(self):
        """The chisel requests has a line for each, and those above a threshold."""
        lines = e2e.run(e2e.SAKER, "-r", self.capture, "-c", "requests", "request.side=client").splitlines()[1:]
        self.assertEqual(len(lines), len(e2e.run(e2e.SAKER, "-r", self.capture, "request.side=client").splitlines()))
        slow = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "requests", "min_ms=1").splitlines()
        rows = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%request.latency", "request.latency>=1000000")
        self.assertEqual([json.loads(line)["latency"] for line in slow], [int(row) for row in rows.splitlines()])

    def test_logged(self):
        """Statements that the server logs: simple ones and executions, unless their syntax is wrong."""
        want = collections.Counter(self.truth["statements"])
        self.assertGreater(sum(want.values()), 600)
        for side in "client", "server":
            got = self.counts("%request.statement", f"and request.side={side} and not request.method in (STARTUP, "
                              "SSLREQUEST, PARSE) and not request.error=42601 and request.statement exists")
            self.assertEqual(got, want, side)

    def test_errors(self):
        """SQLSTATE and text of each error that the server logs."""
        want = collections.Counter(map(" ".join, self.truth["errors"]))
        self.assertEqual(sum(n for row, n in want.items() if not row.startswith("57P03")), 7, want) # that is: it starts
        self.assertIn('42P01 relation "none" does not exist', want)
        for side in "client", "server":
            self.assertEqual(self.counts("%request.error %request.error_text",
                                         f"and request.failed=true and request.side={side}"), want, side)


class Mysql(Server):
    name, packages = "mysql", ("mariadb-server", "libdbd-mariadb-perl")

    COUNTED = {"INSERT": "insert", "DROP": "drop_db", "PREPARE": "stmt_prepare", "LOAD": "load", "KILL": "kill",
               "SIGNAL": "signal", "SET": "set_option"}
    MORE = 3 # statements of one query besides its first

    def test_statements(self):
        """As many statements of each kind, and in all, as the server counts, prepared ones included."""
        counts = self.truth["counts"]
        self.assertGreater(counts["Com_insert"], 200)
        for side in "client", "server":
            got = self.counts("%request.method", f"and request.side={side}")
            self.assertEqual({name: got[name] for name in self.COUNTED},
                             {name: counts[f"Com_{com}"] for name, com in self.COUNTED.items()}, side)
            self.assertEqual(got["SELECT"] + self.MORE, counts["Com_select"], side)
            self.assertEqual(got["CREATE"], counts["Com_create_table"] + counts["Com_create_db"], side)
        other = got["CONNECT"] + got["PREPARE"] + got["CLOSE"] + len(self.behind())
        self.assertEqual(sum(got.values()) - other + self.MORE, counts["Questions"])

    def behind(self):
        """Bytes of what the server read behind its counters: QUIT, unless the server ended first."""
        conn, = self.rows("%request.conn", "and request.side=server and request.method=SHOW")
        return self.rows("%request.bytes_in", f"and request.side=server and request.method=QUIT and request.conn='{conn}'")

    def test_bytes(self):
        """Those that the server counts: with greetings, without the answer that has the counters."""
        counts = self.truth["counts"]
        received, sent = (sum(map(int, self.rows(f"%request.bytes_{what}", "and request.side=server")))
                          for what in ("in", "out"))
        self.assertEqual(received - sum(map(int, self.behind())), counts["Bytes_received"])
        last = self.rows("%request.bytes_out", "and request.side=server and request.method=SHOW")
        accepted = e2e.run(e2e.SAKER, "-r", self.capture, "proc.name=mariadbd and evt.type in (accept, accept4) and "
                           "evt.rawres>=0").splitlines()
        greeted = len(accepted) - counts["Connection_errors_max_connections"]
        self.assertEqual(sent - int(last[0]) + greeted * self.truth["greeting"], counts["Bytes_sent"])

    def test_prepared(self):
        """Executions have the statement that was prepared."""
        queries = self.counts("%request.query", "and request.side=server and request.resource=item and "
                              "request.method in (INSERT, SELECT)")
        self.assertEqual(queries, {"insert into item values (?, ?)": 20, "select name from item where id < ?": 20})

    def test_errors(self):
        """Number and SQLSTATE are those that clients got. What the server refuses is one as well, without a state."""
        refused = self.truth["counts"]["Connection_errors_max_connections"]
        self.assertGreater(refused, 0)
        self.assertEqual(len(self.truth["errors"]), 8)
        for side in "client", "server":
            got = self.counts("%request.status %request.error", f"and request.failed=true and request.side={side}")
            self.assertEqual(got, collections.Counter(self.truth["errors"]) + collections.Counter({"1040 1040": refused}),
                             side)


class Dns(Server):
    name, packages = "dns", ("dnsmasq-base",)

    def test_questions(self):
        """The questions that the server logs, over UDP, TCP, and by sendmmsg, at both ends."""
        want = collections.Counter(" ".join(row) for row in self.truth["questions"])
        self.assertEqual(sum(want.values()), 200 + 20 + 20)
        for side in "client", "server":
            got = self.counts("%request.method %request.resource", f"and request.side={side}")
            self.assertEqual(got, want, side)

    def test_results(self):
        """As many are refused as the server logs, and none is left unanswered."""
        refused = self.truth["refused"]
        self.assertGreater(refused, 20)
        for side in "client", "server":
            got = self.counts("%request.error %request.status", f"and request.side={side}")
            self.assertEqual(got, {"REFUSED 5": refused, "<NA> 0": 240 - refused}, side)
        answers = self.counts("%request.statement", "and request.side=server and request.resource=tcp7.test")
        self.assertEqual(answers, {"A tcp7.test, answers=1": 1})

    def test_resolver(self):
        """Both questions of the C library's sendmmsg are known from the query."""
        for side in "client", "server":
            got = self.counts("%request.method %request.truncated %request.bytes_out",
                              f"and request.side={side} and request.resource startswith libc")
            self.assertEqual({row.rsplit(maxsplit=1)[0] for row in got}, {"A false", "AAAA false"}, side)
            self.assertEqual(sum(got.values()), 20, side)

    def test_log(self):
        """dnslog splits sendmmsg, too: each of the resolver's questions has its answer and its time, at both ends."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "dnslog", "name=libc")
        rows = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(collections.Counter(row["type"] for row in rows), {"A": 20, "AAAA": 20})
        self.assertEqual([row for row in rows if row["rcode"] != "NOERROR" or not row["latency"]], [])

    def test_ends_know_each_other(self):
        """Each client of the server's one socket has a connection of its own."""
        rows = [self.counts("%request.conn %request.method %request.resource", f"and request.side={side}")
                for side in ("client", "server")]
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(self.counts("%request.peer_proc", "and request.side=client"), {"dnsmasq": 240})
        # The server may answer before the first call of a client's socket returns.
        clients = self.counts("%request.peer_proc", "and request.side=server")
        self.assertGreater(clients["python3"], 200)
        self.assertLessEqual(set(clients), {"python3", "<NA>"})


class Fastcgi(Server):
    """nginx is the client of PHP. Parameters are longer than the 80 bytes that are kept without --requests."""
    name = "fastcgi"

    @classmethod
    def setUpClass(cls):
        if not shutil.which("nginx") or not glob.glob("/usr/sbin/php-fpm8.?"):
            e2e.skip_test("nginx and php-fpm are not installed")
        super().setUpClass()

    def test_requests(self):
        """Method, path and status of each request, as the servers log them, over both kinds of sockets."""
        want = collections.Counter(f"{method} {status}" for rows in self.truth.values() for method, _, status, _ in rows)
        self.assertEqual(sum(want.values()), 120)
        for side in "client", "server":
            self.assertEqual(self.counts("%request.method %request.status", f"and request.side={side}"), want, side)
            for name, rows in self.truth.items():
                self.assertEqual(len(self.rows("%request.num", f"and request.side={side}",
                                               f"and request.resource startswith /{name}/")), len(rows), name)

    def test_results(self):
        """No other failures than those of pages; the script is the statement."""
        for side in "client", "server":
            self.assertEqual(self.counts("%request.error", f"and request.side={side}"),
                             {"<NA>": 40, "404": 40, "500": 40}, side)
        self.assertEqual({os.path.basename(row) for row in self.rows("%request.statement")}, {"page.php"})


    def test_latency(self):
        """Pages of 20 ms take as long as PHP logs, within 5 %: the median, as of each it lacks the calls. Over TCP it logs
        the time until its client has closed, too."""
        is_slow = re.compile(r"/unix/2[5-9]\b").match
        want = [int(us) for _, path, _, us in self.truth["unix"] if is_slow(path)]
        got = [int(ns) / 1000 for ns, path in (row.split(maxsplit=1) for row in self.rows(
            "%request.latency %request.resource", "and request.side=server")) if is_slow(path)]
        self.assertEqual((len(got), len(want)), (10, 10))
        want = statistics.median(want)
        self.assertLessEqual(abs(statistics.median(got) - want), 0.05 * want)


class Nats(Server):
    name, packages = "nats", ("nats-server",)

    def test_messages(self):
        """As many messages as the server counts in both directions; requests have their replies."""
        want = {"request PUB work <NA>": 50, "request PUB unserved 503": 50, "oneway PUB none <NA>": 50,
                "oneway MSG work <NA>": 50}
        self.assertEqual(self.truth["in"], 50 + 50 + 50 + 50)
        for side in "client", "server":
            got = self.counts("%request.kind %request.method %request.resource %request.error",
                              f"and request.side={side} and request.method in (PUB, MSG) and not "
                              "request.resource startswith box.")
            self.assertEqual(got, want, side)
            published = self.counts("%request.method", f"and request.side={side}")["PUB"]
            self.assertEqual(published, self.truth["in"], side)
            delivered = self.rows("%request.num", f"and request.side={side} and request.method in (PUB, MSG) and "
                                  "(request.kind=request or request.method=MSG)")
            # The server does not count its 503 replies to subjects without a subscriber.
            self.assertEqual(len(delivered), self.truth["out"] + 50, side)


class Kafka(Server):
    """The broker of librdkafka, at a port that is not Kafka's. It reads headers by calls of their own."""
    name, packages = "kafka", ("kcat", "python3")
    NAMES = {"ApiVersion": "ApiVersions"}

    def test_requests(self):
        """API and bytes of each request and response that the clients log, at both ends."""
        want = collections.Counter(f"{self.NAMES.get(name, name)} {sent} {got}" for name, sent, got in self.truth)
        self.assertGreater(len({name for name, _, _ in self.truth}), 10)
        for side, bytes_ in ("client", "bytes_out %request.bytes_in"), ("server", "bytes_in %request.bytes_out"):
            self.assertEqual(self.counts(f"%request.method %request.{bytes_}", f"and request.side={side}"), want, side)

    def test_errors(self):
        """Those that the broker was told to answer with; kcat asks for a version that it does not know."""
        hello = sum((name, got) == ("ApiVersion", 21) for name, _, got in self.truth)
        want = {"Produce 7 REQUEST_TIMED_OUT": 1, "Produce 19 NOT_ENOUGH_REPLICAS": 1, "InitProducerId 14 "
                "COORDINATOR_LOAD_IN_PROGRESS": 1, "ListOffsets 6 NOT_LEADER_OR_FOLLOWER": 1,
                "ApiVersions 35 UNSUPPORTED_VERSION": hello}
        for side in "client", "server":
            got = self.counts("%request.method %request.status %request.error", f"and request.side={side} and "
                              "request.failed=true and request.error!=unanswered")
            self.assertEqual(got, want, side)

    def test_unacknowledged(self):
        """Messages with acks=0 have no response."""
        want = sum((name, got) == ("Produce", 0) for name, _, got in self.truth)
        self.assertGreater(want, 0)
        for side in "client", "server":
            self.assertEqual(self.counts("%request.method %request.resource %request.failed", f"and request.side={side} "
                                         "and request.kind=oneway"), {"Produce item false": want}, side)


class Mongodb(Server):
    """Commands of a driver. Its server reads headers by calls of their own."""
    name, packages = "mongodb", ("python3-pymongo",)

    def test_bytes(self):
        """Command and bytes of each message, as the server counts them, at both ends."""
        want = collections.Counter(" ".join(map(str, row)) for row in self.truth["server"])
        # The driver asks for the server's state at the start, and again if the test takes long.
        states = sum(n for row, n in want.items() if row.split()[0] == "ismaster")
        self.assertGreaterEqual(states, 2)
        self.assertEqual(sum(want.values()) - states, 10 * 9 + 1)
        for side, bytes_ in ("client", "bytes_out %request.bytes_in"), ("server", "bytes_in %request.bytes_out"):
            self.assertEqual(self.counts(f"%request.method %request.{bytes_}", f"and request.side={side}"), want, side)

    def test_errors(self):
        """Those of commands are what the driver tells, those of writes are in responses that are ok."""
        told = collections.Counter(f"{name} {code} {error}" for name, _, code, error in self.truth["client"] if code)
        self.assertEqual(told, {"count 26 NamespaceNotFound": 10})
        want = told + collections.Counter({"insert 11000 11000": 10, "insert 64 WriteConcernFailed": 10})
        for side in "client", "server":
            self.assertEqual(self.counts("%request.method %request.status %request.error",
                                         f"and request.side={side} and request.failed=true"), want, side)

    def test_latency(self):
        """Each call takes the 10 ms that the server sleeps, and no longer than the driver tells; the driver also waits for
        a CPU, so that the two are within 5 % only for the best one."""
        told = [us for name, us, _, _ in self.truth["client"] if name == "sleep"]
        got = self.rows("%request.latency", "and request.side=client and request.method=sleep")
        shares = [int(ns) / 1000 / (us + 1) for ns, us in zip(got, told, strict=True)]
        self.assertEqual(len(shares), 10)
        self.assertGreaterEqual(min(map(int, got)), 10_000_000)
        self.assertLessEqual(max(shares), 1, (got, told))
        self.assertGreaterEqual(max(shares), 0.95, (got, told))


class Amqp(Server):
    name, packages = "amqp", ("rabbitmq-server", "python3-pika", "dash", "coreutils")

    def test_methods(self):
        """As many of each as the client counts, at both ends."""
        want = self.truth["methods"]
        self.assertEqual((want["basic.publish"], want["basic.deliver"], want["basic.get"]), (110, 50, 55))
        for side in "client", "server":
            got = self.counts("%request.method", f"and request.side={side}")
            self.assertEqual({name: got[name] for name in want}, want, side)

    def test_publications(self):
        """They are one-way, or requests on channels with confirmations."""
        for side in "client", "server":
            got = self.counts("%request.kind %request.resource %request.failed",
                              f"and request.side={side} and request.method=basic.publish")
            self.assertEqual(got, {"oneway work false": 50, "request sure false": 50, "request nowhere false": 5,
                                   "request absent/key true": 5}, side)
            late = self.rows("%request.latency", f"and request.side={side} and request.method=basic.publish and "
                             "request.kind=request")
            self.assertTrue(all(int(ns) > 0 for ns in late), late)

    def test_errors(self):
        """Channels that the broker closes, and messages that it returns, are errors of what caused them."""
        self.assertEqual(self.truth["results"], {"got": 50, "empty": 5, "404": 10})
        for side in "client", "server":
            got = self.counts("%request.method %request.status %request.error",
                              f"and request.side={side} and request.failed=true")
            self.assertEqual(got, {"queue.declare 404 NOT_FOUND": 5, "basic.publish 404 NOT_FOUND": 5,
                                   "basic.return 312 NO_ROUTE": 5}, side)
            text = self.counts("%request.error_text", f"and request.side={side} and request.method=queue.declare and "
                               "request.failed=true")
            self.assertEqual(text, {"NOT_FOUND - no queue 'absent' in vhost '/'": 5}, side)

    def test_bytes(self):
        """Of publications the bodies count, those of deliveries, too."""
        for side, field, method in ("client", "out", "publish"), ("server", "in", "publish"), \
                                   ("server", "out", "deliver"), ("client", "in", "deliver"):
            rows = self.rows(f"%request.bytes_{field}", f"and request.side={side} and request.resource=work and "
                             f"request.method=basic.{method}")
            sizes = [int(n) for n in rows]
            overhead = sizes[0] # of no body
            self.assertEqual([n - overhead for n in sizes[1:]], [i * 30 + 8 for i in range(1, 50)], (side, method))

    def test_whole(self):
        """Nothing is lost or cut."""
        self.assertEqual(self.counts("%request.truncated"), {"false": sum(self.counts("%request.num").values())})


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
