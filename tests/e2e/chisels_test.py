#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chisels: those of Debian's sysdig package print what sysdig -c prints of the same captures, as far
as the table says; and chisels that mean harm end with a sentence, never with a crash."""

import collections
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import unittest

import saker_e2e as e2e

CAPTURES = sorted(glob.glob(os.path.join(e2e.SOURCE, "../shared/captures/*.scap")))
JUDGES = "/usr/share/sysdig/chisels"

# How the output compares: SAME bytes; LINES in another order, which depends on how LuaJIT keeps its
# tables; TOP: of a table that is cut off, the lines that have the last value may be others; SOME:
# docs/differences.md says why not in every capture.
SAME, LINES, TOP, SOME = "same", "lines", "top", "some"
CHISELS = {
    "around": SAME, "bottlenecks": SOME, "echo_fds": SOME, "fdbytes_by": SOME,
    "fdcount_by": LINES, "fdtime_by": SAME, "fileslower": SAME, "httplog": SAME, "httptop": SAME,
    "iobytes": SAME, "iobytes_file": SOME, "iobytes_net": SAME, "list_login_shells": SAME,
    "lscontainers": LINES, "lsof": SAME, "memcachelog": SAME, "netlower": SAME, "netstat": LINES,
    "proc_exec_time": SAME, "ps": SOME, "scallslower": SAME, "shellshock_detect": SAME,  # fails in both
    "spectrogram": SAME, "spy_file": SAME, "spy_ip": SAME, "spy_logs": SAME, "spy_port": SAME,
    "spy_syslog": SAME, "spy_users": SAME, "stderr": SAME, "stdin": SOME, "stdout": SAME,
    "subsecoffset": SAME, "topconns": TOP, "topcontainers_cpu": TOP, "topcontainers_error": TOP,
    "topcontainers_file": TOP, "topcontainers_net": TOP, "topfiles_bytes": TOP,
    "topfiles_errors": TOP, "topfiles_time": TOP, "topports_server": TOP, "topprocs_cpu": TOP,
    "topprocs_errors": TOP, "topprocs_file": SOME, "topprocs_net": TOP, "topscalls": TOP,
    "topscalls_time": TOP, "udp_extract": SAME,
}
ARGUMENTS = {
    "around": ["out.scap", "evt.type=open and evt.failed=true"], "fdbytes_by": ["fd.directory"],
    "fdcount_by": ["proc.name"], "fdtime_by": ["fd.type"], "fileslower": ["0"], "netlower": ["0"],
    "scallslower": ["0"], "spy_ip": ["127.0.0.1"], "spy_port": ["80"],
}


def run(cwd, *args, chisel_dir=None):
    env = {**os.environ, "TZ": "UTC", "HOME": cwd}
    env.pop("SYSDIG_CHISEL_DIR", None)
    if chisel_dir:
        env["SAKER_CHISEL_DIR"] = chisel_dir
    return subprocess.run(["timeout", "-k", "2", "100", *args], capture_output=True, cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL)


def cut_off(text):
    """Lines of a table but those with the last value, and how many these are."""
    lines = text.splitlines()
    last = lines[-1].split()[:1] if lines else []
    return (collections.Counter(l for l in lines if l.split()[:1] != last),
            sum(l.split()[:1] == last for l in lines))


def is_like(kind, a, b):
    if kind == LINES:
        return sorted(a.splitlines()) == sorted(b.splitlines())
    if kind == TOP:
        return cut_off(a) == cut_off(b)
    return a == b


class Judged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("sysdig") or not os.path.isdir(JUDGES):
            raise unittest.SkipTest("sysdig is not installed: scripts/setup --tests")
        if not CAPTURES:
            raise unittest.SkipTest("no captures in ../shared/captures beside the repository")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def outputs(self, name, capture):
        out = []
        for tool in ("sysdig", e2e.SAKER):
            cwd = os.path.join(self.dir, f"{name}-{os.path.basename(capture)}-"
                               f"{os.path.basename(tool)}")
            os.mkdir(cwd)
            # sysdig's folder holds a file that makes and fills others.
            unsafe = ["--chisel-unsafe"] if tool == e2e.SAKER and name == "udp_extract" else []
            p = run(cwd, tool, "-r", capture, *unsafe, "-c", name, *ARGUMENTS.get(name, []))
            out.append(p)
        self.assertEqual(out[0].returncode, out[1].returncode,
                         f"-r {capture} -c {name}: {out[0].stderr}\n{out[1].stderr}")
        return out[0].stdout, out[1].stdout

    def judge(self, name):
        kind = CHISELS[name]
        n_same = 0
        for capture in CAPTURES:
            judged, ours = self.outputs(name, capture)
            if kind == SOME:
                n_same += is_like(TOP, judged, ours)
            else:
                self.assertTrue(is_like(kind, judged, ours),
                                f"{name} of {capture}:\n{judged.decode(errors='replace')}\n"
                                f"--- saker:\n{ours.decode(errors='replace')}")
        if kind == SOME:
            self.assertGreaterEqual(n_same, len(CAPTURES) - 1, name)

    def test_prints_what_sysdig_prints(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(self.judge, CHISELS):
                pass

    def test_lists_what_sysdig_lists(self):
        names = run(self.dir, "sysdig", "-cl").stdout.decode().split()  # there is no ./chisels there
        listed = e2e.run(e2e.SAKER, "-cl")
        for name in CHISELS:
            self.assertIn(name, names)
            self.assertRegex(listed, rf"(?m)^  {name} ")
        self.assertNotIn("table_generator", listed)

    def test_tells_of_each(self):
        for name in CHISELS:
            self.assertIn("Arguments:", e2e.run(e2e.SAKER, "-i", name))

    def test_views_are_not_run(self):
        p = run(self.dir, e2e.SAKER, "-r", CAPTURES[0], "-c", "v_procs")
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"v_procs is a view", p.stderr)


class Own(unittest.TestCase):
    """Chisels written here, over a capture made here."""

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.capture = os.path.join(cls.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "100")

    def chisel(self, text, *args, name="t"):
        with open(os.path.join(self.dir, name + ".lua"), "w") as f:
            f.write(text)
        return run(self.dir, e2e.SAKER, "-r", self.capture, "-c", name, *args)

    def prints(self, text, expected, *args):
        p = self.chisel(text, *args)
        self.assertEqual((p.returncode, p.stderr), (0, b""), text)
        self.assertEqual(p.stdout.decode(), expected)

    def fails(self, text, sentence, *args):
        p = self.chisel(text, *args)
        self.assertEqual(p.returncode, 1, (text, p.stdout[-300:], p.stderr[-600:]))
        self.assertIn(sentence, p.stderr.decode())
        self.assertTrue(p.stderr.startswith(b"saker: "), p.stderr)

    def test_lua_51(self):
        self.prints("""
          print(string.format("%d %u %5.1f %s", 3.7, 2.5, 1.25, 4 / 2), 6 / 2, tostring(8 / 4))
          print(unpack({1, 2}), loadstring("return 5")(), table.getn({7, 8}), math.pow(2, 3))
          print(math.log10(1000), string.format("%.2f", 8.125), #string.rep("x", 2.0))
          local function f() return where end
          setfenv(f, {where = "there"})
          print(f(), where, getfenv(f).where, getfenv(1) == _G)
          io.write(6 / 3, "\\n")
        """, "3 2   1.3 2\t3\t2\n1\t5\t2\t8\n3\t8.13\t2\nthere\tnil\tthere\ttrue\n2\n")

    def test_callbacks(self):
        self.prints("""
          args = {{name = "who", description = "d", argtype = "string"},
                  {name = "n", description = "d", argtype = "int", optional = true}}
          function on_set_arg(name, value) print(name, value) return true end
          function on_init()
            num = chisel.request_field("evt.num")
            chisel.set_filter("evt.num <= 2")
            chisel.set_event_formatter("*%evt.num!")
            return true
          end
          function on_capture_start() print("start", sysdig.is_live()) return true end
          function on_event() print(evt.field(num), evt.get_num(), evt.field(nil)) return true end
          function on_capture_end() print("end") end
        """, "who\ta b\nn\t7\nstart\tfalse\n1\t1\tnil\n1!\n2\t2\tnil\n2!\nend\n", "'a b' 7")

    def test_words_behind_the_arguments_are_the_filter(self):
        text = """
          args = {{name = "n", description = "d"}}
          function on_set_arg(name, value) n = value return true end
          function on_event() last = evt.get_num() return true end
          function on_capture_end() print(n, last, sysdig.get_filter()) end
        """
        self.prints(text, "7\t3\tevt.num < 4\n", "7", "evt.num", "<", "4")

    def test_several(self):
        with open(os.path.join(self.dir, "other.lua"), "w") as f:
            f.write("x = 1 function on_capture_end() print('other', y) end")
        self.prints("y = 2 function on_capture_end() print('first', x) end",
                    "first\tnil\nother\tnil\n", "-c", "other")

    def test_exec_exit_and_end(self):
        with open(os.path.join(self.dir, "other.lua"), "w") as f:
            f.write("""
              args = {{name = "a", description = "d"}}
              function on_set_arg(name, value) a = value return true end
              function on_event() print(a, evt.get_num()) sysdig.end_capture() return false end
              function on_capture_end() print("end") end
            """)
        self.prints("function on_init() chisel.exec('other', 'b c') return true end",
                    "b c\t1\nend\n")
        p = self.chisel("function on_event() print('x') os.exit(3) end")
        self.assertEqual((p.returncode, p.stdout, p.stderr), (3, b"x\n", b""))

    def test_modules(self):
        self.prints("""
          require "common"
          local terminal = require "ansiterminal"
          terminal.enable_color(false)
          print(format_bytes(2048), format_time_interval(1500000), extend_string("abc", 2) .. "|")
          for k, v in pairs_top_by_val({a = 1, b = 2}, 1, function(t, a, b) return t[b] < t[a] end) do
            print(k, v, terminal.red)
          end
          print(json.encode({1, "a\\n", {b = true}}), json.decode('{"x": [1, 2.5]}').x[2])
        """, "2.00KB\t1.50ms\ta |\nb\t2\t\n[1,\"a\\n\",{\"b\":true}]\t2.5\n")

    def test_json(self):
        p = self.chisel("print(sysdig.get_output_format()) chisel.set_event_formatter('*%evt.num')",
                        "-j", "-n", "1")
        first, second = p.stdout.decode().splitlines()
        self.assertEqual((first, json.loads(second)), ("json", {"evt.num": 1}))

    def test_errors_are_told(self):
        self.fails("x = = 1", "failed in its file: ./t.lua:1:")
        self.fails("function on_init() return false end", "its on_init did not return true")
        self.fails("function on_event() local x = nil + 1 end", "failed in on_event: ./t.lua:1:")
        self.fails("function on_event() f() end function f() g() end", "stack traceback")
        self.fails("chisel.request_field('proc.nam')", "proc.nam")
        self.fails("chisel.set_filter('proc.name=')", "filter 'proc.name='")
        self.fails("args = {{name = 'n', description = 'd'}}", "needs the argument n")
        for callback in ("on_init", "on_capture_start", "on_event", "on_capture_end"):
            self.fails(f"function {callback}() error({{}}) end", f"{callback}: an error that is no")
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "missing")
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"there is no chisel 'missing'", p.stderr)

    def test_harm(self):
        limit = ("--chisel-limit", "64:20")
        self.fails("while true do end", "million instructions", *limit)
        self.fails("function on_event() while true do pcall(error) end end",
                   "million instructions", *limit)
        self.fails("while true do coroutine.wrap(function() while true do end end)() end",
                   "million instructions", *limit)
        self.fails("local t = {} for i = 1, 1e10 do t[i] = i end", "needs more memory", *limit)
        self.fails("local s = 'x' while true do s = s .. s end", "needs more memory", *limit)
        self.fails("string.rep('x', 1e15)", "failed in its file", *limit)
        self.fails("local function f() return f() + 1 end f()", "stack overflow")
        self.fails("local t = {} t = setmetatable(t, {__index = function(t, k) return t[k] end}) "
                   "print(t.x)", "stack overflow")
        self.fails("string.gsub(('x'):rep(1e5), ('(.-)'):rep(40), '')", "captures", *limit)
        self.fails("setmetatable(_G, {__index = function() error('no') end}) x()", "no", *limit)
        self.fails("setmetatable(_G, {__index = function() error('no') end})", "no", *limit)
        self.fails("setmetatable({}, {__gc = function() end})", "finalizers", *limit)
        self.fails("error(setmetatable({}, {__tostring = error}))", "no text", *limit)
        self.fails("error()", "no text", *limit)
        self.fails("loadstring('\\27Lua')()", "nil value", *limit)
        self.fails("string.format('%99999d', 1)", "invalid conversion", *limit)
        self.fails("evt.get_num()", "there is no event now", *limit)
        self.fails("evt.field(1e18)", "not a field", *limit)
        self.fails("function on_event() chisel.exec(nil) end", "string expected", *limit)
        self.fails("function on_init() chisel.exec('t') return true end", "without end", *limit)

    def test_reach(self):
        victim = os.path.join(self.dir, "victim")
        for call in (f"os.execute('touch {victim}')", f"io.popen('touch {victim}')",
                     f"io.open('{victim}', 'w')", f"io.output('{victim}')",
                     f"os.rename('in.scap', '{victim}')", "os.remove('in.scap')",
                     "package.loadlib('libm.so', 'cos')", "sysdig.udp_setpeername('127.0.0.1', 9)"):
            self.fails(call, "--chisel-unsafe")
            self.fails(f"function on_event() {call} end", "--chisel-unsafe")
        self.fails("print(debug.getregistry())", "nil value")
        self.fails(f"function on_capture_end() sysdig.run_app('-r in.scap -w {victim}') end",
                   "may not write")
        self.fails(f"function on_capture_end() sysdig.run_app('-r in.scap -- touch {victim}') end",
                   "a command to run is a live capture")
        self.assertFalse(os.path.exists(victim))
        self.assertTrue(os.path.exists(self.capture))
        p = self.chisel(f"io.open('{victim}', 'w'):write('x'):close()", "--chisel-unsafe")
        self.assertEqual((p.returncode, e2e.read_text(victim)), (0, "x"))

    def test_documentation_is_current(self):
        page = e2e.read_text(os.path.join(e2e.SOURCE, "docs/chisel-api.md"))
        self.assertEqual(page, e2e.run(e2e.SAKER, "-cl", "--markdown"))


if __name__ == "__main__":
    unittest.main()
