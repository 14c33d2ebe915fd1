#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of Java in sampled stacks: methods, lines and order are those that Java itself has, whether
methods are interpreted or compiled, for each version here."""

import os
import shutil
import subprocess
import tempfile
import unittest

import runtimes
import saker_e2e as e2e
from interp_stacks import HERE, Stacks, short


def java(version):
    return f"/usr/lib/jvm/java-{version}-openjdk-amd64/bin/java"


def classes(test, source):
    """Compiles a program for the oldest version. Returns the folder of its classes."""
    folder = e2e.own_dir(test)
    subprocess.run(["javac", "--release", "17", "-d", folder, os.path.join(HERE, source)], check=True)
    return folder


def library(test, folder):
    """Compiles the native methods of Stacks to the folder of the classes. Returns the file; None: no header of JNI."""
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac")))), "include")
    if not os.path.exists(os.path.join(include, "jni.h")):
        return None
    e2e.run("gcc", "-shared", "-fPIC", "-O1", "-I", include, "-I", include + "/linux",
            "-o", os.path.join(folder, "libstacks.so"), os.path.join(HERE, "interp/stacks_jni.c"))
    return "libstacks.so"


# Functions in C, innermost first, that run a native method of Stacks.
IN_C = {"inC": ["c_static", "Java_Stacks_inC"], "deepInC": ["c_static", *["c_again"] * 4, "Java_Stacks_deepInC"],
        "constructedInC": ["Java_Stacks_constructedInC"], "caughtInC": ["c_static", "Java_Stacks_caughtInC"],
        "virtualInC": ["Java_Stacks_virtualInC"]}


def with_functions_in_c(stack):
    return [frame for name, line in stack for frame in [*((c, 0) for c in IN_C.get(name, [])), (name, line)]]


def copied(test, folder, root):
    """Copies classes to a root. Returns their folder as it is named there."""
    to = tempfile.mkdtemp(dir=root + "/tmp")
    test.addCleanup(shutil.rmtree, to)
    return shutil.copytree(folder, os.path.join(to, "classes")).removeprefix(root)


def later(test, version):
    """Returns the root with a version of another release of Debian. Java needs /proc."""
    root = runtimes.root("trixie", f"openjdk-{version}-jre-headless")
    os.makedirs(root + "/proc", exist_ok=True)
    subprocess.run(["mount", "-t", "proc", "proc", root + "/proc"], check=True)
    test.addCleanup(subprocess.run, ["umount", root + "/proc"], check=True)
    return root


class Java(Stacks):
    """A wait has the library's methods innermost, and may have several parts."""

    @classmethod
    def setUpClass(cls):
        cls.classes = classes(cls, "interp/Stacks.java")
        cls.library = library(cls, cls.classes)

    def has_frames(self):
        if not os.path.exists(self.capture):
            return False
        p = subprocess.run([e2e.SAKER, "-r", self.capture, "-p", "%thread.name",
                            "sample.call=futex and stack.frames contains warm_up"], capture_output=True, text=True)
        return p.stdout != ""

    def stacks(self, seed, *options, version="17", root=""):
        """The stacks that the program prints, and those of the samples."""
        folder = copied(self, self.classes, root) if root else self.classes
        if root: # the capture is read outside of the root, with the library's symbols
            shutil.copytree(self.classes, folder)
            self.addCleanup(shutil.rmtree, os.path.dirname(folder))
        if self.library:
            options += f"-Dstacks.library={folder}/{self.library}",
        expected = self.run_program(java(version), "Stacks.java", seed, *options, "-cp", folder, "Stacks", root=root)
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.rows.source\\n",
                       "evt.type=sample and sample.state=sleep and sample.call=futex")
        got = []
        for stack in text.split("\n\n"):
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = [(short(r[1]), int(r[6] or 0)) if r[0] == "s" else (r[1], 0)
                      for r in rows if r[0] == "s" or "libstacks.so" in r[2]]
            nap = next((i for i, frame in enumerate(frames) if not frame[0].startswith("sleep")), None)
            if nap and frames[nap][0] == "nap" and frames[nap:] not in got[-1:]:
                got.append(frames[nap:])
        return [with_functions_in_c(stack) for stack in expected], got

    def check(self, *args, **named):
        expected, got = self.stacks(*args, **named)
        self.check_order(got, expected)

    def test_versions(self):
        """17 is compiled in two ways while it runs."""
        self.check(1)

    def test_interpreted(self):
        self.check(2, "-Xint")

    def test_compiled(self):
        """All methods are compiled at their first call, and inlined where there is no profile."""
        self.check(3, "-Xcomp", "-XX:CompileOnly=Stacks", "-XX:-SegmentedCodeCache")

    def test_later(self):
        for version in "21", "25":
            with self.subTest(version=version):
                self.check(4, version=version, root=later(self, version))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
