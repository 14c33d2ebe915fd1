#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checksums of capture files: changed bytes are reported by each command that reads a file, which
reads on; other tools read a file with checksums as one without."""

import gzip
import os
import re
import shutil
import struct
import subprocess
import unittest

import saker_e2e as e2e


class Checksums(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.path = os.path.join(e2e.own_dir(cls), "whole.scap")
        e2e.run(e2e.SAKER, "-w", cls.path, "-q", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=7", "count=20000")
        cls.data = e2e.read_bytes(cls.path)

    def damaged(self):
        """Returns the path of a copy with a changed byte in the data of an event, and the page of it."""
        data = bytearray(self.data)
        reads = [at for kind, at, end in e2e.blocks(data) if kind == 0x216
                 and struct.unpack_from("<H", data, at + 10 + 20)[0] == 7 and data[end - 16:end - 8].count(0) > 4]
        at = reads[len(reads) // 2] + 10 + 26 + 4 + 8  # behind the result: the data
        data[at] ^= 1
        path = os.path.join(e2e.own_dir(self), "damaged.scap")
        with open(path, "wb") as file:
            file.write(data)
        return path, at >> 16

    def run_damaged(self, *args):
        """Returns the output of a command that reads the damaged file."""
        path, page = self.damaged()
        p = subprocess.run([path if arg == "FILE" else arg for arg in args], capture_output=True, text=True, timeout=60,
                           stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertEqual(re.findall(r"bytes (\d+) to \d+ have another checksum", p.stderr), [str(page << 16)], p.stderr)
        return p.stdout

    def test_each_reader(self):
        lines = e2e.run(e2e.SAKER, "-r", self.path, "-p", "%evt.num %proc.name %evt.type").splitlines()
        saker = [e2e.SAKER]
        for more in ((), ("--one-thread",)):
            out = self.run_damaged(*saker, "-r", "FILE", "-p", "%evt.num %proc.name %evt.type", *more)
            self.assertEqual(out.splitlines(), lines)
        self.assertNotIn("sound", self.run_damaged(*saker, "-r", "FILE", "--verify"))
        self.assertIn("dd", self.run_damaged(*saker, "-r", "FILE", "-c", "topprocs_file"))
        self.assertIn("dd", self.run_damaged(*saker, "top", "-b", "-r", "FILE", "-v", "procs"))
        # The end is not read.
        self.run_damaged(*saker, "-r", "FILE", "-q", "-n", str(len(lines) - 1))

    def test_copy(self):
        """A copy has the same events, and checksums of its own; the file is read twice."""
        copy = os.path.join(e2e.own_dir(self), "copy.scap")
        self.run_damaged(e2e.SAKER, "-r", "FILE", "-w", copy)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", copy, "--verify"))
        for flags in ("-z",), ():
            self.run_damaged(e2e.SAKER, "-r", "FILE", "-w", copy, *flags, "proc.name=dd")
            self.assertIn("sound", e2e.run(e2e.SAKER, "-r", copy, "--verify"))

    def packed(self, data, *args):
        """Reads a file of these bytes. Returns the exit status, the number of lines, and what was said."""
        path = os.path.join(e2e.own_dir(self), "packed.scap.gz")
        with open(path, "wb") as file:
            file.write(data)
        p = subprocess.run([e2e.SAKER, "-r", path, *args], capture_output=True, text=True, timeout=60, check=False)
        return p.returncode, len(p.stdout.splitlines()), p.stderr

    def test_packed(self):
        """What gzip(1) finds wrong is said, with the part of the file that may be wrong; so is what is left out."""
        whole = gzip.compress(self.data, 1)
        n = self.packed(whole)[1]
        self.assertEqual(self.packed(whole + bytes(10000)), (0, n, ""))
        self.assertEqual(self.packed(whole + bytes(10000), "--verify"), (0, 1, ""))
        for more in b"x", self.data:
            said = f"the bytes from {len(whole)} on are not gzip data, and were not read"
            code, lines, text = self.packed(whole + more)
            self.assertEqual((code, lines), (0, n))
            self.assertIn(said, text)
            code, lines, text = self.packed(whole + more, "--verify")
            self.assertEqual((code, lines), (1, 0))
            self.assertIn(said, text)
        first = gzip.compress(self.data[:100000], 1)
        path, _ = self.damaged()
        changed = e2e.read_bytes(path)
        # The first part is whole; the second one has another checksum than its bytes, which are events.
        second = bytearray(gzip.compress(changed[100000:], 1))
        second[-8:-4] = gzip.compress(self.data[100000:], 1)[-8:-4]
        code, _, text = self.packed(first + second, "-q")
        self.assertEqual(code, 1)
        self.assertIn(f"between byte {len(first)} and byte {len(first + second)} (incorrect data check); events from there may be wrong",
                      text)

    def test_pipe(self):
        piped = os.path.join(e2e.own_dir(self), "piped.scap")
        with open(piped, "wb") as file:
            subprocess.run([e2e.SAKER, "-r", self.path, "-w", "-"], stdout=file, timeout=60, check=True)
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", piped, "--verify"))
        self.assertNotEqual(e2e.without_sums(e2e.read_bytes(piped)), e2e.read_bytes(piped))

    def test_other_tools(self):
        """They skip the checksums."""
        plain = os.path.join(e2e.own_dir(self), "plain.scap")
        data = e2e.without_sums(self.data)
        self.assertGreater(sum(a != b for a, b in zip(data, self.data)), 1)
        with open(plain, "wb") as file:
            file.write(data)
        for command in (("sysdig", "-r"), ("tshark", "-r")):
            if not shutil.which(command[0]):
                continue
            got = [e2e.run(*command, path) for path in (self.path, plain)]
            self.assertGreater(len(got[0].splitlines()), 20000)
            self.assertEqual(got[0], got[1], command[0])


if __name__ == "__main__":
    unittest.main()
