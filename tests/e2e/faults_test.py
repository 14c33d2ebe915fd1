#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests captures that end or run short: signals at any moment, little memory, very many processes, very many files."""

import concurrent.futures
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

END = re.compile(r"(?m)^saker: .*(the file ends inside a block at byte \d+:|has no counters at its end:|"
                 r"the counters at its end are missing:)")


def complete_events(path):
    """Returns how many events are in the complete blocks of a file, and whether it ends behind one."""
    data = e2e.read_bytes(path)
    blocks = list(e2e.blocks(data))
    return sum(kind in e2e.EVENT_BLOCKS for kind, *_ in blocks), (blocks[-1][2] if blocks else 0) == len(data)


def events_read(path):
    """Returns how many events saker reads, and what it prints."""
    p = subprocess.run([e2e.SAKER, "-r", path, "-v", "-p", "%evt.num"], capture_output=True, text=True)
    told = re.search(r"(?m)^  events +(\d+)$", p.stderr) or re.search(r"; (\d+) events before it were read", p.stderr)
    return int(told[1]), p  # the second: of a file that ends within the processes at its start


class Moments(unittest.TestCase):
    """A signal up to delay_s after the file has more than a random part of size. After SIGKILL all that was written can be
    read; else the file is whole."""

    def end_capture(self, path, number):
        least = random.randrange(self.size)
        with open(path + ".said", "w", encoding="utf-8") as said:
            p = subprocess.Popen([e2e.SAKER, "-q", "-w", path, *self.source], stderr=said)
            e2e.wait_until(lambda: p.poll() is not None or (os.path.exists(path) and os.path.getsize(path) > least), "the file")
            time.sleep(random.random() * self.delay_s)
            p.send_signal(number)
            return p.wait(e2e.DEADLINE_S)

    def check(self, path, number, status):
        said = e2e.read_text(path + ".said")
        n, is_clean = complete_events(path)
        n_read, p = events_read(path)
        if status < 0:
            self.assertEqual(status, -number)
            self.assertEqual(n_read, n)
            self.assertTrue(n == 0 or number == signal.SIGKILL, said) # another signal only ends an opening
            self.assertEqual(len(END.findall(p.stderr)), 1, p.stderr)
            self.assertEqual(p.returncode, 0 if is_clean else 1, p.stderr)
            return
        self.assertEqual(n_read, n - 1, said + p.stderr) # the counters at the end are an event of the file
        self.assertEqual((status, p.returncode, is_clean), (0, 0, True), said + p.stderr)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))

    def one(self, i):
        number = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)[i % 4]
        path = os.path.join(e2e.own_dir(self), f"{i}.scap")
        self.check(path, number, self.end_capture(path, number))
        size = os.path.getsize(path)
        os.remove(path)
        return size

    def end_captures(self, n):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            sizes = list(pool.map(self.one, range(n)))
        self.assertGreater(len(set(sizes)), n // 2) # moments differ


class Signals(Moments):
    """To a live capture."""
    source, size, delay_s = ("evt.type in (write, openat)",), 1, 0.3

    def test_moments(self):
        e2e.need_live()
        load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
        self.addCleanup(load.wait)
        self.addCleanup(load.kill)
        self.end_captures(40)


class ManySignals(Moments):
    """To one that copies a file: it starts faster, and writes all the time."""
    size, delay_s = 24 << 20, 0.01

    def test_moments(self):
        path = os.path.join(e2e.own_dir(self), "source")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), path, "4000000")
        self.source = "-r", path
        self.end_captures(160)


class Memory(unittest.TestCase):
    """A cgroup that limits memory, under load."""

    def setUp(self):
        e2e.need_live()
        self.path = os.path.join(e2e.own_dir(self), "capture.scap")
        self.cgroup = next(filter(None, (self.limited(root) for kind in ("cgroup", "cgroup2") for root in e2e.cgroup_roots(kind))),
                           None)
        if not self.cgroup:
            e2e.skip_test("no cgroup here limits memory")

    def limited(self, root):
        if "memory" not in root and not os.path.exists(os.path.join(root, "memory.max")):
            return None
        cgroup = e2e.make_cgroup(self, root, "saker-memory")
        return next((path for path in (os.path.join(cgroup, name) for name in ("memory.limit_in_bytes", "memory.max"))
                     if os.path.exists(path)), None)

    def capture(self, limit, *options):
        e2e.write_text(self.cgroup, limit)
        processes = os.path.join(os.path.dirname(self.cgroup), "cgroup.procs")
        script = f'echo $$ >{processes}; exec "$@"'
        p = subprocess.run(["sh", "-c", script, "sh", e2e.SAKER, "-q", *options, "-w", self.path, "--", "dd", "if=/dev/zero",
                            "of=/dev/null", "bs=1", "count=600000"], capture_output=True, text=True)
        e2e.wait_until(lambda: not e2e.read_text(processes), "end of what saker started") # then the cgroup can go
        return p

    def test_little(self):
        """The file is larger than the memory. On a busy machine the reader may come too late for the ring."""
        for _ in range(10):
            p = self.capture("64M")
            if "lost" not in p.stderr:
                break
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertNotIn("lost", p.stderr)
        self.assertGreater(os.path.getsize(self.path), 64 << 20)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", self.path, "--verify"))

    def test_too_little(self):
        """The rings are refused, unless what saker has forked asks for memory just then: that meets the OOM killer."""
        for _ in range(4):
            p = self.capture("48M", "--ring-size", "128M")
            if p.returncode != -signal.SIGKILL:
                break
        self.assertIn("saker: cannot create the first ring: not enough memory; give smaller rings\n", p.stderr)
        self.assertEqual(p.returncode, 125)


class Processes(unittest.TestCase):
    """Very many processes, one after another and at once: each begins and ends in the file."""

    def test_processes(self):
        e2e.need_live()
        folder, short, many = e2e.own_dir(self), 1000, 5000
        path = os.path.join(folder, "capture.scap")
        p = subprocess.run([e2e.SAKER, "-w", path, "evt.type in (clone, procexit)", "--",
                            e2e.compile_program("forks", folder), str(short), str(many)], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertNotIn("lost", p.stderr)
        read = subprocess.run([e2e.SAKER, "-r", path, "-v", "-p", "%evt.type %thread.tid", "proc.name=forks"],
                              capture_output=True, text=True)
        began, ended = (len({line for line in read.stdout.splitlines() if line.startswith(kind)})
                        for kind in ("clone ", "procexit "))
        self.assertEqual((began, ended), (short + many + 1, short + many + 1)) # the first process clones and ends, too
        mib = float(re.search(r"memory of saker +([\d.]+) MiB", read.stderr)[1])
        self.assertLess(mib, 100)


class Files(unittest.TestCase):
    """10,000 files of one process, which are there before, during and after the capture's start; others come and go."""
    N = 10000
    PROGRAM = f"""import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({N} + 100, {N} + 100))
null = os.open("/dev/null", os.O_RDONLY)
for i in range({N}):
    os.dup2(null, 50 + i)
print("ready", flush=True)
sys.stdin.read(1)
for i in range({N}):
    os.read(50 + i, 1)
"""

    def test_files(self):
        e2e.need_live()
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < self.N + 100:
            e2e.skip_test(f"a process here may not open {self.N} files")
        path = os.path.join(e2e.own_dir(self), "capture.scap")
        program = self.start(sys.executable, "-c", self.PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        program.stdout.readline()
        self.start("sh", "-c", "while :; do true & cat /dev/null; done")
        # The loop makes half a million records a second, which the reader may see late.
        saker = self.start(e2e.SAKER, "-q", "--ring-size", "64M", "-w", path, f"evt.type=procexit or proc.pid={program.pid}",
                           stderr=subprocess.PIPE, text=True)
        e2e.wait_for_event(path, saker)
        program.communicate(b"x", timeout=e2e.DEADLINE_S)
        saker.send_signal(signal.SIGINT)
        said = saker.communicate(timeout=e2e.DEADLINE_S)[1]
        self.assertEqual((saker.returncode, program.returncode), (0, 0), said)
        self.assertNotIn("lost", said)
        names = e2e.run(e2e.SAKER, "-r", path, "-p", "*%fd.num %fd.name", "evt.type=read and evt.dir=< and fd.num>=50")
        self.assertEqual(names.splitlines(), [f"{50 + i} /dev/null" for i in range(self.N)])

    def start(self, *words, **options):
        p = subprocess.Popen(words, **options)
        for end in p.wait, p.kill:
            self.addCleanup(end)
        return p


if __name__ == "__main__":
    unittest.main()
