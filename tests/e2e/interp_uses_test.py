#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what stacks of interpreted programs are used for, in each language: the line that makes a system call, and deep
stacks, running and waiting."""

import collections
import glob
import os
import re
import shlex
import subprocess
import unittest

import erlang
import interp_java_test
import interp_paths as paths
import runtimes
import saker_e2e as e2e
from profile_test import SESSION

SECONDS = 1.5
DEPTH = 301

# load_it opens a file some times, as the tables of the process may come a moment later than its first call; those of
# Node.js, whose file is large, some seconds later on a busy machine.
LOADS = {
    "py": "import time\ndef load_it():\n    open('/etc/passwd').close()\nfor _ in range(60):\n    load_it()\n"
          "    time.sleep(.01)\n",
    "lua": "function load_it()\n  io.open('/etc/passwd'):close()\nend\nfor i = 1, 60 do\n  load_it()\n"
           "  os.execute('sleep 0.01')\nend\n",
    "pl": "sub load_it {\n    open my $f, '<', '/etc/passwd';\n    close $f;\n}\nfor (1 .. 60) {\n    load_it();\n"
          "    select undef, undef, undef, 0.01;\n}\n",
    "php": "<?php\nfunction load_it() {\n    fclose(fopen('/etc/passwd', 'r'));\n}\nfor ($i = 0; $i < 60; $i++) {\n"
           "    load_it();\n    usleep(10000);\n}\n",
    "rb": "def load_it\n  File.open('/etc/passwd').close\nend\n60.times do\n  load_it\n  sleep 0.01\nend\n",
    "erl": "-module(load).\n-export([main/1]).\nmain(_) -> times(60).\ntimes(0) -> ok;\ntimes(N) ->\n    load_it(),\n"
           "    timer:sleep(10),\n    times(N - 1).\nload_it() ->\n"
           "    {ok, File} = file:open(\"/etc/passwd\", [read, raw]),\n    file:close(File).\n",
    "js": "const fs = require('fs');\nfunction load_it() {\n  fs.closeSync(fs.openSync('/etc/passwd'));\n}\n"
          "const n = new Int32Array(new SharedArrayBuffer(4));\nfor (let i = 0; i < 400; i++) {\n  load_it();\n"
          "  Atomics.wait(n, 0, 0, 10);\n}\n",
    "java": "import java.io.*;\nclass load {\n    static void load_it() throws IOException {\n"
            "        new FileInputStream(\"/etc/passwd\").close();\n    }\n"
            "    public static void main(String[] args) throws Exception {\n        for (int i = 0; i < 60; i++) {\n"
            "            load_it();\n            Thread.sleep(10);\n        }\n    }\n}\n",
}
ITS_OWN = "py", "lua", "pl", "php", "rb" # those whose library opens files in C

# take_job waits in the library of the language.
TAKES = {
    "py": "import queue\njobs = queue.Queue()\ndef take_job():\n    jobs.get()\ntake_job()\n",
    "java": "import java.util.concurrent.*;\nclass take {\n    static void take_job() throws Exception {\n"
            "        new LinkedBlockingQueue<String>().take();\n    }\n"
            "    public static void main(String[] args) throws Exception {\n        take_job();\n    }\n}\n",
    "js": "const jobs = new Int32Array(new SharedArrayBuffer(4));\nfunction take_job() {\n  Atomics.wait(jobs, 0, 0);\n}\n"
          "take_job();\n",
}
# leaf runs, and waits, below many calls of down.
DEEP = {
    "py": "import sys, time\ndef leaf(ends):\n    while time.time() < ends:\n        n = 0\n        for i in range(20000):\n"
          "            n += i % 3\n        time.sleep(0.002)\n    return 0\ndef down(n, ends):\n"
          "    return (down(n - 1, ends) if n else leaf(ends)) + 1\ndown(300, time.time() + float(sys.argv[1]))\n",
    "java": "class deep {\n    static int leaf(long ends) throws Exception {\n        int n = 0;\n"
            "        while (System.nanoTime() < ends) {\n            for (int i = 0; i < 500000; i++) n += i % 3;\n"
            "            Thread.sleep(2);\n        }\n        return n;\n    }\n"
            "    static int down(int n, long ends) throws Exception {\n"
            "        return (n > 0 ? down(n - 1, ends) : leaf(ends)) + 1;\n    }\n"
            "    public static void main(String[] args) throws Exception {\n"
            "        down(300, System.nanoTime() + (long)(1e9 * Double.parseDouble(args[0])));\n    }\n}\n",
    "pl": "use Time::HiRes 'time';\nno warnings 'recursion';\nmy $ends = time() + $ARGV[0];\nsub leaf {\n"
          "    while (time() < $ends) {\n        my $n = 0;\n        $n += $_ % 3 for 1 .. 20000;\n"
          "        select undef, undef, undef, 0.002;\n    }\n}\nsub down {\n    my $n = shift;\n"
          "    if ($n) {\n        down($n - 1);\n    } else {\n        leaf();\n    }\n    return;\n}\ndown(300);\n",
    "php": "<?php\nfunction leaf($ends) {\n    while (microtime(true) < $ends) {\n"
           "        for ($i = $n = 0; $i < 50000; $i++) $n += $i % 3;\n        usleep(2000);\n    }\n    return 0;\n}\n"
           "function down($n, $ends) {\n    return ($n ? down($n - 1, $ends) : leaf($ends)) + 1;\n}\n"
           "down(300, microtime(true) + $argv[1]);\n",
    "rb": "def now\n  Process.clock_gettime(Process::CLOCK_MONOTONIC)\nend\ndef leaf(ends)\n  while now < ends\n    i = 0\n"
          "    i += 1 while i < 50_000\n    sleep 0.002\n  end\nend\ndef down(n, ends)\n"
          "  n.zero? ? leaf(ends) : down(n - 1, ends)\n  n\nend\ndown(300, now + ARGV[0].to_f)\n",
    "lua": "local ends = os.time() + tonumber(arg[1])\nlocal function leaf()\n  while os.time() < ends do\n    local n = 0\n"
           "    for i = 1, 200000 do n = n + i % 3 end\n    os.execute('sleep 0.002')\n  end\nend\n"
           "local function down(n)\n  if n > 0 then down(n - 1) else leaf() end\n  return n\nend\ndown(300)\n",
    "erl": "-module(stacks).\n-export([main/1, sleep/0, sleep_elsewhere/0]).\n-nifs([sleep/0, sleep_elsewhere/0]).\n"
           "main([_, Seconds]) ->\n"
           "    {ok, [[Nif]]} = init:get_argument(nif),\n    ok = erlang:load_nif(Nif, 0),\n"
           "    down(300, erlang:monotonic_time(millisecond) + round(1000 * list_to_float(Seconds))).\n"
           "sleep() -> erlang:nif_error(no).\nsleep_elsewhere() -> erlang:nif_error(no).\n"
           "leaf(Ends) ->\n    count(100000),\n    sleep(),\n    case erlang:monotonic_time(millisecond) < Ends of\n"
           "        true -> leaf(Ends);\n        false -> 0\n    end.\ncount(0) -> 0;\ncount(N) -> count(N - 1).\n"
           "down(0, Ends) -> leaf(Ends) + 1;\ndown(N, Ends) -> down(N - 1, Ends) + 1.\n",
    "js": "const word = new Int32Array(new SharedArrayBuffer(4));\nconst ends = Date.now() + 1000 * process.argv[2];\n"
          "function leaf() {\n  let n = 0;\n  while (Date.now() < ends) {\n    for (let i = 0; i < 500000; i++) n += i % 3;\n"
          "    Atomics.wait(word, 0, 0, 2);\n  }\n  return n;\n}\nfunction down(n) {\n"
          "  return (n ? down(n - 1) : leaf()) + 1;\n}\ndown(300);\n",
}


def program_of(ending):
    if ending == "js":
        return runtimes.node(runtimes.NODES[2])
    return {"py": "/usr/bin/python3", "lua": "/usr/bin/lua5.4", "pl": "/usr/bin/perl", "rb": "/usr/bin/ruby",
            "php": glob.glob("/usr/bin/php8.?")[0], "erl": erlang.program()[0],
            "java": interp_java_test.java("17")}[ending]


def command_of(folder, ending, name, text):
    path = os.path.join(folder, f"{name}.{ending}")
    e2e.write_text(path, text)
    command, env = paths.command_of(ending, program_of(ending), path, SECONDS, main=name)
    return ["env", *(f"{k}={v}" for k, v in env.items()), *command]


def shell(commands):
    return "\n".join(shlex.join(command) for command in commands) + "\n"


class Calls(unittest.TestCase):
    def test_line(self):
        """--sample-on syscall names the line that opens a file; a library written in the language is above it."""
        folder = e2e.own_dir(self)
        out = os.path.join(folder, "out")
        commands = [command_of(folder, ending, "load", text) for ending, text in LOADS.items()]
        e2e.write_text(os.path.join(folder, "all"), shell(commands))
        subprocess.run([e2e.SAKER, "--sample-on", "syscall", "-o", out, "-p",
                        "%proc.name %stack.lang.top\\nown %stack.lang.own\\n%stack.rows.source", "evt.type in (open, openat)",
                        "and fd.name=/etc/passwd", "--", "sh", os.path.join(folder, "all")],
                       check=True, env={**os.environ, **SESSION})
        text = e2e.read_text(out)
        for ending, program in LOADS.items():
            with self.subTest(ending=ending):
                n = next(i for i, line in enumerate(program.splitlines(), 1) if "/etc/passwd" in line)
                place = re.escape(os.path.join(folder, "load.") + ending)
                if ending in ITS_OWN:
                    found = re.findall(rf"(?m)^\S+ (?:main::)?load_it \({place}:{n}\)$", text)
                else:
                    found = re.findall(rf"(?m)^s\t(?:load[:.])?load_it(?:/0)?\t.*load\.{ending}\t{n}$", text)
                self.assertGreater(len(found), 20)
                name = r"(?:load[:.]|main::)?load_it(?:/0)?"
                own = re.findall(rf"(?m)^own {name} \(\S*load\.{ending}:{n}\)$", text)
                self.assertGreater(len(own), 20)


class Waits(unittest.TestCase):
    def test_own_function(self):
        """A wait in the library of a language is shown with the program's own function and line."""
        folder, out = e2e.own_dir(self), os.path.join(e2e.own_dir(self), "out")
        wanted, pids = [], []
        for ending, program in TAKES.items():
            p = subprocess.Popen(command_of(folder, ending, "take", program))
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            pids.append(str(p.pid))
            n = next(i for i, line in enumerate(program.splitlines(), 1) if re.search(r"\.(get|take|wait)\(", line))
            wanted.append(rf"(?m)^\d thread.* waits?: futex in \S+ <- (take\.)?take_job \(take\.{ending}:{n}\), .*\({p.pid}\)")

        def shown():
            subprocess.run([e2e.SAKER, "profile", "--off-cpu", "-c", "offcpu", "top=100", "-o", out, "-d", "0.3",
                            "-p", ",".join(pids)], env={**os.environ, **SESSION}, check=False)
            text = e2e.read_text(out) if os.path.exists(out) else ""
            return all(re.search(line, text) for line in wanted)

        e2e.wait_until(shown, "own functions in each runtime")


class Deep(unittest.TestCase):
    """Stacks of 301 calls of down, below leaf, which runs and waits."""

    @classmethod
    def setUpClass(cls):
        """Counts whole stacks and all of each program, and of each reason of a sample."""
        folder = e2e.own_dir(cls)
        capture, script = os.path.join(folder, "capture.scap"), os.path.join(folder, "all")
        commands = [command_of(folder, ending, "stacks" if ending == "erl" else "deep", text) for ending, text in DEEP.items()]
        for command in commands:
            if "-noinput" in command:
                at = command.index("-noinput") + 1
                command[at:at] = erlang.functions_in_c(folder)
        e2e.write_text(script, shell(commands))
        subprocess.run([e2e.SAKER, "profile", "-F", "499", "--off-cpu", "--stack-depth", "1024", "-w", capture, "--",
                        "sh", script], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **SESSION})
        cls.whole, cls.all, cls.depths = collections.Counter(), collections.Counter(), []
        text = e2e.run(e2e.SAKER, "-r", capture, "-p", "*%sample.reason\\t%stack.end\\t%stack.user.depth\\n%stack.rows.source\\n",
                       "evt.type=sample and stack.frames contains leaf")
        for stack in text.split("\n\n"):
            cls.count(*stack.strip("\n").partition("\n")[::2])

    @classmethod
    def count(cls, head, text):
        rows = list(paths.rows_of(text))
        frames = [row for row in rows if row[0] == "s"]
        names = [re.sub(r"^main::|^stacks:|^deep\.|/\d$", "", name) for _, name, _, _ in frames]
        if "leaf" not in names:
            return
        reason, end, depth = head.split("\t")
        key = frames[names.index("leaf")][2].rsplit(".", 1)[-1], reason
        cls.depths.append((key[0], int(depth), sum(row[0] != "k" for row in rows)))
        cls.all[key] += 1
        cls.whole[key] += end == "root" and names.count("down") == DEPTH

    def check(self, reason):
        for ending in DEEP:
            with self.subTest(ending=ending):
                n = self.all[ending, reason]
                self.assertGreater(self.whole[ending, reason], 10)
                self.assertGreaterEqual(self.whole[ending, reason], 0.95 * n)

    def test_running(self):
        self.check("cpu")

    def test_waiting(self):
        self.check("off_cpu")

    def test_depth(self):
        """A frame of an interpreter is one. A call of Java and JavaScript has one or two native frames, too, without rows."""
        for ending, depth, rows in self.depths:
            native = 2 * DEPTH if ending in ("java", "js") else 0
            self.assertGreater(depth, rows - DEPTH / 10, ending)
            self.assertLess(depth, rows + native + DEPTH / 10, ending)



if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
