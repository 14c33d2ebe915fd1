#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --from and --to, and the checkpoints that let saker begin in the middle of a file: all fields of
all events are those of a full read with a filter by time."""

import collections
import json
import os
import random
import re
import subprocess
import unittest

import saker_e2e as e2e

# Descriptors of all kinds that live across checkpoints, in several threads and processes.
PROGRAM = """
import os, select, socket, threading
server = socket.create_server(("127.0.0.1", 0))
named = socket.socket(socket.AF_UNIX); named.bind("named"); named.listen()
def echo(c):
    while data := c.recv(100):
        c.send(data)
    c.close()
def serve(s):
    while True:
        threading.Thread(target=echo, args=(s.accept()[0],), daemon=True).start()
for s in (server, named):
    threading.Thread(target=serve, args=(s,), daemon=True).start()
os.makedirs("sub/deeper")
def work(k):
    for i in range(20):
        c = socket.create_connection(server.getsockname())
        u = socket.socket(socket.AF_UNIX); u.connect("named")
        for _ in range(3):
            c.send(b"x" * 50); u.send(b"y"); c.recv(100); u.recv(10)
        os.close(os.dup2(c.fileno(), 200 + k))
        late = socket.socket(); late.setblocking(False)
        try:
            late.connect(server.getsockname())
        except BlockingIOError:
            pass
        select.select([], [late], [], 10); late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        r, w = os.pipe(); os.write(w, b"a"); os.read(r, 1); os.close(r); os.close(w)
        os.close(os.open("sub/../made", os.O_CREAT | os.O_RDWR, dir_fd=here))
        if i % 7 == k:
            pid = os.fork()
            if not pid:
                os.chdir("sub"); os.dup2(c.fileno(), 60, inheritable=True)
                os.execvp("cat", ["cat", "../made", "/etc/hostname"])
            os.waitpid(pid, 0)
        c.close(); u.close(); late.close()
here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for t in threads: t.start()
for t in threads: t.join()
os.chdir("sub/deeper"); os.close(os.open("../../made", os.O_RDONLY))
os._exit(0)
"""
# Fields of what is derived from all events before: then a file is read from its beginning.
DERIVED = ("request.", "thread.slice.", "thread.time.", "proc.time.", "span.", "evtin.span.")


def field_names():
    """Returns the fields that need no argument."""
    rows = re.findall(r"^\| `([a-z_]+\.[a-z_.0-9]+)(\[\[[^`]*|\[\.[^`]*)?` \| [^|]* \| ([^|]*)",
                      e2e.run(e2e.SAKER, "-l", "--markdown"), re.M)
    return [name for name, _, text in rows if not name.startswith(DERIVED) and "filters only" not in text]


def read(path, *args, source=None):
    """Returns output, and the number of events that were not read."""
    p = subprocess.run([e2e.SAKER, "-v", "-r", path, *args], capture_output=True, text=True, check=False,
                       timeout=60, stdin=source)
    assert p.returncode == 0, (p.args, p.stderr)
    skipped = re.search(r"events not read, before --from +(\d+)", p.stderr)
    return p.stdout, int(skipped[1]) if skipped else 0


class SeekTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.live = None
        if not e2e.lacks_live():
            cls.live = cls.path("live.scap")
            cls.record()
        cls.fields = "*" + " ".join("%" + name for name in field_names())

    @classmethod
    def record(cls):
        """After a loss a checkpoint knows what saker read again from /proc, which the events before it do not say."""
        for i in range(5):
            os.mkdir(cls.path(f"run{i}"))
            said = subprocess.run([e2e.SAKER, "--all", "--ring-size", "64M", "--checkpoints", "0.1", "--switches",
                                   "--with-symbols", "--sample", "499", "-w", cls.live, "--", "/usr/bin/python3", "-c", PROGRAM],
                                  cwd=cls.path(f"run{i}"), check=True, timeout=60, capture_output=True, text=True).stderr
            if "lost" not in said:
                return
        raise AssertionError(f"events are lost again and again: {said}")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    def need_live(self):
        if not self.live:
            e2e.need_live()

    def windows(self, path, n):
        """Returns @n windows of time that begin and end with events."""
        times = [int(t) for t in read(path, "-p", "%evt.rawtime")[0].split()]
        rand = random.Random(4711)
        for _ in range(n):
            i = rand.randrange(len(times))
            yield times[i], times[min(i + 400, len(times) - 1)]

    def assert_windows(self, path, n, fields=None):
        """Asserts that reading a window equals a full read. Returns how many events were not read."""
        skipped = 0
        for begin, end in self.windows(path, n):
            full, none = read(path, "-j", "-p", fields or self.fields, f"evt.rawtime >= {begin} and evt.rawtime <= {end}")
            self.assertEqual(none, 0)
            part, n_skipped = read(path, "-j", "-p", fields or self.fields, "--from", str(begin), "--to", str(end))
            skipped += n_skipped
            if part != full:
                self.assertEqual(part.count("\n"), full.count("\n"), path)
                self.tell_difference(path, full, part)
        return skipped

    def tell_difference(self, path, full, part):
        """Of a switch away from a thread that has ended the call before may be another one: under load the fork of its
        parent can return in between, and makes it anew."""
        differ = collections.Counter()
        events = set()
        ended = dict(line.split()[::-1] for line in read(path, "-p", "%evt.num %thread.tid", "evt.type=procexit")[0].splitlines())
        for a, b in zip(full.splitlines(), part.splitlines()):
            a, b = json.loads(a), json.loads(b)
            keys = [key for key in a if a[key] != b[key]]
            is_late = a["evt.type"] == "switch" and int(ended.get(str(a["thread.tid"]), 1 << 62)) < a["evt.num"]
            if is_late and all(key.startswith("evt.latency") for key in keys):
                continue
            if keys:
                events.add(f"{a['evt.num']} {a['evt.type']} of {a['thread.tid']}")
            differ.update((key, str(a[key]), str(b[key])) for key in keys)
        self.assertFalse(differ, f"{path}: full read and part differ: {differ.most_common(5)} {sorted(events)[:10]}")

    def test_live(self):
        """The file begins a moment later than what saker knows: it lacks the memory and CPU time of
        that moment."""
        self.need_live()
        usage = re.compile(r"vm(size|rss|swap)|pf(minor|major)|exectime|thread.cpu")
        fields = "*" + " ".join(f for f in self.fields[1:].split() if not usage.search(f))
        self.assertGreater(self.assert_windows(self.live, 6, fields), 0)
        copy = self.path("copied.scap")
        e2e.run(e2e.SAKER, "-r", self.live, "--checkpoints", "0.1", "-w", copy)
        self.assertGreater(self.assert_windows(copy, 10), 0)

    def test_captures(self):
        skipped = 0
        for path in e2e.captures():
            copy = self.path("copy.scap")
            e2e.run(e2e.SAKER, "-r", path, "--checkpoints", "0.02", "-w", copy)
            skipped += self.assert_windows(copy, 3)
            os.remove(copy)
        self.assertGreater(skipped, 0)

    def test_packed(self):
        self.need_live()
        for how in ("-z", "--zstd"):
            copy = self.path("packed.scap")
            e2e.run(e2e.SAKER, "-r", self.live, "--checkpoints", "0.1", how, "-w", copy)
            self.assertGreater(self.assert_windows(copy, 3), 0)
            self.assertEqual(read(copy)[0], read(self.live)[0])
            e2e.run(e2e.SAKER, "-r", copy, "--verify")
            program = "gzip" if how == "-z" else "zstd"
            with open(copy, "rb") as f:
                unpacked = subprocess.run([program, "-dc"], stdin=f, check=True, capture_output=True, timeout=60).stdout
            with open(self.path("unpacked.scap"), "wb") as f:
                f.write(unpacked)
            # Its index has the offsets of the packed file.
            begin, end = next(self.windows(self.live, 1))
            self.assertEqual(read(self.path("unpacked.scap"), "--from", str(begin), "--to", str(end)),
                             (read(self.live, "--from", str(begin), "--to", str(end))[0], 0))

    def test_other_tools(self):
        self.need_live()
        e2e.need("sysdig", "tshark")
        without = self.path("without.scap")
        e2e.run(e2e.SAKER, "-r", self.live, "--checkpoints", "0", "-w", without)
        self.assertLess(os.path.getsize(without), os.path.getsize(self.live))
        for tool in ("sysdig", "-r"), ("tshark", "-r"):
            self.assertEqual(e2e.run(*tool, self.live), e2e.run(*tool, without))

    def test_cut(self):
        """-w with --from writes a file of its own."""
        self.need_live()
        begin, end = next(self.windows(self.live, 1))
        window = "--from", str(begin), "--to", str(end)
        ended = set(read(self.live, "-p", "%thread.tid", f"evt.type=procexit and evt.rawtime<={begin}")[0].split())

        def lines(text):
            """Without numbers, and without switches away from threads that had ended, whose names a file of its own lacks."""
            found = []
            for line in text.splitlines():
                thread = re.search(r"\((?:\d+:)?(\d+)\) > switch ", line)
                if not thread or thread[1] not in ended:
                    found.append(line.split(" ", 1)[1])
            return found

        for flt in ((), ("proc.name = cat or fd.type = ipv4",)):
            cut = self.path("cut.scap")
            e2e.run(e2e.SAKER, "-r", self.live, *window, "-w", cut, *flt)
            e2e.run(e2e.SAKER, "-r", cut, "--verify")
            self.assertEqual(lines(read(cut)[0]), lines(read(self.live, *window, *flt)[0]))
        for span in window, window[:2]:  # a short one can be without samples
            e2e.run(e2e.SAKER, "-r", self.live, *span, "-w", cut)
            found, expected = (subprocess.run([e2e.SAKER, "profile", "-r", *what, "-c", "folded"], capture_output=True,
                                              check=False, timeout=60) for what in ([cut], [self.live, *span]))
            self.assertEqual((found.returncode, found.stdout), (expected.returncode, expected.stdout))
        # A window without events is a file, too.
        e2e.run(e2e.SAKER, "-r", self.live, "--from", "+86400", "-w", cut)
        self.assertEqual(read(cut), ("", 0))

    def test_to_ends_the_reading(self):
        self.need_live()
        for window in ("--to", "+0.05"), ("--from", "+0.04", "--to", "+0.05"):
            p = subprocess.run([e2e.SAKER, "-v", "-q", "-r", self.live, *window], capture_output=True, text=True,
                               check=True, timeout=60)
            whole = subprocess.run([e2e.SAKER, "-v", "-q", "-r", self.live], capture_output=True, text=True, check=True,
                                   timeout=60)
            n, n_whole = (int(re.search(r"^  events +(\d+)", q.stderr, re.M)[1]) for q in (p, whole))
            self.assertLess(n, n_whole / 2)

    def test_merged(self):
        """An index of one of them does not end the others."""
        self.need_live()
        plain = self.path("second.scap")
        e2e.run(e2e.SAKER, "-r", self.live, "--checkpoints", "0", "-w", plain)
        begin, end = next(self.windows(self.live, 1))
        for files in ([plain, "-r", self.live], [self.live, "-r", plain]):
            self.assertEqual(len(read(*files, "--from", str(begin), "--to", str(end))[0].splitlines()),
                             2 * len(read(self.live, "--from", str(begin), "--to", str(end))[0].splitlines()))

    def test_redacted(self):
        """What a checkpoint has is redacted as the events before it are."""
        self.need_live()
        begin, end = next(self.windows(self.live, 1))
        args = "--redact", "/mad|nam|sub/", "-p", "*%evt.num %fd.name %fd.nameraw %proc.args %evt.args"
        full, _ = read(self.live, *args, f"evt.rawtime >= {begin} and evt.rawtime <= {end}")
        part, skipped = read(self.live, *args, "--from", str(begin), "--to", str(end))
        self.assertGreater(skipped, 0)
        self.assertEqual(part, full)
        self.assertNotIn("/made", part)

    def test_empty(self):
        self.need_live()
        p = subprocess.run([e2e.SAKER, "-r", self.live, "--from", "+86400"], capture_output=True, text=True, check=True,
                           timeout=60)
        self.assertRegex(p.stderr, r"^saker: no events in that time: those of the capture that were read are from "
                                   r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} to \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\n$")
        p = subprocess.run([e2e.SAKER, "-r", self.live, "--from", "+0.02", "--to", "+0.01"], capture_output=True, text=True,
                           check=True, timeout=60)
        self.assertEqual(p.stderr, "saker: no events in that time: --to is before --from\n")

    def test_pipe(self):
        self.need_live()
        with open(self.live, "rb") as f:
            piped, skipped = read("-", "--from", "+0.1", "--to", "+0.15", source=f)
        self.assertEqual(skipped, 0)
        self.assertEqual(piped, read(self.live, "--from", "+0.1", "--to", "+0.15")[0])

    def test_chisels(self):
        """A chisel counts the events of the window, and sees the state at its beginning."""
        self.need_live()
        times = read(self.live, "-p", "%evt.rawtime")[0].split()
        begin, end = times[len(times) // 4], times[len(times) // 4 * 3]
        window = "--from", begin, "--to", end
        by_filter = f"evt.rawtime >= {begin} and evt.rawtime <= {end}"
        for chisel in "topfiles_bytes", "topscalls", "topprocs_net":
            self.assertEqual(read(self.live, *window, "-c", chisel)[0],
                             read(self.live, "-c", chisel, by_filter)[0], chisel)
        plain = self.path("plain.scap")
        e2e.run(e2e.SAKER, "-r", self.live, "--checkpoints", "0", "-w", plain)
        from_index, skipped = read(self.live, "--from", begin, "-c", "lsof")
        self.assertGreater(skipped, 0)
        self.assertEqual((from_index, 0), read(plain, "--from", begin, "-c", "lsof"))

    def test_derived(self):
        """What is derived from events needs all before: nothing is left out."""
        self.need_live()
        begin, end = list(self.windows(self.live, 2))[1]
        for option in ("--slices",), ("--requests",):
            full = read(self.live, *option, f"evt.rawtime >= {begin} and evt.rawtime <= {end}")
            self.assertEqual(read(self.live, *option, "--from", str(begin), "--to", str(end)), full)

    def test_stderr_names_what_is_wrong(self):
        for args, text in (
                (["--from", "10:00"], "--from and --to need -r FILE"),
                (["--from", "25:00", "-r", "x"], "--from needs a time such as"),
                (["--to", "soon", "-r", "x"], "--to needs a time such as"),
                (["--from", "90", "-r", "x"], "for seconds after the first event, write +90"),
                (["--checkpoints", "1"], "--checkpoints needs -w FILE"),
                (["--checkpoints", "-1", "-w", "x"], "--checkpoints needs a number of million bytes")):
            p = subprocess.run([e2e.SAKER, *args], capture_output=True, text=True, check=False, timeout=20)
            self.assertIn(text, p.stderr)
            self.assertNotEqual(p.returncode, 0)


if __name__ == "__main__":
    unittest.main()
