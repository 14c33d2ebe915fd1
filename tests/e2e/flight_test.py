#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flight recorder: its files have the events around a trigger, with their names, and open alone."""

import glob
import os
import signal
import subprocess
import unittest

import saker_e2e as e2e

# Files and directories are opened long before they are used, so their names are in the state.
PROGRAM = """
import os, time
os.chdir("/usr")
held = os.open("/etc/passwd", os.O_RDONLY)
for turn in range(60):
    os.pread(held, 10, turn)
    os.close(os.open("share", os.O_RDONLY))
    if turn % 10 == 0:
        os.spawnlp(os.P_WAIT, "true", "true")
    time.sleep(0.02)
"""
FIELDS = "*%evt.rawtime %thread.tid %proc.name %evt.type %fd.name %evt.args"
# Answers one request late.
SERVER = """
import http.server, sys, threading, time, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(0.4)
        self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for path in ["fast"] * 5 + ["slow"] + ["fast"] * 5:
    urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{path}").read()
    time.sleep(0.05)
"""


def record(folder, *args):
    """Returns what saker says, and the files that it wrote to a folder."""
    p = subprocess.run([e2e.SAKER, "-w", folder, *args], capture_output=True, text=True, check=True)
    return p.stderr, sorted(glob.glob(folder + "/*.scap"))


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.folder = e2e.temp_dir()
        cls.capture = os.path.join(cls.folder, "capture.scap")
        e2e.run(e2e.SAKER, "-w", cls.capture, "--", "python3", "-c", PROGRAM)
        cls.events = e2e.run(e2e.SAKER, "-r", cls.capture, "-p", FIELDS).splitlines()
        cls.turns = [int(ns) for ns in e2e.run(e2e.SAKER, "-r", cls.capture, "-p", "%evt.rawtime",
                                               "evt.type=openat and fd.name=/usr/share").split()]

    def trigger(self, *turns):
        return " or ".join(f"evt.rawtime={self.turns[turn]}" for turn in turns)

    def span_of(self, *turns):
        """The time to record, in ns, with which triggers of these turns prolong one file."""
        return max(self.turns[b] - self.turns[a] for a, b in zip(turns, turns[1:])) + 10000000

    def check_file(self, path, begin_ns, end_ns):
        """The file has what the whole capture has between two times, and is sound."""
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
        got = e2e.run(e2e.SAKER, "-r", path, "-p", FIELDS).splitlines()
        self.assertEqual(got, [line for line in self.events if begin_ns <= int(line.split()[0]) <= end_ns])
        return got

    def test_around_a_trigger(self):
        said, (path,) = record(e2e.own_dir(self), "-r", self.capture, "--flight-recorder", "0.25",
                               "--trigger", self.trigger(30))
        got = self.check_file(path, self.turns[30] - 250000000, self.turns[30] + 250000000)
        self.assertGreater(len(got), 30)
        self.assertIn(f" {len(got)} events, ", said)
        self.assertTrue(any(" python3 pread /etc/passwd " in line for line in got), got[:5])
        self.assertRegex(said, r"^saker: .+/flight-\d{8}-\d{6}\.\d{3}\.scap: \d+ events, 0\.2 s before to 0\.2 s after "
                               r"openat of python3 \(\d+\)\n$")

    def test_other_tools(self):
        e2e.need("sysdig", "tshark")
        _, (path,) = record(e2e.own_dir(self), "-r", self.capture, "--flight-recorder", "0.2", "--trigger", self.trigger(30))
        lines = e2e.run("sysdig", "-r", path, "-p", "%evt.rawtime %proc.name %fd.name",
                        "evt.type=pread and evt.dir=< and proc.name=python3").splitlines()
        self.assertGreater(len(lines), 5)
        for line in lines:
            self.assertRegex(line, r"^\d+ python3 /etc/passwd$")
        self.assertGreater(len(e2e.run("tshark", "-r", path).splitlines()), len(lines))

    def test_begin_and_end_of_the_capture(self):
        said, paths = record(e2e.own_dir(self), "-r", self.capture, "--flight-recorder", "60", "--trigger", self.trigger(3))
        self.check_file(paths[0], 0, 1 << 63)
        self.assertIn(" s after openat", said)

    def test_time_that_goes_back(self):
        """Captures of other tools follow a clock that is set back."""
        back, hour = os.path.join(e2e.own_dir(self), "back.scap"), 3600 * 10**9
        data = e2e.without_sums(e2e.read_bytes(self.capture))
        for kind, begin, _ in list(e2e.blocks(data)):
            at = begin + e2e.EVENT_BLOCKS.get(kind, 0)
            ns = int.from_bytes(data[at:at + 8], "little")
            if at > begin and self.turns[20] < ns < 1 << 63:
                data[at:at + 8] = (ns - hour).to_bytes(8, "little")
        with open(back, "wb") as f:
            f.write(data)
        said, (path,) = record(os.path.join(e2e.own_dir(self), "files"), "-r", back, "--flight-recorder", "0.25",
                               "--trigger", f"evt.rawtime={self.turns[40] - hour}")
        self.assertIn(" 0.2 s before to 0.2 s after openat", said)
        times = [int(ns) for ns in e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.rawtime").split()]
        self.assertIn(self.turns[40] - hour, times)
        self.assertLess(times[0], self.turns[35] - hour)

    def test_triggers_merge(self):
        """A trigger while a file is written prolongs it."""
        span = self.span_of(20, 26, 30)
        said, (path,) = record(e2e.own_dir(self), "-r", self.capture, "--flight-recorder", str(span / 1e9),
                               "--trigger", self.trigger(20, 26, 30))
        self.check_file(path, self.turns[20] - span, self.turns[30] + span)
        self.assertIn(", with 2 more triggers\n", said)

    def test_containers(self):
        """A file has the containers of its beginning once, though each part of the memory begins with them."""
        told = e2e.with_container(self.capture, os.path.join(e2e.own_dir(self), "told.scap"))
        turns = (20, 24, 28, 32, 36)
        span = self.span_of(*turns)
        _, (path,) = record(os.path.join(e2e.own_dir(self), "out"), "-r", told, "--flight-recorder", str(span / 1e9),
                            "--trigger", self.trigger(*turns))
        self.assertEqual(e2e.read_bytes(path).count(b"web-1"), 1)
        self.check_file(path, self.turns[20] - span, self.turns[36] + span)

    def test_limits(self):
        """Files with the same key are apart, others are not; and there is a number of files."""
        options = ["-r", self.capture, "--flight-recorder", "0.05", "--trigger", self.trigger(10, 30, 50)]
        said, paths = record(e2e.own_dir(self), *options)
        self.assertEqual(len(paths), 1)
        self.assertIn("2 more triggers came soon after a file with the same --trigger-key: no file\n", said)
        said, paths = record(os.path.join(e2e.own_dir(self), "key"), *options, "--trigger-key", "%evt.num")
        self.assertEqual(len(paths), 3)
        for path, turn in zip(paths, (10, 30, 50)):
            self.check_file(path, self.turns[turn] - 50000000, self.turns[turn] + 50000000)
        said, paths = record(os.path.join(e2e.own_dir(self), "two"), *options, "--trigger-every", "0.01", "-W", "2")
        self.assertEqual(len(paths), 2)
        self.assertIn("1 more trigger came after the last file: no file\n", said)

    def test_long_series_of_triggers(self):
        """Endless triggers do not make one endless file."""
        said, paths = record(e2e.own_dir(self), "-r", self.capture, "--flight-recorder", "0.02", "--trigger-every", "0.01",
                             "--trigger", "evt.type=openat or evt.type=pread")
        self.assertGreater(len(paths), 3)
        for path in paths:
            times = [int(ns) for ns in e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.rawtime").split()]
            self.assertLess(times[-1] - times[0], 13 * 20000000)
        self.assertNotIn("no file", said)

    def test_memory(self):
        """With less memory than the time needs a file begins later, where a part of the memory begins."""
        folder = e2e.own_dir(self)
        big = os.path.join(folder, "big.scap")
        e2e.run(e2e.SAKER, "-w", big, "--", "python3", "-c",
                "import os\nfd = os.open('/etc/passwd', 0)\nfor i in range(30000): os.pread(fd, 1, 0)\nos.close(fd)\n"
                "os.open('/etc/hostname', 0)")
        out = os.path.join(folder, "out")
        said, (path,) = record(out, "-r", big, "--flight-recorder", "100", "--flight-memory", "1",
                               "--trigger", "evt.type=openat and fd.name=/etc/hostname")
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
        names = e2e.run(e2e.SAKER, "-r", path, "-p", "%fd.name", "evt.type=pread").splitlines()
        self.assertTrue(1000 < len(names) < 20000, len(names))
        self.assertEqual(set(names), {"/etc/passwd"})
        self.assertNotIn("100.0 s before", said)

    def test_bad_options(self):
        for options, message in (
                (["--flight-recorder", "1"], "--flight-recorder needs -w DIR"),
                (["--trigger", "evt.type=open"], "need --flight-recorder SECONDS"),
                (["--flight-recorder", "1", "-w", "/tmp", "--trigger-every", "3"], "need --trigger FILTER"),
                (["--flight-recorder", "1", "-w", "/tmp", "evt.type=open"], "give the filter to --trigger"),
                (["--flight-recorder", "1", "-w", "/tmp", "-C", "3"], "cannot be combined with -C"),
                (["--flight-recorder", "1", "-w", __file__], "is no folder"),
                (["--flight-recorder", "1", "-w", "/tmp", "--trigger", "evt.typ=open"], "--trigger: "),
                (["--flight-recorder", "1", "-w", "/tmp", "--trigger", "evt.type=open", "--trigger-key", "%no.such"],
                 "--trigger-key: ")):
            p = subprocess.run([e2e.SAKER, "-r", self.capture, *options], capture_output=True, text=True)
            self.assertNotEqual(p.returncode, 0, options)
            self.assertIn(message, p.stderr)


class Live(unittest.TestCase):
    def setUp(self):
        e2e.need_live()

    def test_slow_request(self):
        said, (path,) = record(e2e.own_dir(self), "--flight-recorder", "5", "--trigger",
                               "request.side=server and request.latency > 300ms", "--", "python3", "-c", SERVER)
        requests = e2e.run(e2e.SAKER, "-r", path, "-p", "%request.side %request.resource", "evt.type=request").splitlines()
        self.assertEqual(requests.count("server /slow"), 1)
        self.assertEqual(requests.count("server /fast"), 10)
        self.assertRegex(said, r" events, .+ after request of python3 ")

    def test_signal(self):
        folder = os.path.join(e2e.own_dir(self), "new")
        with subprocess.Popen([e2e.SAKER, "--flight-recorder", "30", "-w", folder], stderr=subprocess.PIPE, text=True) as p:
            try:
                e2e.wait_until(lambda: os.path.isdir(folder), "the folder of the files")
                e2e.wait_until(lambda: self.signal_gives_file(p, folder), "a file")
                subprocess.run(["cat", "/etc/hostname"], check=True, stdout=subprocess.DEVNULL)
            finally:
                p.send_signal(signal.SIGTERM)
                said = p.communicate()[1]
        self.assertEqual(p.returncode, 0, said)
        self.assertRegex(said, r" after SIGUSR1(, with \d+ more triggers?)?\n")
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        (path,) = glob.glob(folder + "/*.scap")
        self.assertIn("cat\n", e2e.run(e2e.SAKER, "-r", path, "-p", "%proc.name", "fd.name=/etc/hostname"))

    def test_folder_of_another_user(self):
        """saker drops most privileges before it creates a file."""
        folder = e2e.own_dir(self)
        os.chown(folder, 65534, 65534)
        _, paths = record(folder, "--flight-recorder", "5", "--trigger", "evt.type=openat and fd.name=/etc/hostname",
                          "--", "cat", "/etc/hostname")
        self.assertEqual(len(paths), 1)

    def test_full_disk(self):
        """A file ends when the file system is full; a later one is written once it has room again."""
        disk = e2e.own_dir(self)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        script = "touch one; head -c 20M /dev/zero > fill; touch two; sleep 0.5; rm fill; touch three; sleep 0.1"
        p = subprocess.run([e2e.SAKER, "-w", "out", "--min-free", "10M", "--flight-recorder", "0.2", "--trigger-key", "%fd.name",
                            "--trigger", "proc.name=touch and evt.type=openat and fd.filename in (one, two, three)",
                            "--", "sh", "-c", script], cwd=disk, capture_output=True, text=True)
        self.assertIn("beside the 10 MiB of --min-free", p.stderr)
        paths = sorted(glob.glob(disk + "/out/*.scap"))
        self.assertIn("three\n", e2e.run(e2e.SAKER, "-r", paths[-1], "-p", "%fd.filename", "proc.name=touch"), p.stderr)
        self.assertNotIn("no file", p.stderr)

    def test_nothing_after_a_trigger(self):
        """The time after the trigger was recorded, though nothing happened in it."""
        said, _ = record(e2e.own_dir(self), "--flight-recorder", "0.4", "--trigger", "evt.type=openat and fd.name=/etc/hostname",
                         "--", "sh", "-c", "cat /etc/hostname; exec sleep 1.5")
        self.assertIn(" to 0.4 s after openat of cat ", said)

    def signal_gives_file(self, p, folder):
        p.send_signal(signal.SIGUSR1)
        return glob.glob(folder + "/*.scap")


if __name__ == "__main__":
    unittest.main()
