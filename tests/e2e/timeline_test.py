#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests slices of threads against a program that reports its waits by its own clocks, and against
the kernel's counts (schedstat)."""

import collections
import glob
import json
import os
import subprocess
import sys
import unittest

import saker_e2e as e2e

Wait = collections.namedtuple("Wait", "name tid begin end peer wake_from wake_to cpu_ns delay_ns")
Slice = collections.namedtuple("Slice", "tid kind state begin ns call object waker behind open cpu")

SLACK_NS = 5_000_000
RUNS_MAX = 3
FIELDS = ("thread.tid thread.slice.kind thread.slice.state thread.slice.start thread.slice.ns thread.slice.call "
          "thread.slice.object thread.slice.waker thread.slice.behind thread.slice.open thread.slice.cpu").split()


def slices_of(path, *args):
    out = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*" + " ".join("%" + f for f in FIELDS), *args,
                  "evt.type=slice")
    return [Slice(*(row.get(f) for f in FIELDS)) for row in map(json.loads, out.splitlines())]


def stolen_ns():
    """Time that the host of a virtual machine took from its CPUs: a slice has it, the kernel's counts do not."""
    of_cpus = e2e.read_text("/proc/stat").splitlines()[0].split()
    return int(of_cpus[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def end_of(s):
    return s.begin + s.ns


def within(s, begin, end):
    return max(0, min(end_of(s), end) - max(s.begin, begin))


class Owner(unittest.TestCase):
    """The owner of a mutex for which a thread waits until a timeout."""

    def test_owner(self):
        e2e.need_live()
        folder = e2e.own_dir(type(self))
        path = os.path.join(folder, "mutex.scap")
        out = e2e.run(e2e.SAKER, "-q", "-w", path, "--slices", "--", e2e.compile_program("mutex", folder))
        holder, waiter, third = map(int, out.split())
        fields = "*%thread.tid %thread.slice.waker %thread.slice.owner %thread.slice.owner.comm"
        rows = e2e.run(e2e.SAKER, "-r", path, "-p", fields, "evt.type=slice and thread.slice.lock exists "
                       "and thread.slice.waker=0").splitlines()
        self.assertIn(f"{waiter} 0 {holder} holder", rows)
        self.assertIn(f"{third} 0 <NA> <NA>", rows)
        rows = map(json.loads, e2e.run(e2e.SAKER, "-r", path, "-j", "-c", "locks").splitlines())
        self.assertEqual([row["owner"] for row in rows if row.get("owner")], ["holder"])


class Known(unittest.TestCase):
    """One run of the program: each wait has the right kind, length and waker."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        folder = e2e.own_dir(cls)
        cls.path = os.path.join(folder, "waits.scap")
        prog = e2e.compile_program("timeline", folder)
        for _ in range(RUNS_MAX): # where records are lost, slices are unknown
            stolen = stolen_ns()
            out = e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--slices", "--", prog)
            cls.stolen_ns = stolen_ns() - stolen
            if not e2e.run(e2e.SAKER, "-r", cls.path, "evt.type=lost"):
                break
        rows = [line.split() for line in out.splitlines()]
        cls.waits = {row[0]: Wait(row[0], *map(int, row[1:])) for row in rows}
        cls.slices = slices_of(cls.path)

    def of(self, wait):
        return [s for s in self.slices
                if s.tid == wait.tid and within(s, wait.begin, wait.end) > 0]

    def longest(self, name):
        wait = self.waits[name]
        found = [s for s in self.of(wait) if s.kind == name]
        self.assertTrue(found, f"{name}: {self.of(wait)}")
        return wait, max(found, key=lambda s: s.ns)

    def check_tiles(self, wait):
        """The slices of the thread cover its wait without gap or overlap."""
        found = sorted(self.of(wait), key=lambda s: s.begin)
        self.assertLessEqual(found[0].begin, wait.begin)
        self.assertGreaterEqual(end_of(found[-1]), wait.end)
        for a, b in zip(found, found[1:]):
            self.assertEqual(end_of(a), b.begin)

    def test_tiles(self):
        by_tid = collections.defaultdict(list)
        for s in self.slices:
            by_tid[s.tid].append(s)
        for own in by_tid.values():
            for a, b in zip(own, own[1:]):
                self.assertEqual(end_of(a), b.begin)
        for wait in self.waits.values():
            self.check_tiles(wait)

    def test_woken(self):
        calls = {"pipe": "read", "lock": "futex", "poll": "epoll_wait", "network": "recvfrom"}
        for name, call in calls.items():
            wait, found = self.longest(name)
            self.assertEqual((found.call, found.waker), (call, wait.peer))
            self.assertGreater(end_of(found), wait.wake_from - SLACK_NS)
            self.assertLess(end_of(found), wait.wake_to + SLACK_NS)
            # Until it waited, it ran or was runnable.
            before = [s for s in self.of(wait) if s.begin < found.begin]
            self.assertEqual({s.state for s in before if within(s, wait.begin, found.begin)} -
                             {"running", "runnable"}, set())
            self.assertTrue(found.object, name)

    def test_sleep(self):
        wait, found = self.longest("sleep")
        self.assertEqual(found.waker, 0)
        self.assertGreater(found.ns, 300_000_000 - SLACK_NS)
        self.assertLess(found.ns, wait.end - wait.begin)

    def test_child(self):
        wait, found = self.longest("child")
        self.assertEqual(found.call, "wait4")
        self.assertLess(found.ns, wait.end - wait.begin)

    def check_counts(self, name):
        """Time on the CPU and in the run queue are those that the kernel counts."""
        wait, sums = self.waits[name], collections.Counter()
        for s in self.of(wait):
            sums[s.kind] += within(s, wait.begin, wait.end)
        for kind, counted in (("running", wait.cpu_ns), ("runnable", wait.delay_ns)):
            # Of what a busy machine lost, nothing is guessed.
            slack = SLACK_NS + counted // 20 + self.stolen_ns + sums["unknown"]
            self.assertLess(abs(sums[kind] - counted), slack, f"{name}: {counted} ns {kind}, {sums}")

    def test_running(self):
        self.check_counts("running")

    def test_contended(self):
        self.check_counts("contended")
        wait = self.waits["contended"]
        behind = [s for s in self.of(wait) if s.kind == "runnable" and s.behind]
        self.assertTrue(behind)

    def test_file_is_not_derived_again(self):
        again = slices_of(self.path)
        self.assertEqual(again, self.slices)
        copy = self.path + ".copy"
        e2e.run(e2e.SAKER, "-q", "-r", self.path, "-w", copy, "--slices")
        self.assertEqual(slices_of(copy), self.slices)

    def test_pieces(self):
        """Each piece of a rotated file has its slices, and none is derived again."""
        piece = self.path + ".piece"
        e2e.run(e2e.SAKER, "-q", "-r", self.path, "-w", piece, "-e", "30000")
        pieces = sorted(glob.glob(piece + "*"), key=lambda name: int(name[len(piece):]))
        self.assertGreater(len(pieces), 2)
        self.assertTrue([s for name in pieces for s in slices_of(name)] == self.slices) # too long to be shown

    def test_filtered_file(self):
        """What a filter leaves out of a file is not derived again."""
        path = self.path + ".filtered"
        e2e.run(e2e.SAKER, "-q", "-r", self.path, "-w", path, "evt.type=switch or thread.slice.kind=lock")
        self.assertEqual(slices_of(path), [s for s in self.slices if s.kind == "lock"])

    def test_sums(self):
        """Sums of a thread, and of the process, are those of its slices."""
        rows = [json.loads(line) for line in e2e.run(
            e2e.SAKER, "-r", self.path, "-j", "-p", "*" + " ".join(
                f"%thread.time.{state}" for state in ("running", "runnable", "blocked", "unknown")) + " %thread.tid",
            "evt.type=slice").splitlines()]
        last = {row["thread.tid"]: row for row in rows}
        for wait in self.waits.values():
            for state in ("running", "runnable", "blocked", "unknown"):
                self.assertEqual(last[wait.tid][f"thread.time.{state}"],
                                 sum(s.ns for s in self.slices if s.tid == wait.tid and s.state == state))

    def chisel(self, *args):
        return e2e.run(e2e.SAKER, "-r", self.path, "-c", *args)

    def test_waits(self):
        rows = [json.loads(line) for line in self.chisel("waits", "-j").splitlines()]
        sums = collections.Counter()
        for s in self.slices:
            if s.state == "blocked":
                sums[s.kind] += s.ns
        shown = collections.Counter()
        for row in rows:
            shown[row["kind"]] += row["ns"]
        for kind in shown:
            self.assertLessEqual(shown[kind], sums[kind])
        self.assertTrue({"lock", "sleep"} <= set(shown))

    def test_locks(self):
        rows = [json.loads(line) for line in self.chisel("locks", "-j").splitlines()]
        self.assertTrue(any(row["waker"] == "timeline" and row["longest"] > 100_000_000 for row in rows), rows)

    def test_runqueue(self):
        rows = [json.loads(line) for line in self.chisel("runqueue", "-j").splitlines()]
        self.assertTrue(any(row["proc.name"] == "timeline" for row in rows), rows)

    def test_chrome(self):
        events = json.loads(self.chisel("timeline", "format=chrome"))["traceEvents"]
        drawn = [e for e in events if e["ph"] == "X"]
        self.assertEqual(len(drawn), len(self.slices))
        self.assertEqual({e["name"] for e in drawn}, {s.kind for s in self.slices})

    def test_firefox(self):
        """The profile has a thread with a marker for each slice, in the shape of Gecko profiles."""
        threads = json.loads(self.chisel("timeline", "format=firefox"))["threads"]
        found = {t["tid"]: [(t["stringTable"][m[0]], m[2] - m[1]) for m in t["markers"]["data"]] for t in threads}
        for tid, markers in found.items():
            own = [s for s in self.slices if s.tid == tid]
            self.assertEqual([name for name, ms in markers], [s.kind for s in own])
            for (_, ms), s in zip(markers, own):
                self.assertAlmostEqual(ms, s.ns / 1e6, places=3)
        self.assertEqual(set(found), {s.tid for s in self.slices})

    def test_page(self):
        page = self.chisel("timeline", "title=<b>&")
        self.assertIn("<title>&lt;b&gt;&amp;</title>", page)
        # It loads nothing. The names in its data are those of this machine's files and programs.
        self.assertNotRegex(page, r"://|\bsrc=|<link\b|\burl\(|@import")


class Live(unittest.TestCase):
    def setUp(self):
        e2e.need_live()

    def test_filter(self):
        """A filter on slices records no system calls for itself."""
        out = subprocess.run([e2e.SAKER, "-j", "-p", "*%thread.slice.kind %thread.slice.ns", "thread.slice.kind=sleep",
                              "--", "sleep", "0.05"], capture_output=True, text=True, timeout=120, check=True)
        rows = [json.loads(line) for line in out.stderr.splitlines()]
        self.assertTrue(any(r["thread.slice.kind"] == "sleep" and r["thread.slice.ns"] > 45_000_000
                            for r in rows), out.stderr)

    def test_waiting_before(self):
        """A thread that waits since before the capture begins with the right slice."""
        p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        e2e.wait_until(lambda: " 0 0x" in e2e.read_text(f"/proc/{p.pid}/syscall") or
                       e2e.read_text(f"/proc/{p.pid}/syscall").startswith("0 "), "cat reads")
        path = os.path.join(e2e.own_dir(self), "before.scap")
        e2e.run(e2e.SAKER, "-q", "-w", path, "--slices", "--all", "--", "sh", "-c", "sleep 0.2")
        found = [s for s in slices_of(path) if s.tid == p.pid]
        self.assertEqual([(s.kind, s.call, s.open) for s in found], [("pipe", "read", True)])

    def test_without_switches(self):
        """What threads did is unknown then, also of one whose call was under way: it returned since."""
        p = subprocess.Popen([sys.executable, "-I", "-c", "import time\nwhile True: time.sleep(0.05)"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        path = os.path.join(e2e.own_dir(self), "plain.scap")
        e2e.run(e2e.SAKER, "-q", "-w", path, "--all", "--", "sh", "-c", "sleep 0.3")
        self.assertEqual({s.kind for s in slices_of(path)}, {"unknown"})
        for chisel in "waits", "runqueue", "locks":
            self.assertRegex(e2e.run(e2e.SAKER, "-r", path, "-c", chisel), r"\(a capture file needs .*--slices\)\n$")


class Quota(unittest.TestCase):
    # Where others leave it less of a CPU than its quota, it is not throttled.
    SPIN = """import os, sys, time
with open(sys.argv[1] + "/cgroup.procs", "w") as f:
    f.write(str(os.getpid()))
stat, least, until = sys.argv[1] + "/cpu.stat", int(sys.argv[3]), time.monotonic() + 10
def throttled():
    return int(dict(map(str.split, open(stat)))[sys.argv[2]])
while throttled() < least and time.monotonic() < until:
    for i in range(20000):
        pass
"""

    def quota(self):
        """A cgroup that may use a fifth of a CPU, and which number of its cpu.stat, in which unit of ns, says for how
        long it was throttled."""
        name = f"saker-quota-{os.getpid()}"
        for root in glob.glob("/sys/fs/cgroup/cpu") + glob.glob("/sys/fs/cgroup"):
            path, v1 = os.path.join(root, name), root.endswith("cpu")
            try:
                os.mkdir(path)
                self.addCleanup(e2e.remove_cgroup, root, name)
                e2e.write_text(os.path.join(path, "cpu.cfs_quota_us" if v1 else "cpu.max"), "20000" if v1 else "20000 100000")
            except OSError:
                continue
            unit = 1 if v1 else 1000
            key = "throttled_time" if v1 else "throttled_usec"
            return path, key, unit
        e2e.skip_test("no cgroup with a quota can be made here")

    def test_throttled(self):
        """It is neither runnable nor behind whoever ran meanwhile."""
        e2e.need_live()
        (cgroup, key, unit), path = self.quota(), os.path.join(e2e.own_dir(type(self)), "quota.scap")
        e2e.run(e2e.SAKER, "-q", "-w", path, "--slices", "--", "/usr/bin/python3", "-c", self.SPIN, cgroup, key,
                str(300_000_000 // unit))
        counted = unit * int(dict(map(str.split, e2e.read_text(cgroup + "/cpu.stat").splitlines()))[key])
        self.assertGreater(counted, 100_000_000)
        found = [s for s in slices_of(path) if s.kind == "throttled"]
        self.assertGreater(sum(s.ns for s in found), 0.8 * counted)
        self.assertEqual({s.behind for s in found}, {None})


class Freezer(unittest.TestCase):
    """A thread that its cgroup freezes neither waits for a CPU nor for what it did before; who thaws it is known."""

    SCENE = """dir=$1 file=$2 frozen=$3 thawed=$4
sh -c 'echo $$ >$0/cgroup.procs; while :; do :; done' $dir & p=$!
until grep -q . $dir/cgroup.procs; do :; done
echo $frozen >$dir/$file; sleep 0.3; echo $thawed >$dir/$file
sleep 0.1; kill -9 $p; wait $p; true"""

    def check(self, root, file, frozen, thawed):
        name = f"saker-freezer-{os.getpid()}"
        cgroup = e2e.make_cgroup(self, root, name)
        if not os.path.exists(os.path.join(cgroup, file)):
            e2e.skip_test(f"{root} has no {file}")
        path = os.path.join(e2e.own_dir(type(self)), name + file)
        e2e.run(e2e.SAKER, "-q", "-w", path, "--slices", "--", "/bin/sh", "-c", self.SCENE, "sh", cgroup, file, frozen, thawed)
        found = e2e.run(e2e.SAKER, "-r", path, "-p", "%thread.slice.ns %thread.slice.waker.call %thread.slice.waker.file",
                        "evt.type=slice and thread.slice.kind=frozen").splitlines()
        longest = max(found, key=lambda line: int(line.split()[0]))
        self.assertGreater(int(longest.split()[0]), 250_000_000)
        self.assertEqual(longest.split()[1:], ["write", os.path.join(cgroup, file)])

    def test_v2(self):
        e2e.need_live()
        roots = [r for r in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified") if os.path.exists(r + "/cgroup.controllers")]
        if not roots:
            e2e.skip_test("no cgroup v2 is mounted")
        self.check(roots[0], "cgroup.freeze", "1", "0")

    def test_v1(self):
        e2e.need_live()
        self.check("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED")


class Others(unittest.TestCase):
    def test_sysdig(self):
        """Switches of other tools have no state: a thread runs, or it is unknown what it did."""
        for path in e2e.captures_of_others():
            kinds = {s.kind for s in slices_of(path)}
            self.assertLessEqual(kinds, {"running", "unknown"}, path)


if __name__ == "__main__":
    unittest.main()
