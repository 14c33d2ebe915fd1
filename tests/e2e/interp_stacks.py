# SPDX-License-Identifier: Apache-2.0
"""What the tests of interpreters' frames share: a program that prints its own stacks, and samples of them."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import erlang
import saker_e2e as e2e
from profile_test import SESSION

HERE = os.path.dirname(os.path.abspath(__file__))
N = int(os.environ.get("INTERP_STACKS", "250"))


def short(name):
    return name.rsplit(".", 1)[-1]


class Stacks(unittest.TestCase):
    """Each stack that a program prints of itself before it waits, and the sample of that wait."""
    top = "stack.lang.top" # field with the function that waits

    def has_frames(self):
        """True once a sample has functions of the program: the tables of its files are loaded."""
        if not os.path.exists(self.capture):
            return False
        p = subprocess.run([e2e.SAKER, "-r", self.capture, "-p", f"%{self.top}", f"{self.top} contains warm_up"],
                           capture_output=True, text=True)
        return "warm_up" in p.stdout

    def run_erlang(self, seed, root=""):
        program, env = erlang.program(root)
        folder = tempfile.mkdtemp(dir=root + "/tmp")
        self.addCleanup(shutil.rmtree, folder)
        with unittest.mock.patch.dict(os.environ, env):
            return self.run_program(program, "stacks.erl", seed,
                                    *erlang.options(*erlang.functions_in_c(folder, root)), root=root)

    def run_program(self, program, script, seed, *options, root="", words=()):
        """The program calls warm_up until there is a file start; its stacks from then on count. In another
        root it runs by chroot. words: more arguments."""
        folder, scripts = e2e.own_dir(self), os.path.join(HERE, "interp")
        if root:
            folder = tempfile.mkdtemp(dir=root + "/tmp")
            self.addCleanup(shutil.rmtree, folder)
            scripts = shutil.copytree(scripts, os.path.join(folder, "interp"))
        expected, start, self.capture = (os.path.join(folder, name) for name in ("stacks", "start", "capture.scap"))
        command = [e2e.SAKER, "profile", "--off-cpu", "--stack-depth", "1024", "-w", self.capture, "--",
                   *(["chroot", root] if root else []), program, *options,
                   *(word.removeprefix(root) for word in (os.path.join(scripts, script), expected)),
                   str(N), str(seed), start.removeprefix(root), *words]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={**os.environ, **SESSION, "LC_ALL": "C"}) as p:
            try:
                e2e.wait_until(lambda: p.poll() is not None or self.has_frames(), f"frames of {program}")
            finally:
                e2e.write_text(start, "")
            text = p.communicate()[0]
        self.assertEqual(p.returncode, 0, text)
        with open(expected, encoding="utf-8") as f:
            res = [[(short(name), line) for name, line in json.loads(text)] for text in f]
        self.assertEqual(len(res), N)
        return res

    def sampled(self, calls, library=None, also=""):
        """The stacks of waits in nap: pairs of function and line. library: the name of a file whose functions count,
        too, without lines. also: a condition."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.rows.source\\n",
                       "evt.type=sample and sample.state in (sleep, disk_sleep) and sample.call in (%s) "
                       "and stack.lang.top contains nap %s" % (calls, also))
        res = []
        for stack in text.split("\n\n"):
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            res.append([(short(r[1]), int((r + [""] * 6)[6] or 0)) if r[0] == "s" else (r[1], 0)
                        for r in rows if r[0] == "s" or (library and library in r[2])])
        return [frames for frames in res if frames]

    def check_order(self, got, expected):
        self.assertGreater(len(got), 0.9 * N) # under load a few stacks have a page that is not in memory
        rest, last = iter(expected), None
        for stack in got:
            if stack != last: # else the wait was interrupted, and began again
                self.assertIn(stack, rest, "no such stack, or not in this order")
            last = stack

    def check_tops(self, n, script):
        tops = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.lang.top",
                       "stack.lang.top contains nap").splitlines()
        self.assertGreaterEqual(len(tops), n)
        for top in tops:
            self.assertRegex(top, r"^nap \(.+/%s:\d+\)$" % script)
