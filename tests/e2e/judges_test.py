#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares how sysdig, tshark and saker read a capture of a known program."""

import os
import re
import shutil
import unittest

import saker_e2e as e2e

# The lines that sysdig must print for tests/e2e/spine, in this order: (process, direction, type,
# info).
SYSDIG = [
    ("spine", ">", "openat", r"dirfd=-100\(AT_FDCWD\) name=notes.txt\(DIR/notes.txt\) flags=\d+\(O_TRUNC\|O_CREAT\|O_RDWR\) mode=0640"),
    ("spine", "<", "openat", r"fd=3\(<f>DIR/notes.txt\) .*"),
    ("spine", ">", "write", r"fd=3\(<f>DIR/notes.txt\) size=13"),
    ("spine", "<", "write", r"res=13 data=hello, saker."),
    ("spine", ">", "lseek", r"fd=3\(<f>DIR/notes.txt\) offset=7 whence=0\(SEEK_SET\)"),
    ("spine", "<", "lseek", r"res=7"),
    ("spine", ">", "read", r"fd=3\(<f>DIR/notes.txt\) size=64"),
    ("spine", "<", "read", r"res=6 data=saker."),
    ("spine", ">", "pwrite", r"fd=3\(<f>DIR/notes.txt\) size=1 pos=7"),
    ("spine", "<", "pwrite", r"res=1 data=S"),
    ("spine", ">", "pread", r"fd=3\(<f>DIR/notes.txt\) size=5 pos=0"),
    ("spine", "<", "pread", r"res=5 data=hello"),
    ("spine", "<", "writev", r"res=7 data=one two"),
    ("spine", ">", "fstat", r"fd=3\(<f>DIR/notes.txt\)"),
    ("spine", ">", "dup", r"fd=3\(<f>DIR/notes.txt\)"),
    ("spine", "<", "dup", r"res=4\(<f>DIR/notes.txt\)"),
    ("spine", "<", "dup", r"res=9\(<f>DIR/notes.txt\)"),
    ("spine", ">", "fcntl", r"fd=3\(<f>DIR/notes.txt\) cmd=4\(F_GETFL\)"),
    ("spine", ">", "close", r"fd=4\(<f>DIR/notes.txt\)"),
    ("spine", "<", "close", r"res=0"),
    ("spine", "<", "close", r"res=-9\(EBADF\)"),
    ("spine", "<", "openat", r"fd=-2\(ENOENT\) .*name=missing.txt\(DIR/missing.txt\) .*"),
    ("spine", "<", "mkdir", r"res=0 path=sub\(DIR/sub\)"),
    ("spine", "<", "rename", r"res=0 oldpath=notes.txt\(DIR/notes.txt\) newpath=sub/moved.txt\(DIR/sub/moved.txt\)"),
    ("spine", "<", "chdir", r"res=0 path=sub"),
    ("spine", "<", "openat", r"fd=3\(<f>DIR/sub/moved.txt\) .*"),
    ("spine", "<", "unlink", r"res=0 path=sub/moved.txt\(DIR/sub/moved.txt\)"),
    ("spine", "<", "pipe", r"res=0 fd1=3\(<p>\) fd2=4\(<p>\) ino=\d+"),
    # Parent and child return from the call on two CPUs.
    [("spine", "<", "clone", r"res=\d+\(spine\) .*"),
     ("spine", "<", "clone", r"res=0 .*")],
    ("spine", "<", "read", r"res=1 data=x"),
    ("spine-child|spine|exe", "<", "execve", r"res=0 exe=spine-child args=second.life. .*"),
    ("spine-child|exe", ">", "procexit", r"status=1792.*"),
    ("spine", "<", "socket", r"fd=3\(<4>\)"),
    ("spine", "<", "bind", r"res=0 addr=127.0.0.1:40123"),
    ("spine", ">", "listen", r"fd=3\(<4t?>:?127.0.0.1:40123\) backlog=5"),
    ("spine", "<", "connect", r"res=0 tuple=127.0.0.1:\d+->127.0.0.1:40123"),
    ("spine", "<", "accept", r"fd=5\(<4t>127.0.0.1:\d+->127.0.0.1:40123\) tuple=127.0.0.1:\d+->127.0.0.1:40123 queuepct=0 .*"),
    ("spine", ">", "sendto", r"fd=4\(<4t>127.0.0.1:\d+->127.0.0.1:40123\) size=4 tuple=.*"),
    ("spine", "<", "sendto", r"res=4 data=ping"),
    ("spine", "<", "recvfrom", r"res=4 data=ping tuple=.*"),
    ("spine", "<", "read", r"res=5 data=pong!"),
    ("spine", ">", "shutdown", r"fd=4\(<4t>127.0.0.1:\d+->127.0.0.1:40123\) how=2\(SHUT_RDWR\)"),
    ("spine", "<", "connect", r"res=-111\(ECONNREFUSED\) tuple=.*"),
    ("spine", "<", "socketpair", r"res=0 fd1=3\(<u>\) fd2=4\(<u>\) .*"),
    ("spine", "<", "accept", r"fd=5\(<u>.*spine.sock\) .*"),
    ("spine", "<", "eventfd", r"res=3\(<e>\)"),
    ("spine", ">", "poll", r"fds=3:e1 timeout=1000"),
    ("spine", "<", "poll", r"res=1 fds=3:e1"),
    ("spine", "<", "epoll_wait", r"res=1"),
    ("spine", ">", "kill", r"pid=\d+\(spine\) sig=10\(SIGUSR1\)"),
    ("spine", "<", "mprotect", r"res=0"),
    ("spine", "<", "rmdir", r"res=0 path=DIR"),
    ("spine", ">", "procexit", r"status=768.*"),
]

class Judges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.place = os.path.join(cls.dir, "d")
        cls.capture = os.path.join(cls.dir, "c.scap")
        program = e2e.compile_program("spine", cls.dir)
        os.rename(program, os.path.join(cls.dir, "spine.bin"))
        os.symlink("spine.bin", program)
        live = os.path.join(cls.dir, "live")
        e2e.run(e2e.SAKER, "-w", cls.capture, "--print", "-o", live, "--", program, cls.place,
                status=3)
        cls.live = e2e.read_text(live)

    def test_sysdig_says_what_happened(self):
        e2e.need("sysdig")
        got = e2e.lines(e2e.run("sysdig", "-r", self.capture))
        at = 0
        for row in SYSDIG:
            in_any_order = row if isinstance(row, list) else [row]
            at = max(self.line_after(got, at, *each) for each in in_any_order)

    def line_after(self, got, at, comm, direction, name, info):
        info = info.replace("DIR", re.escape(self.place))
        for i in range(at, len(got)):
            line = got[i]
            if (line.dir, line.type) == (direction, name) and re.fullmatch(comm, line.comm) \
                    and re.fullmatch(info, line.info):
                return i + 1
        near = [l.text for l in got[at:] if l.type == name][:3]
        self.fail(f"after line {at} sysdig has no line: {direction} {name} {info}\n"
                  "next of that type:\n" + "\n".join(near))

    def test_sysdig_agrees_on_every_number_and_time(self):
        e2e.need("sysdig")
        theirs = [(l.num, l.time, l.cpu, l.tid, l.dir)
                  for l in e2e.lines(e2e.run("sysdig", "-r", self.capture))]
        ours = [(l.num, l.time, l.cpu, l.tid, l.dir)
                for l in e2e.lines(e2e.run(e2e.SAKER, "-r", self.capture, "--enter-events"))]
        self.assertEqual(ours, theirs)

    def test_sysdig_prints_the_same_text(self):
        """With all enters shown, saker's lines of its own file are sysdig's."""
        e2e.need("sysdig")
        self.sysdig_types = set(re.findall(r"^[<>] (\w+)\(", e2e.run("sysdig", "-L"), re.M))
        theirs = {l.num: l for l in e2e.lines(e2e.run("sysdig", "-r", self.capture))}
        ours = e2e.lines(e2e.run(e2e.SAKER, "-r", self.capture, "--enter-events"))
        unread = self.unread(ours)
        differ = [(l.text, theirs[l.num].text) for l in ours if l.num not in unread
                  if self.known(l) != theirs[l.num].text.rstrip() and self.comparable(l, theirs[l.num])]
        self.assertFalse(differ, "\n".join("\n".join(d) for d in differ[:5]))

    @staticmethod
    def unread(lines):
        """Both events of calls whose text was not in memory when the thread was switched
        out, which only saker records: the enter has <NA>, the exit has all texts."""
        enters, numbers = {}, set()
        for l in lines:
            if l.dir == ">":
                enters[l.tid] = l
            elif l.tid in enters and enters[l.tid].type == l.type and re.search(
                    r"(name|path|addr)=<NA>", enters[l.tid].info):
                numbers.update((enters[l.tid].num, l.num))
        return numbers

    def known(self, line):
        """Leaves out what sysdig 0.29.3 cannot show: names of some flags, parameters of
        generic calls."""
        text = line.text.rstrip()
        if line.dir == "<":
            text = text.replace("|O_F_CREATED", "")
        # A limit that was not given: -1 also means RLIM_INFINITY, and the format has no other
        # value.
        if line.type == "prlimit":
            text = re.sub(r"=<NA>(?= |$)", "=-1", text)
        if line.type not in self.sysdig_types and text.endswith(line.info):
            text = text[:len(text) - len(line.info)].rstrip()
        return text

    @staticmethod
    def comparable(ours, theirs):
        """Leaves out where saker has more: names of dup2 and the like, dup's file in its
        exit, parameters that newer layouts append to an exit without an enter, the files of
        epoll."""
        return ours.type == theirs.type and theirs.type not in ("dup", "epoll_create1") and not (
            ours.type == "clone" and ours.text.startswith(theirs.text)) and "(<l>" not in ours.info

    def test_tshark_reads_it(self):
        e2e.need("tshark")
        n = len(e2e.run("tshark", "-r", self.capture).splitlines())
        numbered = len(e2e.lines(e2e.run(e2e.SAKER, "-r", self.capture, "--enter-events")))
        self.assertEqual(n, numbered)

    def test_replay_prints_what_was_printed_live(self):
        replay = e2e.run(e2e.SAKER, "-r", self.capture)
        self.assertEqual(replay.splitlines(), self.live.splitlines())

    def test_verify(self):
        e2e.run(e2e.SAKER, "-r", self.capture, "--verify")

    def test_compressed(self):
        for option in "-z", "--zstd":
            path = os.path.join(self.dir, "compressed")
            program = os.path.join(self.dir, "spine")
            e2e.run(e2e.SAKER, option, "-w", path, "--", program, self.place, status=3)
            e2e.run(e2e.SAKER, "-r", path, "--verify")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
