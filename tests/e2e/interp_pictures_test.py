#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the flame graph of a program shows its own functions, for each language, in a browser. With
SAKER_IMAGES=FOLDER it also makes the pictures of docs/profiling.md there."""

import os
import re
import unittest

import browser
import erlang
import interp_java_test
import runtimes
import saker_e2e as e2e
from profile_test import profile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = "1.2" # of CPU time


def erlang_command():
    program, env = erlang.program()
    return [*(f"{name}={value}" for name, value in env.items()), program, *erlang.options()]


# Program, script, and what each picture has to show: chains of calls, from the outermost function.
LANGUAGES = {
    "python": (["python3"], "report.py", ("<module>;report;count;parse", "report;slowest_first;mean", "report;render")),
    "lua": (["lua5.4"], "report.lua", ("main chunk;report;count;parse", "report;slowest_first;mean", "report;render")),
    "perl": (["perl"], "report.pl", ("main program;main::report;main::count;main::parse",
                                   "main::report;main::slowest_first;main::mean", "main::report;main::render")),
    "php": (["php"], "report.php", ("{main};Report::make;Report::count;Report::parse",
                                  "Report::make;Report::slowest_first;Report::mean", "Report::make;Report::render")),
    "ruby": (["ruby"], "report.rb", ("<main>;make;count;parse", "make;slowest_first;mean", "make;render")),
    "node": (["node"], "report.js", ("<anonymous>;make;count;parse", "make;slowestFirst;sort", "make;render")),
    "erlang": (erlang_command(), "report.erl",
               ("report:make/1;report:count/1;report:parse/1", "report:make/1;report:slowest_first/1;report:mean/1",
                "report:make/1;report:render/1")),
    "java": (["java"], "Report", ("Report.main;Report.make;Report.count;Report.parse",
                                  "Report.make;Report.slowestFirst", "Report.make;Report.render")),
}


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.own_dir(cls)
        cls.browser = browser.Browser(os.path.join(cls.dir, "profile"), 1200, 800)
        cls.addClassCleanup(cls.browser.close)

    def test_own_functions(self):
        for language, (program, script, chains) in LANGUAGES.items():
            with self.subTest(language=language):
                if program == ["node"]:
                    program = [runtimes.node(runtimes.NODES[1])]
                capture, svg = (os.path.join(self.dir, language + ending) for ending in (".scap", ".svg"))
                folder = interp_java_test.classes(self, "interp/Report.java") if language == "java" \
                    else os.path.join(HERE, "interp")
                profile("-F", "499", "-w", capture, "--", "env", "-C", folder, *program, script, SECONDS)
                profile("-r", capture, "-o", svg)
                stacks = profile("-r", capture, "-c", "folded").stdout
                for chain in chains:
                    functions = (re.escape(function) + r"(?: \([^;]*\))?" for function in chain.split(";"))
                    self.assertRegex(stacks, ";(.*;)?".join(functions))
                self.look(svg, language)

    def look(self, svg, language):
        self.browser.open("file://" + svg)
        self.assertTrue(self.browser.wait("return document.querySelector('svg')"))
        self.assertEqual(self.browser.errors(), [])
        folder = os.environ.get("SAKER_IMAGES")
        if folder:
            self.browser.screenshot(os.path.join(folder, f"profile-{language}.png"))


if __name__ == "__main__":
    e2e.need_live()
    if browser.missing():
        e2e.skip(f"{browser.missing()} is not installed: scripts/setup --tests")
    unittest.main()
