#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests rules for all chisels of chisels/: each describes itself, is listed once, runs over any capture,
prints tables or only JSON, and rejects invalid arguments."""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

FOLDER = os.path.join(e2e.SOURCE, "chisels")
CATEGORIES = {"Application", "CPU Usage", "Containers", "Errors", "I/O", "Logs", "Misc", "Net",
              "Performance", "Security", "System State"}
# Values for mandatory arguments.
NEEDED = {"around": ["out.scap", "evt.type=open"], "by": ["evt.type"], "fdbytes_by": ["fd.directory"],
          "fdcount_by": ["proc.name"], "fdtime_by": ["fd.type"], "spy_ip": ["127.0.0.1"],
          "spy_port": ["80"]}
# Notes on standard error about captures that lack what the chisel needs.
NOTES = {"topprocs_cpu": rb"switch", "topcontainers_cpu": rb"switch", "iotop": rb"switch",
         **dict.fromkeys(["calltree", "flamediff", "flamegraph", "folded", "offcpu", "otlpprofile", "perfscript", "pprof",
                          "speedscope", "stackdiff", "topfuncs"], rb"no samples"),
         "timeline": rb"(no|all) slices", "why": rb"no slices"}
# Output for a capture that has nothing for the chisel to show.
NOTHING = {"connections": "no TCP connections", "dnslog": "no DNS messages", "execs": "no programs started or ended",
           "httplog": "no HTTP requests", "memcachelog": "no memcached requests",
           "netlower": "no events match ", "netstat": "no connections", "opens": "no matching files were opened",
           "signals": "no signals", "tlshosts": "no TLS connections", "topprocs_file": "no events match ",
           "udp_extract": "no UDP datagrams", "why": "no requests at servers"}


def text_of(name):
    return e2e.read_text(os.path.join(FOLDER, name + ".lua"))


def chisels():
    names = sorted(os.path.basename(f)[:-4] for f in glob.glob(os.path.join(FOLDER, "*.lua")))
    return [n for n in names if re.search(r"(?m)^description = ", text_of(n))]


def run(cwd, *args):
    env = {**os.environ, "TZ": "UTC", "HOME": cwd, "SAKER_CHISEL_DIR": FOLDER}
    return subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, *args], capture_output=True,
                          cwd=cwd, env=env, stdin=subprocess.DEVNULL)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        made = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), made, "1000")
        cls.captures = [made, *e2e.captures()]


class Runs(Case):
    def check_end(self, p, name, what):
        p.stderr = re.sub(rb"\Asaker: 0 of \d+ events match\n\Z", b"", p.stderr)
        if name in NOTES and re.fullmatch(rb"saker: [^\n]*%s[^\n]*\n" % NOTES[name], p.stderr):
            p.stderr = b""
        self.assertEqual((p.returncode, p.stderr), (0, b""), what)

    def runs(self, name):
        for capture in self.captures:
            cwd = os.path.join(self.dir, f"{name}-{os.path.basename(capture)}")
            os.makedirs(cwd)
            args = ["-r", capture, "-c", name, *NEEDED.get(name, [])]
            for more in ([], ["-pc"]):
                p = run(cwd, *more, *args)
                self.check_end(p, name, f"{name} of {capture}")
                self.assertNotIn(b"\x1b[2J", p.stdout, f"{name} clears what is no screen")
            p = run(cwd, "-j", *args)
            self.check_end(p, name, f"-j {name} of {capture}")
            if name == "timeline": # a page or a trace, by its argument
                continue
            for line in p.stdout.decode(errors="replace").splitlines():
                self.assertIsInstance(json.loads(line), (dict, list), f"-j {name} of {capture}")

    def test_they_run(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(self.runs, chisels()):
                pass


class All(Case):
    def test_they_describe_themselves(self):
        for name in chisels():
            text = text_of(name)
            self.assertRegex(text, r'(?m)^short_description = "[A-Z][^\n]{10,70}[^.]"$', name)
            category = re.search(r'(?m)^category = "([^"]*)"$', text)
            self.assertIn(category and category[1], CATEGORIES, name)
            shown = run(self.dir, "-i", name)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn(os.path.join(FOLDER, name + ".lua"), shown.stdout.decode())

    def test_each_is_listed_once(self):
        listed = run(self.dir, "-cl").stdout.decode()
        for name in chisels():
            self.assertEqual(len(re.findall(rf"(?m)^  {name} ", listed)), 1, name)

    def test_they_say_that_there_is_nothing(self):
        for name, sentence in NOTHING.items():
            args = ("-r", self.captures[0], "-c", name, "proc.name=nobody-has-this-name")
            self.assertIn(sentence, run(self.dir, *args).stdout.decode().splitlines()[-1], name)
            self.assertEqual(run(self.dir, "-j", *args).stdout, b"", name)

    def test_they_say_that_there_are_no_samples(self):
        for name in (n for n, note in NOTES.items() if note == rb"no samples"):
            p = run(self.dir, "-r", self.captures[0], "-c", name)
            self.assertEqual((p.returncode, p.stdout), (0, b""), name)
            self.assertRegex(p.stderr, rb"^saker: no samples[^\n]*saker profile [^\n]*-w FILE[^\n]*\n$", name)

    def test_json_is_the_same_each_time(self):
        """Keys are sorted in nested objects as well, not in the order of Lua's hash tables."""
        for name in ("latency_hist", "spectrogram", "subsecoffset"):
            told = {run(self.dir, "-r", self.captures[-1], "-j", "-c", name).stdout for _ in range(4)}
            self.assertEqual(len(told), 1, name)
            self.assertNotEqual(told, {b""}, name)

    def test_arguments_that_mean_nothing(self):
        for name in chisels():
            described = run(self.dir, "-i", name).stdout.decode()
            for arg, bad in (("top", "0"), ("top", "many"), ("sort", "nothing"), ("interval", "-1")):
                if not re.search(rf"(?m)^  {arg} \(", described):
                    continue
                words = " ".join([*NEEDED.get(name, []), f"{arg}={bad}"])
                p = run(self.dir, "-r", self.captures[0], "-c", name, words)
                self.assertEqual(p.returncode, 1, (name, words))
                self.assertIn(b"needed", p.stderr, (name, words))


if __name__ == "__main__":
    unittest.main()
