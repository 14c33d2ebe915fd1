#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests overload: four busy processes while the reader is stopped for two seconds. Counters and the
markers in the file must account for each lost event."""

import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import saker_e2e as e2e

BUSY = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000000"]
STANDS_STILL = 2  # seconds


class Overload(unittest.TestCase):
    def check(self, kind, *more):
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, "overload.scap")
            with open(os.path.join(tmp, "said"), "w+") as said:
                saker = subprocess.Popen([e2e.SAKER, "--ring", kind, *more, "--ring-size", "256K", "-v",
                                          "-w", path], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
                busy = []
                try:
                    e2e.somebody(self)
                    e2e.wait_for_event(path, saker)
                    saker.send_signal(signal.SIGSTOP)
                    busy = [subprocess.Popen(BUSY, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                            for _ in range(4)]
                    time.sleep(STANDS_STILL)
                finally:
                    saker.send_signal(signal.SIGCONT)
                    for p in busy:
                        p.kill()
                        p.wait()
                    saker.send_signal(signal.SIGINT)
                    saker.wait()
                said.seek(0)
                text = said.read()
            self.assertEqual(saker.returncode, 0, text)
            n = {k: int(re.search(rf"(?m)^  records {k} +(\d+)$", text)[1])
                 for k in ("of the kernel", "delivered", "lost")}
            self.assertGreater(n["lost"], 0, text)
            self.assertEqual(n["of the kernel"], n["delivered"] + n["lost"], text)
            verify = subprocess.run([e2e.SAKER, "-r", path, "--verify"], capture_output=True,
                                    text=True)
            self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
            lines = subprocess.run([e2e.SAKER, "-r", path], capture_output=True, text=True,
                                   errors="replace", check=True).stdout
            marked = re.findall(
                r"(?m)^-- \S+ CPU \d+ lost (\d+) events.*: the ring was (?:nearly )?full$", lines)
            self.assertEqual(sum(map(int, marked)), n["lost"], text)

    def test_array(self):
        self.check("array")

    def test_ringbuf(self):
        self.check("ringbuf")

    def test_shared(self):
        self.check("ringbuf", "--cpus-per-ring", "0")

    def test_perf(self):
        self.check("perf")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
