#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the shared captures, which other tests compare, exist and have the events that they
require."""

import unittest

import saker_e2e as e2e


class Captures(unittest.TestCase):
    def test_each_has_events(self):
        for path in e2e.captures():
            self.assertGreater(len(e2e.run(e2e.SAKER, "-r", path).splitlines()), 20, path)

    def test_made_here(self):
        """The capture of all acts is sound; the copy that sysdig wrote has no counters at
        its end."""
        if e2e.lacks_live():
            e2e.skip_test(e2e.lacks_live())
        own, *plain = e2e.made_captures()
        self.assertIn("sound", e2e.run(e2e.SAKER, "-r", own, "--verify"))
        for kind in ("ipv4", "unix", "pipe", "file", "directory"):
            self.assertTrue(e2e.run(e2e.SAKER, "-r", own, f"fd.type={kind}"), kind)
        if not plain:
            e2e.skip_test("sysdig is not installed: scripts/setup --tests")
        self.assertGreater(len(e2e.run("sysdig", "-r", plain[0]).splitlines()), 1000)


if __name__ == "__main__":
    unittest.main()
