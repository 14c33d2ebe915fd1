#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a replay is confined (docs/security.md) before it reads the capture, that no mode notices it, and that it
goes on where the kernel has neither Landlock nor seccomp."""

import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

CALLS = "%file,%process,%network,prctl,landlock_create_ruleset,landlock_restrict_self,capset,ioctl"
# As in a kernel that has neither.
WITHOUT = ["-e", "inject=landlock_create_ruleset:error=ENOSYS", "-e", "inject=prctl:error=EINVAL"]
CONFINED = r'prctl\(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, .*\) = 0'
# The C library starts a thread by clone where clone3, whose flags no filter sees, does not exist.
REFUSED = r"(?m)^(?!\d+ +(?:clone3\(|<... clone3 )).*= -1 (?:EACCES|EPERM|ENOSYS).*"
LIMITED = r"landlock_restrict_self\(\d+, 0\) *= 0"

# Arguments behind -r FILE; OUT is a folder, whose files are compared too.
MODES = [
    [],
    ["-v", "-q"],
    ["-j", "-n", "300"],
    ["-p", "%evt.num %evt.datetime %proc.name %fd.name"],
    ["-S", "-q"],
    ["-n", "200", "-o", "OUT/lines"],
    ["-w", "OUT/copy.scap"],
    ["-w", "OUT/some.scap", "evt.type=read"],
    ["-w", "/dev/null"],
    ["-w", "/dev/stdout"],
    ["-r", "CAPTURE", "-w", "OUT/joined.scap"],
    ["-w", "-"],
    ["-e", "500", "-w", "OUT/piece.scap"],
    ["-C", "1", "-W", "2", "-w", "OUT/%H/../ring.scap"],
    ["-c", "topscalls"],
    ["-c", "opens", "-o", "OUT/table"],
    ["-c", "around", "OUT/around.scap 10", "evt.type=read"],
    ["-c", "timeline"],
    ["-c", "flame"],
    ["-c", "flamegraph"],
    ["-p", "*%evt.num %stack.folded", "-w", "OUT/frames.scap"],
    ["-c", "why"],
    ["-c", "CHISEL"],
    ["--verify"],
]
CHISEL = """
description = "Opens a file at the end." short_description = "x" category = "x" args = {}
function on_init() return true end
function on_event() return true end
function on_capture_end() print(io.open(%r):read("a")) end
"""


def opened(path):
    """Returns what a line of strace matches that opens it for reading."""
    return r'openat\(AT_FDCWD, "%s", O_RDONLY\|O_CLOEXEC\)' % re.escape(path)


class Confined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need("strace")
        cls.capture = max(e2e.SHARED, key=os.path.getsize, default=None) or e2e.captures()[0]
        cls.dir = e2e.own_dir(cls)
        cls.chisel = os.path.join(cls.dir, "own.lua")
        e2e.write_text(cls.chisel, CHISEL % cls.capture)
        os.chmod(cls.dir, 0o755)
        os.environ.pop("SAKER_CHISEL_DIR", None)
        cls.env = {**os.environ, "TZ": "UTC", "HOME": cls.dir}
        if "landlock_restrict_self" not in cls.trace([])[1]:
            e2e.skip("this kernel has no Landlock, or this is a build with sanitizers")

    @classmethod
    def trace(cls, args, options=(), command=(), capture=None):
        """Returns the run of saker and its calls."""
        log = os.path.join(cls.dir, "calls")
        p = subprocess.run(["strace", "-f", "-o", log, "-e", f"trace={CALLS}", *options, e2e.SAKER, *command,
                            "-r", capture or cls.capture, *args], capture_output=True, env=cls.env, check=False)
        return p, e2e.read_text(log)

    def run_mode(self, mode, options=()):
        out = os.path.join(self.dir, "out")
        shutil.rmtree(out, ignore_errors=True)
        for hour in range(24):
            os.makedirs(os.path.join(out, f"{hour:02}"))
        words = {"OUT": out, "CHISEL": self.chisel, "CAPTURE": self.capture}
        p, calls = self.trace([re.sub("[A-Z]{3,}", lambda m: words[m[0]], a) for a in mode], options)
        made = {name: self.content(os.path.join(out, name)) for name in sorted(os.listdir(out))
                if not os.path.isdir(os.path.join(out, name))}
        return p, made, calls

    def content(self, path):
        """The state at the beginning of a piece has no order."""
        return e2e.run(e2e.SAKER, "-r", path) if path.endswith(tuple("0123456789")) else e2e.read_bytes(path)

    def test_modes(self):
        """Each mode gives the same with it as without, and makes no call that is refused."""
        for mode in MODES:
            with self.subTest(mode=mode):
                p, made, calls = self.run_mode(mode)
                without, made_without, calls_without = self.run_mode(mode, WITHOUT)
                self.assertRegex(calls, CONFINED)
                self.assertNotRegex(calls_without, CONFINED + "|" + LIMITED)
                behind = calls[re.search(CONFINED, calls).end():]
                self.assertEqual(re.findall(REFUSED, behind), [])
                self.assertEqual((p.returncode, made), (without.returncode, made_without))
                if "-v" not in mode:
                    self.assertEqual((p.stdout, p.stderr), (without.stdout, without.stderr))
                    self.assertEqual(p.returncode, 0, p.stderr)

    def test_thread(self):
        """The thread that reads a large file ahead starts when everything is confined."""
        large = os.path.join(self.dir, "large.scap")
        with open(large, "wb") as f:
            while f.tell() < 2 << 20:
                f.write(e2e.read_bytes(self.capture))
        for mode in ["-q"], ["--verify"], ["-c", "topscalls"], ["-e", "100000", "-w", os.path.join(e2e.own_dir(self), "piece")]:
            with self.subTest(mode=mode):
                p, calls = self.trace(mode, capture=large)
                self.assertEqual(p.returncode, 0, p.stderr)
                thread = re.search(r"clone3?\(.*CLONE_THREAD", calls)
                self.assertIsNotNone(thread)
                self.assertLess([m.end() for m in re.finditer(LIMITED + "|" + CONFINED, calls)][-1], thread.start())
        one, _ = self.trace(["--one-thread"], capture=large)
        two, _ = self.trace([], capture=large)
        self.assertEqual((one.returncode, one.stdout, one.stderr), (two.returncode, two.stdout, two.stderr))

    def test_order(self):
        """Both come before the capture is opened; what follows opens no file but pieces."""
        out = os.path.join(e2e.own_dir(self), "piece")
        for mode in [], ["-w", out], ["-c", "topscalls"], ["-e", "500", "-w", out]:
            with self.subTest(mode=mode):
                p, calls = self.trace(mode)
                self.assertEqual(p.returncode, 0, p.stderr)
                first, last = re.search(LIMITED, calls), [m for m in re.finditer(LIMITED, calls)][-1]
                self.assertLess(first.end(), re.search(CONFINED, calls).start())
                self.assertLess(re.search(CONFINED, calls).end(), re.search(opened(self.capture), calls).start())
                self.assertLess(first.end(), last.start())
                files = set(re.findall(r'open\w*\(.*?"(.*?)"', calls[last.end():]))
                self.assertEqual({f for f in files if not f.startswith(out)}, set())
                self.assertEqual(bool(files), "-e" in mode)
        _, calls = self.trace(["--verify"])
        self.assertLess(re.search(CONFINED, calls).end(), re.search(opened(self.capture), calls).start())

    def test_late_files(self):
        """Names of frames need any file, but only to read it."""
        for mode in ["-p", "%stack.folded"], ["-c", "flamegraph"], ["-c", self.chisel]:
            with self.subTest(mode=mode):
                _, calls = self.trace(mode)
                self.assertRegex(calls, CONFINED)
                self.assertEqual(len(re.findall(LIMITED, calls)), 2)
        _, calls = self.trace(["-e", "500", "-w", f"{self.dir}/%H/piece"])
        self.assertRegex(calls, CONFINED)
        self.assertNotRegex(calls, LIMITED)

    def test_top(self):
        """Tables of saker top are the same with it as without."""
        for mode in ["-b"], ["-j", "-v", "files"], ["-b", "-v", "spectro_all"], ["-b", "-v", "functions"]:
            with self.subTest(mode=mode):
                p, calls = self.trace(mode, command=["top"])
                without, calls_without = self.trace(mode, WITHOUT, command=["top"])
                self.assertEqual((p.returncode, p.stdout, p.stderr), (0, without.stdout, without.stderr))
                self.assertNotRegex(calls_without, CONFINED + "|" + LIMITED)
                begin = re.search(CONFINED, calls).end()
                self.assertEqual(re.findall(REFUSED, calls[begin:]), [])
                self.assertLess(begin, re.search(opened(self.capture), calls).start())
                self.assertLess(re.search(LIMITED, calls).end(), begin)
                last = [m for m in re.finditer(LIMITED, calls)][-1]
                self.assertNotRegex(calls[last.end():], r"open\w*\(")

    def test_exporter(self):
        """The metrics of a file are the same, but for the values of the exporter's own."""
        def metrics(p):
            self.assertEqual((p.returncode, p.stderr), (0, b""))
            return [re.sub(rb"^(saker_exporter_\w+|process_\w+).*", rb"\1", line) for line in p.stdout.splitlines()]
        p, calls = self.trace(["--print"], command=["exporter"])
        without, _ = self.trace(["--print"], WITHOUT, command=["exporter"])
        self.assertEqual(metrics(p), metrics(without))
        begin = re.search(CONFINED, calls).end()
        self.assertEqual(re.findall(REFUSED, calls[begin:]), [])
        self.assertLess(begin, re.search(opened(self.capture), calls).start())
        self.assertRegex(calls[begin:], r"capset\(\{.*\}, \{effective=0, permitted=0, inheritable=0\}\) *= 0")

    def test_unconfined(self):
        for mode in ["-R"], ["-c", "topscalls", "--chisel-unsafe"]:
            with self.subTest(mode=mode):
                p, calls = self.trace(mode)
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertNotRegex(calls, CONFINED + "|" + LIMITED)

    def test_kernel_without_it(self):
        p, _ = self.trace(["-q", "-v"], WITHOUT)
        for name in b"Landlock", b"seccomp":
            self.assertIn(b"saker: replay is not confined by %s: not in this kernel\n" % name, p.stderr)
        p, _ = self.trace(["-q", "-v"])
        self.assertNotIn(b"confined", p.stderr)

    def check_running(self, *prefix):
        """A replay that waits for more of its input has no rights, as root and otherwise."""
        printed = os.path.join(e2e.own_dir(self), "lines")
        with open(printed, "wb") as f:
            p = subprocess.Popen([*prefix, e2e.SAKER, "--unbuffered", "-r", "-"], stdin=subprocess.PIPE, stdout=f)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        self.addCleanup(p.kill)
        p.stdin.write(e2e.read_bytes(self.capture))
        p.stdin.flush()
        e2e.wait_until(lambda: os.path.getsize(printed), "a line")
        status = dict(re.findall(r"(?m)^(\w+):\t(.*)$", e2e.read_text(f"/proc/{p.pid}/status")))
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        self.assertEqual(int(status["CapEff"], 16) | int(status["CapPrm"], 16), 0)

    def test_rights(self):
        self.check_running()

    def test_ordinary_user(self):
        e2e.need("setpriv")
        if os.geteuid():
            e2e.skip("needs root, to become an ordinary user")
        user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        self.check_running(*user)
        folder = e2e.own_dir(self)
        os.chmod(folder, 0o777)
        copy = os.path.join(folder, "capture")
        shutil.copy(self.capture, copy)
        os.chmod(copy, 0o644)
        for mode in [], ["-w", os.path.join(folder, "copy")], ["-e", "500", "-w", os.path.join(folder, "piece")]:
            run = subprocess.run([*user, e2e.SAKER, "-r", copy, *mode], capture_output=True, env=self.env, check=True)
            self.assertEqual((run.stdout, run.stderr), (b"" if mode else self.trace([])[0].stdout, b""))
        self.assertEqual(e2e.run(e2e.SAKER, "-r", os.path.join(folder, "copy")), e2e.run(e2e.SAKER, "-r", copy))


if __name__ == "__main__":
    unittest.main()
