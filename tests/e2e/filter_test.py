#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that filters select the same events as in sysdig 0.29.3: each filter of filter/filters.txt
runs in both over every capture. A filter that begins with ~ is known to differ: docs/differences.md
has the reason, and the test checks that it does differ. The captures are those of
../shared/captures, if present, and one made here that sysdig has rewritten: values that only
saker's format has would cause false differences."""

import concurrent.futures
import functools
import gzip
import os
import shutil
import subprocess
import sys
import unittest

import saker_e2e as e2e

TABLE = os.path.join(e2e.SOURCE, "tests/e2e/filter/filters.txt")


def table():
    """Returns (filter, whether it is known to differ)."""
    with open(TABLE) as f:
        lines = [l.strip() for l in f]
    return [(l.lstrip("~ "), l.startswith("~")) for l in lines if l and not l.startswith("#")]


def numbers(text):
    return [int(l.split(None, 1)[0]) for l in text.splitlines() if l[:1].isdigit()]


def run(args):
    p = subprocess.run(args, capture_output=True, text=True, errors="surrogateescape",
                       env={**os.environ, "TZ": "UTC"})
    return p.returncode, p.stdout, p.stderr


def ours(capture, text):
    text = text.replace("proc.name", "thread.name")  # what sysdig compares
    status, out, err = run([e2e.SAKER, "-r", capture, "--enter-events", *filter(None, [text])])
    return numbers(out) if status == 0 else err


def theirs(capture, text):
    status, out, err = run(["sysdig", "-r", capture, "-p", "%evt.num", *filter(None, [text])])
    return numbers(out) if status == 0 else err


def compare(job):
    capture, text = job
    return ours(capture, text), theirs(capture, text)


def compare_all(jobs):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(compare, jobs))


def summary(a, b):
    if not isinstance(a, list) or not isinstance(b, list):
        return f"saker: {a if isinstance(a, str) else len(a)}; sysdig: {b if isinstance(b, str) else len(b)}"
    only_a, only_b = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    return (f"saker {len(a)} events, sysdig {len(b)}; only saker {only_a[:8]}, "
            f"only sysdig {only_b[:8]}")


class Filters(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.captures = e2e.SHARED + cls.make_captures()

    @classmethod
    def make_captures(cls):
        cls.native = os.path.join(cls.dir, "native.scap")
        plain = os.path.join(cls.dir, "spine.scap")
        program = e2e.compile_program("spine", cls.dir)
        e2e.run(e2e.SAKER, "-w", cls.native, "--", program, os.path.join(cls.dir, "d"), status=3)
        # sysdig does not find the file of setsockopt's exit.
        e2e.run("sysdig", "-r", cls.native, "-w", plain, "evt.type!=setsockopt")
        return [plain]

    @classmethod
    @functools.lru_cache
    def results(cls):
        """Returns {filter: (events by saker, events by sysdig)} for all captures joined in
        one file, because sysdig starts slowly. Events are compared by position: sysdig
        numbers them in its own way."""
        joined = os.path.join(cls.dir, "joined.scap")
        with open(joined, "wb") as out:
            for path in cls.captures:
                with open(path, "rb") as f:
                    data = f.read()
                out.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        places = [{n: i for i, n in enumerate(all_of)} for all_of in compare((joined, ""))]
        rows = [text for text, _ in table()]
        return {text: tuple([place[n] for n in one] if isinstance(one, list) else one
                            for place, one in zip(places, both))
                for text, both in zip(rows, compare_all([(joined, text) for text in rows]))}

    def test_same_events_as_sysdig(self):
        rows = table()
        # In a joined file sysdig keeps state of processes from the previous capture: filters that
        # differ, or should differ, are compared capture by capture.
        apart = [(text, differs) for text, differs in rows
                 if differs or self.results()[text][0] != self.results()[text][1]]
        jobs = [(c, text) for text, _ in apart for c in self.captures]
        results = dict(zip(jobs, compare_all(jobs)))
        wrong, same = [], []
        for text, differs in apart:
            bad = [(c, *results[c, text]) for c in self.captures
                   if results[c, text][0] != results[c, text][1]]
            if bad and not differs:
                wrong += [f"{text}\n  {os.path.basename(c)}: {summary(a, b)}" for c, a, b in bad]
            if differs and not bad:
                same.append(text)
        self.assertFalse(wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:40]))
        self.assertLessEqual(len(apart), len(rows) * 0.1)
        if e2e.SHARED:
            self.assertFalse(same, "these do not differ any more:\n" + "\n".join(same))
            self.assertLessEqual(sum(d for _, d in rows), len(rows) * 0.02)

    def test_every_filter_matches_something_somewhere(self):
        """A table of filters that match nothing would prove nothing."""
        e2e.shared_captures()
        empty = [text for text, both in self.results().items() if not both[0]]
        self.assertLess(len(empty), len(table()) / 4, "\n".join(empty))

    def lines(self, *args):
        """Returns lines without event numbers, which begin anew in a new file."""
        return [l.split(None, 1)[1].rstrip() for l in e2e.run(*args).splitlines()]

    def test_a_file_of_what_is_meant(self):
        """The file has the events that the filter selects, with their names unchanged."""
        part = os.path.join(self.dir, "part.scap")
        for text in ("evt.type=read and fd.num=3", "evt.type=execve", "evt.type=close"):
            e2e.run(e2e.SAKER, "-r", self.native, "-w", part, text)
            for tool in (["sysdig"], [e2e.SAKER, "--enter-events"]):
                want = self.lines(*tool, "-r", self.native, text)
                self.assertTrue(want, text)
                self.assertEqual(self.lines(*tool, "-r", part), want)
            e2e.run(e2e.SAKER, "-r", part, "--verify")

    def test_live(self):
        part = os.path.join(self.dir, "live.scap")
        out = os.path.join(self.dir, "live")
        e2e.run(e2e.SAKER, "-w", part, "--print", "-o", out, "evt.type in (openat, close)", "and",
                "proc.name=cat", "--", "cat", "/etc/hostname")
        live = e2e.lines(e2e.read_text(out))
        self.assertTrue(any("/etc/hostname" in l.info for l in live))
        self.assertEqual({l.type for l in live}, {"openat", "close"})
        self.assertEqual([l.text for l in e2e.lines(e2e.run(e2e.SAKER, "-r", part))],
                         [l.text for l in live])

    def test_enters_are_shown_to_who_asks_for_them(self):
        for text, dirs in {"evt.type=lseek": {"<"}, "evt.type=lseek and evt.dir=>": {">"},
                           "evt.type=lseek and evt.dir exists": {"<", ">"}}.items():
            got = e2e.lines(e2e.run(e2e.SAKER, "-r", self.native, text))
            self.assertEqual({l.dir for l in got}, dirs)

    def test_errors(self):
        for args, err in {
            ("proc.nmae=cat",): "saker: filter: unknown field proc.nmae; did you mean proc.name?\n"
                                "  proc.nmae=cat\n  ^\n",
            ("evt.type=open", "and", "fd.num=x"):
                "saker: filter: expected a number, such as -1, 0x1f or 4k, found 'x'\n"
                "  evt.type=open and fd.num=x\n                           ^\n",
            ("--macro", "m=fd.num<", "m"): "saker: filter, in m: expected a value, found the end\n"
                                           "  fd.num<\n         ^\n",
            ("(" * 10000 + "fd.num=1",): None,
        }.items():
            p = subprocess.run([e2e.SAKER, "-r", self.native, *args], capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stdout), (1, ""))
            if err:
                self.assertEqual(p.stderr, err)
            else:
                self.assertIn("nested", p.stderr)

    def test_names(self):
        self.assertEqual(
            e2e.run(e2e.SAKER, "-r", self.native, "--list", "rw=read,write", "--macro",
                    "third=fd.num=3", "third and evt.type in rw"),
            e2e.run(e2e.SAKER, "-r", self.native, "fd.num=3 and evt.type in (read, write)"))


if __name__ == "__main__":
    e2e.need("sysdig")
    e2e.need_live()
    if len(sys.argv) > 1 and sys.argv[1] == "--try":
        for capture in e2e.SHARED:
            print(os.path.basename(capture), summary(*compare((capture, sys.argv[2]))))
        sys.exit(0)
    unittest.main()
