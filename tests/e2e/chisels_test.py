#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the chisels of Debian's sysdig package under saker with sysdig -c on the same captures;
the table lists the exceptions. Hostile chisels end with an error, never with a crash."""

import collections
import concurrent.futures
import difflib
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import saker_e2e as e2e

os.environ["SAKER_CHISEL_DIR"] = "."  # chisels that the tests write into the working directory

JUDGES = "/usr/share/sysdig/chisels"
ACTS = e2e.ACTS

# How the output compares. SAME: equal bytes. LINES: equal lines in another order, which depends on the
# tables of LuaJIT. TOP: as LINES, but in a table that is cut off, rows with the last value can differ.
SAME, LINES, TOP = "same", "lines", "top"
CHISELS = {
    "around": SAME, "bottlenecks": SAME, "echo_fds": SAME, "fdbytes_by": TOP,
    "fdcount_by": LINES, "fdtime_by": TOP, "fileslower": SAME, "httplog": SAME, "httptop": LINES,
    "iobytes": SAME, "iobytes_file": SAME, "iobytes_net": SAME, "list_login_shells": SAME,
    "lscontainers": LINES, "lsof": LINES, "memcachelog": SAME, "netlower": SAME, "netstat": LINES,
    "proc_exec_time": SAME, "ps": SAME, "scallslower": SAME, "shellshock_detect": SAME,  # fails in both
    "spectrogram": SAME, "spy_file": SAME, "spy_ip": SAME, "spy_logs": SAME, "spy_port": SAME,
    "spy_syslog": SAME, "spy_users": SAME, "stderr": SAME, "stdin": SAME, "stdout": SAME,
    "subsecoffset": SAME, "topconns": TOP, "topcontainers_cpu": TOP, "topcontainers_error": TOP,
    "topcontainers_file": TOP, "topcontainers_net": TOP, "topfiles_bytes": TOP,
    "topfiles_errors": TOP, "topfiles_time": TOP, "topports_server": TOP, "topprocs_cpu": TOP,
    "topprocs_errors": TOP, "topprocs_file": TOP, "topprocs_net": TOP, "topscalls": TOP,
    "topscalls_time": TOP, "udp_extract": SAME,
}
ARGUMENTS = {
    "around": "out.scap", "fdbytes_by": "fd.directory",
    "fdcount_by": "proc.name", "fdtime_by": "fd.type", "fileslower": "0", "netlower": "0",
    "scallslower": "0", "spy_ip": "127.0.0.1", "spy_port": "80",
}
FILTER = {"around": "evt.type in (open, openat) and evt.failed=true"}  # needs a filter
MORE_ARGUMENTS = {
    "echo_fds": ["disable_color"], "fdbytes_by": ["fd.name", "proc.name"], "fdcount_by": ["fd.type"],
    "fdtime_by": ["fd.name"], "fileslower": ["1000", "0 disable_colors"], "httptop": ["bytes", "time"],
    "list_login_shells": ["sh"], "lsof": ["fd.type=file", "'proc.name=ls or fd.num=0'"],
    "netlower": ["0 disable_color"], "netstat": ["fd.type=ipv4"], "proc_exec_time": ["1 disable_color"],
    "ps": ["fd.type=pipe"], "spy_file": ["R", "W big", "RW passwd"], "spy_ip": ["10.0.0.1"],
    "spy_logs": ["disable_color"], "spy_port": ["11211"], "spy_users": ["disable_color"],
}
OPTIONS = ["-pc"], ["-j"], ["-A"], ["-X"], ["-s", "2000"], ["-b", "-pc"]
FILTERS = "proc.name!=curl", "fd.type=file", "proc.name in (sh, python3) or fd.sport=22"

# These list processes: of captures made here, only those of the test are compared.
OF_FILES = "lsof", "netstat", "ps"

# sysdig fails on intervals without events, and on a filter that is set twice; saker does not.
FAIL_IN_SYSDIG = ("iobytes", "iobytes_file", "iobytes_net", "memcachelog")


def run(cwd, *args, chisel_dir=None):
    env = {**os.environ, "TZ": "UTC", "HOME": cwd}
    env.pop("SYSDIG_CHISEL_DIR", None)
    if chisel_dir:
        env["SAKER_CHISEL_DIR"] = chisel_dir
    return subprocess.run(["timeout", "-k", "2", "100", *args], capture_output=True, cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL)


def cut_off(text):
    """Returns the rows of a table without those that have the last value, and the number of these."""
    lines = text.splitlines()
    last = lines[-1].split()[:1] if lines else []
    return (collections.Counter(l for l in lines if l.split()[:1] != last),
            sum(l.split()[:1] == last for l in lines))


def documents(text):
    """Returns the objects of -j; rows as sets, without those that have the last value. None: not JSON."""
    decoder, found = json.JSONDecoder(), []
    text = text.decode(errors="replace").strip()
    while text:
        try:
            doc, end = decoder.raw_decode(text)
        except ValueError:
            return None
        text = text[end:].strip()
        if isinstance(doc, dict) and isinstance(doc.get("data"), list):
            rows = doc["data"]
            last = rows[-1][-1] if rows else None
            doc["data"] = [len(rows), sorted(map(str, (r for r in rows if r[-1] != last)))]
        found.append(doc)
    return found


def is_like(kind, a, b):
    if a == b:
        return True
    if kind != SAME and sorted(a.splitlines()) == sorted(b.splitlines()):
        return True
    if a.startswith(b"{") and documents(a) is not None:
        return documents(a) == documents(b)
    return kind == TOP and cut_off(a) == cut_off(b)


# The differences of docs/differences.md: mostly, saker shows more of captures that it made. Its output has
# to include that of sysdig.

def words(line):
    return line.decode(errors="replace").split()


def has_these_calls(judged, ours, but=0):
    """Rows with the same name have the same values, except names that stand for two calls in sysdig (pipe and
    pipe2), and up to `but` rows: sysdig counts a call that began before the capture from its start."""
    rows = [{words(l)[1]: words(l)[0] for l in t.splitlines()[2:]} for t in (judged, ours)]
    both = [n for n in rows[0] if n in rows[1] and not any(n + d in rows[1] for d in "234")]
    return len(both) >= 10 and sum(rows[0][n] != rows[1][n] for n in both) <= but


def has_these_errors(judged, ours):
    rows = [{tuple(words(l)[1:]): int(words(l)[0]) for l in t.splitlines()[2:]}
            for t in (judged, ours)]
    both = [k for k in rows[0] if k in rows[1]]
    return both and all(rows[0][k] <= rows[1][k] for k in both)


def is_but_for_the_names(n):
    """Returns a function that compares the first n words of each line."""
    return lambda judged, ours: ([words(l)[:n] for l in judged.splitlines()] ==
                                 [words(l)[:n] for l in ours.splitlines()])


def lacks_calls_begun_before(judged, ours):
    """Ignores the read that began before the capture: sysdig computes its latency from the start of the file,
    and saker has a shorter call in its place."""
    def rows(text):
        return {tuple(words(l)[:5]) for l in text.splitlines() if b" read " not in l}
    return rows(judged) <= rows(ours)


def without_libraries(text):
    """Removes lines of libraries: sysdig and saker name them differently, by the file or by the
    link to it."""
    return b"".join(line for line in text.splitlines(True) if b"/lib/" not in line)


def has_no_calls_begun_before(judged, ours):
    """Ignores names, and up to 4 calls that began before the capture: sysdig computes their latency from the
    first event."""
    judged, ours = (collections.Counter(tuple(words(l)[:4]) for l in text.splitlines()) for text in (judged, ours))
    return not ours - judged and sum((judged - ours).values()) <= 4


def has_the_command_too(judged, ours):
    """Ours can have one more row, the command itself: sysdig does not have its start."""
    judged, ours = (collections.Counter(text.splitlines()) for text in (judged, ours))
    return not judged - ours and sum((ours - judged).values()) <= 1


def knows_more_types(judged, ours):
    """The names are equal; a type can differ if it is unknown in sysdig."""
    def files(text):
        rows = sorted((l[:52] + l[64:], l[52:64].strip()) for l in text.splitlines())
        return [r[0] for r in rows], [r[1] for r in rows]

    (names, theirs), (our_names, types) = files(judged), files(ours)
    return names == our_names and all(a == b or a == b"<NA>" or b == b"memfd"
                                      for a, b in zip(theirs, types))


def has_these_keys(judged, ours):
    """Compares only the keys: sysdig counts every result of fcntl as a file."""
    keys = [{tuple(words(l)[1:]) for l in t.splitlines()[2:]} for t in (judged, ours)]
    return keys[0] <= keys[1] | {()}


def counts_no_less(judged, ours):
    """Ours can count more: in sysdig all sockets whose port the kernel selects have port 0, and are one file."""
    counts = [{words(l)[0]: int(words(l)[1]) for l in t.splitlines()} for t in (judged, ours)]
    return counts[0].keys() == counts[1].keys() and all(n <= counts[1][k]
                                                        for k, n in counts[0].items())


def are_these_processes(judged, ours, whose=lambda tid, pid: tid != pid):
    """Ignores the memory of threads: it is that of their process, and sysdig has an older value."""
    def without_memory(text):
        return [w[:3] + w[5:] if whose(*w[:2]) else w for w in map(words, text.splitlines())]

    return without_memory(judged) == without_memory(ours)


def are_these_at_any_time(judged, ours):
    """Ignores all memory: an execve from before the look-up of a process has less data than the look-up."""
    return are_these_processes(judged, ours, lambda tid, pid: True)


OF_ALL = {"ps": are_these_processes}
OF_OWN = {
    "ps": are_these_at_any_time,
    "fdtime_by": has_these_keys, "fdcount_by": counts_no_less,
    "bottlenecks": is_but_for_the_names(5), "scallslower": is_but_for_the_names(4),
    "topscalls": has_these_calls, "topscalls_time": has_these_calls,
    "topprocs_errors": has_these_errors, "lsof": knows_more_types,
    "proc_exec_time": has_the_command_too,
}


OF_RUNNING = {**OF_OWN, "bottlenecks": lacks_calls_begun_before, "scallslower": has_no_calls_begun_before,
              "topscalls_time": lambda judged, ours: has_these_calls(judged, ours, but=1)}


def with_names_of_processes(text, names):
    """Replaces names of threads, which sysdig has in proc.name, by names of processes."""
    if not names:
        return text
    for thread, process in sorted(set(names.values())):
        text = re.sub(rf"\b{re.escape(thread)}\b".encode(), process.encode(), text)
    return re.sub(b" +", b" ", text)


def record_running(path, *acts):
    """Records a process that runs already, without its parents."""
    folder = os.path.dirname(path)
    # Pipes without names: sysdig takes a FIFO that is opened by its path for a file.
    stdin, go = os.pipe()
    with open(os.path.join(folder, "said"), "wb") as said:
        p = subprocess.Popen([sys.executable, "-I", ACTS, folder, "wait", *acts], stdin=stdin,
                             stdout=subprocess.PIPE, stderr=said)
    try:
        p.stdout.readline()
        subprocess.run(["timeout", "-k", "2", "100", e2e.SAKER, "-w", path, "--all", "--tree", "--pid",
                        str(p.pid), "--", "sh", "-c", f"echo >&{go}; cat <&{p.stdout.fileno()}"],
                       cwd=folder, capture_output=True, check=True, pass_fds=(go, p.stdout.fileno()))
    finally:
        p.kill()
        p.communicate()
        os.close(stdin)
        os.close(go)


def make_captures(folder):
    """Captures of saker. Each chisel has its own comparison."""
    if os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"):
        return {}
    made = {}
    for name, make, differs, acts in (
            ("files", e2e.record_acts, OF_OWN, ("files", "errors")),
            ("pipes", e2e.record_acts, OF_OWN, ("pipes", "threads", "execs")),
            ("net", record_running, OF_RUNNING, ("sockets", "web", "syslog")),
            ("all", record_running, OF_RUNNING, ("files", "errors", "pipes", "sockets", "web", "threads",
                                             "execs", "syslog"))):
        path = os.path.join(folder, name, "own.scap")
        os.mkdir(os.path.dirname(path))
        make(path, *acts)
        made[path] = differs
    return made


class Judged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("sysdig") or not os.path.isdir(JUDGES):
            e2e.skip_test("sysdig is not installed: scripts/setup --tests")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.own = make_captures(cls.dir)
        cls.captures = [*e2e.SHARED, *cls.own]
        cls.whole = {c: e2e.without_lone_exits(c, cls.dir) for c in e2e.SHARED}
        if not cls.captures:
            e2e.skip_test(f"no {e2e.SHARED_PATTERN}, and none can be made: {e2e.lacks_live()}")

    def outputs(self, name, capture, options=(), argument=None, flt=None):
        out = []
        if argument is None:
            argument = ARGUMENTS.get(name)
            if capture in self.own and name in OF_FILES:
                argument = f"'proc.cmdline contains {os.path.dirname(capture)}'"
        flt = FILTER.get(name, flt)
        for tool in ("sysdig", e2e.SAKER):
            cwd = tempfile.mkdtemp(dir=self.dir)
            # The folder of sysdig has a file that writes others; some of our files have the same names.
            ours = [] if tool == "sysdig" else ["--chisel-unsafe"] * (name == "udp_extract")
            path = name if tool == "sysdig" else f"{JUDGES}/{name}.lua"
            out.append(run(cwd, tool, "-r", capture, *options, *ours, "-c", path,
                           *([argument] if argument else []), *([flt] if flt else [])))
        if out[0].returncode and not out[1].returncode and (
                name in FAIL_IN_SYSDIG or b"too many parameters for chisel" in out[0].stderr):
            return b"", b""
        self.assertEqual(out[0].returncode, out[1].returncode,
                         f"{capture} {options} {name} {argument} {flt}: "
                         f"{out[0].stderr[-500:]}\n{out[1].stderr[-500:]}")
        return [with_names_of_processes(o.stdout, e2e.thread_names(capture)) for o in out]

    def judge(self, name, capture, **how):
        judged, ours = self.outputs(name, capture, **how)
        if is_like(CHISELS[name], judged, ours):
            return
        if capture in self.own and is_like(CHISELS[name], without_libraries(judged), without_libraries(ours)):
            return
        differs = self.own.get(capture, OF_ALL).get(name)
        if differs and differs(judged, ours):
            return
        if self.whole.get(capture, capture) != capture:
            self.judge(name, self.whole[capture], **how)
            return
        lines = [text.decode(errors="replace").splitlines() for text in (judged, ours)]
        self.fail(f"{name} {how} of {capture}:\n" +
                  "\n".join([*difflib.unified_diff(*lines, "sysdig", "saker", n=1, lineterm="")][-60:]))

    def judge_all(self, runs):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda r: self.judge(r[0], r[1], **r[2]), runs):
                pass

    def test_prints_what_sysdig_prints(self):
        self.judge_all((name, c, {}) for name in CHISELS for c in self.captures)

    def test_with_options_arguments_and_filters(self):
        self.judge_all((name, capture, how) for capture in e2e.shared_captures()[-1:] for name in CHISELS for how in (
            *({"options": o} for o in OPTIONS),
            *({"argument": a} for a in MORE_ARGUMENTS.get(name, ())),
            *({"flt": f} for f in FILTERS)))

    def test_names_of_ports(self):
        for capture in e2e.shared_captures():
            for name in "echo_fds", "netstat", "spy_ip", "topconns":
                self.judge(name, capture, options=["-R"])

    def test_filters_of_tables_are_about_threads(self):
        for name in "lsof", "netstat", "ps":
            p = run(self.dir, e2e.SAKER, "-r", self.captures[0], "-c", f"{JUDGES}/{name}.lua",
                    "evt.failed=true")
            self.assertEqual((p.returncode, p.stdout), (1, b""))
            self.assertIn(b"evt.failed is a field of events", p.stderr)

    def test_lists_what_sysdig_lists(self):
        names = run(self.dir, "sysdig", "-cl").stdout.decode().split()  # a folder without ./chisels
        listed = e2e.run(e2e.SAKER, "-cl")
        for name in CHISELS:
            self.assertIn(name, names)
            self.assertEqual(len(re.findall(rf"(?m)^  {name} ", listed)), 1, name)
        self.assertNotIn("table_generator", listed)

    def test_tells_of_each(self):
        for name in CHISELS:
            self.assertIn("Arguments:", e2e.run(e2e.SAKER, "-i", f"{JUDGES}/{name}.lua"))

    def test_views_are_not_run(self):
        p = run(self.dir, e2e.SAKER, "-r", self.captures[0], "-c", "v_procs")
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"v_procs is a view", p.stderr)

    def test_files_of_functions_are_not_run(self):
        for name in ("report", "stacks", "heatmap"):
            p = run(self.dir, e2e.SAKER, "-r", self.captures[0], "-c", name)
            self.assertEqual(p.returncode, 1)
            self.assertRegex(p.stderr, rb"\Asaker: " + name.encode() + rb" is a library module, not a chisel[^\n]*\n\Z")


# Loads the views that are its arguments, requests all fields that they name, and prints those refused.
VIEWS = """
args = {{name = "views", description = "files"}}
function on_set_arg(_, value) views = value return true end

local function try(view, what, f, text)
  if text == nil or text == "" then return end
  local ok, why = pcall(f, (text:gsub("%%depth%+1", "2"):gsub("%%depth", "1")))
  if not ok then print(view, what, text, why) end
end

function on_init()
  for path in views:gmatch("[^,]+") do
    local name, env = path:match("([^/]+)%.lua$"), setmetatable({}, {__index = _G})
    setfenv(assert(loadfile(path)), env)()
    local view = env.view_info or {} -- v_cpus.lua has none
    try(name, "filter", chisel.set_filter, view.filter)
    for _, field in ipairs(view.applies_to or {}) do
      try(name, "applies_to", chisel.set_filter, field ~= "" and field .. " exists" or "")
    end
    for _, column in ipairs(view.columns or {}) do
      try(name, "field", chisel.request_field, column.field)
      try(name, "filterfield", chisel.set_filter, column.filterfield and column.filterfield .. " exists")
    end
    print(name, "loaded")
  end
  os.exit(0)
end
"""


@unittest.skipUnless(os.path.isdir(JUDGES), "sysdig is not installed: scripts/setup --tests")
class Views(unittest.TestCase):
    def test_resolve(self):
        folder = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "views.lua"), "w") as f:
            f.write(VIEWS)
        paths = sorted(glob.glob(f"{JUDGES}/v_*.lua"))
        self.assertGreater(len(paths), 40)
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), os.path.join(folder, "in.scap"), "10")
        p = run(folder, e2e.SAKER, "-r", "in.scap", "-c", "views", ",".join(paths))
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        lines = p.stdout.decode().splitlines()
        self.assertEqual(sum(l.endswith("\tloaded") for l in lines), len(paths))
        for line in lines:
            # Fields that saker does not have, names that are not fields of sysdig either, and what
            # only the selection of a row needs.
            self.assertRegex(line, r"\tloaded$|(k8s|mesos|marathon|evt\.infra)\.\S*.* is not supported"
                             r"|unknown field fd\.dp(ort|roto)"
                             r"|unknown field span\.(raw)?parenttime|span\.tag needs an argument")

    def test_tell_of_themselves(self):
        out = e2e.run(e2e.SAKER, "-i", "v_procs")
        self.assertIn("v_procs: Processes, a view", out)
        self.assertIn("Filter: evt.type!=switch\n", out)
        self.assertIn("  RES (thread.vmrss.b)\n      Resident non-swapped memory", out)
        self.assertNotIn("NA (", out)
        self.assertIn("(k8s.svc.name)\n      the field k8s.svc.name is not supported",
                      e2e.run(e2e.SAKER, "-i", "v_kubernetes_services"))


class Own(unittest.TestCase):
    """Chisels written in the test, over a capture that the test records."""

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

    def test_an_event_of_the_capture_itself_that_matches_is_not_followed(self):
        data = e2e.read_bytes(self.capture)
        at = next(begin for kind, begin, _ in e2e.blocks(data) if kind == 0x216)
        drop = struct.pack("<QqIHIHI", int.from_bytes(data[at + 10:at + 18], "little"), -1, 32, 148, 1, 4, 1)
        path = os.path.join(self.dir, "drop.scap")
        with open(path, "wb") as f:
            f.write(data[:at] + e2e.block(0x216, bytes(2) + drop) + data[at:])
        text = """
          function on_init()
            type = chisel.request_field("evt.type")
            chisel.follow("evt.type=drop", function() print("followed") end)
            return true
          end
          function on_event()
            if evt.field(type) == "drop" then print("seen") end
          end
        """
        self.prints(text, "seen\n", "-r", path)
        self.prints(text, "followed\n", "-r", path, "evt.type=close")

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

    def test_printable(self):
        self.prints("""
          local is = chisel.is_printable
          print(is(""), is(" a~"), is("abc", 3), is("abcd", 3), is("abc", 0), is("", 0), is("", -1))
          print(is("\\31"), is("\\127"), is("a\\0b"), is("a\\n"), is("é"), is("a\\27[2J"), is(12), is(nil), is({}))
        """, "true\ttrue\ttrue\tfalse\tfalse\ttrue\tfalse\n" + "\t".join(["false"] * 9) + "\n")

    def test_json(self):
        p = self.chisel("print(sysdig.get_output_format()) chisel.set_event_formatter('*%evt.num')",
                        "-j", "-n", "1")
        first, second = p.stdout.decode().splitlines()
        self.assertEqual((first, json.loads(second)), ("json", {"evt.num": 1}))

    def test_errors_are_told(self):
        self.fails("x = = 1", "failed in its file: ./t.lua:1:")
        self.fails("function on_init() return false end", "on_init did not return true")
        self.fails("function on_event() local x = nil + 1 end", "failed in on_event: ./t.lua:1:")
        self.fails("function on_event() f() end function f() g() end", "stack traceback")
        self.fails("chisel.request_field('proc.nam')", "proc.nam")
        self.fails("error('a\\27[2Jb')", "a.[2Jb")
        self.fails("chisel.set_filter('proc.name=')", "filter 'proc.name='")
        self.fails("args = {{name = 'n', description = 'd'}}", "needs the argument n")
        for callback in ("on_init", "on_capture_start", "on_event", "on_capture_end"):
            self.fails(f"function {callback}() error({{}}) end", f"{callback}: the error value is a table")
        p = run(self.dir, e2e.SAKER, "-r", self.capture, "-c", "missing")
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"no chisel 'missing'", p.stderr)

    def test_harm(self):
        limit = ("--chisel-limit", "64:20")
        self.fails("while true do end", "million instructions", *limit)
        self.fails("function on_event() while true do pcall(error) end end",
                   "million instructions", *limit)
        self.fails("while true do coroutine.wrap(function() while true do end end)() end",
                   "million instructions", *limit)
        self.fails("local t = {} for i = 1, 1e10 do t[i] = i end", "memory limit of", *limit)
        self.fails("local s = 'x' while true do s = s .. s end", "memory limit of", *limit)
        self.fails("string.rep('x', 1e15)", "failed in its file", *limit)
        self.fails("local function f() return f() + 1 end f()", "stack overflow")
        self.fails("local t = {} t = setmetatable(t, {__index = function(t, k) return t[k] end}) "
                   "print(t.x)", "stack overflow")
        self.fails("string.gsub(('x'):rep(1e5), ('(.-)'):rep(40), '')", "captures", *limit)
        self.fails("setmetatable(_G, {__index = function() error('no') end}) x()", "no", *limit)
        self.fails("setmetatable(_G, {__index = function() error('no') end})", "no", *limit)
        self.fails("setmetatable({}, {__gc = function() end})", "finalizers", *limit)
        self.fails("error(setmetatable({}, {__tostring = error}))", "not text", *limit)
        self.fails("error()", "not text", *limit)
        self.fails("loadstring('\\27Lua')()", "nil value", *limit)
        self.fails("string.format('%99999d', 1)", "invalid conversion", *limit)
        self.fails("evt.get_num()", "no current event", *limit)
        self.fails("evt.field(1e18)", "not a field", *limit)
        self.fails("function on_event() chisel.exec(nil) end", "string expected", *limit)
        self.fails("function on_init() chisel.exec('t') return true end", "forms a loop", *limit)

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
                   "-r and -- CMD exclude each other")
        self.assertFalse(os.path.exists(victim))
        self.assertTrue(os.path.exists(self.capture))
        p = self.chisel(f"io.open('{victim}', 'w'):write('x'):close()", "--chisel-unsafe")
        self.assertEqual((p.returncode, e2e.read_text(victim)), (0, "x"))

    WRITES = """
          function on_init()
            chisel.set_filter("proc.name=printf and evt.type=write and evt.dir=<")
            data = chisel.request_field("evt.rawarg.data")
            return true
          end
    """

    def on_terminal(self, text, stuff, fails=False, under=()):
        """The output of a chisel on a terminal, over a capture of a process that writes data."""
        capture = os.path.join(self.dir, "terminal.scap")
        subprocess.run(["timeout", "-k", "2", "60", *under, e2e.SAKER, "-w", capture, "--", "printf", stuff],
                       capture_output=True, check=True)
        with open(os.path.join(self.dir, "tty.lua"), "w") as f:
            f.write(text)
        ours, theirs = os.openpty()
        attributes = termios.tcgetattr(theirs)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)
        p = subprocess.Popen([e2e.SAKER, "-r", capture, "-c", "tty"], cwd=self.dir, stdout=theirs,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(theirs)
        out = e2e.read_terminal(ours)
        told = p.communicate()[1]
        self.assertEqual((bool(told), p.returncode), (fails, 1 if fails else 0), told)
        return out

    @unittest.skipIf(os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"), "needs a live capture")
    def test_captured_bytes_do_not_speak_to_the_terminal(self):
        text = """
          function on_init()
            chisel.set_filter("proc.name=printf and evt.type=write and evt.dir=<")
            data = chisel.request_field("evt.rawarg.data")
            io.write("\\27[2J\\27[31mred\\r")
            return true
          end
          function on_event()
            io.write(evt.field(data), "\\27[2J", sysdig.color(32), "green", sysdig.color("0"), "\\r\\n")
          end
        """
        self.assertEqual(self.on_terminal(text, r"plain\tt\303\251xt"),
                         "\x1b[2J\x1b[31mred\rplain\tt\u00e9xt\x1b[2J\x1b[32mgreen\x1b[0m\r\n".encode())
        self.assertEqual(self.on_terminal(text, r"a\033]0;title\007b\2332Jc\302\233d\010e\033[0;8mf\033[33mg"),
                         b"\x1b[2J\x1b[31mred\ra.]0;title.b.2Jc..d.e.[0;8mf.[33mg.[2J\x1b[32mgreen\x1b[0m\r\n")
        self.assertEqual(self.on_terminal(text, r"a\rb"),
                         b"\x1b[2J\x1b[31mred\ra.b\x1b[2J\x1b[32mgreen\x1b[0m.\n")

    @unittest.skipIf(os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"), "needs a live capture")
    def test_text_of_a_table_is_as_wide_as_on_the_terminal(self):
        text = self.WRITES + """
          local report = require "report"
          function on_event()
            local line = report.line(evt.field(data))
            io.write(line, " ", utf8.len(line), "\\r\\n")
          end
        """
        self.assertEqual(self.on_terminal(text, r"a\342\200\256b\302\233\303\251\342\201\251"), "a...b..\u00e9... 11\r\n".encode())

    @unittest.skipIf(os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"), "needs a live capture")
    def test_the_name_of_the_host_does_not_speak_to_the_terminal(self):
        text = """
          function on_capture_start()
            io.write(sysdig.get_machine_info().hostname, "\\r\\n")
            return true
          end
        """
        under = ("unshare", "-u", sys.executable, "-I", "-c", "import os, socket, sys; socket.sethostname('\x1b]0;a\x07b'); os.execvp(sys.argv[1], sys.argv[1:])")
        self.assertEqual(self.on_terminal(text, "x", under=under), b".]0;a.b\r\n")

    @unittest.skipIf(os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"), "needs a live capture")
    def test_a_chisel_moves_the_cursor_whatever_bytes_it_saw(self):
        text = self.WRITES + """
          local terminal = require "ansiterminal"
          function on_event()
            io.write(evt.field(data))
            terminal.moveto(2, 3.0)
            terminal.setfgcol(9)
            sysdig.control_terminal("\\27[H\\27[2A\\27[K\\27[J")
            io.write(tostring(pcall(sysdig.control_terminal, evt.field(data))))
          end
        """
        for stuff in (r"a\033[2J", r"a\377", r"\033[2Ja"):
            out = self.on_terminal(text, stuff)
            self.assertIn(b"\x1b[2;3H\x1b[38;5;9m\x1b[H\x1b[2A\x1b[K\x1b[Jfalse", out)
            self.assertNotIn(b"\x1b[2J", out)
            self.assertNotIn(b"\xff", out)

    @unittest.skipIf(os.geteuid() or not os.path.exists("/sys/kernel/btf/vmlinux"), "needs a live capture")
    def test_a_hidden_cursor_is_shown_at_the_end(self):
        for hide in ("require 'ansiterminal'.hidecursor()", "io.write('\\27[?25l')"):
            for end in ("", "error('no')", "os.exit(0)"):
                text = f"function on_capture_start() {hide} return true end function on_event() {end} end"
                out = self.on_terminal(text, "x", fails="error" in end)
                self.assertEqual(out, b"\x1b[?25l\x1b[?25h", text)

    def test_documentation_is_current(self):
        page = e2e.read_text(os.path.join(e2e.SOURCE, "docs/chisel-api.md"))
        self.assertEqual(page, e2e.run(e2e.SAKER, "-cl", "--markdown"))


if __name__ == "__main__":
    unittest.main()
