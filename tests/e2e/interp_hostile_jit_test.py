#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the walkers of Java, Node.js and Erlang on programs that look like these, whose code, tables and objects are
made to lead them astray: each walk ends, with native frames up to the root where they are on the same stack."""

import os
import re
import unittest

import saker_e2e as e2e
from profile_test import profile


class Fake:
    """Each program is run under the name of what is wrong with it, two at a time."""
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        program = os.path.join(cls.dir, cls.program)
        e2e.run("gcc", "-O1", "-g", "-pthread", "-rdynamic", "-o", program,
                os.path.join(e2e.SOURCE, "tests/e2e", cls.source, "prog.c"))
        for what in cls.odd:
            os.symlink(program, os.path.join(cls.dir, what))
        commands = [f"{cls.dir}/{what} {what} &" for what in cls.odd]
        pairs = [" ".join(commands[i:i + 2]) + " wait" for i in range(0, len(commands), 2)]
        out = os.path.join(cls.dir, "all.folded")
        profile("-F", "499", "-o", out, "--interpreter-frames", "--", "sh", "-c", "; ".join(pairs))
        cls.lines = e2e.read_text(out).splitlines()

    def stacks(self, what):
        """The stacks of the function that uses a CPU, by nanoseconds."""
        found = {}
        for line in self.lines:
            stack, ns = line.rsplit(" ", 1)
            name, _, stack = stack.partition(";")
            if name.startswith(what + " (") and f";{self.leaf};" in stack + ";":
                found[stack] = int(ns)
        self.assertGreater(sum(found.values()), 20e6, what)
        return found

    def test_native_frames_are_complete(self):
        for what in self.odd:
            if what in self.cut:
                continue
            with self.subTest(what=what):
                for stack in self.stacks(what):
                    self.assertRegex(stack, rf"(^|;)main;run;([^;]*;)*{self.leaf}")

    def test_the_rest_ends_for_a_reason(self):
        """Whether a change meets a walk is up to the scheduler."""
        for what, reason in self.cut.items():
            with self.subTest(what=what):
                stacks = self.stacks(what)
                if reason:
                    ends = [stack for stack in stacks if re.match(r"\[truncated: " + reason, stack)]
                    self.assertTrue(ends, list(stacks)[:3])
                for stack in stacks:
                    self.assertRegex(stack, rf"^\[truncated|(^|;)main;run;([^;]*;)*{self.leaf}")

    def test_functions_are_there(self):
        """What the others differ from is what the walker takes for its language."""
        # Others have the same name, so a place may follow it.
        function = re.escape(self.function.rstrip(";")) + r"( \([^;]*\))?;"
        self.assertTrue([stack for stack in self.stacks("function") if re.search(function, stack)],
                        list(self.stacks("function"))[:3])


class Java(Fake, unittest.TestCase):
    program, source, leaf, function = "java", "fake_java", "work", ";run;fake.fake;"
    odd = ("function", "unmapped", "names", "heaps", "segments", "frame", "points", "scopes", "loop", "changing")
    cut = {"frame": "unsupported unwind rule", "changing": ""}


class Node(Fake, unittest.TestCase):
    program, source, leaf, function = "node", "fake_node", "work", ";run;fake;"
    odd = ("function", "unmapped", "shared", "names", "strings", "positions", "lines", "compiled", "objects",
           "changing")
    cut = {}


class Erlang(Fake, unittest.TestCase):
    """Its functions are found by the name of its file."""
    program, source, leaf, function = "beam.smp", "fake_erlang", "erts_dirty_process_main", ";run;:/0;"
    odd = ("function", "circle", "unmapped", "modules", "functions", "lines", "files", "changing")
    cut = {"circle": "depth"}


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
