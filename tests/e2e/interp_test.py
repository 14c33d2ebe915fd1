#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of Lua, Perl, PHP, Ruby and Node.js in sampled stacks: functions, lines and order are those that the
language itself has, for each version here."""

import collections
import glob
import html
import json
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import unittest

import erlang
import interp_java_test
import runtimes
import saker_e2e as e2e
from interp_stacks import HERE, N, Stacks, short
from profile_test import SESSION


class Versions(unittest.TestCase):
    def test_listed(self):
        """--capabilities lists what the documentation lists."""
        text = e2e.run(e2e.SAKER, "--capabilities").split("Interpreters whose", 1)[1]
        page = e2e.read_text(os.path.join(e2e.SOURCE, "docs/interpreters.md"))
        listed = [line.strip() for line in text.splitlines()[1:]]
        self.assertGreater(len(listed), 3)
        for versions in listed:
            self.assertIn(f"| {versions} |", page)


class Forks(unittest.TestCase):
    def test_names(self):
        """A child has the code objects of its parent, which has ended: they are sent for it again."""
        capture = os.path.join(e2e.own_dir(self), "capture.scap")
        script = os.path.join(HERE, "interp/forks.py")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-w", capture, "--", "sh", "-c", f"python3 {script}; sleep 0.6"],
                       check=True, env={**os.environ, **SESSION})
        tops = e2e.run(e2e.SAKER, "-r", capture, "-p", "%sample.pid %stack.lang.top", "stack.lang.top contains nap",
                       "and sample.call in (clock_nanosleep, select, pselect6)").splitlines()
        of = {}
        for top in tops:
            pid, function = top.split(" ", 1)
            self.assertRegex(function, r"^nap \(.+/forks\.py:8\)$")
            of[pid] = of.get(pid, 0) + 1
        self.assertGreater(len(of), 1)
        self.assertGreater(sorted(of.values())[-2], 45) # a few waits may end at once


class Execs(unittest.TestCase):
    def test_names(self):
        """A process runs the same program again and again: without random addresses, code objects lie where they lay
        before, in memory that the kernel may describe with the same structure as two programs ago."""
        capture = os.path.join(e2e.own_dir(self), "capture.scap")
        script = os.path.join(HERE, "interp/execs.py")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-w", capture, "--", "setarch", "-R", "python3", script, "15"],
                       check=True, env={**os.environ, **SESSION, "PYTHONHASHSEED": "0"})
        tops = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.lang.top",
                       "stack.lang.top exists and sample.call in (clock_nanosleep, select, pselect6)").splitlines()
        self.assertGreater(len(tops), 160)
        for top in tops:
            self.assertRegex(top, r"^nap \(.+/execs\.py:9\)$")


class Lua(Stacks):
    """A function of Lua has no name of its own: callers name it, and saker keeps the first name."""

    def lines(self, stacks):
        return [[line for _, line in stack] for stack in stacks]

    def check(self, lua, seed, root=""):
        expected = self.run_program(lua, "stacks.lua", seed, root=root)
        got = self.sampled("clone, clone3, vfork") # wait4 need not wait: the command may be done
        self.check_order(self.lines(got), self.lines(expected))
        names = {}
        for stack in expected:
            for name, line in stack:
                names.setdefault(line, set()).add(name)
        for stack in got:
            for name, line in stack:
                self.assertIn(name, names[line], line)
        self.check_tops(len(got), r"stacks\.lua")

    def test_versions(self):
        for i, version in enumerate(("5.3", "5.4")):
            with self.subTest(version=version):
                self.check(shutil.which("lua" + version), i + 1)

    def test_later(self):
        """Versions whose loop keeps its state in a register that the native walk does not restore."""
        for suite, version in ("trixie", "5.3"), ("sid", "5.3"), ("trixie", "5.4"), ("sid", "5.4"), ("sid", "5.5"):
            with self.subTest(suite=suite, version=version):
                lua = "lua" + version
                self.check("/usr/bin/" + lua, 3, root=runtimes.root(suite, lua, "dash", "coreutils"))

    def test_hosts(self):
        """Lua as a shared library, and in a stripped program that exports nothing."""
        libs = {"shared": ["-llua5.4"], "static": ["-s", "-l:liblua5.4.a", "-lm", "-ldl"]}
        for i, (name, words) in enumerate(libs.items()):
            with self.subTest(library=name):
                host = os.path.join(e2e.own_dir(self), name)
                subprocess.run(["gcc", "-O1", "-I/usr/include/lua5.4", "-o", host,
                                os.path.join(HERE, "interp/lua_host.c"), *words], check=True)
                self.check(host, i + 1)

    def test_two(self):
        """A second Lua of another version in the process has native frames, and never those of the first."""
        folder, capture = e2e.own_dir(self), os.path.join(e2e.own_dir(self), "capture.scap")
        host, library = os.path.join(folder, "two"), runtimes.root("bookworm", "liblua5.3-0")
        library = glob.glob(library + "/usr/lib/*/liblua5.3.so.0")[0]
        first, second = (os.path.join(HERE, f"interp/two_{name}.lua") for name in ("first", "second"))
        subprocess.run(["gcc", "-O1", "-rdynamic", "-I/usr/include/lua5.4", "-o", host,
                        os.path.join(HERE, "interp/lua_two.c"), "-l:liblua5.4.a", "-lm", "-ldl"], check=True)
        subprocess.run([e2e.SAKER, "profile", "-F", "999", "-w", capture, "--", host, library, first, second], check=True,
                       env={**os.environ, **SESSION})
        stacks = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.rows.source\\n", "sample.reason=cpu").split("\n\n")
        seen = {"first": 0, "second": 0}
        for stack in stacks:
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = [f"{r[1]} {os.path.basename(r[5])}:{r[6]}" for r in rows if r[0] == "s"]
            if not frames:
                continue
            inner = any("liblua5.3" in r[2] for r in rows)
            self.assertRegex(";".join(frames), r"^(first_spin two_first.lua:[456];)?first_calls two_first.lua:(10|11|12);"
                                               r"main chunk two_first.lua:14$|^main chunk two_first.lua:14$")
            seen["second" if inner else "first"] += 1
        self.assertGreater(min(seen.values()), 50, seen)

    def paged_host(self):
        host = os.path.join(e2e.own_dir(self), "host")
        subprocess.run(["gcc", "-O1", "-I/usr/include/lua5.4", "-o", host, os.path.join(HERE, "interp/lua_paged.c"),
                        "-llua5.4"], check=True)
        return host

    def test_paged_stack(self):
        """Functions that are new in a part of a stack that is walked later, when its pages are back, and those of a
        child of vfork, which has its parent's memory."""
        host, out = self.paged_host(), os.path.join(e2e.own_dir(self), "out")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-w", out, "--", host, os.path.join(HERE, "interp/paged.lua")],
                       check=True, env={**os.environ, **SESSION})
        stacks = e2e.run(e2e.SAKER, "-r", out, "-p", "%sample.pid\\n%stack.rows.source\\n",
                         "sample.call=clock_nanosleep and stack.end=no_map").split("\n\n")
        turns, children = set(), 0
        for stack in stacks:
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = [f"{r[1]} {os.path.basename(r[5])}:{r[6]}" for r in rows if r[0] == "s"]
            if not frames:
                continue # tables of its files were not there yet
            if "paged_nap" not in stack:
                self.assertEqual(frames, ["with_child paged.lua:9", "main chunk paged.lua:10"])
                children += 1
                continue
            i = int(re.search(r"chunk(\d+)", frames[0]).group(1))
            self.assertEqual(frames, [f"main chunk chunk{i}:1", f"function <chunk{i}:2> chunk{i}:3",
                                      "main chunk paged.lua:7"])
            turns.add(i)
        self.assertGreater(len(turns), 20)
        self.assertGreater(children, 20)

    def test_kernel_threads(self):
        """Threads of the kernel leave the CPU after a thread with new functions: they have no stack, and no memory in
        which to find these."""
        host, out = self.paged_host(), os.path.join(e2e.own_dir(self), "out")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "--all", "-w", out, "--", host,
                        os.path.join(HERE, "interp/kernel.lua")], check=True, env={**os.environ, **SESSION})
        stacks = e2e.run(e2e.SAKER, "-r", out, "-p", "%stack.rows.source\\n", "sample.call=membarrier").split("\n\n")
        turns = set()
        for stack in stacks:
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = [f"{r[1]} {os.path.basename(r[5])}:{r[6]}" for r in rows if r[0] == "s"]
            if not frames:
                continue # tables of its files were not there yet
            i = int(re.search(r"chunk(\d+)", frames[0]).group(1))
            self.assertIn(frames[0], (f"main chunk chunk{i}:1", f"main chunk chunk{i}:2"))
            self.assertEqual(frames[1:], [f"function <chunk{i}:2> chunk{i}:3", "main chunk kernel.lua:10"])
            turns.add(i)
        self.assertGreater(len(turns), 50)

    def test_stripped_script(self):
        """Without debugging information a function has its place in the file, and no line."""
        folder = e2e.own_dir(self)
        source, binary = os.path.join(folder, "spin.lua"), os.path.join(folder, "spin.luac")
        with open(source, "w", encoding="utf-8") as f:
            f.write("local t = {}\nfunction t.spin(n) for i = 1, n do n = n + i % 3 end return n end\n"
                    "local began = os.clock()\nrepeat local r = t.spin(10000) until os.clock() - began > 0.5\n")
        subprocess.run(["luac5.4", "-s", "-o", binary, source], check=True)
        tops = os.path.join(folder, "tops")
        e2e.run(e2e.SAKER, "--sample", "499", "-o", tops, "-p", "%stack.lang.top", "evt.type=sample",
                "--", "lua5.4", binary)
        self.assertIn("spin (?)", e2e.read_text(tops).splitlines())


class Perl(Stacks):
    def check(self, program, seed, root=""):
        expected = self.run_program(program, "stacks.pl", seed, root=root)
        got = self.sampled("select, pselect6")
        self.check_order(got, expected)
        tops = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.lang.top",
                       "stack.lang.top contains nap").splitlines()
        self.assertGreaterEqual(len(tops), len(got))
        for top in tops:
            self.assertRegex(top, r"^main::nap \(.+/stacks\.pl:\d+\)$")

    def test_static(self):
        self.check("/usr/bin/perl", 1)

    def test_shared(self):
        """A program that uses libperl."""
        host = os.path.join(e2e.own_dir(self), "host")
        words = [subprocess.run(["/usr/bin/perl", "-MExtUtils::Embed", "-e", what], capture_output=True, text=True,
                                check=True).stdout.split() for what in ("ccopts", "ldopts")]
        library = glob.glob("/usr/lib/*/libperl.so.5.??")[0] # -lperl would need another package
        subprocess.run(["gcc", *words[0], "-o", host, os.path.join(HERE, "interp/perl_host.c"),
                        *(library if word == "-lperl" else word for word in words[1])], check=True)
        self.check(host, 2)

    def test_thread(self):
        """The first subroutine of a thread has no caller, although a thread has the code of the main program."""
        script = """use threads;
            sub leaf { my $end = (times)[0] + 0.5; 1 while (times)[0] < $end; }
            sub work { leaf() for 1 .. 2; }
            threads->create(\\&work)->join;"""
        stacks = folded_stacks(self, "main::work", "/usr/bin/perl", "-e", script)
        self.assertGreater(len(stacks), 20)
        for stack in stacks:
            self.assertNotIn("main program", stack)

    def test_later(self):
        for suite in "trixie", "sid":
            with self.subTest(suite=suite):
                self.check("/usr/bin/perl", 3, root=runtimes.root(suite, "perl"))


def folded_stacks(test, function, *command):
    """The stacks of a program that have @function, in samples by time."""
    out = os.path.join(e2e.own_dir(test), "out")
    subprocess.run([e2e.SAKER, "--sample", "499", "-o", out, "-p", "*%stack.folded",
                    f"evt.type=sample and stack.frames contains {function}", "--", *command],
                   check=True, env={**os.environ, **SESSION})
    return e2e.read_text(out).splitlines()


def request(address, script):
    """Makes a FastCGI request, and waits for its end."""
    def record(kind, content):
        return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content

    params = {"SCRIPT_FILENAME": script, "REQUEST_METHOD": "GET"}
    pairs = b"".join(bytes([len(k), len(v)]) + (k + v).encode() for k, v in params.items())
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(address)
        s.sendall(record(1, b"\0\1\0\0\0\0\0\0") + record(4, pairs) + record(4, b"") + record(5, b""))
        while s.recv(4096):
            pass


class Php(Stacks):
    def check(self, seed, *options, program=shutil.which("php"), root=""):
        expected = self.run_program(program, "stacks.php", seed, *options, root=root)
        # The walk of one that ends early, at a page that is not in memory, says so.
        got = self.sampled("clock_nanosleep, nanosleep", also="and stack.complete=true")
        self.check_order(got, expected)
        self.check_tops(len(got), r"stacks\.php")

    def test_plain(self):
        self.check(1)

    def test_opcache(self):
        """Code in shared memory."""
        self.check(2, "-d", "opcache.enable_cli=1", "-d", "opcache.jit=off")

    def test_compiled(self):
        for i, jit in enumerate(("tracing", "function")):
            with self.subTest(jit=jit):
                self.check(4 + i, "-d", "opcache.enable_cli=1", "-d", f"opcache.jit={jit}",
                           "-d", "opcache.jit_buffer_size=32M")

    def test_server(self):
        """FPM: a process that was forked, with opcache."""
        folder = e2e.own_dir(self)
        script, conf, address, out = (os.path.join(folder, name) for name in ("site.php", "conf", "socket", "out"))
        e2e.write_text(script, """<?php
            class Site { function page() { return array_map(fn($n) => busy($n), [60]); } }
            function busy($n) { for ($i = 0; $i < $n; $i++) usleep(10000); return $n; }
            (new Site)->page();
            """)
        e2e.write_text(conf, f"[global]\nerror_log = {folder}/log\n[www]\nlisten = {address}\n"
                             "user = root\npm = static\npm.max_children = 1\n")
        server = glob.glob("/usr/sbin/php-fpm8.?")[0]
        with subprocess.Popen([e2e.SAKER, "profile", "--off-cpu", "-c", "folded", "-o", out, "--",
                               server, "-F", "-R", "-y", conf], env={**os.environ, **SESSION},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            try:
                e2e.wait_until(lambda: os.path.exists(address), "socket of php-fpm")
                for _ in range(3): # the tables of the process may come during the first one
                    request(address, script)
            finally:
                p.terminate()
        self.assertRegex(e2e.read_text(out), r"(?m)^php-fpm.*;{main};Site::page;.*{closure};busy;.*usleep")

    def test_fiber(self):
        """It has a native stack of its own, and functions from its first one on."""
        script = """function fiber_leaf() { for ($i = 0; $i < 3e7; $i++); }
            function work() { fiber_leaf(); }
            function start() { (new Fiber(fn() => array_map('work', [1])))->start(); }
            start();"""
        stacks = folded_stacks(self, "fiber_leaf", shutil.which("php"), "-r", script)
        self.assertGreater(len(stacks), 20)
        for stack in stacks:
            self.assertRegex(stack, r"^[^{]*;{closure};([^;{]*;)*work;fiber_leaf")

    def test_later(self):
        self.check(3, program="/usr/bin/php8.4", root=runtimes.root("trixie", "php8.4-cli"))

    def test_later_compiled(self):
        root = runtimes.root("trixie", "php8.4-cli", "php8.4-opcache")
        for i, jit in enumerate(("off", "tracing", "function")):
            with self.subTest(jit=jit):
                self.check(6 + i, "-d", "zend_extension=opcache.so", "-d", "opcache.enable_cli=1", "-d",
                           f"opcache.jit={jit}", "-d", "opcache.jit_buffer_size=32M", program="/usr/bin/php8.4", root=root)


def with_functions_in_c(stack, in_c):
    return [frame for name, line in stack for frame in [*((c, 0) for c in in_c.get(name, [])), (name, line)]]


# Functions in C, innermost first, that a method of stacks.rb runs.
RUBY_IN_C = {"in_c": ["c_call", "c_call_method"], "deep_in_c": ["c_call", *["c_again"] * 4, "c_deep_method"],
             "block_in_c": ["c_yield_method"], "rescued_in_c": ["c_call", "c_rescue_method"]}


class Ruby(Stacks):
    def test_versions(self):
        self.check(1)

    def test_compiled(self):
        self.check(2, "--yjit", "--yjit-call-threshold=2")

    def test_later(self):
        """Ruby 3.3 of Debian hides its loop and its context."""
        for i, suite in enumerate(("trixie", "sid")):
            with self.subTest(suite=suite):
                self.check(3 + i, root=runtimes.root(suite, "ruby3.3"))

    def test_functions_in_c(self):
        """Functions in C stand between the methods of Ruby that call them and that they call."""
        library = os.path.join(e2e.own_dir(self), "stacks_c.so")
        e2e.run("gcc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "interp/stacks_c.c"))
        expected = self.run_program("/usr/bin/ruby", "stacks.rb", 5, words=(library,))
        got = self.sampled("select, pselect6, ppoll", library="stacks_c.so")
        self.check_order(got, [with_functions_in_c(stack, RUBY_IN_C) for stack in expected])

    def test_garbage_collection(self):
        """It is a function that Ruby seems to have called, in the share of samples that Ruby counts for it, and
        only of the thread that collects."""
        capture, gc = os.path.join(e2e.own_dir(self), "capture.scap"), "stack.frames contains 'garbage collection'"
        p = subprocess.run([e2e.SAKER, "profile", "-F", "499", "--off-cpu", "-w", capture, "--", "/usr/bin/ruby",
                            os.path.join(HERE, "interp/states.rb")], check=True, env={**os.environ, **SESSION},
                           stdout=subprocess.PIPE, text=True)

        def samples(*words):
            return e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.lang.top", "evt.type=sample and", *words).splitlines()

        in_work = "sample.reason=cpu and stack.frames contains work"
        share = len(samples(in_work, "and", gc)) / len(samples(in_work))
        self.assertAlmostEqual(share, float(p.stdout.split()[0]), delta=0.15)
        self.assertIn("(garbage collection)", samples(in_work))
        self.assertTrue(samples("sample.call=ppoll and stack.frames contains waits"))
        self.assertFalse(samples("sample.call=ppoll and", gc))

    def check(self, seed, *options, root=""):
        expected = self.run_program("/usr/bin/ruby", "stacks.rb", seed, *options, root=root)
        got = self.sampled("futex" if root else "select, pselect6, ppoll")
        self.check_order(got, expected)
        self.check_tops(len(got), r"stacks\.rb")


def different(stacks):
    """The stacks without frames that equal the one before."""
    return [[frame for i, frame in enumerate(stack) if not i or frame != stack[i - 1]] for stack in stacks]


class Erlang(Stacks):
    """Erlang itself omits frames with the same return address as the one before."""

    def check(self, seed, root=""):
        expected = self.run_erlang(seed, root)
        got = self.sampled("clock_nanosleep, nanosleep")
        self.check_order(different(got), different(expected))
        tops = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.lang.top",
                       "stack.lang.top contains nap").splitlines()
        self.assertGreaterEqual(len(tops), len(got))
        for top in tops:
            self.assertRegex(top, r"^stacks:nap/1 \(.*stacks\.erl:\d+\)$")

    def test_here(self):
        self.check(1)

    def test_later(self):
        self.check(2, root=runtimes.root("trixie", "erlang-base"))

    def test_names_of_files(self):
        """Characters beyond ASCII are those of the name."""
        folder, name = e2e.own_dir(self), "\u00fc\u8a9e.erl"
        source, tops = os.path.join(folder, "busy.erl"), os.path.join(folder, "tops")
        e2e.write_text(source, f'-module(busy).\n-export([main/1]).\n-file("{name}", 10).\n'
                               "main(_) -> spin(erlang:monotonic_time(millisecond) + 2000).\n"
                               "spin(End) -> work(100000), erlang:monotonic_time(millisecond) < End andalso spin(End).\n"
                               "work(0) -> ok;\nwork(N) -> work(N - 1).\n")
        program, env = erlang.program()
        subprocess.run([e2e.SAKER, "--sample", "499", "-o", tops, "-p", "%stack.lang.top", "evt.type=sample", "--",
                        program, *erlang.options(), source], check=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, **SESSION, **env})
        self.assertRegex(e2e.read_text(tops), rf"(?m)^busy:work/1 \({name}:1[23]\)$")


# Two functions without a name of their own, which run in turn, and their lines.
TWINS = {
    "py": (["/usr/bin/python3"], "<lambda>", {2, 3}, '''import time
one = lambda n: [i * i for i in range(n)]
two = lambda n: [i * i for i in range(n)]
end = time.monotonic() + 1.5
while time.monotonic() < end:
    one(3000)
    two(3000)
'''),
    "php": (["/usr/bin/php8.2"], "{closure}", {2, 3}, '''<?php
$one = function ($n) { for ($s = 0, $i = 0; $i < $n; $i++) $s += $i % 7; return $s; };
$two = function ($n) { for ($s = 0, $i = 0; $i < $n; $i++) $s += $i % 7; return $s; };
$end = microtime(true) + 1.5;
while (microtime(true) < $end) { $one(3000); $two(3000); }
'''),
    "js": (None, "<anonymous>", {3, 4}, '''const end = Date.now() + 1500;
while (Date.now() < end) {
\t[3000].forEach((n) => { while (n--) Math.random(); });
\t[3000].forEach((n) => { while (n--) Math.random(); });
}
'''),
}
class Twins(unittest.TestCase):
    def record(self, *command):
        """Returns a function that makes one output of a capture of the command."""
        folder = e2e.own_dir(self)
        capture = os.path.join(folder, "twins.scap")
        subprocess.run([e2e.SAKER, "profile", "-w", capture, "--", *command], check=True, env={**os.environ, **SESSION})

        def make(*words):
            out = os.path.join(folder, "out" + words[0] if words[0][0] == "." else "out")
            subprocess.run([e2e.SAKER, "profile", "-r", capture, "-o", out, *words[words[0][0] == ".":]], check=True)
            return e2e.read_bytes(out) if out.endswith(".pb") else e2e.read_text(out)

        return make

    def record_twins(self, label, *command):
        """Returns the function of a capture in which two functions with such labels take most of the time, and these
        labels. On a busy machine the program can end before its tables are read."""
        make = twins = None

        def is_recorded():
            nonlocal make, twins
            make, sums = self.record(*command), collections.Counter()
            for line in make(".folded").splitlines():
                stack, n = line.rsplit(" ", 1)
                sums.update({m[0]: int(n) for m in list(re.finditer(label, stack))[-1:]})
            twins = [label for label, n in sums.items() if 0.2 < n / sums.total() < 0.7]
            return len(twins) == 2

        e2e.wait_until(is_recorded, f"two functions {label}")
        return make, twins

    def test_trees(self):
        """Functions of one name in one file are frames of their own, each with its line."""
        for ending, (command, name, lines, text) in TWINS.items():
            with self.subTest(ending=ending):
                script = os.path.join(e2e.own_dir(self), "twins." + ending)
                e2e.write_text(script, text)
                label = rf"{re.escape(name)} \(twins\.{ending}:(\d+)(?: #\d+)?\)"
                make, twins = self.record_twins(label, *(command or [runtimes.node(runtimes.NODES[3])]), script)
                self.assertEqual({int(re.search(label, twin)[1]) for twin in twins}, lines)
                graph, tree, scope = make(".svg"), make("-c", "calltree"), json.loads(make(".speedscope.json"))
                names, pprof = [frame["name"] for frame in scope["shared"]["frames"]], make(".pb")
                for twin in twins:
                    self.assertIn(twin.encode(), pprof)
                    self.assertIn(f"<title>{html.escape(twin)}\n", graph)
                    self.assertIn(twin, tree)
                    self.assertEqual(names.count(twin), 1, names)
                self.assertNotIn(name + "\n", tree)

    def test_recursion(self):
        """A function that calls itself in two lines is one; functions in two files are two."""
        folder = e2e.own_dir(self)
        for part in "one", "two":
            os.mkdir(os.path.join(folder, part))
            e2e.write_text(os.path.join(folder, part, "__init__.py"), """def work(n):
    if n == 0:
        return sum(i * i for i in range(20000))
    if n % 2:
        return work(n - 1) + 1
    return work(n - 1)
""")
        e2e.write_text(os.path.join(folder, "main.py"), "import time, one, two\nend = time.monotonic() + 1\n"
                       "while time.monotonic() < end:\n    one.work(6)\n    two.work(7)\n")
        make = self.record("/usr/bin/python3", os.path.join(folder, "main.py"))
        tree = make("-c", "calltree")
        for part, calls in ("one", 7), ("two", 8):  # in one row, unless a sample was taken on the way down
            rows = re.findall(rf"work \({part}/__init__\.py:1\)(?: \((\d+) times\))?", tree)
            self.assertEqual(sum(int(n or 1) for n in rows), calls, tree)
        rows = re.findall(r"(?m) work +__init__\.py", make("-c", "topfuncs", "top=1000"))
        self.assertEqual(len(rows), 2)

    def test_native_time(self):
        """The time of native functions is that of the function that calls them; a view of its own has theirs."""
        script = os.path.join(e2e.own_dir(self), "main.py")
        e2e.write_text(script, "import hashlib, time\ndef digest(b):\n    return hashlib.sha256(b)\n"
                       "end = time.monotonic() + 0.5\nwhile time.monotonic() < end:\n    digest(bytes(1000000))\n")
        make = self.record("/usr/bin/python3", script)
        self.assertRegex(make(".txt").splitlines()[1], r"^ *([5-9]\d|100)\.\d .* digest +main\.py +main\.py:3$")
        self.assertRegex(make("-c", "topfuncs", "sort=total", "top=100"), r"(?m)^ *\d\.\d .* digest +main\.py ")

    def test_rows(self):
        """Functions of one name in one file are rows of their own, each with its line."""
        for ending, (command, name, lines, text) in TWINS.items():
            with self.subTest(ending=ending):
                script, out = (os.path.join(e2e.own_dir(self), "twins." + end) for end in (ending, "out"))
                e2e.write_text(script, text)
                subprocess.run([e2e.SAKER, "profile", "-c", "topfuncs", "top=1000", "-o", out, "--",
                                *(command or [runtimes.node(runtimes.NODES[3])]), script], check=True,
                               env={**os.environ, **SESSION})
                rows = re.findall(rf"(?m)^ *\S+ +\S+ +(\S+) .* {re.escape(name)} .*twins\.{ending}:(\d+)$",
                                  e2e.read_text(out))
                *twins, program = sorted(float(total) for total, line in rows if int(line) in lines)
                if ending != "js" or program < sum(twins): # there the program is an anonymous function, too
                    twins.append(program)
                self.assertEqual(len(twins), 2, rows)
                self.assertGreater(min(twins), 10, rows)


class Waits(unittest.TestCase):
    """Threads that have waited since before the capture, each in a function of its language."""

    def test_of_each_runtime(self):
        folder, session = e2e.own_dir(self), {**os.environ, **SESSION}
        classes = interp_java_test.classes(self, "interp/Deadlock.java")
        script = os.path.join(folder, "waits.js") # in memory it goes over the end of a page
        with open(script, "w", encoding="utf-8") as f:
            f.write(100 * f"//{60 * '-'}\n" + e2e.read_text(os.path.join(HERE, "interp/waits.js")))
        programs = [["/usr/bin/python3", os.path.join(HERE, "interp/deadlock.py")], ["java", "-cp", classes, "Deadlock"],
                    [runtimes.node(runtimes.NODES[3]), script]]
        pids = []
        for program in programs:
            p = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
            self.addCleanup(p.communicate)
            self.addCleanup(p.kill)
            for line in p.stdout: # it tells when each of its threads is about to wait
                if line == "waits\n":
                    break
            pids.append(p.pid)

        def waits():
            subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-c", "offcpu", "top=100", "-o", out, "-d", "0.3", "-p",
                            ",".join(map(str, pids))], env=session, check=True)
            text = e2e.read_text(out)
            return all(re.search("(?m)" + line, text) for line in wanted)

        functions = [(r"take_b \(deadlock\.py:9\)", r"take_a \(deadlock\.py:15\)"), # those of Java are jstack's
                     (r"Deadlock\.takeB \(Deadlock\.java:14\)", r"Deadlock\.takeA \(Deadlock\.java:24\)"),
                     (r"waits_for_ever \(waits\.js:109\)",)]
        wanted = [rf"^\S* *>?=?\S+s +\d+ .* \({pid}\) .*futex .* {function}$"
                  for pid, of_program in zip(pids, functions) for function in of_program]
        out = os.path.join(folder, "out")
        e2e.wait_until(waits, "lines in each runtime") # V8 makes its tables of lines when they are needed


    def test_own_time(self):
        """The time of such a wait is that of the function that called the kernel."""
        out = os.path.join(e2e.own_dir(self), "out")
        p = subprocess.Popen(["sleep", "60"])
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        e2e.wait_until(lambda: e2e.read_text(f"/proc/{p.pid}/syscall").split()[0] in ("35", "230"), "sleep sleeps")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-c", "topfuncs", "-o", out, "-d", "0.3", "-p", str(p.pid)],
                       check=True, env={**os.environ, **SESSION})
        self.assertRegex(e2e.read_text(out).splitlines()[1], r"^100\.0 .* \S*nanosleep\S* +libc\.so\.6")


# Functions in C, innermost first, that a function of stacks.js runs.
NODE_IN_C = {"inC": ["c_call", "in_c"], "deepInC": ["c_call", *["c_again"] * 4, "deep_in_c"],
             "madeInC": ["c_make", "made_in_c"], "caughtInC": ["c_call", "c_caught", "caught_in_c"]}


class Node(Stacks):
    """Programs wait in a builtin, which is a function of the stack, too."""
    top = "stack.frames"
    builtin = ("wait", 0)
    addon = "stacks_napi.node"

    def waits(self):
        """The stacks of waits in nap that the program makes. Other waits are V8's own, below nap."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.rows.source\\n",
                       "evt.type=sample and sample.state=sleep and sample.call=futex and stack.frames contains nap")
        res = []
        for stack in text.split("\n\n"):
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = [(re.sub(r"^([gs]et|bound) ", "", short(r[1])), int(r[6] or 0)) if r[0] == "s" else (r[1], 0)
                      for r in rows if r[0] == "s" and r[1] != "native" or self.addon in r[2]]
            if frames[:1] == [self.builtin] and frames[1][0] == "nap" and res[-1:] != [frames[1:]]:
                res.append(frames[1:]) # else the wait began again
        return res

    def check(self, program, seed, *options, words=(), root=""):
        """Functions that V8 compiles or moves just then may have no line."""
        expected = self.run_program(program, "stacks.js", seed, *options, words=words, root=root)
        expected = [with_functions_in_c(stack, NODE_IN_C) for stack in expected]
        known = lambda stack, lines: [(name, line if has else 0) for (name, line), (_, has) in zip(stack, lines)]
        rest, got, unknown = iter(expected), self.waits(), 0
        self.assertGreater(len(got), 0.9 * N)
        for stack in got:
            names = [name for name, _ in stack]
            for own in rest:
                if [name for name, _ in own] == names and known(own, stack) == stack:
                    break
            else:
                self.fail(f"no such stack, or not in this order: {stack}")
            unknown += sum(1 for frame, like in zip(stack, own) if frame != like)
        self.assertLess(unknown, 0.2 * sum(len(stack) for stack in got))

    def test_versions(self):
        for i, version in enumerate(runtimes.NODES):
            with self.subTest(version=version):
                self.check(runtimes.node(version), i + 1)

    def test_libraries(self):
        """Debian's libnode, which has no symbols of the builtins."""
        for i, suite in enumerate(("bookworm", "trixie")):
            with self.subTest(suite=suite):
                self.check("/usr/bin/nodejs", i + 1, root=runtimes.root(suite, "nodejs"))

    def test_functions_in_c(self):
        """Functions in C stand between those of JavaScript that call them and that they call. Node.js 18 and 20 have
        the function object native, by which they are called, on the stack, too."""
        include = "/usr/include/node"
        if not os.path.exists(include + "/node_api.h"):
            e2e.skip_test("no headers of Node.js")
        addon = os.path.join(e2e.own_dir(self), self.addon)
        e2e.run("gcc", "-shared", "-fPIC", "-O1", "-I", include, "-o", addon,
                os.path.join(HERE, "interp/stacks_napi.c"))
        for i, version in enumerate(runtimes.NODES):
            with self.subTest(version=version):
                self.check(runtimes.node(version), i + 5, words=(addon,))

    def test_modules(self):
        """Functions of Node.js itself have the whole name of their module; tables have the program's own function."""
        folder = e2e.own_dir(self)
        script, out, capture = (os.path.join(folder, name) for name in ("spawns.js", "out", "capture.scap"))
        e2e.write_text(script, "const { spawnSync } = require('child_process');\n"
                               "for (let i = 0; i < 20; i++)\n\tspawnSync('sleep', ['0.1']);\n")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-w", capture, "--", runtimes.node(runtimes.NODES[3]), script],
                       check=True, env={**os.environ, **SESSION})
        e2e.run(e2e.SAKER, "-r", capture, "-o", out, "-c", "offcpu")
        self.assertRegex(e2e.read_text(out), r"epoll_pwait .* <anonymous> \(spawns\.js:3\)")
        tops = e2e.run(e2e.SAKER, "-r", capture, "-p", "%stack.lang.top", "evt.type=sample and sample.call=epoll_pwait")
        self.assertRegex(tops, r"(?m)^spawnSync \(node:internal/child_process:\d+\)$")

    def test_line_ends(self):
        """Lines end as JavaScript has it, also where V8 has made no table of them: at CR, U+2028 and U+2029, and once
        at CR LF, also across the blocks in which saker counts."""
        block, folder = 4096, e2e.own_dir(self)
        spin = "function spin() { const end = Date.now() + 1000; while (Date.now() < end); " \
               "if (process.argv[2]) console.log(new Error().stack.split('\\n')[1]) }"
        ends = "//\r//\n//\r\n//\r\r//\n\n//\n\r"
        texts = {"cr": ends + spin + "\r\r\nspin()\n", "wide": "//\u2028//\u2029" + ends + "//\u2029\u2028" + spin + "\u2028spin()",
                 "crlf": "//" + "x" * (block - 3) + "\r\n//\r\n" * 3 + spin + "\r\nspin()",
                 "wide crlf": "//\u2028//" + "x" * (block // 2 - 6) + "\r\n//\r\n" * 3 + spin + "\u2028spin()",
                 "lf": "//" + "x" * (block - 2) + "\n\r" + "//" * (block // 2 - 1) + "\r" + spin + "\nspin()"}
        scripts = {name: os.path.join(folder, name + ".js") for name in texts}
        for name, text in texts.items():
            with open(scripts[name], "w", encoding="utf-8", newline="") as f:
                f.write(text)
        for version in runtimes.NODES[0], runtimes.NODES[3]:
            node, out = runtimes.node(version), os.path.join(folder, version)
            program = " & ".join(shlex.join((node, script)) for script in scripts.values()) + " & wait"
            subprocess.run([e2e.SAKER, "--sample", "199", "-o", out, "-p", "%stack.lang.top",
                            "evt.type=sample and stack.lang.top contains spin", "--", "sh", "-c", program],
                           check=True, env={**os.environ, **SESSION})
            tops = e2e.read_text(out).splitlines()
            for name, script in scripts.items():
                with self.subTest(version=version, ends=name):
                    own = re.search(r":(\d+):\d+\)", e2e.run(node, script, "1"))[1]
                    found = {top for top in tops if script in top}
                    self.assertIn(f"spin ({script}:{own})", found)
                    self.assertLessEqual(found, {f"spin ({script}:{own})", f"spin ({script})"}) # or not known yet

    def test_inlined_builtins(self):
        """Maglev inlines forEach with the function that it calls: all have frames."""
        out = os.path.join(e2e.own_dir(self), "out")
        subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-w", out, "--", runtimes.node(runtimes.NODES[3]),
                        "--allow-natives-syntax", "--max-opt=2", os.path.join(HERE, "interp/inlined.js")],
                       check=True, env={**os.environ, **SESSION})
        text = e2e.run(e2e.SAKER, "-r", out, "-p", "%stack.rows.source\\n",
                       "evt.type=sample and sample.call=futex and stack.frames contains nap")
        known = {((callback, line), (builtin, 0), (function, own)): function for callback, line, builtin, function, own in (
            ("<anonymous>", 11, "forEach", "each", 11), ("<anonymous>", 16, "map", "mapped", 15),
            ("<anonymous>", 22, "reduce", "reduced", 22))}
        seen = dict.fromkeys(known.values(), 0)
        for stack in text.split("\n\n"):
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            frames = tuple((short(r[1]), int(r[6] or 0)) for r in rows if r[0] == "s")
            if frames[:2] != (self.builtin, ("nap", 7)) or frames[2] == ("called", 26):
                continue # tables of its files were not there yet, or nothing is inlined
            self.assertIn(frames[2:5], known)
            seen[known[frames[2:5]]] += 1
        for function, n in seen.items():
            self.assertGreater(n, 50, function)

    def test_modes(self):
        """Only the interpreter, only baseline code, only optimized code."""
        for i, mode in enumerate(("--jitless", "--always-sparkplug", "--always-turbofan")):
            with self.subTest(mode=mode):
                self.check(runtimes.node(runtimes.NODES[3]), i + 1, mode)


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
