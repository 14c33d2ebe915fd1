#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how the command separates the arguments of a chisel from the filter."""

import os
import shutil
import subprocess
import unittest

import saker_e2e as e2e

os.environ["SAKER_CHISEL_DIR"] = "."  # chisels that the tests write into the working directory


class Replay(unittest.TestCase):
    """Chisels over a capture that the test records."""

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
    # Prints its arguments and the filter.
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
        """Words without the name of an argument, in quotes, or of a filter."""
        self.tells("key:lines=5", "", "needs", "lines=5")
        self.tells("key:top=5", "", "needs", "'top=5'")
        self.tells("key:x,top:sort=y", "", "needs", "x 'sort=y'")
        self.tells("", "proc.name contains top=5 or evt.num < 4", "takes",
                   "proc.name", "contains", "top=5", "or", "evt.num", "<", "4")
        self.tells("key:x,top:7", "", "needs", "x 7")

    def test_a_mistake_is_called_what_it_is(self):
        """An invalid filter, and an unknown name, are not taken as values of arguments."""
        for words in (["evt.typ=read"], ["top=5", "evt.typ=read"], ["top=5", "evt.typ", "=", "read"],
                      ["not evt.typ=read"], ["evt.typ=read", "top=5"]):
            self.fails("evt.typ", "takes", *words)
        self.fails("and", "takes", "evt.num=4 and")
        self.fails("evt.nun", "takes", "top=5", "evt.num=4", "and", "evt.nun=5")
        self.fails("chisel takes has no argument tpo; see saker -i takes", "takes", "tpo=5")
        self.fails("has no argument tpo", "takes", "tpo=5", "evt.num < 4")
        self.tells("key:tpo=5", "", "takes", "'tpo=5'")
        self.tells("key:proc.name", "evt.num < 4", "takes", "proc.name", "evt.num < 4")

    def test_a_filter_of_files(self):
        """The filter of ps, lsof and netstat: one or several words, quoted once or twice, as argument or after it."""
        e2e.need_live()
        subprocess.run(["timeout", "60", e2e.SAKER, "-w", "files.scap", "--", "true"], cwd=self.dir, check=True)
        self.addCleanup(setattr, self, "capture", self.capture)
        self.capture = os.path.join(self.dir, "files.scap")
        whole = self.run_chisel("-c", "lsof").stdout
        expected = self.run_chisel("-c", "lsof", "filter=fd.num=3").stdout
        self.assertNotEqual(expected, whole)
        for words in (["fd.num=3 and fd.num<4"], ["fd.num=3", "and", "fd.num", "<", "4"], ["'fd.num=3 and fd.num<4'"],
                      ["filter=fd.num=3"], ["filter=fd.num=3 and fd.num<4"], ["fd.num", "=", "3"]):
            p = self.run_chisel("-c", "lsof", *words)
            self.assertEqual((p.returncode, p.stderr, p.stdout), (0, "", expected), words)
        p = self.run_chisel("-c", "ps", "proc.name=nginx and fd.port=80")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.fails("its argument 'fd.num =' is not a filter: expected a value", "lsof", "fd.num", "=")

    def test_words_that_were_meant_for_something_else(self):
        """Messages name the remedy: arguments, then a filter, then -- and a command."""
        self.fails("after -c httplog come its arguments (see saker -i httplog), then a filter\n",
                   "httplog", "extra", "words")
        for words in ["proc.nam"], ["proc.name,evt.tpye"], ["proc.name", "sum=evt.buflne"]:
            p = subprocess.run([e2e.SAKER, "-c", "by", *words], capture_output=True, text=True)
            self.assertRegex(p.stderr, r"\A[a-z]+: unknown field .*; did you mean [a-z.]+\?\n"
                                       r"saker: chisel by does not accept '[^']*' for [a-z]+\n\Z")
        for words, cure in ((["-c", "execs", "ls"], "saker -c execs -- ls\n"),
                            (["-c", "httplog", "extra", "words"], "saker -c httplog -- extra ...\n"),
                            (["-c", "execs", "ls", "-la"], "saker -c execs -- ls -la\n"),
                            (["ls", "-la"], "unknown option -la; to run a command: saker -- ls -la\n"),
                            (["ls", "--reverse"], "unknown option --reverse; to run a command: saker -- ls --reverse\n"),
                            (["evt.type=open", "-a"], "unknown option -a: did you mean -A")):
            p = subprocess.run([e2e.SAKER, *words], capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stdout), (1, ""), words)
            self.assertIn(cure, p.stderr, words)

    def test_output_is_standard_output(self):
        """-o - does not make a file named -."""
        for words in (["-c", "topscalls"], ["-n", "3"]):
            expected = self.run_chisel(*words)
            p = self.run_chisel("-o", "-", *words)
            self.assertEqual((p.returncode, p.stderr, p.stdout), (0, "", expected.stdout))
        self.assertNotIn("-", os.listdir(self.dir))

    def test_several_chisels(self):
        p = self.run_chisel("-n", "3", "-c", "takes", "top=1", "-c", "takes", "sort=2", "evt.num < 4")
        self.assertEqual(p.stdout, "top:1\t3\tevt.num < 4\nsort:2\t3\tevt.num < 4\n", p.stderr)

    def test_errors(self):
        self.fails("needs the argument key", "needs", "top=5")
        self.fails("needs the argument key", "needs top=5")
        self.fails("the argument top is given twice", "takes", "top=5", "top=6")
        self.fails("takes 3 arguments, not 4", "takes", "a b c sort=1")
        self.fails("a quote is not closed", "takes", "top=1 key='x")
        self.fails("no chisel 'missing'", "missing top=5")


class Endings(Replay):
    COUNTS = """
      local n = 0
      function on_event() n = n + 1 %s end
      function on_capture_end() print(n > 0 and "seen") end
    """

    def test_a_capture_that_was_cut_off(self):
        """Chisels get the events before the cut, as in sysdig."""
        self.write(self.COUNTS % "")
        with open(self.capture, "rb") as f:
            whole = f.read()
        with open(os.path.join(self.dir, "cut.scap"), "wb") as f:
            f.write(whole[:-7])
        p = subprocess.run([e2e.SAKER, "-r", "cut.scap", "-c", "t"], capture_output=True, text=True,
                           cwd=self.dir)
        self.assertIn("inside a block", p.stderr)
        self.assertEqual((p.returncode, p.stdout), (1, "seen\n"))

    def test_a_chisel_that_failed_has_no_end(self):
        self.write(self.COUNTS % "error('no')")
        p = self.run_chisel("-c", "t")
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("failed in on_event", p.stderr)
        self.assertRegex(p.stderr, r"\nsaker:  \./t\.lua:\d+: in function")

    # Ways for a chisel to fail at the tenth event: an error, too much memory, too much time, in C code.
    FAILURES = {
        "error('no')": "failed in on_event: ",
        "x = ('x'):rep(1 << 28)": "memory limit of",
        "while true do end": "did not return within",
        "string.find(('a'):rep(3000), ('a-'):rep(9) .. 'b')": "exceeded the time limit",
    }

    def test_a_chisel_that_fails_ends_alone(self):
        """The written file and the other chisels have all events; the exit status reports the failure."""
        out = os.path.join(self.dir, "out.scap")
        self.write(self.COUNTS % "", "counts")
        e2e.run(e2e.SAKER, "-r", self.capture, "-w", out)
        whole = e2e.run(e2e.SAKER, "-r", out)
        for body, sentence in self.FAILURES.items():
            self.write(self.COUNTS % f"if n == 10 then {body} end")
            p = self.run_chisel("--chisel-limit", "64:20", "-w", out, "-c", "t")
            self.assertEqual((p.returncode, p.stdout), (1, ""), p.stderr)
            self.assertIn(sentence, p.stderr)
            self.assertIn(f"chisel t has stopped; the capture to {out} continues", p.stderr)
            self.assertEqual(e2e.run(e2e.SAKER, "-r", out), whole, body)
            p = self.run_chisel("--chisel-limit", "64:20", "-c", "t", "-c", "counts")
            self.assertEqual((p.returncode, p.stdout), (1, "seen\n"), p.stderr)
            self.assertIn("chisel t has stopped; the others continue", p.stderr)
        self.write(self.COUNTS % "error('no')")
        p = self.run_chisel("-c", "t", "-c", "t")
        self.assertEqual((p.returncode, p.stdout), (1, ""), p.stderr)

    def test_a_full_disk(self):
        self.write(self.COUNTS % "")
        with open("/dev/full", "wb") as full:
            p = subprocess.run([e2e.SAKER, "-r", self.capture, "-c", "t"], stdout=full,
                               stderr=subprocess.PIPE, text=True, cwd=self.dir)
        self.assertEqual(p.returncode, 1)
        self.assertIn("cannot write all to standard output", p.stderr)


class Limits(Replay):
    """A callback that does not return is ended, wherever it is."""

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
        """C code, in which no instructions are counted."""
        self.ends("exceeded the time limit", "string.find(('a'):rep(3000), ('a-'):rep(9) .. 'b')")
        self.ends("exceeded the time limit", "pcall(table.move, {}, 1, 1 << 60, 2)")
        self.ends("(--chisel-limit)", "while true do ('a'):rep(50):find('a-a-a-b') end")

    def test_a_call_that_ends_costs_nothing_later(self):
        """Each callback has its own budget."""
        self.write("""
          function on_event() for i = 1, 1000000 do end n = (n or 0) + 1 end
          function on_capture_end() print(n) end
        """)
        p = self.run_chisel("--chisel-limit", "64:20", "-c", "t")
        self.assertEqual((p.returncode, p.stdout), (0, "100\n"), p.stderr)


class Live(unittest.TestCase):
    """Events that no chisel needs are not recorded, and the output is the same. Names of directories and of
    programs are unique to this test."""

    # Filters of chisels, each with a filter for the command line.
    FILTERS = [
        (["proc.name=chcat and evt.type in (openat, read)"], ""),
        (["evt.type=read and fd.name contains ch-file"], ""),
        (["proc.name=chcat and evt.failed=true", "evt.type=execve and proc.name=chcat"], "evt.dir=<"),
        (["evt.type=execve"], "proc.name=chcat"),
        (["proc.name=chcat and evt.type=openat", ""], "fd.name contains ch-file"),
        (["proc.name=chcat and evt.dir=> and evt.type=openat"], ""),
    ]
    FORMAT = "*%thread.tid %evt.dir %evt.type %proc.name %fd.name %evt.info"

    def setUp(self):
        e2e.need_live()
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, True)

    def chisel(self, name, text):
        path = os.path.join(self.dir, name + ".lua")
        with open(path, "w") as f:
            f.write(text)
        return path

    def command(self, out, args, then):
        """Runs saker, with its output in a file, while the body of the `with` statement runs."""
        return ["sh", "-c", 'out=$1; shift; exec "$@" 2>"$out"', "sh", os.path.join(self.dir, out),
                e2e.SAKER, "--all", *args, "--", *then]

    def test_the_same_is_printed(self):
        shutil.copy(shutil.which("cat"), os.path.join(self.dir, "chcat"))
        with open(os.path.join(self.dir, "ch-file"), "w") as f:
            f.write("x")
        command = ["sh", "-c", "for i in 1 2 3; do ./chcat ch-file missing; done >/dev/null 2>&1; exit 0"]
        for i, (filters, words) in enumerate(self.FILTERS):
            chisels = []
            for j, text in enumerate(filters):
                chisels += ["-c", self.chisel(f"{i}-{j}", f"""
                  function on_init()
                    if "{text}" ~= "" then chisel.set_filter("{text}") end
                    chisel.set_event_formatter("{self.FORMAT}")
                    return true
                  end
                """)]
            for how in ((), ("--no-pushdown",)):
                command = self.command(f"{i}{''.join(how)}", [*how, *chisels, words], command)
        p = subprocess.run(["timeout", "-k", "2", "200", *command], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(p.returncode, 0, p.stderr)
        for i, _ in enumerate(self.FILTERS):
            # Other processes run programs, too. A path that is no longer in memory is that of the file itself,
            # and /lib is a link.
            pushed, full = (sorted((l.replace("/usr/lib/", "/lib/") for l in e2e.read_text(os.path.join(self.dir, out)).splitlines()
                                    if "ch-file" in l or "chcat" in l), key=lambda l: l.split()[0])
                            for out in (f"{i}", f"{i}--no-pushdown"))
            self.assertGreater(len(full), 0, self.FILTERS[i])
            self.assertEqual(pushed, full, self.FILTERS[i])

    def test_less_is_recorded(self):
        quiet = "function on_event() end chisel.set_filter('evt.type=%s')"
        mkdir, rmdir = (self.chisel(name, quiet % name) for name in ("mkdir", "rmdir"))
        everything = self.chisel("all", "function on_event() end")
        for _ in range(5): # clones and execs of other processes are recorded, too, which may be many
            full, one, two = (e2e.records_delivered("-c", mkdir, *more) for more in (["--no-pushdown"], [], ["-c", rmdir]))
            if max(one, two) < full / 2:
                break
        self.assertLess(max(one, two), full / 2)
        # Another consumer needs the event.
        self.assertGreater(e2e.records_delivered("-c", mkdir, "-c", everything), full / 2)
        self.assertGreater(e2e.records_delivered("-c", mkdir, "-w", os.path.join(self.dir, "out.scap")), full / 2)

    def test_what_is_demanded(self):
        """Switch events: requested by a filter of few types, and by a field that only they have."""
        for ask in ("chisel.set_filter('evt.type=switch')", "chisel.request_field('thread.exectime')"):
            path = self.chisel("t", f"""
              {ask}
              function on_event() if evt.get_type() == "switch" then n = (n or 0) + 1 end end
              function on_capture_end() print(n and "switches") end
            """)
            for how in ((), ("--no-pushdown",)):
                p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--all", *how, "-c", path, "--",
                                    "sleep", "0.1"], capture_output=True, text=True)
                self.assertEqual((p.returncode, p.stderr), (0, "switches\n"), ask)

    def test_intervals_without_events(self):
        """Ten intervals, while the process sleeps."""
        sleeper = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        path = self.chisel("t", """
          chisel.set_interval_ns(30000000)
          local n = 0
          function on_event() end
          function on_interval(s, ns)
            n = n + 1
            if n == 10 then print("ten") sysdig.end_capture() end
            return true
          end
        """)
        p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--pid", str(sleeper.pid), "-c", path],
                           capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "ten\n", ""))


if __name__ == "__main__":
    unittest.main()
