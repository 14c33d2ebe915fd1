#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a process whose main thread ended before the capture began."""

import os
import shutil
import struct
import subprocess
import unittest

import saker_e2e as e2e

THREADS = 0x215


def threads_of(path):
    """Returns {tid: pid} of the state at the begin of a file."""
    found, data = {}, e2e.read_bytes(path)
    for kind, at, end in e2e.blocks(data):
        entry = at + 8
        while kind == THREADS and entry + 20 <= end - 4:
            length, tid, pid = struct.unpack_from("<IQQ", data, entry)
            if length < 20:
                break # the padding
            found[tid] = pid
            entry += length
    return found


class Leader(unittest.TestCase):
    def test_a_thread_without_its_leader(self):
        work = os.path.realpath(e2e.temp_dir())
        self.addCleanup(shutil.rmtree, work, ignore_errors=True)
        prog, path = e2e.compile_program("leader", work), os.path.join(work, "c.scap")
        p = subprocess.Popen([prog, prog], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        tid = int(p.stdout.readline())
        # The pipe has its first bytes once the driver is attached.
        saker = subprocess.Popen([e2e.SAKER, "--pid", str(p.pid), "-w", "-"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(saker.kill)
        first = saker.stdout.read(1)
        p.communicate("\n", timeout=60)
        rest, said = saker.communicate(timeout=60)
        self.assertEqual((saker.returncode, said), (0, b"saker: the process has exited\n"))
        with open(path, "wb") as f:
            f.write(first + rest)

        threads = threads_of(path)
        self.assertEqual(threads[tid], p.pid)
        self.assertEqual([t for t in threads.values() if t not in threads], [])
        ours = [l for l in e2e.lines(e2e.run(e2e.SAKER, "-r", path)) if l.type == "pread"]
        self.assertEqual([(l.tid, f"fd=3(<f>{prog})" in l.info) for l in ours], [(tid, True)] * 3)
        e2e.need("sysdig")
        theirs = e2e.run("sysdig", "-r", path)
        self.assertEqual(theirs.count(f" ({tid}) > pread fd=3(<f>{prog}) "), 3)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
