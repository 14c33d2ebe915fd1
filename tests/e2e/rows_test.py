#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that ctest runs every class of the end-to-end tests."""

import ast
import glob
import os
import re
import unittest

import saker_e2e as e2e

FOLDER = os.path.join(e2e.SOURCE, "tests/e2e")


def classes(path):
    """Returns the test classes of a file."""
    with open(path) as f:
        tree = ast.parse(f.read())
    return {c.name for c in tree.body if isinstance(c, ast.ClassDef)
            if any(isinstance(m, ast.FunctionDef) and m.name.startswith("test_") for m in c.body)}


def rows():
    """Returns the classes that the rows of each file list; a row without classes runs all."""
    with open(os.path.join(e2e.SOURCE, "tests/CMakeLists.txt")) as f:
        text = f.read()
    listed = {}
    for name, names in re.findall(r"/e2e/(\w+\.py)((?:;\w+)*)", text):
        path = os.path.join(FOLDER, name)
        listed.setdefault(name, set()).update(names.split(";")[1:] or classes(path))
    return listed


class Rows(unittest.TestCase):
    def test_every_class_is_run(self):
        listed = rows()
        for path in glob.glob(os.path.join(FOLDER, "*_test.py")):
            name = os.path.basename(path)
            self.assertEqual(listed.get(name, set()), classes(path), name)


if __name__ == "__main__":
    unittest.main()
