#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of CPython in threads with several lists of frames: of several interpreters, and of greenlets."""

import glob
import os
import subprocess
import unittest.mock

import runtimes
import saker_e2e as e2e
from interp_python_test import WAITS, pythons
from interp_stacks import HERE, Stacks


def built_for(version, folder):
    """The program that embeds Python, linked with the shared library of a version, and its environment."""
    prefix = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*"))[0]
    library = os.path.basename(glob.glob(f"{prefix}/lib/libpython{version}*.so")[0])
    path = os.path.join(folder, "host" + version)
    subprocess.run(["gcc", "-O1", "-I", glob.glob(f"{prefix}/include/python{version}*")[0], "-o", path,
                    os.path.join(HERE, "interp/python_host.c"), f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib",
                    f"-l:{library}"], check=True)
    return path, {"PYTHONHOME": prefix}


class Interpreters(Stacks):
    """Stacks that lead through several interpreters on one thread: those of the outer ones are there, too."""

    def check(self, minor, expected):
        with self.subTest(minor=minor):
            self.check_stacks(minor, expected)

    def check_stacks(self, minor, expected):
        got = self.sampled(WAITS)
        if minor > 10:
            self.check_order(got, expected)
            return
        # Nothing shows to which interpreter a frame of the loop belongs: only stacks of one have functions.
        expected = [stack for stack in expected if "other" not in (name for name, _ in stack)]
        self.assertGreater(len(got), 0.9 * len(expected))
        rest = iter(expected)
        for stack in got:
            self.assertIn(stack, rest, "no such stack, or not in this order")

    def each(self, *wanted):
        """The versions of pyenv among these."""
        found = [(version, python) for version, python in pythons().items() if version in wanted]
        if not found:
            e2e.skip_test(f"no Python {', '.join(wanted)} of pyenv")
        for version, python in found:
            yield int(version[2:]), version, python

    def check_module(self, python, minor, root="", words=()):
        self.check(minor, self.run_program(python, "interpreters.py", minor, root=root, words=words))

    def test_module(self):
        """Interpreters that Python code makes, with a GIL of their own from 3.12 on."""
        for minor, _, python in self.each("3.8", "3.11", "3.12", "3.13"):
            self.check_module(python, minor)

    def test_thread(self):
        for minor, _, python in self.each("3.11", "3.13"):
            self.check_module(python, minor, words=["thread"])

    def test_later(self):
        self.check_module("/usr/bin/python3.14", 14, runtimes.root("sid", "python3.14"))

    def test_embedded(self):
        """A program that embeds Python, whose interpreters call each other, and so the one that called."""
        for minor, version, _ in self.each("3.6", "3.10", "3.11", "3.12", "3.13"):
            host, env = built_for(version, e2e.own_dir(self))
            with unittest.mock.patch.dict(os.environ, env):
                self.check(minor, self.run_program(host, "interpreters.py", minor))


class Greenlets(Stacks):
    def test_versions(self):
        """The functions of the running greenlet, and no others."""
        for suite, python in ("bookworm", "python3"), ("trixie", "python3.13"), ("sid", "python3.14"):
            with self.subTest(suite=suite):
                root = runtimes.root(suite, python, "python3-greenlet")
                expected = self.run_program("/usr/bin/" + python, "greenlets.py", 1, root=root)
                self.check_order(self.sampled(WAITS), expected)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
