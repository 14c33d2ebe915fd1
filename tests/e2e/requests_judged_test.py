#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests events of requests against tshark's dissectors: saker records the calls of a server and its clients, while
tshark captures the same bytes from the loopback of a network of their own."""

import collections
import os
import subprocess
import unittest

import runtimes
import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests/judged.py")


class Judged(unittest.TestCase):
    name, packages, dissector = None, (), None

    @classmethod
    def setUpClass(cls):
        if not cls.name:
            raise unittest.SkipTest("each subclass has a server")
        folder = e2e.own_dir(cls)
        cls.capture, cls.pcap = os.path.join(folder, "capture.scap"), os.path.join(folder, "capture.pcapng")
        root = [os.path.realpath(runtimes.root("bookworm", *cls.packages))] if cls.packages else []
        p = subprocess.run([e2e.SAKER, "--requests", "-w", cls.capture, "--", "unshare", "-n", "/usr/bin/python3",
                            PROGRAM, cls.pcap, cls.name, *root], capture_output=True, text=True, timeout=e2e.DEADLINE_S)
        assert p.returncode == 0, p.stderr
        peers = set(row.rsplit(":", 1)[1] for row, in cls.rows("peer", "request.side=client"))
        assert len(peers) == 1, peers
        cls.port, = peers

    @classmethod
    def rows(cls, fields, *words):
        """Values of the fields of each request, in the order of the ends."""
        text = e2e.run(e2e.SAKER, "-r", cls.capture, "-p", "*" + "\t".join(f"%request.{f}" for f in fields.split()),
                       f"request.proto={cls.name}", *(f"and {word}" for word in words))
        return [tuple(line.split("\t")) for line in text.splitlines()]

    def frames(self, only, *fields):
        """For each frame a list of the values of each field."""
        words = [word for field in fields for word in ("-e", field)]
        decode = ["-d", f"tcp.port=={self.port},{self.dissector}"] if self.dissector else []
        text = e2e.run("tshark", "-r", self.pcap, *decode, "-Y", only, "-T", "fields", "-E", "aggregator=\x1f",
                       *words)
        return [[part.split("\x1f") if part else [] for part in line.split("\t")] for line in text.splitlines()]

    def check(self, fields, want, *words):
        """Both ends have the same requests."""
        want = collections.Counter(want)
        self.assertTrue(want)
        for side in "client", "server":
            self.assertEqual(collections.Counter(self.rows(fields, f"request.side={side}", *words)), want, side)


def load_tests(loader, _tests, _pattern):
    cases = Http, Redis, Mysql, Pgsql, Dns, Kafka, Mongodb
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


class Http(Judged):
    name, dissector = "http", "http"

    def test_requests(self):
        """Method, path and status: a response has the number of its request's frame."""
        asked = {frame[0]: (method[0], uri[0]) for frame, method, uri in
                 self.frames("http.request", "frame.number", "http.request.method", "http.request.uri")}
        want = [(*asked[to[0]], status[0]) for to, status in
                self.frames("http.response", "http.request_in", "http.response.code")]
        self.assertEqual(len(want), 150)
        self.check("method resource status", want)


class Redis(Judged):
    name, packages, dissector = "redis", ("redis-server",), "resp"

    def test_commands(self):
        """An array of strings is a command."""
        want = []
        for lengths, values in self.frames(f"resp and tcp.dstport=={self.port}", "resp.array.length",
                                           "resp.bulk_string.value"):
            words = [bytes.fromhex(v).decode() for v in values]
            for n in map(int, lengths):
                want.append((" ".join(words[:n]),))
                del words[:n]
            self.assertEqual(words, [])
        self.assertGreater(len(want), 2000)
        self.check("statement", want)


class Mysql(Judged):
    name, packages, dissector = "mysql", ("mariadb-server", "libdbd-mariadb-perl"), "mysql"
    QUERY, PREPARE, EXECUTE = "3", "22", "23"

    def test_statements(self):
        """Text of each query and of each preparation; as many executions."""
        want, executions = [], 0
        for commands, queries in self.frames("mysql.command", "mysql.command", "mysql.query"):
            executions += commands.count(self.EXECUTE)
            # The end of a statement, which has no answer, may share its frame with the next command.
            self.assertEqual(len(queries), sum(c in (self.QUERY, self.PREPARE) for c in commands), commands)
            want += [(text,) for text in queries]
        self.assertGreater(len(want), 200)
        for side in "client", "server":
            got = collections.Counter(self.rows("statement", f"request.side={side}", "not request.method=CONNECT",
                                                "request.statement exists"))
            self.assertEqual(sum(got.values()), len(want) + executions, side)
            got -= collections.Counter(want)
            self.assertEqual(sum(got.values()), executions, side)
            self.assertTrue(all("?" in text for text, in got), side)

    def test_errors(self):
        want = [(code[0],) for code, in self.frames("mysql.error_code!=65535", "mysql.error_code")] # that is progress
        self.check("status", want, "request.failed=true")


class Pgsql(Judged):
    name, packages, dissector = "pgsql", ("dash", "postgresql-15"), "pgsql"

    def test_statements(self):
        """Text of each simple query; as many executions, of the statements that were parsed."""
        simple, parsed, executions = [], set(), 0
        for kinds, queries in self.frames(f"pgsql and tcp.dstport=={self.port}", "pgsql.type", "pgsql.query"):
            executions += kinds.count("Execute")
            if "Simple query" in kinds:
                simple += [(query,) for query in queries]
            else:
                parsed |= set(queries)
        self.assertGreater(len(simple), 200)
        self.assertEqual((executions, len(parsed)), (400, 1))
        text, = parsed
        self.check("statement", simple, "request.statement exists", f"request.statement!='{text}'",
                   "not request.method in (STARTUP, SSLREQUEST)")
        self.check("statement", [(text,)] * executions, f"request.statement='{text}'", "request.method!=PARSE")

    def test_errors(self):
        """SQLSTATE of what is an error, not a notice."""
        want = [(code,) for codes, kinds in self.frames("pgsql.code", "pgsql.code", "pgsql.type") if "Error" in kinds
                for code in codes]
        self.check("error", want, "request.failed=true")


class Dns(Judged):
    name, packages = "dns", ("dnsmasq-base",)
    TYPES = {"1": "A", "28": "AAAA", "16": "TXT"}

    def test_questions(self):
        """Type, name and code, over UDP and TCP."""
        want = []
        for names, types, codes in self.frames("dns.flags.response==1", "dns.qry.name", "dns.qry.type",
                                               "dns.flags.rcode"):
            want += zip([self.TYPES[t] for t in types], names, codes)
        self.assertEqual(len(want), 240)
        self.check("method resource status", want)


class Kafka(Judged):
    name, dissector = "kafka", "kafka"
    APIS = {"18": "ApiVersions", "3": "Metadata", "0": "Produce", "1": "Fetch"}

    def test_requests(self):
        """API and topic of each request, and the error of the response to it; without an answer it is one-way."""
        asked, errors = {}, {}
        for keys, numbers, topics, codes in self.frames("kafka", "kafka.api_key", "kafka.correlation_id",
                                                        "kafka.topic_name", "kafka.error"):
            key, number = self.APIS[keys[0]], numbers[0]
            if number in asked:
                errors[number] = codes[0]
            else:
                asked[number] = key, topics[0] if topics else "<NA>"
        self.assertEqual((len(asked), len(errors)), (61, 57))
        want = [("request" if number in errors else "oneway", *what, errors.get(number, "<NA>"))
                for number, what in asked.items()]
        self.check("kind method resource status", want)


class Mongodb(Judged):
    name, dissector = "mongodb", "mongo"

    def test_requests(self):
        """The first element is the command; code and text of errors are elements."""
        asked, want = {}, []
        for numbers, to, names, texts, ints in self.frames(
                f"mongo and tcp.port=={self.port}", "mongo.request_id", "mongo.response_to", "mongo.element.name",
                "mongo.element.value.string", "mongo.element.value.int"):
            if names[0] == "ok":
                failed = "code" in names
                want.append((*asked[to[0]], ints[0] if failed else "0", texts[1] if failed else "<NA>",
                             texts[0] if failed else "<NA>"))
            else:
                asked[numbers[0]] = names[0], texts[0] if len(texts) > 1 else "<NA>"
        self.assertEqual(len(want), 40)
        self.check("method resource status error error_text", want)


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("tshark", "unshare")
    unittest.main()
