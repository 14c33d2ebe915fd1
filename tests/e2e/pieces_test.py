#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests rotated captures: each piece opens alone, and all pieces together equal one file."""

import glob
import os
import re
import time
import unittest

import saker_e2e as e2e

# Directories, descriptors of all kinds, threads and processes that live across pieces.
PROGRAM = """
import os, socket, threading
here = os.getcwd()
os.mkdir("sub"); os.chdir("sub"); os.mkdir("deeper")
kept = os.open("kept", os.O_CREAT | os.O_RDWR, 0o600)
a, b = socket.socketpair()
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
r, w = os.pipe()
def more(n):
    for i in range(n):
        os.write(kept, b"x"); client.send(b"c"); peer.recv(1); a.send(b"a"); b.recv(1)
        os.write(w, b"p"); os.read(r, 1); os.close(os.open("../sub/made", os.O_CREAT | os.O_RDWR))
more(20)
t = threading.Thread(target=more, args=(40,)); t.start(); t.join()
os.chdir("deeper"); os.chdir("../deeper"); os.dup2(kept, 40)
pid = os.fork()
if not pid:
    os.chdir(".."); os.write(40, b"child"); more(10)
    os.execvp("cat", ["cat", "made"])
os.waitpid(pid, 0)
os.chdir("..")
more(20)
"""


class PiecesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.dir = e2e.own_dir(cls)
        os.mkdir(cls.path("run"))
        cls.whole = cls.path("whole.scap")
        here = os.getcwd()
        os.chdir(cls.path("run"))
        try:
            e2e.run(e2e.SAKER, "-w", cls.whole, "--", "/usr/bin/python3", "-c", PROGRAM)
        finally:
            os.chdir(here)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    def cut(self, name, *options, source=None):
        """Returns the files of that name, in order."""
        e2e.run(e2e.SAKER, "-r", source or self.whole, "-w", self.path(name), *options)
        return sorted(glob.glob(self.path(name) + "*"), key=lambda p: int(re.search(r"\d*$", p)[0] or 0))

    def texts(self, *files, options=()):
        """Returns lines without numbers, which begin anew in each file."""
        out = "".join(e2e.run(e2e.SAKER, "-r", f, *options) for f in files)
        return [line.split(" ", 1)[1] for line in out.splitlines()]

    def test_together_they_say_what_one_file_says(self):
        for options in (("-e", "100"), ("-e", "37"), ("-C", "1", "-z"), ("-C", "1", "--zstd")):
            files = self.cut("cut" + "".join(options).replace("-", "_"), *options)
            if options[0] == "-e":
                self.assertGreater(len(files), 5)
            for f in files:
                e2e.run(e2e.SAKER, "-r", f, "--verify")
            self.assertEqual(self.texts(*files), self.texts(self.whole), options)

    def test_each_is_sound_to_sysdig(self):
        e2e.need("sysdig")
        files = self.cut("judged", "-e", "150")
        n = sum(len(e2e.run("sysdig", "-r", f).splitlines()) for f in files)
        self.assertEqual(n, len(e2e.run("sysdig", "-r", self.whole).splitlines()))
        last = e2e.run("sysdig", "-r", files[-1], "-p", "%fd.name", "fd.type=file")
        self.assertIn(self.path("run/sub/kept"), last)

    def test_by_number_and_limit(self):
        all_of_them = self.cut("all", "-e", "100")
        kept = self.cut("ring", "-e", "100", "-W", "12")
        self.assertEqual([os.path.basename(p) for p in kept],
                         [f"ring{i:02}" for i in range(min(12, len(all_of_them)))])
        two = self.cut("two", "-e", "100", "-W", "2")
        last = max(two, key=lambda p: self.texts(p, options=("-ta",))[-1])
        self.assertEqual(self.texts(last), self.texts(all_of_them[-1]))

    def test_by_time(self):
        path = self.path("slow.scap")
        e2e.run(e2e.SAKER, "-w", path, "--", "sh", "-c",
                "for i in 1 2 3 4 5 6; do cat /dev/null; sleep 0.1; done")
        files = self.cut("tenth", "-G", "0.2", source=path)
        self.assertGreater(len(files), 2)
        self.assertEqual(self.texts(*files), self.texts(path))
        begins = [float(self.texts(f, options=("-ta", "--enter-events"))[0].split()[0]) for f in files]
        for f, begin in zip(files, begins):
            end = float(self.texts(f, options=("-ta", "--enter-events"))[-1].split()[0])
            self.assertLess(end - begins[0], 0.2 * (files.index(f) + 1) + 2)
            self.assertLessEqual(end - begin, 0.2)
        self.assertEqual(len(self.cut("short", "-G", "0.2", "-W", "2", source=path)), 2)
        stamped = self.cut("at_%Y_%s.", "-G", "0.2", source=path)
        self.assertEqual(stamped, [])
        year = time.strftime("%Y")
        named = glob.glob(self.path(f"at_{year}_*"))
        self.assertEqual(len(named), len(files), "a name that comes again overwrites nothing")

    def test_live(self):
        path = self.path("live.scap")
        e2e.run(e2e.SAKER, "-w", path, "-e", "200", "--", "sh", "-c",
                "i=0; while [ $i -lt 50 ]; do i=$((i + 1)); cat /etc/hostname; done >/dev/null")
        files = sorted(glob.glob(path + "*"), key=lambda p: int(p[len(path):]))
        self.assertGreater(len(files), 5)
        for f in files:
            e2e.run(e2e.SAKER, "-r", f, "--verify")
            for line in self.texts(f):
                self.assertNotIn("<NA>", line.split("(")[0])
        # The PID of each cat is in one line of each kind, across the files.
        text = "\n".join(self.texts(*files))
        made = re.findall(r"sh \(\d+\) < (?:clone3?|v?fork) res=([1-9]\d*)", text)
        gone = re.findall(r"cat \((\d+)\) > procexit", text)
        self.assertEqual(sorted(made), sorted(gone))
        self.assertEqual(len(made), 50)

    def test_folder_of_another_user(self):
        """saker drops most privileges before it creates the second file."""
        folder = self.path("foreign")
        os.mkdir(folder, 0o700)
        os.chown(folder, 65534, 65534)
        e2e.run(e2e.SAKER, "-w", folder + "/x.scap", "-e", "100", "--", "sh", "-c", "for i in 1 2 3 4 5; do cat /etc/hostname; done")
        self.assertGreater(len(glob.glob(folder + "/x.scap*")), 2)

    def test_containers_are_told_in_each(self):
        path = e2e.with_container(self.whole, self.path("told.scap"))
        files = self.cut("contained", "-e", "300", source=path)
        self.assertGreater(len(files), 2)
        for f in files:
            self.assertIn(b"web-1", e2e.read_bytes(f))

    def test_read_together_in_any_order(self):
        files = self.cut("shuffled", "-e", "120")
        mixed = [x for f in files[::-2] + files[-2::-2] for x in ("-r", f)]
        out = e2e.run(e2e.SAKER, *mixed, "-t", "r")
        whole = e2e.run(e2e.SAKER, *[x for f in files for x in ("-r", f)], "-t", "r")
        self.assertEqual(out, whole)
        times = [line.split()[1] for line in out.splitlines()]
        self.assertEqual(times, [line.split()[0] for line in self.texts(self.whole, options=("-t", "r"))])

    CUTS = ("evt.type in (read, write) and evt.dir=<", "fd.name contains kept and evt.dir=<",
            "fd.type=ipv4 and evt.dir=<", "evt.failed=true", "evt.rawres>0 and fd.type!=file")

    def same_when_cut(self, source, reader, text):
        cut = self.path("cut.scap")
        show = ("-p", "*%evt.type %evt.dir %fd.num %fd.type %fd.name %proc.name", text)
        e2e.run(e2e.SAKER, "-r", source, "-w", cut, text)
        self.assertEqual(e2e.run(reader, "-r", cut, *show), e2e.run(reader, "-r", source, *show), (source, text))

    def test_a_cut_file_keeps_names(self):
        """Also if the filter selects exits only: the file of a call is in its enter."""
        others = [path for path in e2e.captures_of_others() if "files" not in path and "setuid" not in path]
        for source in (self.whole, *others):
            for text in self.CUTS:
                self.same_when_cut(source, e2e.SAKER, text)

    def test_a_cut_file_keeps_names_for_sysdig(self):
        e2e.need("sysdig")
        for text in self.CUTS:
            self.same_when_cut(self.whole, "sysdig", text)

    def test_what_does_not_go_together(self):
        for options in (("-C", "1"), ("-W", "3", "-w", "x"), ("-e", "5", "-C", "1", "-w", "x"),
                        ("-C", "0", "-w", "x"), ("-e", "5", "-w", "-")):
            e2e.run(e2e.SAKER, "-r", self.whole, *options, status=1)


if __name__ == "__main__":
    unittest.main()
