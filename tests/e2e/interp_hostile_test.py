#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the walkers of Python, PHP, Ruby, Perl and Lua on programs that look like these, whose frames are made to lead them
astray: each walk ends, with native frames up to the root unless the depth is reached."""

import os
import re
import unittest

import saker_e2e as e2e
from profile_test import folded, profile


class Hostile:
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.path = os.path.join(cls.dir, cls.name)
        # A frame of the language stands before the loop that runs it.
        cls.whole = r"main;run;([^;]*;)*" + cls.loop
        e2e.run("gcc", "-O1", "-g", "-pthread", "-rdynamic", *cls.flags, "-o", cls.path,
                os.path.join(e2e.SOURCE, "tests/e2e", cls.program, "prog.c"))

    def stacks(self, *whats):
        out = os.path.join(self.dir, "out.folded")
        profile("-F", "499", "-o", out, "--interpreter-frames", "--",
                "sh", "-c", 'for what; do "$0" "$what"; done', self.path, *whats)
        found = {stack: n for stack, n in folded(e2e.read_text(out)).items() if self.loop in stack}
        self.assertGreater(sum(found.values()), 20 * len(whats), "samples of the loop")
        return found

    def test_native_frames_are_complete(self):
        for stack in self.stacks(*self.odd):
            self.assertRegex(stack, self.whole)

    def check_circle(self, *whats):
        stacks = self.stacks(*whats)
        cut = sum(n for stack, n in stacks.items() if stack.startswith("[truncated"))
        # The first samples come before the tables of the process.
        self.assertGreater(cut, sum(stacks.values()) // 2, list(stacks)[:3])

    def test_circle_ends_at_the_depth(self):
        self.check_circle("circle")

    def test_frames_that_change(self):
        for stack in self.stacks("changing"):
            self.assertRegex(stack, r"^\[truncated|" + self.whole)


class Python(Hostile, unittest.TestCase):
    name, program, loop = "python3.11", "fake_python", "_PyEval_EvalFrameDefault"
    odd = "unmapped", "code", "names", "key"


class Php(Hostile, unittest.TestCase):
    name, program, loop = "php", "fake_php", "execute_ex"
    odd = "unmapped", "function", "names"

    def test_circle_without_frames(self):
        self.check_circle("in_c")


class Ruby(Hostile, unittest.TestCase):
    """It has the context in its own thread-local storage, as a Ruby without a shared library."""
    name, program, loop = "ruby3.3", "fake_ruby", "rb_vm_exec"
    odd = "unmapped", "code", "names"

    def test_frames_of_c_without_end(self):
        """The newest frame may be that of the function which began an activation that is over."""
        for stack in self.stacks("in_c"):
            self.assertRegex(stack, r"^\[truncated|main;run;" + self.loop)


class Perl(Hostile, unittest.TestCase):
    name, program, loop = "perl", "fake_perl", "Perl_runops_standard"
    odd = "unmapped", "code", "names", "key", "left"

    def test_circle_without_frames(self):
        self.check_circle("in_c", "stacks")

    def test_activations_without_a_loop(self):
        """The frames of one more activation than there are loops are put, not of all."""
        stacks = self.stacks("left")
        two = sum(n for stack, n in stacks.items() if re.search(r"main;run;f;f;" + self.loop, stack))
        self.assertGreater(two, sum(stacks.values()) // 2, list(stacks)[:3])
        for stack in stacks:
            self.assertNotIn("f;f;f", stack)


class Lua(Hostile, unittest.TestCase):
    name, program, loop = "lua5.4", "fake_lua", "luaV_execute"
    odd = "unmapped", "code", "names", "in_c"


class LuaByState(Lua):
    """The loop has the CallInfo in a register that the walk does not restore."""
    flags = "-DBY_STATE",


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
