#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters select what sysdig 0.29.3 selects.

Every filter of filter/filters.txt is given to both for every capture, and the numbers of the events
must be the same. A filter that begins with ~ is known to differ: docs/differences.md says why, and
that it differs at all is tested too. The captures are those of ../shared/captures beside the
repository, as far as there are any, and one that saker makes here."""

import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import unittest

import saker_e2e as e2e

TABLE = os.path.join(e2e.SOURCE, "tests/e2e/filter/filters.txt")
CAPTURES = sorted(glob.glob(os.path.join(e2e.SOURCE, "../shared/captures/*.scap")))


def table():
    """(filter, is known to differ)"""
    with open(TABLE) as f:
        lines = [l.strip() for l in f]
    return [(l.lstrip("~ "), l.startswith("~")) for l in lines if l and not l.startswith("#")]


def numbers(text):
    return [int(l.split(None, 1)[0]) for l in text.splitlines() if l[:1].isdigit()]


def run(args):
    p = subprocess.run(args, capture_output=True, text=True, errors="surrogateescape")
    return p.returncode, p.stdout, p.stderr


def ours(capture, text):
    status, out, err = run([e2e.SAKER, "-r", capture, "--enter-events", text])
    return numbers(out) if status == 0 else err


def theirs(capture, text):
    status, out, err = run(["sysdig", "-r", capture, "-p", "%evt.num", text])
    return numbers(out) if status == 0 else err


def compare(job):
    capture, text = job
    return ours(capture, text), theirs(capture, text)


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
        cls.captures = list(CAPTURES)
        if os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux"):
            cls.captures.append(cls.make_capture())
        if not cls.captures:
            e2e.skip("no captures in ../shared/captures, and a live capture needs root")

    @classmethod
    def make_capture(cls):
        path = os.path.join(cls.dir, "spine.scap")
        program = e2e.compile_program("spine", cls.dir)
        e2e.run(e2e.SAKER, "-w", path, "--", program, os.path.join(cls.dir, "d"), status=3)
        return path

    def test_same_events_as_sysdig(self):
        rows = table()
        jobs = [(c, text) for text, _ in rows for c in self.captures]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = dict(zip(jobs, pool.map(compare, jobs)))
        wrong, same = [], []
        for text, differs in rows:
            bad = [(c, *results[c, text]) for c in self.captures
                   if results[c, text][0] != results[c, text][1]]
            if bad and not differs:
                wrong += [f"{text}\n  {os.path.basename(c)}: {summary(a, b)}" for c, a, b in bad]
            if differs and not bad:
                same.append(text)
        self.assertFalse(wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:40]))
        if CAPTURES:
            self.assertFalse(same, "these do not differ any more:\n" + "\n".join(same))
            self.assertLessEqual(sum(d for _, d in rows), len(rows) * 0.02)

    def test_every_filter_matches_something_somewhere(self):
        """A table of filters that match nothing would prove nothing."""
        empty = [text for text, _ in table()
                 if not any(ours(c, text) for c in self.captures)]
        self.assertLess(len(empty), len(table()) / 4, "\n".join(empty))


if __name__ == "__main__":
    e2e.need("sysdig")
    if len(sys.argv) > 1 and sys.argv[1] == "--try":
        for capture in CAPTURES:
            print(os.path.basename(capture), summary(*compare((capture, sys.argv[2]))))
        sys.exit(0)
    unittest.main()
