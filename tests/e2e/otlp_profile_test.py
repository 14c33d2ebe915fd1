#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests profiles of OTLP: protoc decodes them by the published numbers, and they have the samples of other outputs."""

import glob
import os
import re
import subprocess
import threading
import unittest

import otlp_judge as judge
import profile_test
import saker_e2e as e2e

FIELD = re.compile(r'\s*(?:(\w+) \{|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+))|\})')


def parse(lines):
    """Returns a message of protoc's text format: lists by the names of fields. A field without a name is an error."""
    fields = {}
    for line in lines:
        m = FIELD.fullmatch(line)
        if not m:
            raise AssertionError(f"no field: {line!r}")
        name = m[1] or m[2]
        if not name:
            return fields
        if name.isdigit():
            raise AssertionError(f"an unknown field: {line!r}")
        value = parse(lines) if m[1] else int(m[4]) if m[4] else m[3]
        fields.setdefault(name, []).append(value)
    return fields


def decode(data):
    e2e.need("protoc")
    folder = os.path.join(e2e.SOURCE, "tests/e2e/otlp")
    p = subprocess.run(["protoc", f"--proto_path={folder}", "--decode=ExportProfilesServiceRequest", "profiles.proto"],
                       input=data, capture_output=True)
    if p.returncode:
        raise AssertionError(p.stderr)
    return parse(iter(p.stdout.decode().splitlines()))


def one(message, name, default=0):
    return message.get(name, [default])[0]


class Profile(profile_test.Hot):
    @classmethod
    def setUpClass(cls):
        e2e.need("protoc")
        super().setUpClass()
        path = os.path.join(cls.dir, "a.otlp")
        profile_test.profile("-r", cls.capture, "-o", path)
        cls.request = decode(e2e.read_bytes(path))
        cls.tables = cls.request["dictionary"][0]
        cls.profiles = cls.request["resource_profiles"][0]["scope_profiles"][0]["profiles"]

    def text(self, number):
        return self.tables["string_table"][number]

    def type_of(self, profile):
        kind = profile["sample_type"][0]
        return self.text(one(kind, "type_strindex")), self.text(one(kind, "unit_strindex"))

    def attributes(self, numbers):
        found = {}
        for number in numbers:
            a = self.tables["attribute_table"][number]
            found[self.text(one(a, "key_strindex"))] = next(iter(a["value"][0].values()))[0]
        return found

    def functions(self, sample):
        """Leaf first, with the inlined ones."""
        stack = self.tables["stack_table"][one(sample, "stack_index")]
        return [self.text(one(self.tables["function_table"][one(line, "function_index")], "system_name_strindex"))
                for i in stack["location_indices"] for line in self.tables["location_table"][i].get("lines", [])]

    def test_empty_entries(self):
        for name in ("mapping", "location", "function", "link", "attribute", "stack"):
            self.assertEqual(self.tables[name + "_table"][0], {}, name)
        self.assertEqual(self.text(0), "")

    def test_types(self):
        self.assertEqual([self.type_of(p) for p in self.profiles], [("samples", "count"), ("cpu", "nanoseconds")])
        period = self.profiles[1]
        self.assertAlmostEqual(one(period, "period"), 1e9 / 999, delta=2e4)
        self.assertGreater(one(period, "time_unix_nano"), 1e18)

    def test_samples_are_those_of_pprof(self):
        total = sum(profile_test.folded(e2e.read_text(self.whole)).values())
        values = [sum(s["values"][0] for s in p["samples"]) for p in self.profiles]
        self.assertEqual(values[1], total)
        self.assertGreater(values[0], 50)

    def test_stacks(self):
        hot = total = 0
        for s in self.profiles[1]["samples"]:
            names = self.functions(s)
            total += s["values"][0]
            if "very_hot" in names:
                hot += s["values"][0]
                if "in_between" in names:
                    self.assertLess(names.index("very_hot"), names.index("in_between"))
        self.assertGreater(hot / total, 0.8)

    def test_attributes(self):
        found = [self.attributes(s["attribute_indices"]) for s in self.profiles[1]["samples"]]
        self.assertIn("prog", {a["process.executable.name"] for a in found})
        self.assertTrue(all(a["process.pid"] > 0 for a in found))
        mapping = next(m for m in self.tables["mapping_table"] if self.text(one(m, "filename_strindex")) == self.prog)
        note = e2e.run("readelf", "-n", self.prog)
        self.assertEqual(self.attributes(mapping["attribute_indices"]),
                         {"process.executable.build_id.gnu": re.search(r"Build ID: (\w+)", note)[1]})
        types = {self.attributes(l["attribute_indices"])["profile.frame.type"] for l in self.tables["location_table"]
                 if "attribute_indices" in l}
        self.assertIn("native", types)
        self.assertLessEqual(types, {"native", "kernel"})

    def test_send(self):
        collector = judge.Collector(self)
        statuses = [503, 429]

        def behave(handler, request):
            status = statuses.pop() if statuses else 200
            handler.answer(status)
            return status == 200

        collector.behave = behave
        path, packed = os.path.join(self.dir, "a.otlp"), os.path.join(self.dir, "b.otlp.gz")
        profile_test.profile("-r", self.capture, "-o", packed)
        for name in path, packed:
            e2e.run(e2e.SAKER, "send", collector.url + "/", name)
        pprof = os.path.join(self.dir, "c.pb.gz")
        profile_test.profile("-r", self.capture, "-o", pprof)
        e2e.run(e2e.SAKER, "send", "--header", "X-Team: a", collector.url + "/ingest?name=prog&format=pprof", pprof)
        first, second, third = collector.accepted
        self.assertEqual({first.path, second.path}, {"/v1development/profiles"})
        self.assertEqual((first.body, second.body), (e2e.read_bytes(path),) * 2)
        self.assertEqual((third.path, third.body), ("/ingest?name=prog&format=pprof", e2e.read_bytes(pprof)))
        self.assertEqual(third.headers["X-Team"], "a")
        self.assertEqual(len(collector.seen), 5)

    def test_profile_is_sent(self):
        collector = judge.Collector(self)
        before = glob.glob("/tmp/saker-profile.*")
        e2e.run(e2e.SAKER, "profile", "-r", self.capture, "--otlp", collector.url)
        self.assertEqual([r.path for r in collector.seen], ["/v1development/profiles"])
        self.assertEqual(collector.seen[0].body, e2e.read_bytes(os.path.join(self.dir, "a.otlp")))
        self.assertEqual(glob.glob("/tmp/saker-profile.*"), before)
        p = subprocess.run([e2e.SAKER, "profile", "-r", self.capture, "--otlp", collector.url, "-o", "a.svg"],
                           capture_output=True, text=True, timeout=20)
        self.assertEqual((p.returncode, len(p.stderr.splitlines())), (1, 1), p.stderr)
        p = subprocess.run([e2e.SAKER, "profile", "-r", self.capture, "--otlp", "127.0.0.1"], capture_output=True,
                           text=True, timeout=20)
        self.assertIn("--otlp needs a URL", p.stderr)
        collector.behave = lambda handler, request: handler.answer(404)
        p = subprocess.run([e2e.SAKER, "profile", "-r", self.capture, "--otlp", collector.url], capture_output=True,
                           text=True, timeout=20)
        self.assertEqual((p.returncode, p.stderr), (1, "saker: cannot send: the collector answers with status 404\n"))

    def test_sending_can_be_ended(self):
        collector = judge.Collector(self)
        asked, end = threading.Event(), threading.Event()
        self.addCleanup(end.set)

        def behave(handler, _request):
            asked.set()
            end.wait(e2e.DEADLINE_S)
            handler.answer(404)

        collector.behave = behave
        before = glob.glob("/tmp/saker-profile.*")
        p = subprocess.Popen([e2e.SAKER, "profile", "-r", self.capture, "--otlp", collector.url])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertTrue(asked.wait(e2e.DEADLINE_S))
        p.terminate()
        self.assertEqual(p.wait(20), 1)
        self.assertEqual(glob.glob("/tmp/saker-profile.*"), before)

    def test_live_profile_stays(self):
        """What was measured is not lost because a collector refuses it."""
        collector = judge.Collector(self)
        collector.behave = lambda handler, request: handler.answer(404)
        p = subprocess.run([e2e.SAKER, "profile", "--otlp", collector.url, "--", "sh", "-c", f"{self.prog} long"],
                           capture_output=True, text=True, timeout=20)
        self.assertEqual(p.returncode, 1, p.stderr)
        path = re.search(r"stays in (\S+):", p.stderr)[1]
        self.addCleanup(os.unlink, path)
        self.assertEqual(e2e.read_bytes(path), collector.seen[0].body)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_send_fails(self):
        def fails(message, *args):
            p = subprocess.run([e2e.SAKER, "send", *args], capture_output=True, text=True, timeout=20)
            self.assertEqual((p.returncode, len(p.stderr.splitlines())), (1, 1), p.stderr)
            self.assertIn(message, p.stderr)

        collector = judge.Collector(self)
        collector.behave = lambda handler, request: handler.answer(404)
        path = os.path.join(self.dir, "a.otlp")
        fails("status 404", collector.url, path)
        self.assertEqual(len(collector.seen), 1)
        for after in "1000", "18446744073", "9223372036854775807": # nanoseconds of the second wrap around
            collector.behave = lambda handler, request: handler.answer(503, b"busy", Retry_After=after)
            fails("status 503", collector.url, path)
        self.assertEqual(len(collector.seen), 4)
        ends = threading.Event()
        self.addCleanup(ends.set)
        collector.behave = lambda handler, request: ends.wait()
        fails("cannot send: ", "--for", "0.0003", collector.url, path) # 0 ms would be for ever
        collector.close()
        fails("cannot send: ", "--for", "0.3", collector.url, path)
        fails("No such file", collector.url, "/nowhere/a.otlp")
        fails("no file of 1 byte", collector.url, "/dev/null")
        fails("needs a URL and a file", collector.url)
        fails("has a password", "http://a:b@127.0.0.1/", path)

    def test_host(self):
        resource = self.request["resource_profiles"][0]["resource"][0]["attributes"]
        self.assertEqual({a["key"][0]: a["value"][0]["string_value"][0] for a in resource},
                         {"service.name": "saker", "host.name": os.uname().nodename})


if __name__ == "__main__":
    unittest.main(verbosity=2)
