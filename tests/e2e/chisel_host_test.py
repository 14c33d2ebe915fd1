#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command does for chisels: which words are their arguments, and which the filter."""

import os
import shutil
import subprocess
import unittest

import saker_e2e as e2e


class Replay(unittest.TestCase):
    """Chisels over a capture made here."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "100")

    def write(self, text, name="t"):
        with open(os.path.join(self.dir, name + ".lua"), "w") as f:
            f.write(text)

    def run_chisel(self, *args):
        env = {**os.environ, "HOME": self.dir}
        return subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "-r", self.capture, *args],
                              capture_output=True, text=True, cwd=self.dir, env=env)


class Arguments(Replay):
    # Says its arguments and the filter.
    TELLS = """
      args = {{name = "key", description = "d", %s},
              {name = "top", description = "d", optional = true},
              {name = "sort", description = "d", optional = true}}
      local given = {}
      function on_set_arg(name, value) given[#given + 1] = name .. ":" .. value return true end
      function on_event() last = evt.get_num() end
      function on_capture_end()
        print(table.concat(given, ","), last, sysdig.get_filter())
      end
    """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write(cls, cls.TELLS % "", "needs")
        cls.write(cls, cls.TELLS % "optional = true", "takes")

    def tells(self, given, filter, *args):
        p = self.run_chisel("-n", "3", "-c", *args)
        self.assertEqual((p.returncode, p.stderr), (0, ""), args)
        self.assertEqual(p.stdout, f"{given}\t3\t{filter}\n", args)

    def fails(self, sentence, *args):
        p = self.run_chisel("-c", *args)
        self.assertEqual((p.returncode, p.stdout), (1, ""), args)
        self.assertIn(sentence, p.stderr, args)

    def test_named(self):
        for words in (["x", "top=5"], ["top=5", "x"], ["x top=5"], ["top=5", "key=x"], ["key=x", "top=5"],
                      ["key=x top=5"], ["'x' top=5"]):
            self.tells("key:x,top:5", "", "needs", *words)
        self.tells("key:x,top:5", "", "needs x top=5")
        self.tells("key:x,top:5", "", "needs top=5 key=x")
        self.tells("top:5,sort:a b", "", "takes", "top=5", "sort=a b")
        self.tells("top:5,sort:a b", "", "takes", "top=5 sort='a b'")
        self.tells("key:x,top:5,sort:y", "", "takes", "sort=y", "x 5")
        self.tells("key:x=1,sort:", "", "needs", "key=x=1", "sort=")

    def test_the_rest_is_the_filter(self):
        self.tells("key:x,top:5", "evt.num < 4", "needs", "x", "top=5", "evt.num", "<", "4")
        self.tells("key:x,top:5", "evt.num < 4", "needs", "x", "evt.num", "<", "4", "top=5")
        self.tells("key:x,top:5", "evt.num < 4", "needs", "key=x", "top=5", "evt.num < 4")
        self.tells("top:5", "evt.num < 4", "takes", "top=5", "evt.num < 4")
        self.tells("top:5", "evt.num < 4", "takes", "evt.num < 4", "top=5")
        self.tells("key:x", "evt.num < 4", "needs", "x", "evt.num < 4")

    def test_as_in_sysdig(self):
        """Words without such a name, in quotes, or of a filter."""
        self.tells("key:lines=5", "", "needs", "lines=5")
        self.tells("key:top=5", "", "needs", "'top=5'")
        self.tells("key:x,top:sort=y", "", "needs", "x 'sort=y'")
        self.tells("", "proc.name contains top=5 or evt.num < 4", "takes",
                   "proc.name", "contains", "top=5", "or", "evt.num", "<", "4")
        self.tells("key:x,top:7", "", "needs", "x 7")

    def test_several_chisels(self):
        p = self.run_chisel("-n", "3", "-c", "takes", "top=1", "-c", "takes", "sort=2", "evt.num < 4")
        self.assertEqual(p.stdout, "top:1\t3\tevt.num < 4\nsort:2\t3\tevt.num < 4\n", p.stderr)

    def test_errors(self):
        self.fails("needs the argument key", "needs", "top=5")
        self.fails("needs the argument key", "needs top=5")
        self.fails("the argument top is given twice", "takes", "top=5", "top=6")
        self.fails("takes 3 arguments, not 4", "takes", "a b c sort=1")
        self.fails("a quote is not closed", "takes", "top=1 key='x")
        self.fails("there is no chisel 'missing'", "missing top=5")


class Limits(Replay):
    """What does not return ends, wherever it is."""

    def ends(self, sentence, text):
        self.write(text)
        p = self.run_chisel("--chisel-limit", "64:20", "-c", "t")
        self.assertEqual(p.returncode, 1, (text, p.stdout, p.stderr))
        self.assertIn(sentence, p.stderr, text)

    def test_instructions(self):
        for body in ("while true do end",
                     "while true do pcall(error) end",
                     "while true do pcall(function() while true do end end) end",
                     "xpcall(function() while true do end end, function() while true do end end)",
                     "local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x",
                     "local x <close> = setmetatable({}, {__close = function() while true do end end})"):
            self.ends("it did not return within 20.0 million instructions", f"function on_event() {body} end")
            self.ends("did not return within", body)

    def test_coroutines(self):
        for text in ("coroutine.wrap(function() while true do end end)()",
                     "while true do pcall(coroutine.wrap(function() while true do end end)) end",
                     "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
                     "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()",
                     "local co = coroutine.create(function() local x <close> = setmetatable({}, {__close = "
                     "function() while true do end end}) coroutine.yield() end) coroutine.resume(co) "
                     "coroutine.close(co) while true do pcall(error) end",
                     "local co = coroutine.wrap(function() while true do coroutine.yield() end end) "
                     "while true do co() end"):
            self.ends("did not return within 20.0 million", text)

    def test_library(self):
        """C code that counts nothing."""
        self.ends("does not come back", "string.find(('a'):rep(3000), ('a-'):rep(9) .. 'b')")
        self.ends("does not come back", "pcall(table.move, {}, 1, 1 << 60, 2)")
        self.ends("(--chisel-limit)", "while true do ('a'):rep(50):find('a-a-a-b') end")

    def test_a_call_that_ends_costs_nothing_later(self):
        """Each callback has its own budget."""
        self.write("""
          function on_event() for i = 1, 1000000 do end n = (n or 0) + 1 end
          function on_capture_end() print(n) end
        """)
        p = self.run_chisel("--chisel-limit", "64:20", "-c", "t")
        self.assertEqual((p.returncode, p.stdout), (0, "100\n"), p.stderr)


if __name__ == "__main__":
    unittest.main()
