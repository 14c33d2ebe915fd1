#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the examples of docs/writing-a-chisel.md: writes each file of the page, runs each command, and compares
the output with the page, except for numbers. A line ... stands for any lines."""

import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

PAGE = os.path.join(e2e.SOURCE, "docs/writing-a-chisel.md")
FENCE = re.compile(r"(?ms)^```(lua)?\n(.*?)^```$")


def masked(line):
    """Removes numbers, and joins spaces."""
    line = re.sub(r"\d+(\.\d+)?(ns|us|ms|s|m|K|M|G)?\b", "N", line)
    return re.sub(r"[ \t]+", " ", line).strip()


def commands(block):
    """Returns the commands of a block, each with the lines below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def shell(self, command):
        path = os.path.dirname(e2e.SAKER) + os.pathsep + os.environ["PATH"]
        env = {**os.environ, "PATH": path, "TZ": "UTC", "LC_ALL": "C", "HOME": self.dir,
               "SAKER_CHISEL_DIR": "."}
        p = subprocess.run(["timeout", "-k", "2", "60", "sh", "-c", command.removeprefix("sudo ")], cwd=self.dir, env=env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return p.stdout.decode(errors="replace").splitlines()

    def compare(self, command, expected, printed):
        expected, printed = list(map(masked, expected)), list(map(masked, printed))
        if "..." not in expected:
            self.assertEqual(printed, expected, command)
            return
        at = expected.index("...")
        tail = expected[at + 1:]
        self.assertEqual(printed[:at], expected[:at], command)
        self.assertEqual(printed[len(printed) - len(tail):], tail, command)

    def test_all_of_it(self):
        n_files = n_commands = 0
        for m in FENCE.finditer(e2e.read_text(PAGE)):
            if m[1]:
                name = re.match(r"-- (\w+\.lua)\n", m[2])[1]
                with open(os.path.join(self.dir, name), "w") as f:
                    f.write(m[2])
                n_files += 1
                continue
            for command, expected in commands(m[2]):
                self.assertTrue(expected, f"nothing is shown of: {command}")
                self.compare(command, expected, self.shell(command))
                n_commands += 1
        self.assertGreater(n_files, 8)
        self.assertGreater(n_commands, n_files)

    def test_files_are_as_our_own(self):
        """Each file has a description, as the built-in chisels do."""
        for m in FENCE.finditer(e2e.read_text(PAGE)):
            if m[1]:
                self.assertRegex(m[2], r'(?m)^description = "[A-Z].*\."$')


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
