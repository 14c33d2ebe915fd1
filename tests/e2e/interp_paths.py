# SPDX-License-Identifier: Apache-2.0
"""Programs whose stacks can be judged at any instruction, and the judge: the name of a function has its level, and the
line of a call determines the function that it calls. So each two frames of a stack that is right fit together, from
the outermost one on. Functions do little but call, some through C, so that many samples meet a call or a return."""

import collections
import os
import re
import subprocess

import erlang
import saker_e2e as e2e
from profile_test import SESSION

LEVELS = 10
VIA_C = 3, 6 # levels that call the next one through C
NAME = re.compile(r"(?<![A-Za-z0-9_])f(\d+)_(\d)(?!\w)")
RATE = "3999"

# Each function calls one of two, by a bit of its argument; those of the last level call none. {0} and {1} are the calls.
FUNCTION = {
    "py": "def {name}(n):\n    if n & 1:\n        return {0}\n    return {1}\n",
    "lua": "function {name}(n)\n  if n & 1 == 1 then\n    return {0}\n  end\n  return {1}\nend\n",
    "pl": "sub {name} {{\n    my $n = shift;\n    return {0} if $n & 1;\n    return {1};\n}}\n",
    "php": "function {name}($n) {{\n    if ($n & 1)\n        return {0};\n    return {1};\n}}\n",
    "rb": "def {name}(n)\n  if n & 1 == 1\n    return {0}\n  end\n  {1}\nend\n",
    "js": "function {name}(n) {{\n  if (n & 1)\n    return {0};\n  return {1};\n}}\n",
    "java": "static int {name}(int n) {{\n    if ((n & 1) != 0)\n        return {0};\n    return {1};\n}}\n",
    "erl": "{name}(N) ->\n    case N band 1 of\n        1 -> {0};\n        0 -> {1}\n    end.\n",
}
LAST = {
    "py": "def {name}(n):\n    return n + 1\n",
    "lua": "function {name}(n)\n  return n + 1\nend\n",
    "pl": "sub {name} {{\n    my $n = shift;\n    return $n + 1;\n}}\n",
    "php": "function {name}($n) {{\n    return $n + 1;\n}}\n",
    "rb": "def {name}(n)\n  n + 1\nend\n",
    "js": "function {name}(n) {{\n  return n + 1;\n}}\n",
    "java": "static int {name}(int n) {{\n    return n + 1;\n}}\n",
    "erl": "{name}(N) ->\n    N + 1.\n",
}
# A call is no tail call, which would have no frame.
CALL = {"py": "{}(n >> 1) + 1", "lua": "{}(n >> 1) + 1", "pl": "{}($n >> 1) + 1", "php": "{}($n >> 1) + 1",
        "rb": "{}(n >> 1) + 1", "js": "{}(n >> 1) + 1", "java": "{}(n >> 1) + 1", "erl": "{}(N bsr 1) + 1"}
CALL_VIA_C = {
    "py": "sorted([n >> 1], key={})[0] + 1",
    "lua": "select(2, pcall({}, n >> 1)) + 1",
    "pl": "List::Util::first(sub {{ {}($n >> 1) }}, 1) + 1",
    "php": "array_map('{}', [$n >> 1])[0] + 1",
    "rb": "[n >> 1].map {{ |m| {}(m) }}[0] + 1",
    "js": "[n >> 1].map({})[0] + 1",
    "java": "java.util.stream.IntStream.of(n >> 1).map(Paths::{}).sum() + 1",
    "erl": "hd(lists:map(fun {}/1, [N bsr 1])) + 1",
}
HEAD = {"py": "import sys, time\n", "lua": "", "pl": "use List::Util ();\nuse Time::HiRes 'time';\n", "php": "<?php\n",
        "rb": "", "js": "'use strict';\n", "java": "class Paths {\n", "erl": "-module(paths).\n-export([main/1]).\n"}
MAIN = {
    "py": "def main():\n    until, n = time.monotonic() + float(sys.argv[1]), 0\n    while time.monotonic() < until:\n"
          "        for n in range(n, n + 1000):\n            {root}(n)\n\nmain()\n",
    "lua": "local function main()\n  local till, n = os.time() + tonumber(arg[1]), 0\n  while os.time() < till do\n"
           "    for i = n, n + 1000 do\n      {root}(i)\n    end\n    n = n + 1000\n  end\nend\nmain()\n",
    "pl": "sub main {{\n    my ($until, $n) = (time() + shift(@ARGV), 0);\n    while (time() < $until) {{\n"
          "        for my $i ($n .. $n + 1000) {{\n            {root}($i);\n        }}\n        $n += 1000;\n    }}\n}}\n"
          "main();\n",
    "php": "function main($seconds) {{\n    $until = microtime(true) + $seconds;\n    $n = 0;\n"
           "    while (microtime(true) < $until) {{\n        for ($i = 0; $i < 1000; $i++)\n            {root}($n++);\n"
           "    }}\n}}\nmain($argv[1]);\n",
    "rb": "def main(ends)\n  n = 0\n  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends\n    i = 0\n"
          "    while i < 1000\n      {root}(n)\n      i += 1\n      n += 1\n    end\n  end\nend\n"
          "main(Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f)\n",
    "js": "function main() {{\n  const until = Date.now() + 1000 * process.argv[2];\n"
          "  for (let n = 0; Date.now() < until;) {{\n    for (let i = 0; i < 1000; i++)\n      {root}(n++);\n  }}\n}}\n"
          "main();\n",
    "java": "public static void main(String[] args) {{\n"
            "    long until = System.nanoTime() + (long)(1e9 * Double.parseDouble(args[0]));\n"
            "    for (int n = 0; System.nanoTime() < until;)\n        for (int i = 0; i < 1000; i++)\n"
            "            sum += {root}(n++);\n}}\nstatic volatile int sum;\n}}\n",
    "erl": "main([_, Seconds]) ->\n"
           "    loop(0, erlang:monotonic_time(millisecond) + round(1000 * list_to_float(Seconds))).\n"
           "loop(N, Until) ->\n    case erlang:monotonic_time(millisecond) < Until of\n        true -> loop(some(N, 1000), Until);\n"
           "        false -> ok\n    end.\nsome(N, 0) -> N;\nsome(N, Left) ->\n    {root}(N),\n    some(N + 1, Left - 1).\n",
}


class Program:
    """A generated program: its text, and for each line the function that it is in and the one that it calls."""

    def __init__(self, ending):
        self.ending, self.file = ending, ("Paths" if ending == "java" else "paths") + "." + ending
        self.lines, self.owner, self.callee = [], {}, {}
        self.add("", HEAD[ending])
        for level in range(LEVELS):
            for k in "01":
                self.add_function(level, k)
        self.add("main", MAIN[ending].format(root="f0_0"))

    def add_function(self, level, k):
        name, call = f"f{level}_{k}", (CALL_VIA_C if level in VIA_C else CALL)[self.ending]
        calls = [call.format(f"f{level + 1}_{i}") for i in "01"]
        self.add(name, (FUNCTION if level + 1 < LEVELS else LAST)[self.ending].format(*calls, name=name))

    def add(self, name, text):
        for line in text.splitlines():
            self.lines.append(line)
            self.owner[len(self.lines)] = name
            called = [m[0] for m in NAME.finditer(line) if m[0] != name]
            if called:
                self.callee[len(self.lines)] = called[0]

    def write(self, folder):
        path = os.path.join(folder, self.file)
        e2e.write_text(path, "\n".join(self.lines) + "\n")
        return path

    def frames(self, rows):
        """The frames of the program, innermost first: function, line (0: unknown). A block without a name stands for
        the function that it is in."""
        res = []
        for kind, name, file, line in rows:
            if kind != "s" or os.path.basename(file) != self.file and not NAME.search(name):
                continue
            own = NAME.search(name)
            owner = self.owner.get(line, own[0] if own else "")
            if own and own[0] != owner:
                owner = f"{name} at a line of {owner}"
            if res and res[-1][:2] == (owner, line) and res[-1][2] != name:
                continue
            res.append((owner, line, name))
        return [frame[:2] for frame in res]

    def fits(self, inner, outer):
        """Whether @outer calls @inner; each has a function and a line."""
        if outer[1]:
            return self.callee.get(outer[1]) == inner
        level = NAME.fullmatch(outer[0])
        return inner.startswith(f"f{int(level[1]) + 1 if level else 0}_")

    def judge(self, rows):
        """right; inner: only the innermost function does not fit; wrong."""
        frames = self.frames(rows)
        while frames and frames[-1][0] == "main" and frames[-1][1] and frames[-1][1] not in self.callee:
            if len(frames) > 1 and frames[-2][0] == "main":
                frames.pop() # the line that calls main
            else:
                break
        if not frames:
            return "none"
        bad = [i for i in range(len(frames) - 1) if not self.fits(frames[i][0], frames[i + 1])]
        if frames[-1][0] != "main":
            return "wrong"
        return "right" if not bad else "inner" if bad == [0] else "wrong"


def rows_of(text):
    for row in text.splitlines():
        r = (row.split("\t") + [""] * 7)[:7]
        yield r[0], r[1], r[5], int(r[6] or 0)


def stacks(capture, *options):
    """Thread, end and rows of each sample."""
    text = e2e.run(e2e.SAKER, *options, "-r", capture, "-p", "*%thread.tid\\t%stack.end\\n%stack.rows.source\\n", "evt.type=sample")
    for stack in text.split("\n\n"):
        head, _, rows = stack.strip("\n").partition("\n")
        if "\t" in head:
            yield (*head.split("\t"), list(rows_of(rows)))


def command_of(ending, program, path, seconds, root="", options=(), main="Paths"):
    """How to run the program at @path; and its environment."""
    inside = path.removeprefix(root)
    words = [inside, str(seconds)]
    if ending == "java":
        subprocess.run(["javac", "--release", "17", path], check=True)
        words = ["-cp", os.path.dirname(inside), main, str(seconds)]
    elif ending == "erl":
        words = [*erlang.options(), inside, str(float(seconds))]
    return ([*(["chroot", root] if root else []), program, *options, *words],
            erlang.program(root)[1] if ending == "erl" else {})


def sample(folder, command, env):
    """Samples the whole run by time. Returns the capture."""
    capture = os.path.join(folder, "paths.scap")
    subprocess.run([e2e.SAKER, "profile", "-F", RATE, "-w", capture, "--", *command], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **SESSION, **env})
    return capture


def why_none(ending, rows, end):
    """Names the reason of a stack that lacks functions."""
    names = {name for _, name, _, _ in rows}
    if ending == "erl" and "erts_schedule" in names:
        return "" # between two turns of the Erlang process
    if ending == "erl" and "erts_garbage_collect_nobump" in names:
        return "collects garbage"
    return f"cut: {end}" if end != "root" else "none"


def begins(rows):
    """Whether Perl still compiles the program: what it loads is run then, below blocks of that name."""
    return any(kind == "s" and name == "main::BEGIN" for kind, name, _, _ in rows)


def early(verdicts):
    """The number of first samples that may lack outer functions: a stack that leads through a file whose table is not
    made yet is walked from a copy beyond, which has native frames only, that of the loop, too. That is over when 100
    samples have no such frame."""
    in_row = 0
    for i, (_, _, rows) in enumerate(verdicts):
        own = [name for kind, name, _, _ in rows if kind == "s"]
        lacks = any(kind == "u" and name == "Perl_runops_standard" for kind, name, _, _ in rows)
        lacks |= any(name.startswith("main::") for name in own) and own[-1] != "main program" # files without names
        in_row = 0 if lacks else in_row + 1
        if in_row == 100:
            return i + 1 - in_row
    return len(verdicts)


def judged(program, capture, wrong):
    """The number of samples by verdict. Appends the rows of some wrong ones to @wrong."""
    all_stacks = [stack for stack in stacks(capture) if not begins(stack[2])]
    of = collections.Counter(tid for tid, _, rows in all_stacks if program.frames(rows))
    thread = of.most_common(1)[0][0] if of else ""
    verdicts = [(program.judge(rows), end, rows) for tid, end, rows in all_stacks if tid == thread]
    verdicts = verdicts[next((i for i, (verdict, _, _) in enumerate(verdicts) if verdict == "right"), 0):]
    verdicts = verdicts[early(verdicts):]
    good = [i for i, (verdict, _, _) in enumerate(verdicts) if verdict == "right"]
    counts = collections.Counter()
    for verdict, end, rows in verdicts[good[0]:good[-1] + 1] if good else verdicts: # else it begins, or ends
        if verdict == "none" or verdict == "wrong" and end != "root":
            verdict = why_none(program.ending, rows, end)
        counts[verdict] += verdict != ""
        if verdict not in ("", "right", "inner") and len(wrong) < 5:
            wrong.append(rows)
    return counts
