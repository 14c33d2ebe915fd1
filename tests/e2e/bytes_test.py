#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that chisels count the bytes of a file that is copied or sent: bytes read and bytes written
equal its size, whatever the method."""

import json
import os
import shutil
import sys
import unittest

import saker_e2e as e2e

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 300_123
ALWAYS = ["cp", "cat", "dd", "sendfile", "copy_file_range", "splice", "shutil"]
INSTALLED = ["rsync", "nginx"]
CLONES = ["clone", "clonerange"]
IMAGES = {"btrfs": 120 << 20, "xfs": 400 << 20} # file systems that clone, and how large one has to be


def make_images(folder):
    """Makes sparse images, one for each file system whose mkfs is installed."""
    images = []
    for name, size in IMAGES.items():
        image = os.path.join(folder, name + ".img")
        if os.geteuid() == 0 and shutil.which("mkfs." + name):
            with open(image, "wb") as f:
                f.truncate(size)
            e2e.run("mkfs." + name, "-q", image)
            images.append(image)
    return images


class Bytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.dir = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.dir, "c.scap")
        images = make_images(cls.dir)
        e2e.run(e2e.SAKER, "-q", "-w", cls.capture, "--", *["unshare", "-m"] * bool(images), sys.executable,
                os.path.join(HERE, "bytes/copies.py"), cls.dir, *images)

    def chisel(self, *words, where=None):
        """Returns the rows; in each, BYTES is the sum of bytes read and written."""
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", words[0],
                       " ".join([*words[1:], "top=100000"]), *([where] if where else []))
        rows = [json.loads(line) for line in text.splitlines()]
        for row in rows:
            self.assertEqual(row["bytes"], row.get("read", row.get("received"))
                             + row.get("written", row.get("sent")), row)
        return rows

    def by_file(self):
        return {os.path.basename(r["fd.name"]): (r["read"], r["written"])
                for r in self.chisel("topfiles_bytes") if r["fd.name"].startswith(self.dir)}

    def test_files(self):
        files = self.by_file()
        for program in ALWAYS + [p for p in INSTALLED if shutil.which(p)]:
            with self.subTest(program=program):
                self.assertEqual(files[program + ".in"], (SIZE, SIZE)) # the script wrote it
                if program != "nginx":
                    self.assertEqual(files[program + ".out"], (0, SIZE))

    def need_clones(self):
        if not e2e.run(e2e.SAKER, "-r", self.capture, "-p", "%fd.name", f"fd.directory={self.dir}/clones"):
            e2e.skip_test("no btrfs or xfs: neither mkfs (scripts/setup --tests) or not in this kernel, or not root")

    def test_clones(self):
        """cp on btrfs and xfs clones a file with one ioctl: both files share their blocks."""
        self.need_clones()
        files = self.by_file()
        for name in CLONES:
            with self.subTest(name=name):
                self.assertEqual(files[name + ".in"], (SIZE, SIZE)) # the script wrote it
                self.assertEqual(files[name + ".out"], (0, SIZE))
        text = e2e.run(e2e.SAKER, "-r", self.capture, "-p",
                       "%evt.io.read_bytes %evt.io.write_bytes %evt.io.bytes %fd.in.filename %fd.out.filename %fd.filename",
                       "evt.type=ioctl and evt.io.bytes exists")
        counts = [SIZE, 65536, SIZE - 65536]
        self.assertEqual(text.splitlines(), [f"{n} {n} {2 * n} {c}.in {c}.out {c}.out" for n, c in
                                             zip(counts, ["clone", "clonerange", "clonerange"])])

    def test_clones_take_time(self):
        """Chisels that show time count clones as reads and writes."""
        self.need_clones()
        rows = [json.loads(line) for line in e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "fileslower", "0",
                                                     "evt.type=ioctl and fd.filename startswith clone").splitlines()]
        self.assertEqual([(r["evt.type"], r["result"], os.path.basename(r["fd.name"])) for r in rows],
                         [("ioctl", n, name + end) for name, n in (("clone", SIZE), ("clonerange", 65536), ("clonerange", SIZE - 65536))
                          for end in (".in", ".out")])
        written, read = {"clone.out": 1, "clonerange.out": 2}, {"clone.in": 1, "clonerange.in": 2}
        for chisel, want in (["topfiles_time"], written | read), (["fdtime_by", "fd.name"], written):
            with self.subTest(chisel=chisel):
                rows = [json.loads(line) for line in
                        e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", *chisel, "evt.type=ioctl").splitlines()]
                self.assertEqual({os.path.basename(r["fd.name"]): r["calls"] for r in rows}, want)

    def test_formats(self):
        """The same sums without a chisel, from both ends of each call."""
        read, written = {}, {}
        for of, end, n in ((read, "in", "read"), (written, "out", "write")):
            text = e2e.run(e2e.SAKER, "-r", self.capture, "--tsv", "-p",
                           f"%evt.io.{n}_bytes %fd.{end}.name",
                           f"evt.io.{n}_bytes > 0 and fd.{end}.type = file")
            for line in text.splitlines()[1:]:
                count, name = line.split("\t")
                of[name] = of.get(name, 0) + int(count)
        for program in ALWAYS:
            with self.subTest(program=program):
                self.assertEqual(read[os.path.join(self.dir, program + ".in")], SIZE)
                self.assertEqual(written[os.path.join(self.dir, program + ".out")], SIZE)

    def test_processes(self):
        rows = {(r["proc.name"]): (r["read"], r["written"]) for r in
                self.chisel("topprocs_file", where=f"fd.name startswith {self.dir}/")}
        for program in "cat", "dd":
            self.assertEqual(rows[program], (SIZE, SIZE))

    def test_sums(self):
        """iotop and fdbytes_by count as topfiles_bytes does."""
        files = self.by_file()
        total = sum(r + w for r, w in files.values())
        rows = {r["fd.directory"]: r["bytes"] for r in self.chisel("fdbytes_by", "fd.directory")}
        self.assertEqual(sum(n for name, n in rows.items() if name.startswith(self.dir)), total)
        everything = sum(r["bytes"] for r in self.chisel("topfiles_bytes"))
        self.assertEqual(sum(r["bytes"] for r in self.chisel("topprocs_file")), everything)
        self.assertEqual(sum(r["bytes"] for r in self.chisel("iotop")), everything)

    def test_views(self):
        """The tables of saker top count as topfiles_bytes does, and each file's calls."""
        lines = e2e.run(e2e.SAKER, "top", "-r", self.capture, "-b", "-v", "files").splitlines()
        self.assertEqual(lines[1].split()[:3], ["BYTES", "IN", "BYTES"])
        shown = {os.path.basename(cells[-1]): cells[:2] for cells in map(str.split, lines[2:]) if cells[-1].startswith(self.dir)}
        for name, (n_read, n_written) in self.by_file().items():
            if n_read in (0, SIZE) and n_written in (0, SIZE):
                self.assertEqual(shown[name], [f"{n / 1024:.0f}K" if n else "0" for n in (n_read, n_written)], name)
        self.assertLess({p + end for p in ALWAYS for end in (".in", ".out")}, shown.keys())

    def test_selections_of_views(self):
        """A filter of either file, or of both, selects the call in each table of saker top."""
        source, target = (os.path.join(self.dir, "copy_file_range." + end) for end in ("in", "out"))
        def rows(view, selection):
            lines = e2e.run(e2e.SAKER, "top", "-r", self.capture, "-b", "-v", view, selection).splitlines()[2:]
            return {cells[-1]: cells for cells in map(str.split, lines)}
        one = f"evt.type=copy_file_range and fd.name={source}"
        both = f"evt.type=copy_file_range and fd.in.name={source} and fd.out.name={target}"
        n = len(e2e.run(e2e.SAKER, "-r", self.capture, "-p", ".", both).splitlines())
        self.assertGreater(n, 0)
        self.assertEqual(set(rows("files", one)), {source})
        self.assertEqual(set(rows("files", both)), {source, target})
        for selection in one, both:
            times = e2e.run(e2e.SAKER, "top", "-r", self.capture, "-b", "-v", "syscall_procs", selection).splitlines()[2:]
            self.assertEqual(len(times), 1, times)
            self.assertIn("copy_file_range", rows("syscalls", selection))
        # Both are in one directory, in which the calls happened once.
        self.assertEqual(int(rows("directories", both)[self.dir][2]), n)

    def test_selections_of_chisels(self):
        """A filter selects the file that it names, read or written, and a file gets what it itself selects."""
        source, target = (os.path.join(self.dir, "copy_file_range." + end) for end in ("in", "out"))
        call = "evt.type=copy_file_range and "
        for name, want in (source, (SIZE, 0)), (target, (0, SIZE)):
            row, = self.chisel("topfiles_bytes", where=f"{call}fd.name={name}")
            self.assertEqual((row["fd.name"], row["read"], row["written"]), (name, *want))
            times = e2e.run(e2e.SAKER, "-r", self.capture, "-j", "-c", "topfiles_time", f"{call}fd.name={name}").splitlines()
            self.assertEqual([json.loads(line)["fd.name"] for line in times], [name])
        both = self.chisel("topfiles_bytes", where=f"{call}fd.in.name={source} and fd.out.name={target}")
        self.assertEqual({row["fd.name"] for row in both}, {source, target})
        path = os.path.join(self.dir, "selected.scap")
        e2e.run(e2e.SAKER, "-r", self.capture, "-w", path, "-c", "topfiles_bytes", f"{call}fd.name={source}")
        self.assertEqual(e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.type", call + "fd.name exists"), "")  # that is not of a chisel

    def test_network(self):
        e2e.need("nginx")
        sent = {r["proc.name"]: r["sent"] for r in self.chisel("topprocs_net")}
        self.assertGreater(sent["nginx"], SIZE)
        self.assertLess(sent["nginx"], SIZE + 1000)


if __name__ == "__main__":
    unittest.main()
