#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests build IDs in captures: they equal those of readelf, and on another machine they suffice to
find the symbols in each folder of debug files."""

import gzip
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e
from profile_test import CALLED, SESSION, folded, message, profile, share


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def elsewhere(*args, **env):
    """Runs saker under another host name."""
    p = subprocess.run(["unshare", "-u", "sh", "-c", 'hostname elsewhere && exec timeout 100 "$@"', "sh",
                        e2e.SAKER, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, **SESSION, **env})
    assert p.returncode == 0, p.stderr
    return p.stdout


class BuildId(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.source = os.path.join(e2e.SOURCE, "tests/e2e/profile/prog.c")
        cls.prog = cls.path("prog")
        subprocess.run(["gcc", "-O1", "-g", "-o", cls.prog, cls.source, "-ldl"], check=True)
        cls.id = build_id(cls.prog)
        cls.capture = cls.path("a.scap")
        profile("-F", "999", "-w", cls.capture, "--", cls.prog, "long")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.dir, *names)

    def ids(self, capture):
        lines = subprocess.run([e2e.SAKER, "-r", capture, "-p", "%frame.buildids", "evt.type=sample"],
                               capture_output=True, text=True, check=True).stdout
        return dict(re.findall(r"^(/[^\t]+)\t([0-9a-f]+)$", lines, re.M))

    def share_elsewhere(self, *options, **env):
        elsewhere("profile", "-r", self.capture, "-o", self.path("e.folded"), *options, **env)
        return share(folded(e2e.read_text(self.path("e.folded"))), CALLED)

    def put(self, source, *where):
        to = self.path(*where)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(source, to)

    def away(self):
        """Moves the program away until the test ends."""
        os.rename(self.prog, self.prog + "-")
        self.addCleanup(os.rename, self.prog + "-", self.prog)

    def debug_file(self):
        out = self.path("prog.debug")
        subprocess.run(["objcopy", "--only-keep-debug", self.prog, out], check=True)
        return out

    def test_recorded(self):
        ids = self.ids(self.capture)
        self.assertEqual(ids[self.prog], self.id)
        for path, found in ids.items():
            self.assertEqual(build_id(path), found, path)
        one = subprocess.run([e2e.SAKER, "-r", self.capture, "-p", "%frame.buildid[0]",
                              "evt.type=sample and stack.function=very_hot"],
                             capture_output=True, text=True, check=True).stdout
        self.assertIn(self.id, one.split())

    def test_older_process(self):
        p = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        profile("-F", "999", "-p", str(p.pid), "-d", "0.3", "-w", self.path("older.scap"))
        sh = os.path.realpath(shutil.which("sh"))
        self.assertEqual(self.ids(self.path("older.scap"))[sh], build_id(sh))

    def test_pprof(self):
        profile("-r", self.capture, "-o", self.path("a.pb.gz"))
        pb = message(gzip.decompress(e2e.read_bytes(self.path("a.pb.gz"))))
        texts = [t.decode() for t in pb[6]]
        mappings = [message(m) for m in pb[3]]
        ids = {texts[m[5][0]]: texts[m.get(6, [0])[0]] for m in mappings}
        self.assertEqual(ids[self.prog], self.id)

    def test_same_file_elsewhere(self):
        self.assertGreater(self.share_elsewhere(), 0.8)

    def test_other_file_elsewhere(self):
        self.away()
        subprocess.run(["gcc", "-O2", "-o", self.prog, self.source, "-ldl"], check=True)
        self.addCleanup(os.remove, self.prog)
        self.assertEqual(self.share_elsewhere(), 0)

    def test_debug_dir(self):
        self.put(self.debug_file(), "debug", ".build-id", self.id[:2], self.id[2:] + ".debug")
        self.away()
        self.assertEqual(self.share_elsewhere("--debug-dir", self.path("none")), 0)
        dirs = self.path("none") + ":" + self.path("debug")
        self.assertGreater(self.share_elsewhere("--debug-dir", dirs), 0.8)
        out = elsewhere("-r", self.capture, "--debug-dir", dirs, "-p", "%stack.file[0]:%stack.line[0]",
                        "evt.type=sample and stack.function=very_hot")
        self.assertRegex(out, r"(?m)/prog\.c:\d+$")

    def test_stripped(self):
        """Functions of a stripped file are named by their start address, which nm finds in
        the original."""
        stripped = self.path("stripped")
        shutil.copy(self.prog, stripped)
        subprocess.run(["strip", stripped], check=True)
        nm = subprocess.run(["nm", self.prog], capture_output=True, text=True, check=True).stdout
        start = {name: int(addr, 16) for addr, name in re.findall(r"^(\w+) [tT] (\w+)$", nm, re.M)}
        called = "in_between;very_hot"
        made = re.sub(r"\w+", lambda m: rf"stripped\+0x{start[m[0]]:x}", called)
        named = self.path("s.scap")
        profile("-F", "999", "--with-symbols", "-w", named, "--", stripped)
        out = self.path("s.folded")
        profile("-r", named, "-o", out)
        self.assertGreater(share(folded(e2e.read_text(out)), made + "$"), 0.8)
        os.remove(stripped)
        elsewhere("profile", "-r", named, "-o", out)
        self.assertGreater(share(folded(e2e.read_text(out)), made + "$"), 0.8)
        # An address is no name: a name that is found on this machine replaces it.
        self.put(self.debug_file(), "for-stripped", ".build-id", self.id[:2], self.id[2:] + ".debug")
        elsewhere("profile", "-r", named, "-o", out, "--debug-dir", self.path("for-stripped"))
        self.assertGreater(share(folded(e2e.read_text(out)), called), 0.8)

    def test_cache_of_debuginfod(self):
        for kind in "debuginfo", "executable":
            cache = self.path(kind)
            self.put(self.debug_file() if kind == "debuginfo" else self.prog, kind, self.id, kind)
            with self.subTest(kind):
                os.rename(self.prog, self.prog + "-")
                try:
                    self.assertGreater(self.share_elsewhere(DEBUGINFOD_CACHE_PATH=cache), 0.8)
                    shutil.copytree(cache, self.path("home/.cache/debuginfod_client"))
                    self.assertGreater(self.share_elsewhere(HOME=self.path("home")), 0.8)
                finally:
                    os.rename(self.prog + "-", self.prog)
                    shutil.rmtree(self.path("home"), ignore_errors=True)


if __name__ == "__main__":
    if os.geteuid() or subprocess.run(["unshare", "-u", "true"], capture_output=True).returncode:
        print("skipped: needs root and a host name of its own")
        raise SystemExit(77)
    unittest.main(defaultTest="BuildId")
