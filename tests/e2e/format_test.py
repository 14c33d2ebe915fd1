#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares -p and -j with sysdig over shared captures and one of saker's: equal lines, equal
objects. Intended differences have a test each, and a row in docs/differences.md."""

import concurrent.futures
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import replay_test
import saker_e2e as e2e

FORMATS = r"""
%evt.num
abc
*
 *%evt.num
*%evt.num **
%evt.num|%10proc.name|%3evt.type|%evt.cpu
%05evt.num|%2evt.cpu|%0evt.dir
%evt.num\n%evt.cpu\t%evt.dir
%evt.num %proc.name[1]
%proc.name[%proc.pid].%evt.num
%proc.name_%evt.num
%evt.numx
*%evt.num|%20evt.args|
%evt.num %evt.time
%evt.num %evt.time.s
%evt.num %evt.time.iso8601
%evt.num %evt.datetime
%evt.datetime.s %evt.num
%evt.rawtime %evt.rawtime.s.%evt.rawtime.ns
%evt.reltime %evt.reltime.s.%evt.reltime.ns
%evt.num %evt.latency %evt.latency.s.%evt.latency.ns
%evt.num %evt.latency.quantized
%evt.num %evt.wait_latency
%evt.num %evt.deltatime
%evt.num %evt.deltatime.s.%evt.deltatime.ns
%evt.num %evt.outputtime
%evt.num %evt.dir %evt.type
%evt.num %evt.category
%evt.num %evt.args
%evt.num %evt.info
%evt.num %evt.arg.res
%evt.num %evt.arg.fd
%evt.num %evt.arg.name
%evt.num %evt.arg.path
%evt.num %evt.arg.data
%evt.num %evt.arg.tuple
%evt.num %evt.arg[0]
%evt.num %evt.arg[1] %evt.type
%evt.arg[2]
%evt.num %evt.rawarg.res
%evt.num %evt.rawarg.name
%evt.num %evt.buffer
%evt.num %evt.buflen
%evt.num %evt.buflen.in
%evt.num %evt.buflen.out
%evt.num %evt.buflen.file
%evt.num %evt.buflen.file.in %evt.buflen.file
%evt.num %evt.buflen.net
%evt.num %evt.buflen.net.in
%evt.num %evt.buflen.net.out
%evt.num %evt.res %evt.rawres
%evt.num %evt.failed
%evt.num %evt.is_io %evt.is_io_read %evt.is_io_write
%evt.num %evt.io_dir
%evt.num %evt.is_wait
%evt.num %evt.is_syslog %evt.count
%evt.num %evt.count.error
%evt.num %evt.count.error.file
%evt.num %evt.count.error.net
%evt.num %evt.count.error.memory
%evt.num %evt.count.error.other
%evt.num %evt.count.exit
%evt.num %evt.count.procinfo %evt.count.threadinfo
%evt.num %evt.abspath
%evt.num %evt.abspath.src %evt.abspath.dst
%evt.num %evt.is_open_read %evt.is_open_write %evt.is_open_exec
%evt.num %util.cnt
*%evt.num %evt.pluginname %evt.plugininfo
%thread.tid %proc.pid %evt.num
""".strip("\n").split("\n")

JSON_FORMATS = [
    None,
    "%evt.num %proc.name",
    "*%evt.num %evt.arg.fd %evt.buffer %evt.buflen",
    "%evt.num %evt.rawtime %evt.time %evt.datetime %evt.outputtime %evt.rawtime.ns",
    "%evt.num %evt.reltime %evt.reltime.ns %evt.latency %evt.latency.s",
    "*%evt.num %evt.res %evt.rawres %evt.failed %evt.is_io %evt.io_dir",
    "*%evt.num %evt.category %evt.dir %evt.type %evt.cpu %evt.wait_latency",
    "*%evt.num %evt.count %evt.count.error %evt.count.exit",
    "*%evt.num %evt.abspath %evt.is_open_read %evt.is_open_write %evt.is_syslog",
    "%evt.num %evt.num %20evt.info abc",
]

# saker shows parameters of its own captures that sysdig does not have.
MORE = {"%evt.num %evt.arg.fd", "%evt.num %evt.arg[1] %evt.type", "%evt.arg[2]"}
# fcntl returns a file for some commands only, which sysdig does not look at.
FCNTL = {"%evt.num %evt.args", "%evt.num %evt.info", "*%evt.num|%20evt.args|", "%evt.num %evt.arg.res",
         "%evt.num %evt.arg[0]"}

WORK = """
cat /etc/hostname; cat /nonexistent; echo hello > a; ln -s a b; mv a c; rm b c; mkdir d; rmdir d
sleep 0.01 | cat
exit 0
"""


def lines_of(program, path, *options):
    p = subprocess.run([program, "-r", path, *options], capture_output=True, timeout=120,
                       env={**os.environ, "TZ": "UTC"})
    return p.stdout.split(b"\n"), re.sub(rb"\Asaker: \d+ events? lacks? \S+ and (?:has|have) no line; [^\n]*\n\Z", b"", p.stderr)


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        e2e.need("sysdig")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)

    def each(self, paths, formats, check):
        """Runs two at once: most of the time goes into starting sysdig."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [(p, f, pool.submit(lines_of, "sysdig", p, *options(f)),
                     pool.submit(lines_of, e2e.SAKER, p, "--enter-events", *thread_names(options(f))))
                    for p in paths for f in formats]
            for path, fmt, theirs, ours in jobs:
                with self.subTest(path=path, format=fmt):
                    self.assertEqual(ours.result()[1], b"")
                    check(fmt, theirs.result()[0], ours.result()[0])

    def same(self, _, theirs, ours):
        differ = [(a, b) for a, b in zip(theirs, ours) if a != b]
        self.assertEqual(differ[:3], [])
        self.assertEqual(len(theirs), len(ours))

    def others(self):
        return e2e.shared_captures()

    def recorded(self):
        """Returns a capture by saker, and a copy without the parts that only saker reads."""
        if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
            e2e.skip_test("a live capture needs root, and a kernel with BTF")
        own, plain = (os.path.join(self.dir, n) for n in ("own.scap", "plain.scap"))
        subprocess.run([e2e.SAKER, "-w", own, "--", "sh", "-c", WORK], cwd=self.dir, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
        subprocess.run(["sysdig", "-r", own, "-w", plain], check=True, capture_output=True,
                       timeout=60)
        return own, plain


class CapturesOfOthers(Case):
    def test_formats(self):
        self.assertGreaterEqual(len(FORMATS), 60)
        self.each(self.others(), FORMATS, self.same)


class Formats(Case):
    def test_captures_of_saker(self):
        def more(fmt, theirs, ours):
            ours = [replay_test.Case.without_newer_flags(line) for line in ours]
            if fmt in FCNTL:
                theirs, ours = ([line.replace(b"|", b" ").split(b" ")[0] for line in x] for x in (theirs, ours))
            if fmt in MORE:
                self.assertEqual(sorted(set(theirs) - set(ours))[:3], [])
            else:
                self.same(fmt, theirs, ours)
        own, plain = self.recorded()
        self.each([plain], FORMATS, more)
        self.each([own], ["%evt.num %evt.rawtime %evt.cpu %evt.dir %thread.tid",
                          "%evt.num %proc.name %proc.pid %evt.buffer"], self.same)

    # -j

    def same_objects(self, names, theirs, ours):
        self.assertEqual(len(theirs), len(ours))
        for a, b in zip(theirs, ours):
            a, b = json.loads(a), json.loads(b)
            for field in {"evt.info", "evt.args"} & set(a):  # only with -v saker has the environment
                a[field] = re.sub(r"(?s) env=.*?(?=tty=\d|\Z)", " ", a[field])
            self.assertEqual(list(b), sorted(b))
            if "thread.name" in b:
                b["proc.name"] = b.pop("thread.name")
            elif "proc.name" in b and b["evt.num"] in names:
                self.assertEqual(b["proc.name"], names[b["evt.num"]][1])
                b["proc.name"] = names[b["evt.num"]][0]
            self.assertEqual(a, b)

    def test_json(self):
        # sysdig ends its output with an empty line.
        formats = [("-j", f) for f in JSON_FORMATS]
        some = [("-j", "-A", None), ("-j", "-x", None), ("-j", "-b", None), ("-j", "-X", "%evt.buffer"),
                ("-j", "-pc", None)]
        for i, path in enumerate(self.others()):
            names = e2e.thread_names(path)

            def check(_, theirs, ours):
                self.same_objects(names, [x for x in theirs if x], [x for x in ours if x])
            self.each([path], formats + (some if i < 2 else []), check)

    def test_json_of_any_bytes(self):
        """The output is valid JSON and UTF-8 whatever is captured."""
        values = replay_test.Values(7)
        for kind, symbol, types in replay_test.events_of_2022():
            if symbol in replay_test.NOT_COMPARED or not types:
                continue
            path = os.path.join(self.dir, symbol)
            with open(path, "wb") as f:
                f.write(replay_test.state() + b"".join(
                    replay_test.event(n, kind, [values.of(t, False, symbol) for t in types])
                    for n in range(8)))
            for option in ("-j", "-jA"):
                out, err = lines_of(e2e.SAKER, path, "--enter-events", option)
                self.assertEqual(err, b"")
                for line in out[:-1]:
                    self.assertIn("evt.info", json.loads(line.decode("utf-8")), symbol)


def thread_names(words):
    """Returns the names that sysdig prints."""
    return [w.replace("proc.name", "thread.name") for w in words]


def options(fmt):
    if not isinstance(fmt, tuple):
        return ["-p", fmt]
    *flags, fmt = fmt
    return [*flags, "-p", fmt] if fmt else flags


class Differences(unittest.TestCase):
    """One test for each row of docs/differences.md about fields and formats."""

    @classmethod
    def setUpClass(cls):
        e2e.need("sysdig")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.path = os.path.join(cls.dir, "d.scap")
        number = struct.Struct("<q").pack
        events = [
            (6, [number(3), struct.pack("<I", 8)]),  # read of /etc/passwd
            (7, [number(-11), b""]),
            (2, []),  # open
            (3, [number(5), b"/a\x01\xff\0", *(3 * [struct.pack("<I", 0)])]),
            (186, [number(0)]),  # procexit
        ]
        with open(cls.path, "wb") as f:
            f.write(replay_test.state() + b"".join(
                replay_test.event(n, kind, params) for n, (kind, params) in enumerate(events)))

    def ask(self, *args):
        theirs, ours = (lines_of(p, self.path, *args) for p in ("sysdig", e2e.SAKER))
        return theirs, ours

    def differs(self, theirs, ours, *args):
        (a, a_err), (b, b_err) = self.ask(*args)
        self.assertEqual([x for x in a if x] or [a_err.strip().split(b"\n")[0]], theirs)
        self.assertEqual([x for x in b if x] or [b_err.split(b"\n")[0]], ours)

    def test_a_field_that_its_parser_does_not_finish(self):
        fmt = "*%evt.num %evt.type.is.open"
        self.differs([b"1 <NA>", b"2 <NA>", b"3 <NA>", b"4 <NA>", b"5 <NA>"],
                     [b"1 0", b"2 0", b"3 1", b"4 1", b"5 0"], "-p", fmt)

    def test_no_call_has_no_call_type(self):
        self.differs([b"1 read", b"2 read", b"3 open", b"4 open", b"5 procexit"],
                     [b"1 read", b"2 read", b"3 open", b"4 open"], "-p", "%evt.num %syscall.type")

    def test_json_asks_twice(self):
        self.differs([b'{"evt.deltatime":0,"util.cnt":%d}' % n for n in range(2, 11, 2)],
                     [b'{"evt.deltatime":%d,"util.cnt":%d}' % (1000 * (n > 1), n)
                      for n in range(1, 6)],
                     "-j", "-p", "%util.cnt %evt.deltatime")

    def test_raw_arguments(self):
        self.differs([b"wrong event type 14"], [b"1 3", b"4 5"], "-p", "%evt.num %evt.rawarg.fd")
        self.differs([b"wrong event type 30"], [b"4 0"], "-p", "%evt.num %evt.rawarg.flags")
        self.differs([b"evt.arg fields must be expressed explicitly"],
                     [b"1 3", b"2 -11", b"4 5", b"5 0"], "-p", "%evt.num %evt.rawarg[0]")

    def test_percent_sign(self):
        self.differs([b"invalid formatting token %"], [b"%d%%" % n for n in range(1, 6)],
                     "-p", "%evt.num%%")

    def test_bytes_that_are_no_text(self):
        fmt = "%evt.num %evt.rawarg.name"
        self.differs([b"4 /a\x01\xff"], [b"4 /a.."], "-p", fmt)
        self.differs([b'{"evt.num":4,"evt.rawarg.name":"/a\\u0001\\ufffd"}'],
                     [b'{"evt.num":4,"evt.rawarg.name":"/a.."}'], "-j", "-p", fmt)

    def test_what_n_counts(self):
        (theirs, _), (ours, _) = self.ask("-n", "1", "-p", "%evt.num %evt.arg.name")
        self.assertEqual((theirs, ours), ([b""], [b"4 /a", b""]))

    def test_formats_without_a_field(self):
        (theirs, _), (ours, err) = self.ask("-j", "-p", "abc")
        self.assertEqual([x for x in theirs if x], 5 * [b"null"])
        self.assertEqual(ours, [b""])
        self.assertIn(b"the format has no field", err)

    def test_known_but_not_supported(self):
        for field in ("evt.infra.docker.name", "k8s.svc.name"):
            (theirs, said), (ours, err) = self.ask("-p", f"%evt.num %{field}")
            self.assertEqual(([x for x in theirs if x], said), ([], b""))
            self.assertEqual(ours, [b""])
            self.assertIn(f"the field {field} is not supported".encode(), err)


if __name__ == "__main__":
    unittest.main()
