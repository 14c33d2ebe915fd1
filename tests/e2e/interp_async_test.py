#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the frames of interpreted programs in samples by time, which meet programs at any instruction: also while they
call or return, and while they begin or end."""

import collections
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import erlang
import interp_java_test
import interp_paths as paths
import runtimes
import saker_e2e as e2e
from profile_test import SESSION

SECONDS = 2
LIMIT = 0.001 # of the samples that differ beyond the innermost function


class Judge(unittest.TestCase):
    def test_judge(self):
        """Of a right stack, each frame but the innermost is required, in its place and with its line."""
        program = paths.Program("py")
        line_of = {(owner, program.callee[line]): line for line, owner in program.owner.items() if line in program.callee}
        names = ["main", *(f"f{level}_{level % 2}" for level in range(paths.LEVELS))]
        rows = [("s", name, program.file, line_of[name, called]) for name, called in zip(names, names[1:])]
        rows.append(("s", names[-1], program.file, next(line for line, owner in program.owner.items() if owner == names[-1])))
        rows.reverse()
        self.assertEqual(program.judge(rows), "right")
        self.assertEqual(program.judge(rows[1:]), "right") # it has not begun
        self.assertEqual(program.judge([("s", "f9_0", program.file, 0), *rows[1:]]), "inner")
        for i in range(1, len(rows)):
            self.assertEqual(program.judge(rows[:i] + rows[i + 1:]), "wrong" if i > 1 else "inner")
            kind, name, file, line = rows[i]
            for other in (line - 1, line + 1):
                verdict = program.judge([*rows[:i], (kind, name, file, other), *rows[i + 1:]])
                self.assertIn(verdict, ("wrong", "inner") if i == 1 else ("wrong",))
        self.assertEqual(program.judge([("u", "main", "", 0)]), "none")


class Async(unittest.TestCase):
    """Few samples differ beyond the innermost function, at most LIMIT; three may, as a machine may give few samples."""

    def check(self, ending, program, root="", options=()):
        folder = tempfile.mkdtemp(dir=root + "/tmp") if root else e2e.own_dir(self)
        if root:
            self.addCleanup(shutil.rmtree, folder)
        judge, capture, counts, wrong = paths.Program(ending), None, collections.Counter(), []

        def enough():
            nonlocal capture
            capture = paths.sample(folder, *paths.command_of(ending, program, judge.write(folder), SECONDS, root, options))
            counts.update(paths.judged(judge, capture, wrong))
            return counts["right"] > 500
        e2e.wait_until(enough, f"samples of {program}") # a busy machine may take few
        n = sum(counts.values())
        text = "\n".join("\n".join(map(str, rows)) + "\n" for rows in wrong)
        self.assertLessEqual(counts["wrong"], max(3, n * LIMIT), f"{counts}\n{text}")
        self.assertLessEqual(n - counts["right"] - counts["inner"] - counts["wrong"], 2 + n / 100, f"{counts}\n{text}")
        self.assertLessEqual(counts["inner"], n / 4, counts)

    def test_python(self):
        self.check("py", "/usr/bin/python3")

    def test_lua(self):
        self.check("lua", "/usr/bin/lua5.4")

    def test_php(self):
        self.check("php", glob.glob("/usr/bin/php8.?")[0])

    def test_php_compiled(self):
        self.check("php", "/usr/bin/php8.4", runtimes.root("trixie", "php8.4-cli", "php8.4-opcache"),
                   ("-d", "zend_extension=opcache.so", "-d", "opcache.enable_cli=1", "-d", "opcache.jit=function",
                    "-d", "opcache.jit_buffer_size=32M"))

    def test_perl(self):
        self.check("pl", "/usr/bin/perl")

    def test_ruby(self):
        self.check("rb", "/usr/bin/ruby")

    def test_erlang(self):
        self.check("erl", erlang.program()[0])

    def test_node(self):
        self.check("js", runtimes.node(runtimes.NODES[2]))

    def test_java(self):
        self.check("java", interp_java_test.java("17"))


class Brief(unittest.TestCase):
    """Processes that live for some milliseconds."""

    def test_names(self):
        """Of the functions in 100 short runs less than 1 % have no name. Nearly all stacks in the interpreter's loop have
        functions; the first process is sampled while its tables are made."""
        capture = os.path.join(e2e.own_dir(self), "capture.scap")
        subprocess.run([e2e.SAKER, "profile", "-F", "999", "-w", capture, "--", "sh", "-c",
                        "for i in $(seq 100); do /usr/bin/python3 -c 'import json; json.dumps([1])'; done"],
                       check=True, env={**os.environ, **SESSION}, stdout=subprocess.DEVNULL)
        processes, names, loops = set(), [], collections.Counter()
        for tid, _, rows in paths.stacks(capture):
            own = [name for kind, name, _, _ in rows if kind == "s"]
            names += own
            if own:
                processes.add(tid)
            if own or any(name == "_PyEval_EvalFrameDefault" for _, name, _, _ in rows):
                loops[tid, bool(own)] += 1
        self.assertGreater(len(processes), 90)
        self.assertGreater(len(names), 1000)
        self.assertLess(sum(1 for name in names if "unknown" in name), 0.01 * len(names))
        first = min(tid for tid, _ in loops)
        without = sum(n for (tid, own), n in loops.items() if tid != first and not own)
        self.assertLess(without, 0.05 * sum(loops.values()))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
