#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that scripts/bench builds its programs, and prints one clear error if it cannot."""

import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import saker_e2e as e2e

PATH = os.path.join(e2e.SOURCE, "scripts/bench")
sys.dont_write_bytecode = True


def load(build):
    loader = importlib.machinery.SourceFileLoader("bench", PATH)
    bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    with unittest.mock.patch.dict(os.environ, SAKER_BUILD_DIR=build):
        loader.exec_module(bench)
    return bench


class Bench(unittest.TestCase):
    def test_programs_are_those_that_are_built(self):
        bench = load(e2e.BUILD)
        known = {p for programs in bench.PROGRAMS.values() for p in programs}
        named = set(re.findall(r'os\.path\.join\(BUILD, "tests/([\w.]+)"\)', e2e.read_text(PATH)))
        self.assertEqual(known, named)
        for name in known:
            self.assertTrue(os.access(os.path.join(e2e.BUILD, "tests", name), os.X_OK), name)

    def test_what_is_there_is_not_built_again(self):
        bench = load(e2e.BUILD)
        with unittest.mock.patch.object(subprocess, "run") as run:
            bench.build(list(bench.PROGRAMS))
        run.assert_not_called()

    def test_what_is_missing_is_built(self):
        folder = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, folder)
        bench = load(folder)
        with unittest.mock.patch.object(subprocess, "run") as run:
            run.return_value.returncode = 0
            bench.build(["start"])
        args, how = run.call_args
        self.assertEqual(args[0][0], os.path.join(e2e.SOURCE, "scripts/build"))
        self.assertEqual(how["env"]["SAKER_BUILD_DIR"], folder)

    def test_a_build_that_fails_is_told(self):
        folder = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "cmake"), "w") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(f.name, 0o755)
        env = {**os.environ, "SAKER_BUILD_DIR": os.path.join(folder, "build"), "PATH": f"{folder}:{os.environ['PATH']}"}
        p = subprocess.run([PATH, "memory"], capture_output=True, text=True, env=env)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr, r"\Abench: cannot build the programs that it measures with in \S+; run scripts/setup --tests\n\Z")


if __name__ == "__main__":
    unittest.main()
