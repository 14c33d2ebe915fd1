#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays a capture of all acts under valgrind, with the executables of the release build: it must report no use of
uninitialised or freed memory, and no leak."""

import concurrent.futures
import os
import shlex
import subprocess
import unittest

import alloc_test
import saker_e2e as e2e

FAULT = 99


class Replay(unittest.TestCase):
    def once(self, number, mode):
        program, text = mode
        path = os.path.join(e2e.BUILD, "userspace/saker", program)
        log, out = (os.path.join(self.folder, f"{kind}.{number}") for kind in ("log", "out"))
        words = shlex.split(text.replace("FILE", self.file).replace("OUT", out))
        p = subprocess.run(["valgrind", f"--log-file={log}", f"--error-exitcode={FAULT}", "--leak-check=full",
                            "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect", path, *words],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        said = e2e.read_text(log)
        return None if p.returncode == 0 and "ERROR SUMMARY: 0 errors" in said else f"{mode}: {p.returncode}\n{p.stderr}{said}"

    def test_modes(self):
        e2e.need("valgrind")
        self.folder, self.file = e2e.own_dir(self), e2e.made_captures()[0]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(filter(None, pool.map(self.once, range(len(alloc_test.MODES)), alloc_test.MODES)))
        self.assertFalse(faults, "\n".join(faults))


if __name__ == "__main__":
    unittest.main()
