# SPDX-License-Identifier: Apache-2.0
"""What the tests of interpreters' frames share: a program that prints its own stacks, and samples of them."""

import json
import os
import unittest

import saker_e2e as e2e
from profile_test import profile

HERE = os.path.dirname(os.path.abspath(__file__))
N = 400


def short(name):
    return name.rsplit(".", 1)[-1]


class Stacks(unittest.TestCase):
    """Each stack that a program prints of itself before it waits, and the sample of that wait."""

    def run_program(self, program, script, seed):
        folder = e2e.own_dir(self)
        expected, self.capture = os.path.join(folder, "stacks"), os.path.join(folder, "capture.scap")
        profile("--off-cpu", "--stack-depth", "1024", "-w", self.capture, "--",
                program, os.path.join(HERE, "interp", script), expected, str(N), str(seed))
        with open(expected, encoding="utf-8") as f:
            res = [[(short(name), line) for name, line in json.loads(text)] for text in f]
        self.assertEqual(len(res), N)
        return res

    def sampled(self, calls):
        """The stacks of waits in nap: pairs of function and line."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.rows.source\\n",
                       "evt.type=sample and sample.state=sleep and sample.call in (%s) "
                       "and stack.lang.top contains nap" % calls)
        res = []
        for stack in text.split("\n\n"):
            rows = [row.split("\t") for row in stack.strip().splitlines()]
            res.append([(short(r[1]), int(r[6] or 0)) for r in rows if r[0] == "s"])
        return [frames for frames in res if frames]

    def check_order(self, got, expected):
        self.assertGreater(len(got), N // 2) # the first ones come before the tables of the process
        rest = iter(expected)
        for stack in got:
            self.assertIn(stack, rest, "no such stack, or not in this order")

    def check_tops(self, n, script):
        tops = e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%stack.lang.top",
                       "stack.lang.top contains nap").splitlines()
        self.assertGreaterEqual(len(tops), n)
        for top in tops:
            self.assertRegex(top, r"^nap \(.+/%s:\d+\)$" % script)
