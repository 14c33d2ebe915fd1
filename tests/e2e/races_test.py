#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that threads and files keep the right names while the kernel reuses their numbers."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import saker_e2e as e2e


class Races(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = os.path.realpath(e2e.temp_dir())
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.prog = e2e.compile_program("races", cls.dir)

    def capture(self, case, *filters):
        """Returns (lines of the run, {word: numbers that the program printed})."""
        work = tempfile.mkdtemp(prefix=case, dir=self.dir)
        path = f"{work}.scap"
        p = subprocess.run([e2e.SAKER, "-w", path, *filters, "--", self.prog, case, work], text=True,
                           capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"})
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        told = {}
        for line in p.stdout.splitlines():
            word, _, number = line.partition(" ")
            told.setdefault(word, []).append(int(number or 0))
        lines = e2e.lines(e2e.run(e2e.SAKER, "-r", path))
        return work, lines, told

    def used(self, lines, of=None):
        """Returns (fd, "<kind>name" or None) of the fstat calls, of one thread or of all."""
        used = []
        for line in lines:
            if line.type == "fstat" and of in (None, line.tid):
                m = re.search(r"fd=(-?\d+)(?:\((.*)\))?$", line.info)
                used.append((int(m[1]), m[2]))
        return used

    def tid_of(self, lines, **params):
        """Returns the thread of the only line that contains all of these."""
        found = {l.tid for l in lines
                 if all(getattr(l, k) == v if k != "info" else v in l.info for k, v in params.items())}
        self.assertEqual(len(found), 1, f"{params}: {found}")
        return found.pop()

    def test_passed_files(self):
        work, lines, told = self.capture("passed")
        receiver = self.tid_of(lines, type="recvmsg")
        kinds = [f"<f>{work}/passed", f"<d>{work}", "<p>", "<e>", "<m>shown"]
        used = self.used(lines, receiver)
        self.assertEqual(used[:5], list(zip(told["all"], kinds)))
        self.assertEqual(used[5][0], told["all"][5])
        self.assertRegex(used[5][1], r"^<4t?>0\.0\.0\.0:\d+$")
        # Only two files of the second message had room, and the exec closes them.
        self.assertEqual(used[6:8], list(zip(told["cut"], kinds)))
        self.assertEqual(used[8][1], "<f>/dev/null", "a number that was free")
        after = dict(used[9:])
        for fd, kind in zip(told["all"], kinds):
            self.assertEqual(after[fd], kind)
        for fd in told["cut"]:
            self.assertIsNone(after[fd])

    def test_many_passed_files(self):
        work, lines, told = self.capture("many")
        used = self.used(lines, self.tid_of(lines, type="recvmmsg", dir="<"))
        self.assertEqual(used, [(told["last"][0], f"<f>{work}/last"),
                                (told["mmsg"][0], f"<f>{work}/last"),
                                (told["mmsg"][1], f"<f>{work}/other")])

    def test_pidfd_getfd(self):
        work, lines, told = self.capture("getfd")
        self.assertIn((told["got"][0], f"<f>{work}/theirs"), self.used(lines))

    def test_terminal(self):
        _, lines, told = self.capture("terminal")
        (name, (fd,)), = told.items()
        self.assertIn((fd, f"<f>{name}"), self.used(lines))

    def test_terminal_when_ioctl_is_not_asked_for(self):
        _, lines, told = self.capture("terminal", "evt.type=fstat")
        (name, (fd,)), = told.items()
        self.assertIn((fd, f"<f>{name}"), self.used(lines))
        self.assertEqual({l.type for l in lines}, {"fstat"})

    def test_datagrams(self):
        _, lines, told = self.capture("datagrams")
        server, client = told["server"][0], told["client"][0]
        names = [name for _, name in self.used(lines)]
        self.assertEqual(names[0], f"<4>127.0.0.1:{server}")
        self.assertEqual(set(names[1:]), {f"<4u>127.0.0.1:{client}->127.0.0.1:{server}"})
        self.assertEqual(len(names), 9)

    def test_unshared_table_and_directory(self):
        work, lines, told = self.capture("unshares")
        fd = told["theirs"][0]
        self.assertEqual(self.used(lines), [(fd, f"<f>{work}/relative"), (fd, "<f>/dev/null")])

    def test_shared_table_and_directory(self):
        work, lines, _ = self.capture("shares")
        self.assertEqual(self.used(lines), [(7, f"<f>{work}/relative"), (8, f"<f>{work}/here")])

    def test_close_range(self):
        work, lines, told = self.capture("close_ranges")
        a, b, c = (told[k][0] for k in "abc")
        child = self.tid_of(lines, type="execve", info="args=use.")
        used = self.used(lines, child)
        self.assertEqual(used[0], (b, f"<f>{work}/b"))
        after = dict(used[1:])
        self.assertEqual((after[a], after[b], after[c]), (f"<f>{work}/a", None, None))
        parent = self.tid_of(lines, type="fstat", info=f"<f>{work}/c")
        self.assertEqual(self.used(lines, parent),
                         [(a, f"<f>{work}/a"), (b, None), (c, f"<f>{work}/c")])

    def test_chroot(self):
        work, lines, _ = self.capture("chroots")
        self.assertEqual([name for _, name in self.used(lines)],
                         [f"<f>{work}/f", f"<f>{work}/sub/g"])

    def test_pid_namespace(self):
        work, lines, told = self.capture("pidns")
        if "cannot" in told:
            e2e.skip_test("no namespace of one's own may be made here")
        first = self.tid_of(lines, type="prctl", info="first")
        self.assertEqual(first, told["child"][0], "threads are told by their numbers outside")
        second = self.tid_of(lines, type="prctl", info="second")
        self.assertEqual([n for _, n in self.used(lines, second)], [f"<f>{work}/second"])
        birth = next(l for l in lines if l.tid == second)
        self.assertIn(f"ptid={first}(first)", birth.info)
        # The caller's number of its child is not a PID outside of the namespace.
        made = next(l for l in lines if l.tid == first and l.type.startswith(("clone", "fork"))
                    and l.result() and l.result() > 0)
        self.assertNotRegex(made.info, r"^res=2\((?!first)")

    def test_exec_from_a_thread(self):
        work, lines, _ = self.capture("thread_exec")
        self.assertEqual(dict(self.used(lines))[9], f"<f>{work}/own")

    def test_vfork(self):
        work, lines, told = self.capture("vforks")
        fd = told["fd"][0]
        child = self.tid_of(lines, type="execve", info="args=use.")
        self.assertEqual(dict(self.used(lines, child))[fd], f"<f>{work}/kept")
        parent = self.tid_of(lines, type="openat", info="kept")
        self.assertEqual(self.used(lines, parent), [(fd, f"<f>{work}/kept")])


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("gcc")
    unittest.main()
