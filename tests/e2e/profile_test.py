#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests saker profile on programs that measure where their time goes: each output format must show
the same."""

import fcntl
import glob
import gzip
import json
import os
import pty
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time
import unittest
import xml.etree.ElementTree as ET

import saker_e2e as e2e

HOT = r"_start;.*main;in_between;very_hot"
CALLED = r"in_between;very_hot"
SESSION = {"SAKER_SAMPLER_SESSION": f"profile-{os.getpid()}"}


def profile(*args, status=0):
    p = subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "profile", *args],
                       capture_output=True, text=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, "TZ": "UTC", **SESSION})
    if p.returncode != status:
        raise AssertionError(f"profile {' '.join(args)}: {p.returncode}\n{p.stdout}\n{p.stderr}")
    return p


def on_terminal(width, *args):
    """Returns the output on a terminal of this width."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    p = subprocess.Popen([e2e.SAKER, "profile", *args], stdin=subprocess.DEVNULL, stdout=other,
                         stderr=other)
    os.close(other)
    text = e2e.read_terminal(main)
    p.wait()
    return text.decode()


def block(type_, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", type_, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def sample_block(ns, comm, frames, weight=1000, pid=77):
    """Returns a sample in the format before packed samples."""
    params = [b"\0", struct.pack("<q", weight), struct.pack("<q", pid), comm + b"\0", b"",
              struct.pack(f"<{len(frames)}Q", *frames), b"\0"]
    lens = struct.pack(f"<{len(params)}H", *map(len, params))
    data = lens + b"".join(params)
    head = struct.pack("<QQIHI", 10**18 + ns, pid, 26 + len(data), 0x4020, len(params))
    return block(0x217, struct.pack("<HI", 0, 1) + head + data)


def wait_until(is_so):
    until = time.monotonic() + e2e.DEADLINE_S
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError(f"it is not so after {e2e.DEADLINE_S} s")
        time.sleep(0.01)


def folded(text):
    """Returns weights by stack, without the name of the process."""
    stacks = {}
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        stack = stack.split(";", 1)[1]
        stacks[stack] = stacks.get(stack, 0) + int(weight)
    return stacks


def share(stacks, pattern):
    return sum(w for s, w in stacks.items() if re.search(pattern, s)) / sum(stacks.values())


# ---- a reader of protobuf, for what pprof.lua writes ----

def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return n, at


def message(data):
    """Returns values by field number: numbers, or bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, "a kind that profiles do not have"
            size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size
            at += size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def packed(data):
    numbers, at = [], 0
    while at < len(data):
        n, at = varint(data, at)
        numbers.append(n)
    return numbers


class Base(unittest.TestCase):
    """Compiles the program into the folder of the class."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        src = os.path.join(e2e.SOURCE, "tests/e2e/profile/prog.c")
        cls.prog = os.path.join(cls.dir, "prog")
        subprocess.run(["gcc", "-O1", "-g", "-o", cls.prog, src, "-ldl"], check=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def refuses(self, sentence, *args, status=1):
        """Checks for one sentence, no output and no file. FILE in args is a file to write."""
        out = self.path("refused.svg")
        p = profile(*(out if a == "FILE" else a for a in args), status=status)
        self.assertRegex(p.stderr, rf"\Asaker: [^\n]*{sentence}[^\n]*\n\Z", args)
        self.assertEqual(p.stdout, "", args)
        self.assertFalse(os.path.exists(out), args)


class Hot(Base):
    """Tests all outputs of one capture, of a program that spends most of its time in very_hot."""

    COMMAND = "{prog} long" # of a shell

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.capture = os.path.join(cls.dir, "hot.scap")
        # The file contains names: the kernel's BPF programs change soon.
        profile("-F", "999", "--with-symbols", "-w", cls.capture, "--", "sh", "-c",
                cls.COMMAND.format(prog=cls.prog))
        cls.whole = os.path.join(cls.dir, "whole.folded")
        profile("-r", cls.capture, "-o", cls.whole)

    def make(self, name, *args):
        profile("-r", self.capture, "-o", self.path(name), *args)
        return e2e.read_bytes(self.path(name))


class Made(Hot):
    """Returns all outputs of the capture."""

    def test_folded(self):
        stacks = folded(self.make("a.folded").decode())
        self.assertGreater(share(stacks, HOT), 0.8)
        self.assertGreater(share(stacks, HOT + r";put_in_\[i\]"), 0.5, "the inlined function")

    def test_all_agree(self):
        stacks = folded(self.make("b.folded").decode())
        total = sum(stacks.values())
        scope = json.loads(self.make("b.speedscope.json"))
        self.assertEqual(sum(scope["profiles"][0]["weights"]), total)
        pb = message(gzip.decompress(self.make("b.pb.gz")))
        self.assertEqual(sum(packed(message(s)[2][0])[1] for s in pb[2]), total)
        root = ET.fromstring(self.make("b.svg"))
        titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(t.startswith("all\n") and "100.00% of all" in t for t in titles), titles[:3])
        objects = [json.loads(l) for l in self.make("b.json").decode().splitlines()]
        self.assertEqual(sum(o["ns"] for o in objects), total)

    def test_graph(self):
        text = self.make("c.svg").decode()
        root = ET.fromstring(text)
        frames = root.findall(".//{http://www.w3.org/2000/svg}g[@class='f']")
        names = [re.sub(r"^prog \(\d+\)$", "prog", f[0].text.split("\n")[0]) for f in frames]
        for name in ("all", "prog", "main", "in_between", "very_hot", "put_in"):
            self.assertIn(name, names)
        # A frame stands above its caller, and is no wider.
        box = {n: (float(f[1].get("x")), float(f[1].get("y")), float(f[1].get("width")))
               for n, f in reversed(list(zip(names, frames)))}
        for below, above in (("all", "prog"), ("main", "in_between"), ("in_between", "very_hot")):
            self.assertGreater(box[below][1], box[above][1])
            self.assertLessEqual(box[below][0], box[above][0] + 0.01)
            self.assertGreaterEqual(box[below][2], box[above][2] - 0.01)
        self.assertNotRegex(text, r'(src|href|url\(|import)[^"]*https?:', "needs the network")

    def test_pprof(self):
        pb = message(gzip.decompress(self.make("e.pb.gz")))
        strings = [s.decode() for s in pb[6]]
        self.assertEqual(strings[0], "")
        text = lambda m, field: strings[m[field][0]] if field in m else ""
        functions = {f[1][0]: text(f, 2) for f in map(message, pb[5])}
        mappings = {m[1][0]: text(m, 5) for m in map(message, pb[3])}
        locations = {l[1][0]: l for l in map(message, pb[4])}
        names = {}
        for i, l in locations.items():
            self.assertIn(l.get(2, [0])[0], {0, *mappings})
            names[i] = [functions[message(line)[1][0]] for line in l[4]]
        self.assertIn(self.prog, mappings.values())
        hot = called = total = 0
        for s in map(message, pb[2]):
            ns = packed(s[2][0])[1]
            total += ns
            stack = [n for i in packed(s[1][0]) for n in names[i]]
            if "very_hot" in stack:
                hot += ns
            if "very_hot" in stack and "in_between" in stack: # not where a stack was cut off
                called += ns
                self.assertLess(stack.index("very_hot"), stack.index("in_between"), "leaf first")
        self.assertGreater(hot / total, 0.8)
        self.assertGreater(called / total, 0.8)
        self.assertEqual([text(message(v), 1) for v in pb[1]], ["samples", "cpu"])
        # pprof also reads the file without compression.
        self.assertEqual(self.make("e.pb"), gzip.decompress(e2e.read_bytes(self.path("e.pb.gz"))))

    def test_same_samples_same_output(self):
        for ending in ("svg", "folded", "pb", "otlp", "speedscope.json", "perf.txt", "json", "txt"):
            first, second = self.make("same." + ending), self.make("same." + ending)
            self.assertTrue(first)
            self.assertEqual(first.splitlines(), second.splitlines(), ending)

    def test_speedscope(self):
        scope = json.loads(self.make("g.speedscope.json"))
        frames, prof = scope["shared"]["frames"], scope["profiles"][0]
        self.assertEqual(len(prof["samples"]), len(prof["weights"]))
        self.assertEqual(prof["unit"], "nanoseconds")
        names = [[frames[i]["name"] for i in s] for s in prof["samples"]]
        heaviest = names[prof["weights"].index(max(prof["weights"]))]
        self.assertRegex(heaviest[0], r"^prog \(\d+\)$")
        self.assertIn("very_hot", heaviest)
        line = [f for f in frames if f["name"] == "put_in"][0]
        self.assertTrue(line["file"].endswith("prog.c"))
        source = e2e.read_text(os.path.join(e2e.SOURCE, "tests/e2e/profile/prog.c")).splitlines()
        self.assertIn("sink", source[line["line"] - 1])

    def test_perf_text(self):
        text = self.make("h.perf.txt").decode()
        events = text.split("\n\n")
        self.assertGreater(len(events), 100)
        head = r"\S+ +\d+/\d+ \[\d{3}\] \d+\.\d{9}: \d+ cpu-clock:\n"
        frame = r"\t[0-9a-f]+ (\[unknown\]|.+\+0x[0-9a-f]+) \(.+\)"
        inlined = r"\t[0-9a-f]+ \S+ \(inlined\)"
        for event in events[:-1]:
            self.assertRegex(event, rf"\A{head}(({frame}|{inlined})\n?)+\Z")
        own = rf"very_hot\+0x[0-9a-f]+ \({re.escape(self.prog)}\)"
        self.assertRegex(text, own)
        # As in perf script: an inlined function stands before its function, at the same address.
        self.assertRegex(text, rf"\n\t([0-9a-f]+) put_in \(inlined\)\n\t\1 {own}")

    def test_text(self):
        p = profile("-r", self.capture)
        self.assertRegex(p.stdout, r"\A *SELF% +SELF +TOTAL% +TOTAL +FUNCTION +MODULE +LINE\n")
        self.assertRegex(p.stdout, r"\n *\d+\.\d +\S+ +\d\d\.\d +\S+ +very_hot +prog +prog\.c:\d+\n")
        line = re.search(r"\n *\d\d\.\d +\S+ +\d\d\.\d +\S+ +put_in \(inlined\) +prog +prog\.c:(\d+)\n", p.stdout)
        source = e2e.read_text(os.path.join(e2e.SOURCE, "tests/e2e/profile/prog.c")).splitlines()
        self.assertIn("sink", source[int(line[1]) - 1])
        self.assertRegex(p.stdout, r"\n *\d+\.\d% +\S+s +prog \(\d+\)\n")
        self.assertNotIn("WOKEN BY", p.stdout, "nothing waited, of what there is")

    def test_text_rounds_to_whole_units(self):
        """A sum a little below a unit is printed as one unit."""
        path = self.path("round.scap")
        for weight, text in ((999_999_990, "1.00s"), (994_000_000, "994.00ms"), (999_999, "1.00ms"),
                             (59_999_999_999, "1.00min"), (999, "999ns")):
            with open(path, "wb") as f:
                f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
                f.write(sample_block(0, b"round", [0x1000], weight))
            self.assertRegex(profile("-r", path).stdout, rf"\n100\.0 +{text} +100\.0 +{text} ")

    def test_what_calls_itself(self):
        """A recursion is one line of the tree, however deep."""
        path = self.path("itself.scap")
        with open(path, "wb") as f:
            f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
            f.write(sample_block(0, b"itself", [0x1000] * 70))
        self.assertIn("[unknown] (70 times)\n", profile("-r", path).stdout)

    def test_processes_are_told_apart(self):
        """Processes are separate by PID; many of one name are one."""
        path = self.path("apart.scap")
        with open(path, "wb") as f:
            f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
            for pid in range(101, 104):
                f.write(sample_block(pid, b"worker", [0x1000], pid=pid))
            for pid in range(201, 226):
                f.write(sample_block(pid, b"cc1", [0x1000], pid=pid))
        self.assertEqual(profile("-r", path, "-c", "folded").stdout.splitlines(),
                         ["cc1 (25 processes);[unknown] 25000", *(f"worker ({pid});[unknown] 1000" for pid in (101, 102, 103))])
        profile("-r", path, "-o", self.path("apart.json"))
        objects = [json.loads(l) for l in e2e.read_text(self.path("apart.json")).splitlines()]
        self.assertLess({("worker", pid) for pid in (101, 102, 103)}, {(o["process"], o.get("pid")) for o in objects})
        # Two captures share no PID.
        other = self.path("apart2.scap")
        with open(other, "wb") as f:
            f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
            f.write(sample_block(1, b"worker", [0x1000], pid=999))
        profile("--diff", path, other, "-o", self.path("apart.svg"))
        self.assertRegex(e2e.read_text(self.path("apart.svg")), r"<title>worker\n")

    def test_limit_of_time(self):
        """-d and -M count from the first sample, not from the mappings before it."""
        self.assertEqual(self.make("limit.folded", "-d", "1000"), e2e.read_bytes(self.whole))
        lines = lambda *args: e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%evt.rawtime",
                                      "evt.type=sample", *args).splitlines()
        all_ = [int(l) for l in lines()]
        self.assertEqual(len(lines("-M", "1000")), len(all_))
        # With two CPUs, a later sample may come first; then it counts as the limit.
        some = sum(t - all_[0] < 100_000_000 for t in all_)
        self.assertTrue(0 < len(lines("-M", "0.1")) <= some < len(all_), some)
        copy = self.path("limit.scap")
        shutil.copy(self.capture, copy)
        self.assertTrue(0 < len(lines("-M", "0.1", "-r", copy)) <= 2 * some, "of both files")
        self.assertEqual(len(lines("-M", "1000", "-r", copy)), 2 * len(all_))

    def test_time_before_the_first_sample(self):
        """Forks and execs during the set-up of the sampler are older than the profile, and
        not part of its time."""
        path = self.path("older.scap")
        close = struct.pack("<QQIHI", 10**18, 77, 36, 5, 1) + struct.pack("<Hq", 8, 0)
        with open(path, "wb") as f:
            f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
            f.write(block(0x217, struct.pack("<HI", 0, 1) + close))
            for ms in (3000, 3400, 3600):
                f.write(sample_block(ms * 1_000_000, b"late", [0x1000]))
        profile("-r", path, "-d", "0.5", "-o", self.path("older.folded"))
        self.assertEqual(e2e.read_text(self.path("older.folded")), "late (77);[unknown] 2000\n")
        self.assertEqual(len(e2e.run(e2e.SAKER, "-r", path, "-M", "0.5", "evt.type=sample").splitlines()), 2)

    def test_filter(self):
        some = folded(self.make("i.folded", "stack.frames", "contains", "very_h").decode())
        self.assertEqual(share(some, "very_hot"), 1)

    def test_diff(self):
        other = self.path("other.scap")
        profile("-F", "999", "-w", other, "--", self.prog, "kernel")
        p = profile("--diff", self.capture, other)
        self.assertRegex(p.stdout, r"\ACHANGE +BEFORE% +AFTER% +BEFORE +AFTER +TOTAL CHANGE +FUNCTION +MODULE\n")
        self.assertRegex(p.stdout, r"\n *-\d\d\.\d\d +\d\d\.\d +0\.0 +\d+\.\d\dm?s +0ns +-\d\d\.\d\d +very_hot +prog\n")
        profile("--diff", self.capture, other, "-o", self.path("diff.svg"))
        root = ET.parse(self.path("diff.svg"))
        titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        seconds = r"\n0ns before, \d+(\.\d+)?m?s after"
        self.assertTrue([t for t in titles if t.startswith("read_zeros\n") and "0.00% before" in t and re.search(seconds, t)])
        self.assertRegex(p.stdout, r"\n100%: \S+s before, \S+s after\n\Z")

    def test_named_chisel_and_ending(self):
        for chisel in ("folded", "topfuncs", "pprof"):
            self.refuses(f"the output of {chisel} is another format", "-r", self.capture, "-o", "FILE", "-c", chisel)
        self.make("named.svg", "-c", "flamegraph")
        objects = self.make("named.json", "-c", "topfuncs").decode().splitlines()
        self.assertIn("very_hot", [json.loads(l)["function"] for l in objects])

    def test_filter_of_a_chisel(self):
        p = subprocess.run([e2e.SAKER, "-r", self.capture, "-c", "topfuncs", "proc.name=nobody"],
                           capture_output=True, text=True)
        self.assertRegex(p.stderr, r"\Asaker: no samples match the filter proc.name=nobody: .*\n"
                         r"saker: 0 of \d+ events match\n\Z")

    def test_numbers_that_are_none(self):
        for hz in ("0", "4001", "5000", "-1", "1.5", "x"):
            self.refuses(f"from 1 to 4000 .*'{hz}'", "-F", hz, "-o", "FILE")
        for seconds in ("0", "-1", "x"):
            self.refuses(f"number of seconds above 0.*'{seconds}'", "-d", seconds, "-o", "FILE")
        for pid in ("0", "-1", "x", "1,x"):
            self.refuses("needs PIDs, not '", "-p", pid, "-o", "FILE")
        for depth in ("0", "1025"):
            self.refuses(f"from 1 to 1024 .*'{depth}'", "--stack-depth", depth, "-o", "FILE")

    def test_nobody_there(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.refuses(f"no process {gone.pid}", "-p", str(gone.pid), "-o", "FILE")
        self.refuses("no cgroup /no-such", "--cgroup", "/no-such", "-o", "FILE")
        self.refuses("no-such-command: command not found", "-o", "FILE", "--", "no-such-command",
                     status=127)
        self.refuses("no chisel 'no-such'", "-c", "no-such", "-o", "FILE")

    def test_files_that_are_none(self):
        for name in ("x.png", "x", "svg", "x.svg.bz2"):
            self.refuses("unknown extension", "-r", self.capture, "-o", self.path(name))
            self.assertFalse(os.path.exists(self.path(name)))
        folder = self.path("folder.svg")
        os.mkdir(folder)
        self.refuses("cannot write .*folder.svg: Is a dir", "-r", self.capture, "-o", folder)
        for path in (self.path("no-such-dir/x.svg"), "/proc/x.svg"):
            self.refuses(f"cannot write {path}: No such", "-r", self.capture, "-o", path)
        os.symlink("/dev/full", self.path("full.svg"))
        self.refuses("cannot write all of .*full.svg: No space", "-r", self.capture, "-o",
                     self.path("full.svg"))
        self.refuses("cannot open .*no-such.scap", "-r", self.path("no-such.scap"), "-o", "FILE")
        self.refuses("cannot write .*: No such", "-w", self.path("no-such-dir/x.scap"), "-o", "FILE")

    def test_without_samples(self):
        calls = self.path("calls.scap")
        e2e.run(e2e.SAKER, "-w", calls, "--", "true")
        none = "calls.scap: contains no samples"
        for args in ([], ["-c", "topfuncs"], ["-o", "FILE"]):
            self.refuses(none, "-r", calls, *args)
        for pair in ((calls, self.capture), (self.capture, calls)):
            self.refuses(none, "--diff", *pair)
            self.refuses(none, "--diff", *pair, "-o", "FILE")
        self.refuses(r"none of its \d\d+ samples matches the filter", "-r", self.capture, "-o", "FILE",
                     "stack.frames=no_such_function")
        self.refuses("no samples in its first 0.5 s", "-r", calls, "-d", "0.5", "-o", "FILE")

    def test_what_was_there_stays(self):
        out = self.path("older.svg")
        self.make("older.svg")
        before = e2e.read_bytes(out)
        for args in (["-r", self.capture, "stack.frames=no_such_function"],
                     ["-r", self.path("no-such.scap")], ["-p", "2147483647"]):
            profile(*args, "-o", out, status=1)
            self.assertEqual(e2e.read_bytes(out), before)
        # A longer old file is completely replaced.
        short = self.make("shorter.svg", "stack.frames", "contains", "very_h")
        with open(out, "ab") as f:
            f.write(b"x" * 100000)
        self.assertEqual(self.make("older.svg", "stack.frames", "contains", "very_h"), short)

    def test_mode(self):
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        for name in ("mode.svg", "mode.pb.gz", "mode.txt"):
            self.make(name)
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o640, name)
        self.assertEqual(os.stat(self.capture).st_mode & 0o777, 0o600)

    def test_options_that_contradict(self):
        other = self.path("same.scap")
        os.symlink(self.capture, other)
        with_file, diff = ["-r", self.capture], ["--diff", self.capture, "other.scap"]
        for how in (["-F", "99"], ["--off-cpu"], ["--off-cpu-min", "1"], ["--stack-depth", "9"],
                    ["--unwind-tables", "9M"], ["--probabilistic-threshold", "9"]):
            self.refuses("apply to live sampling, not to files", *with_file, *how, "-o", "FILE")
        for who in (["-p", "1"], ["--comm", "a"], ["--cgroup", "/"]):
            self.refuses("apply to live sampling; for a file use a filter", *with_file, *who, "-o", "FILE")
        for args, sentence in (
                (["-r", self.capture, "-o", "FILE", "-w", "FILE"], "cannot write both lines and events to"),
                (["--diff", self.capture], "two capture files"),
                (["--diff", self.capture, self.capture, "-o", "FILE"], "--diff needs two different files"),
                (["--diff", self.capture, other, "-o", "FILE"], "--diff needs two different files"),
                (diff + ["-o", "x.pb.gz"], "--diff can write"), (diff + ["-d", "1"], "--diff and -d exclude"),
                (diff + ["-w", "FILE"], "--diff and -w exclude"), (diff + ["-F", "9"], "not to files"),
                (["--all", "-o", "FILE"], "--all needs a command"),
                (["--tree", "-o", "FILE"], "--tree needs -p"),
                (["--off-cpu-min", "1", "-o", "FILE"], "needs --off-cpu"),
                (["--probabilistic-interval", "9", "-o", "FILE"], "needs --probabilistic-threshold"),
                (["--zstd", "-o", "FILE"], "--zstd needs -w"),
                (["--with-symbols", "-o", "FILE"], "--with-symbols needs -w"),
                (["--nothing"], "unknown option --nothing: see saker profile --help"),
                (["-U"], "unknown option -U: see saker profile --help")):
            self.refuses(sentence, *args)
        self.refuses("-r and -- CMD exclude each other", *with_file, "-o", "FILE", "--", "true", status=125)
        self.refuses("add --all", "-p", "1", "-o", "FILE", "--", "true", status=125)

    def test_help(self):
        text = profile("--help").stdout
        for word in ("--off-cpu", "--diff", ".speedscope.json", "Usage: saker profile"):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 83)


class Waits(Base):
    """Tests off-CPU time."""

    def test_off_cpu(self):
        out = self.path("wait.txt")
        profile("--off-cpu", "-o", out, "-c", "offcpu", "--", self.prog, "wait")
        text = e2e.read_text(out)
        self.assertRegex(text, r"(?m)^\S+ +\d+ +\S+ +prog \(\d+\) +clock_nanosleep .* waits_long$")

    def still_waits(self, *args):
        capture = self.path("waits.scap")
        profile("--off-cpu", "-w", capture, "-d", "0.5", *args)
        objects = [json.loads(l) for l in profile("-r", capture, "-c", "offcpu", "-o", self.path("waits.json")) and
                   e2e.read_text(self.path("waits.json")).splitlines()]
        return profile("-r", capture, "-c", "offcpu").stdout, objects

    def test_off_cpu_of_a_hang(self):
        """Threads that have waited for each other since before the start, one that sleeps,
        and one that opens a FIFO. Those of Python wait at a line of the program, also inside Thread.join."""
        path = self.path("hang.py")
        e2e.write_text(path, "import sys, threading\n"
                             "a, b, all = threading.Lock(), threading.Lock(), threading.Barrier(2)\n"
                             "def one(x, y):\n"
                             "    with x:\n"
                             "        all.wait()\n"
                             "        with y: pass\n"
                             "threads = [threading.Thread(target=one, args=p) for p in ((a, b), (b, a))]\n"
                             "for t in threads: t.start()\n"
                             "for t in threads: t.join()\n")
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        port = server.getsockname()[1]
        client = f"import socket; socket.create_connection(('127.0.0.1', {port})).recv(1)"
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        hung = [subprocess.Popen(args) for args in (["/usr/bin/python3", path], ["sleep", "1000"], ["cat", fifo],
                                                    ["/usr/bin/python3", "-c", client])]
        for p in hung:
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)

        def call_of(task):
            return e2e.read_text(task + "/syscall").split()[0]

        def all_wait():
            tasks = [[call_of(t) for t in glob.glob(f"/proc/{p.pid}/task/*")] for p in hung]
            return tasks == [["202"] * 3, ["230"], ["257"], ["45"]]
        wait_until(all_wait)
        text, objects = self.still_waits("-p", ",".join(str(p.pid) for p in hung))
        self.assertRegex(text, rf"(?m)^2 threads still wait: futex in \w+ <- one \(hang\.py:6\), python3 \({hung[0].pid}\), "
                         r"for at least \d\S+s, on lock 0x[0-9a-f]+, lock 0x[0-9a-f]+$")
        self.assertRegex(text, rf"(?m)^1 thread still waits: futex in \w+ <- <module> \(hang\.py:9\), "
                         rf"python3 \({hung[0].pid}\), for at least \d\S+s, on lock 0x[0-9a-f]+$")
        self.assertRegex(text, rf"(?m)^1 thread still waits: clock_nanosleep in \w+ <- [\w+]+, sleep \({hung[1].pid}\), "
                         r"for at least \d\S+s$")
        self.assertRegex(text, rf"(?m)^1 thread still waits: openat in \w+ <- [\w+]+, cat \({hung[2].pid}\), "
                         r"for at least \d\S+s$")
        self.assertRegex(text, rf"(?m)^1 thread still waits: recvfrom in \w+ <- <module> \(<string>:1\), python3 \({hung[3].pid}\), "
                         rf"for at least \d\S+s, on fd 3 127\.0\.0\.1:\d+->127\.0\.0\.1:{port}$")
        self.assertRegex(text, r"(?m)^ *>=\d\S+s +1 +>=\d\S+s +sleep \(\d+\) +clock_nanosleep")
        self.assertTrue(all(o["at_least"] for o in objects))
        objects, rest = [o for o in objects if "ns" in o], [o for o in objects if "still_waiting" in o]
        client = [o for o in rest if o["pid"] == hung[3].pid]
        self.assertEqual([o["call"] for o in client], ["recvfrom"])
        objects, rest = ([o for o in v if o["pid"] != hung[3].pid] for v in (objects, rest))
        # Each thread waits all of the time.
        self.assertEqual({o["process"]: 0 for o in objects}.keys(), {"python3", "sleep", "cat"})
        self.assertGreater(min(o["ns"] / o["times"] for o in objects), 4e8)
        still = {(o["process"], o.get("line") if o.get("file") == path else None): o for o in rest}
        self.assertEqual({p: o["still_waiting"] for p, o in still.items()},
                         {("python3", 6): 2, ("python3", 9): 1, ("sleep", None): 1, ("cat", None): 1})
        self.assertEqual(still["python3", 6]["function"], "one")
        self.assertEqual(still["sleep", None]["call"], "clock_nanosleep")

    def test_off_cpu_of_a_hang_that_begins(self):
        """A wait after the start of the capture, with the function that waits."""
        out = self.path("hang.txt")
        profile("--off-cpu", "-o", out, "-d", "1", "--", "sh", "-c", "sleep 3 & wait")
        self.assertRegex(e2e.read_text(out), r"(?m)^1 thread still waits: clock_nanosleep in \w+ <- [\w+]+, sleep \(\d+\), for \d\S+s$")

    def test_duration(self):
        """The time of -d is that of the capture: a wait does not count while saker starts."""
        p = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        wait_until(lambda: e2e.read_text(f"/proc/{p.pid}/syscall").split()[0] == "230")

        def is_short(): # on a busy machine ending takes long, too
            still = [o for o in self.still_waits("-p", str(p.pid))[1] if "still_waiting" in o]
            return still and 0.5e9 <= still[0]["waited_ns"] < 0.56e9
        wait_until(is_short)

    def test_off_cpu_read_back(self):
        capture = self.path("back.scap")
        waits = r"(?m)^\S+ +\d+ +\S+ +prog \(\d+\) +clock_nanosleep +timer +waits_long$"
        profile("--off-cpu", "-w", capture, "--", self.prog, "wait")
        text = profile("-r", capture).stdout
        self.assertRegex(text, waits)
        self.assertRegex(text, r"(?m)^TOTAL% +TOTAL  CALLS$")
        self.assertNotRegex(text, "SELF%", "nothing ran, of what there is")
        # Its stacks all end in the kernel, but they belong to the program.
        out = self.path("back.pb")
        profile("-r", capture, "-o", out)
        pb = message(e2e.read_bytes(out))
        strings = [s.decode() for s in pb[6]]
        self.assertEqual(strings[message(pb[3][0])[5][0]], self.prog)
        # The function in which a thread waits is not one of the scheduler.
        functions = {f[1][0]: strings[f[2][0]] for f in map(message, pb[5])}
        leaf = {l[1][0]: functions[message(l[4][0])[1][0]] for l in map(message, pb[4])}
        leaves = {leaf[packed(s[1][0])[0]] for s in map(message, pb[2])}
        self.assertTrue(leaves and not [n for n in leaves if "schedule" in n and "sysvec" not in n], leaves)
        # In the tree the kernel is one line below a wait, in all other outputs the whole stack.
        short, whole = (profile("-r", capture, "-c", "calltree", *arg).stdout for arg in ([], ["kernel=all"]))
        self.assertRegex(short, r"(?m) do_nanosleep \[kernel\]$")
        self.assertNotRegex(short, r"(?m)schedule \[kernel\]|do_syscall_64")
        self.assertRegex(whole, r"(?m)do_nanosleep \[kernel\]\s[^:]*__schedule \[kernel\]$")
        # Running threads have a table of their own.
        profile("--off-cpu", "-F", "999", "-w", capture, "--", "sh", "-c",
                f"{self.prog} wait; {self.prog} hot")
        text = profile("-r", capture).stdout
        self.assertRegex(text, waits)
        self.assertRegex(text, r"(?m)^ *\S+ +\S+ +\S+ +\S+ +very_hot +prog +prog\.c:\d+$")


class Programs(Base):
    """Tests programs of many kinds, one after the other, and how profiles of them end."""

    def test_nobody_that_matches(self):
        nobody = ["-o", "FILE", "--comm", "nobody-has-this"]
        self.refuses("no samples: no matching thread ran at a sampling tick in .*check -p, --comm", *nobody,
                     "--", "true", status=125)
        self.refuses("no samples: no matching thread ran at a sampling tick in .*, or add --off-cpu", *nobody,
                     "-d", "0.1")
        self.refuses("no samples: no matching thread waited in .*check -p", *nobody, "-d", "0.1",
                     "--off-cpu")
        self.refuses("no samples: no matching thread ran or waited in", *nobody, "-d", "0.1", "--off-cpu",
                     "-F", "99")

    def run_prog(self, *args, options=()):
        out = self.path("run.folded")
        p = profile("-F", "999", *options, "-o", out, "--", self.prog, *args)
        return folded(e2e.read_text(out)), p.stdout.split()

    def tables_of(self, p):
        """Returns for how many processes there are tables, as -v says."""
        return int(re.search(r"\n  unwind tables +\d+, for (\d+) processes", p.stderr)[1])

    def test_tables_of_what_is_selected(self):
        """No tables are built of other processes, and the command's are there before it starts."""
        run = ("--", self.prog, "hot")
        self.assertLess(self.tables_of(profile("-v", "-o", self.path("own.folded"), *run)), 3)
        self.assertGreater(self.tables_of(profile("-v", "-o", self.path("all.folded"), "--all", *run)), 2)

    def test_family(self):
        """Descendants have names, whether they run when the capture begins or are started later."""
        go, capture, out = self.path("go"), self.path("family.scap"), self.path("family.folded")
        os.mkfifo(go)
        family = f"perl -e '1 while 1' & read x < {go}; {self.prog} kernel; kill $!; wait"
        with subprocess.Popen(["sh", "-c", family], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            saker = subprocess.Popen([e2e.SAKER, "profile", "-F", "999", "-p", str(p.pid), "--tree", "-w", capture],
                                     stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env={**os.environ, **SESSION})
            try:
                e2e.wait_for_event(capture, saker)
            finally:
                e2e.write_text(go, "go\n")
                p.wait()
            self.assertEqual(saker.wait(e2e.DEADLINE_S), 0)
        profile("-r", capture, "-o", out)
        stacks = folded(e2e.read_text(out))
        for name in ("main program", "read_zeros"):
            self.assertGreater(share(stacks, name), 0.1, stacks)

    def test_kernel(self):
        stacks, _ = self.run_prog("kernel")
        self.assertGreater(share(stacks, r"read_zeros;.*;vfs_read_\[k\];"), 0.5)

    def test_programs_in_the_kernel(self):
        """BPF programs come and go: when a file is read, another one may be at an address."""
        calls, capture = self.path("calls.scap"), self.path("bpf.scap")
        p = subprocess.Popen([e2e.SAKER, "-q", "-w", calls, "--syscalls", "read"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        e2e.wait_for_event(calls, p)
        live, reads = self.path("bpf.folded"), ("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000")
        profile("-F", "999", "-o", live, *reads)
        self.assertRegex(e2e.read_text(live), r";bpf_prog_\w+_sys_e(nter|xit)_\[k\]")
        profile("-F", "999", "-w", capture, *reads)
        stacks = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.folded", "evt.type=sample")
        self.assertIn(";[bpf]_[k]", stacks)
        self.assertEqual(re.findall(r";bpf_prog_[0-9a-f]{16}\w*", stacks), [])  # others are functions of the kernel

    def test_libraries_at_one_address(self):
        libs = []
        for name in ("first", "second"):
            src = self.path(name + ".c")
            e2e.write_text(src, f"static volatile unsigned long sink;\n"
                                f"static __attribute__((noinline)) void {name}_inner(unsigned long n)\n"
                                f"{{ while (n--) sink += n; }}\n"
                                f"void spin(unsigned long n) {{ {name}_inner(n); sink++; }}\n")
            libs.append(self.path(f"lib{name}.so"))
            subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", libs[-1], src], check=True)
        capture = self.path("libs.scap")
        p = profile("-F", "999", "-w", capture, "--", self.prog, "lib", *libs)
        at = p.stdout.split()
        if at[0] != at[1]:
            e2e.skip_test("this system puts the second library elsewhere")
        profile("-r", capture, "-o", self.path("libs.folded"))
        stacks = folded(e2e.read_text(self.path("libs.folded")))
        for name in ("first", "second"):
            self.assertGreater(share(stacks, f"run_library;spin;{name}_inner"), 0.35, stacks)
        # Each name at its own time: never the first one after the second began.
        order = [l.split()[1] for l in e2e.run(
            e2e.SAKER, "-r", capture, "-p", "x %stack.function", "stack.frames", "endswith",
            "_inner").splitlines()]
        seen = [n for n in order if n.endswith("_inner")]
        self.assertEqual(seen, sorted(seen))

    def test_made_at_run_time(self):
        stacks, said = self.run_prog("jit")
        self.addCleanup(os.unlink, said[0])
        self.assertGreater(share(stacks, r"LFoo:::made_here_\[j\]"), 0.8)

    def test_cut_perf_map(self):
        """The report counts files whose symbols a limit cut; functions before the cut have
        names."""
        out = self.path("cut.folded")
        p = profile("-F", "999", "-v", "-o", out, "--", self.prog, "jit", str(300 << 20))
        self.addCleanup(os.unlink, p.stdout.split()[0])
        self.assertGreater(share(folded(e2e.read_text(out)), r"LFoo:::made_here_\[j\]"), 0.8)
        self.assertRegex(p.stderr, r"\n  symbols +1 perf maps and jitdumps cut at ")

    def test_made_again_at_one_place(self):
        capture = self.path("jitdump.scap")
        profile("-F", "999", "-w", capture, "--", self.prog, "jitdump", self.dir)
        profile("-r", capture, "-o", self.path("jitdump.folded"))
        stacks = folded(e2e.read_text(self.path("jitdump.folded")))
        for name in ("made_first", "made_second"):
            self.assertGreater(share(stacks, rf";{name}_\[j\]"), 0.35, stacks)
        names = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.function", "stack.function", "startswith",
                        "made_").split()
        self.assertEqual(names, sorted(names), "each in its time")

    # The PID is that in the process's own namespace: node reports 1 there.
    def test_node(self):
        if not shutil.which("node"):
            e2e.skip_test("node is not installed: scripts/setup --tests")
        script = self.path("hot.js")
        e2e.write_text(script, "function veryHot(n) { let s = 0;\n"
                               "  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s }\n"
                               "const of = process.cpuUsage; let x = 0;\n"
                               "while (of().user < 2000000) x += veryHot(200000);\n"
                               "console.log(process.pid);\n")
        runs = [(["node", "--perf-basic-prof"], "-o"),
                (["node", "--perf-prof"], "-w")] # its jitdump is whole when it has ended
        if subprocess.run(["unshare", "-pf", "--mount-proc", "true"], capture_output=True).returncode == 0:
            runs.append((["unshare", "-pf", "--mount-proc", "node", "--perf-basic-prof"], "-o"))
        for node, option in runs:
            with self.subTest(node):
                out, capture = self.path("node.folded"), self.path("node.scap")
                # Pictures hide the native frames of functions that the walker of Node.js has found.
                p = subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "profile", "-F", "499",
                                    "--interpreter-frames", option, out if option == "-o" else capture, "--", *node,
                                    script],
                                   capture_output=True, text=True, cwd=self.dir,
                                   stdin=subprocess.DEVNULL, env={**os.environ, **SESSION})
                self.assertEqual(p.returncode, 0, p.stderr)
                if option == "-w":
                    profile("-r", capture, "--interpreter-frames", "-o", out)
                made = f"/tmp/perf-{p.stdout.strip()}.map"
                if os.path.exists(made):
                    os.unlink(made)
                self.assertGreater(share(folded(e2e.read_text(out)), r"veryHot[^;]*_\[j\]"), 0.4)

    def test_deleted(self):
        copy = self.path("gone")
        shutil.copy(self.prog, copy)
        out = self.path("gone.folded")
        profile("-F", "999", "-o", out, "--", copy, "deleted")
        self.assertFalse(os.path.exists(copy))
        self.assertGreater(share(folded(e2e.read_text(out)), CALLED), 0.8)

    def test_other_mounts(self):
        where = self.path("mnt")
        os.mkdir(where)
        script = f"mount -t tmpfs none {where} && cp {self.prog} {where}/inside && {where}/inside hot"
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            e2e.skip_test("mounts of their own are not allowed")
        out = self.path("mnt.folded")
        profile("-F", "999", "-o", out, "--", "unshare", "-m", "sh", "-c", script)
        self.assertFalse(os.path.exists(where + "/inside"))
        self.assertGreater(share(folded(e2e.read_text(out)), CALLED), 0.5)

    def test_with_symbols(self):
        copy, capture = self.path("shipped"), self.path("shipped.scap")
        shutil.copy(self.prog, copy)
        for options, expected in ((["--with-symbols"], 0.8), ([], 0)):
            profile("-F", "999", *options, "-w", capture, "--", copy, "hot")
            os.rename(copy, copy + "-")
            profile("-r", capture, "-o", self.path("shipped.folded"))
            os.rename(copy + "-", copy)
            got = share(folded(e2e.read_text(self.path("shipped.folded"))),
                        CALLED)
            (self.assertGreater if expected else self.assertLessEqual)(got, expected)

    def test_pieces_open_alone(self):
        base = self.path("piece.scap")
        p = subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "--sample", "999", "-G", "1",
                            "--with-symbols", "-w", base, "evt.type=sample", "--", self.prog, "long"],
                           capture_output=True, text=True, env={**os.environ, **SESSION})
        self.assertEqual(p.returncode, 0, p.stderr)
        last = self.path("last.scap")
        shutil.copy(base + "1", last)
        profile("-r", last, "-o", self.path("piece.folded"))
        stacks = folded(e2e.read_text(self.path("piece.folded")))
        self.assertGreater(share(stacks, CALLED), 0.8)

    def test_status_of_the_command(self):
        nobody = ["-o", "FILE", "--all", "--comm", "nobody-has-this"]
        self.refuses("no samples", *nobody, "--", "sh", "-c", "exit 3", status=3)

    def test_names_are_whole(self):
        """Width of tables: in a file, and on a terminal of its width."""
        src, prog = self.path("long.c"), self.path("long")
        name = "a_function" + "_with_a_name" * 6
        e2e.write_text(src, f"volatile unsigned long n;\n__attribute__((noinline)) void {name}(void)\n"
                            "{ for (unsigned long i = 0; i < 300000000; i++) n++; }\n"
                            f"int main(void) {{ {name}(); return 0; }}\n")
        subprocess.run(["gcc", "-O1", "-o", prog, src], check=True)
        capture = self.path("long.scap")
        profile("-F", "999", "-w", capture, "--", prog)
        self.assertIn(name, profile("-r", capture, "-c", "topfuncs").stdout)
        for width, shown in ((80, r"a_func\w*…\w*name"), (200, name)):
            text = on_terminal(width, "-r", capture, "-c", "topfuncs")
            self.assertRegex(text, rf" {shown} +long( +-)?\r?\n")
            self.assertLessEqual(max(map(len, text.splitlines()[:2])), width)

    def test_second_session(self):
        first = subprocess.Popen([e2e.SAKER, "profile", "-w", self.path("first.scap"), "--", "cat"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env={**os.environ, **SESSION})
        self.addCleanup(first.communicate)
        first.stdin.write(b"x\n")
        first.stdin.flush()
        self.assertEqual(first.stdout.readline(), b"x\n") # it runs, so it is sampled
        self.refuses(f"process {first.pid} already samples stacks", "-o", "FILE", "-d", "1")

    def killed(self, sig, out):
        """Ends saker profile -o out as soon as it has begun its temporary file."""
        folder = os.path.dirname(out)
        before = set(os.listdir(folder))
        p = subprocess.Popen([e2e.SAKER, "profile", "-d", "60", "-o", out], cwd=self.dir,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env={**os.environ, **SESSION},
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        self.addCleanup(p.kill)
        wait_until(lambda: set(os.listdir(folder)) - before or p.poll() is not None)
        self.assertFalse(os.path.exists(out))
        p.send_signal(sig)
        status = p.wait()
        return status

    def test_killed(self):
        folder = self.path("killed")
        os.mkdir(folder)
        out = os.path.join(folder, "x.svg")
        for sig in (signal.SIGKILL, signal.SIGQUIT):
            self.assertEqual(self.killed(sig, out), -sig)
            self.assertFalse(os.path.exists(out))
        # A few samples may have come: then there is a profile.
        for sig in (signal.SIGINT, signal.SIGTERM):
            if self.killed(sig, out) == 0:
                ET.parse(out)
                os.unlink(out)
            self.assertFalse(os.path.exists(out))

    def test_signal_to_the_group_at_the_start(self):
        """As Ctrl-C: the temporary file goes, also if the signal comes before what removes it is ready."""
        folder = self.path("group")
        os.mkdir(folder)
        for _ in range(20):
            p = subprocess.Popen([e2e.SAKER, "profile", "-d", "60", "-o", os.path.join(folder, "x.svg")], start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={**os.environ, **SESSION})
            wait_until(lambda: os.listdir(folder) or p.poll() is not None)
            os.killpg(p.pid, signal.SIGINT)
            p.wait(e2e.DEADLINE_S)
            wait_until(lambda: not [name for name in os.listdir(folder) if name != "x.svg"])

    def test_capture_that_cannot_start(self):
        """A command waits already, and has what saker had open; the file is begun."""
        folder = self.path("cannot")
        os.mkdir(folder)
        p = subprocess.run(["prlimit", "--nofile=20", e2e.SAKER, "profile", "-o", os.path.join(folder, "x.svg"), "--", "true"],
                           capture_output=True, text=True, timeout=e2e.DEADLINE_S, env={**os.environ, **SESSION})
        self.assertEqual(p.returncode, 125)
        self.assertRegex(p.stderr, "(?m)^saker: .*Too many open files")
        self.assertEqual(os.listdir(folder), [])


class Limits(Base):
    def test_more_stacks_than_are_kept(self):
        """The other threads are merged by process; the sum is complete, and a heavy thread
        stays."""
        path, n = self.path("many.scap"), 100500
        with open(path, "wb") as f:
            f.write(block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + block(0xCA5A0001, b""))
            for i in range(n):
                f.write(sample_block(2 * i, b"many", [0x1000 + i // 300, 0x900000 + i % 300]))
                if i % 100 == 0:
                    f.write(sample_block(2 * i + 1, b"heavy", [0x10], weight=100000))
        profile("-r", path, "-o", self.path("many.folded"))
        sums = dict(line.rsplit(" ", 1) for line in e2e.read_text(self.path("many.folded")).splitlines())
        others = n + 1 - 100000
        self.assertEqual(sums, {"heavy (77);[unknown]": str(1000 * n), "many (77);(other stacks)": str(1000 * others),
                                "many (77);[unknown];[unknown]": str(1000 * (n - others))})


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
