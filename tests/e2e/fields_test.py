#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares fields with sysdig's: both print every field of processes, files, users, containers,
polls and log messages for every event, over shared captures and one made here. Each difference has
a rule with its reason in docs/differences.md."""

import os
import re
import shutil
import unittest

import saker_e2e as e2e

CLASSES = ("process", "user", "group", "container", "fd", "syslog", "fdlist")

# Arguments of fields that require or accept one.
ARGUMENTS = {
    "proc.apid": ["[0]", "[1]", "[2]"],
    "proc.aname": ["[0]", "[1]", "[3]"],
    "thread.cgroup": [".cpuacct", ".memory", ".blkio"],
    "container.mount": ["[0]", "[/*]"],
    "container.mount.source": ["[0]"],
    "container.mount.dest": ["[0]"],
    "container.mount.mode": ["[0]"],
    "container.mount.rdwr": ["[0]"],
    "container.mount.propagation": ["[0]"],
}
HIDDEN = ["thread.vmsize.b", "thread.vmrss.b", "thread.nametid"]


def is_thread(e):
    return e["thread.ismain"] == "false"


def is_loopback(e):
    return e["fd.cip"] == e["fd.sip"]


def is_bound(e):
    return e["fd.type"] in ("ipv4", "ipv6") and "->" not in e["fd.name"]


# Title of the entry in docs/differences.md, and a function that returns whether the entry explains
# a difference: (event by saker's fields, sysdig's value, saker's value, capture by saker).
RULES = [
    ("Names of processes", r"proc\.(name|cmdline|aname\[0\])", lambda e, t, o, native: is_thread(e)),
    ("Names of threads", r"thread\.nametid", lambda e, t, o, native: native and is_thread(e)),
    ("Parents of threads", r"proc\.(pname|pcmdline)", lambda e, t, o, native: is_thread(e)),
    ("Parents after their end", r"proc\.(ppid|pname|pcmdline|apid\[\d\]|aname\[\d\]|loginshellid)",
     lambda e, t, o, native: native),
    ("Threads of a process", r"proc\.nchilds", lambda e, t, o, native: t == "0"),
    ("Memory of threads", r"proc\.vm(size|rss|swap)", lambda e, t, o, native: True),
    ("Start of processes", r"proc\.duration", lambda e, t, o, native: t == "<NA>" and native),
    ("What is not known", r"proc\.exepath", lambda e, t, o, native: native and t == "<NA>"),
    ("What is not known", r"thread\.(tot)?exectime|proc\.tty|fd\.dev(\.m\w+)?",
     lambda e, t, o, native: native and o == "<NA>"),
    ("Time on CPUs", r"thread\.(tot)?exectime", lambda e, t, o, native: native),
    ("Switches that are missing", r"thread\.(tot)?exectime",
     lambda e, t, o, native: o == "<NA>" or int(o) < int(t)),
    ("What is not known", r"fd\.(name|containername|directory|containerdirectory)",
     lambda e, t, o, native: native and o == "<NA>" and t in ("", ":", "/", ":/")),
    ("Groups of processes", r"proc\.vpgid", lambda e, t, o, native: native),
    ("Sessions of processes", r"proc\.(sid|sname)", lambda e, t, o, native: native),
    ("Numbers of groups", r"group\.gid", lambda e, t, o, native: int(t) % 2**32 == int(o)),
    ("Descriptors that exec closes", r"proc\.(fdopencount|fdusage)",
     lambda e, t, o, native: native and float(o) < float(t)),
    ("Devices of files", r"fd\.dev(\.m\w+)?", lambda e, t, o, native: o in ("0", "<NA>")),
    ("Clients of sockets without one", r"fd\.c(port|proto)",
     lambda e, t, o, native: t in ("0", "") and o == "<NA>"),
    ("Our end of a connection", r"fd\.(l|r)(ip|port|proto)|fd\.is_server",
     lambda e, t, o, native: native and is_loopback(e)),
    ("Our end of a connection", r"fd\.is_server",
     lambda e, t, o, native: e["fd.type"] == "ipv6" and (t, o) == ("true", "false")),
    ("Protocols of sockets", r"fd\.l4proto", lambda e, t, o, native: native and t == "<NA>"),
    ("Ports that the kernel chose", r"fd\.(name|containername|s(ip|port|proto)|is_server)",
     lambda e, t, o, native: native and is_bound(e)),
    ("Ports that the kernel chose", r"fdlist\.names",
     lambda e, t, o, native: native and t == re.sub(r"(^|,)([\da-f.:]+):\d+(?=,|$)", r"\1\2:0", o)),
    ("Ports that the kernel chose", r"fdlist\.[cs](ips|ports)", lambda e, t, o, native: native),
    ("Both ends of datagrams", r"fd\.(name|containername|(c|s|l|r)(ip|port|proto))",
     lambda e, t, o, native: native and e["fd.l4proto"] == "udp"),
    ("Calls that began before the capture", r"fd\.\w+(\.m\w+)?",
     lambda e, t, o, native: not native and e["fd.num"] in ("-1", "<NA>")),
    ("Connections under way", r"fd\.connected",
     lambda e, t, o, native: (t, o) == ("true", "false")),
]


def fields():
    """Returns the fields of these classes that sysdig lists, without those that exist only in
    filters."""
    names, wanted = [], False
    for line in e2e.run("sysdig", "-l", "-v").splitlines():
        m = re.match(r"Field Class: +(\w+)", line)
        if m:
            wanted = m[1] in CLASSES
        m = re.match(r"([a-z]+\.[a-z0-9_.]+) *\(Type|([a-z]+\.[a-z0-9_.]+)$", line)
        if wanted and m:
            names.append(m[1] or m[2])
    for name in "fd.ip", "fd.port", "fd.proto", "fd.net", "fd.cnet", "fd.snet", "fd.lnet", "fd.rnet":
        names.remove(name)
    return [name + arg for name in names + HIDDEN for arg in ARGUMENTS.get(name, [""])]


def table(names, *command):
    """Returns the value of each field for each event, by its number. A line break in a value
    splits its line: the rest belongs to no event."""
    text = e2e.run(*command, "-p", "*%evt.num\t" + "\t".join("%" + n for n in names) + "\t.")
    events = {}
    for line in text.split("\n"):
        values = line.split("\t")
        if re.fullmatch(r"\d+", values[0]) and len(values) == len(names) + 2:
            events[int(values[0])] = dict(zip(names, values[1:]))
    return events


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need("sysdig")
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.names = fields()
        cls.differences = e2e.read_text(os.path.join(e2e.SOURCE, "docs/differences.md"))

    def rule(self, name, e, theirs, ours, native):
        for title, pattern, accounts in RULES:
            if re.fullmatch(pattern, name) and accounts(e, theirs, ours, native):
                return title
        return None

    def compare(self, capture, native):
        # Environments contain line breaks: they have a table of their own.
        for names in [n for n in self.names if n != "proc.env"], ["proc.env", "proc.pid"]:
            theirs = table(names, "sysdig", "-r", capture)
            ours = table(names + ["fd.num"], e2e.SAKER, "-r", capture, "--enter-events")
            both = theirs.keys() & ours.keys()
            self.assertGreater(len(both), 10)
            if "proc.env" not in names:
                self.assertGreater(len(both), 0.99 * len(theirs))
            for number in sorted(both):
                for name in names:
                    t, o = theirs[number][name], ours[number][name]
                    if t == o:
                        continue
                    title = self.rule(name, ours[number], t, o, native)
                    self.assertIsNotNone(title, f"{capture}: event {number}: {name} is {t!r} "
                                         f"to sysdig, {o!r} to saker")
                    self.assertIn(f"### {title}\n", self.differences)

    def test_shared_captures(self):
        for capture in e2e.shared_captures():
            with self.subTest(capture=os.path.basename(capture)):
                self.compare(capture, False)

    def test_own_capture(self):
        self.compare(self.own(), True)

    def own(self):
        """A capture of fields/prog.c; made once."""
        if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
            e2e.skip_test("a live capture needs root and BTF")
        capture = os.path.join(self.dir, "c.scap")
        if not os.path.exists(capture):
            os.mkdir(os.path.join(self.dir, "d"))
            program = e2e.compile_program("fields", self.dir)
            e2e.run(e2e.SAKER, "-w", capture, "--", program, os.path.join(self.dir, "d"))
        return capture

    def says(self, fields, *wanted, where=None):
        """Checks that some event has all these values."""
        text = e2e.run(e2e.SAKER, "-r", self.own(), "-p",
                       "|".join("%" + f for f in fields.split()), *([where] if where else []))
        got = text.replace(os.path.join(self.dir, "d"), "D").splitlines()
        for line in wanted:
            self.assertIn(line, got)

    def test_paths(self):
        self.says("evt.type fs.path.name fs.path.nameraw", "mkdir|D/a|a", "chmod|D/hard|hard",
                  "fchmod|D/a/b.txt|D/a/b.txt", "unlink|D/hard|hard", "unlinkat|D/a/link|link",
                  "openat|D/a/b.txt|./a//b.txt", "openat|D/c.txt|../c.txt")
        self.says("evt.type fs.path.source fs.path.sourceraw fs.path.target fs.path.targetraw",
                  "renameat|D/a/b.txt|b.txt|D/c.txt|c.txt", "link|D/hard|hard|D/c.txt|c.txt",
                  "symlink|D/a/link|a/link|D/c.txt|../c.txt")
        self.says("evt.res fd.name fd.nameraw", "SUCCESS|D/a/b.txt|./a/b.txt",
                  "SUCCESS|D/a/b.txt|b.txt", "ENOENT|D/missing/file|missing/file")

    def test_paths_of_calls_that_failed_too(self):
        """evt.path: one field for every call that takes a path."""
        self.says("evt.type evt.res evt.path evt.paths", "mkdir|SUCCESS|D/a|D/a", "unlink|SUCCESS|D/hard|D/hard",
                  "openat|SUCCESS|D/a/b.txt|D/a/b.txt", "openat|ENOENT|D/missing/file|D/missing/file",
                  "renameat|SUCCESS|D/a/b.txt|D/a/b.txt,D/c.txt", "link|SUCCESS|D/c.txt|D/c.txt,D/hard",
                  "symlink|SUCCESS|D/a/link|D/a/link", "chdir|SUCCESS|D/a|D/a")

    def test_families(self):
        self.says("proc.env[GENERATION] proc.exe proc.pexe proc.sid.exe proc.pgid.exe "
                  "proc.is_sid_leader proc.is_pgid_leader proc.cmdnargs proc.cmdlenargs proc.args[2] "
                  "proc.aenv[GENERATION]",
                  "2|-sh|prog|prog|-sh|false|true|3|10|two words|1",
                  "3|prog|-sh|prog|-sh|false|false|3|10|two words|2", where="evt.type=execve")
        self.says("proc.env[GENERATION] proc.is_sid_leader proc.is_vpgid_leader", "1|true|true",
                  where="evt.type=execve")
        if os.geteuid() == 0 and self.has_pid_namespaces():
            self.says("evt.type proc.vpid proc.is_sid_leader proc.is_vpgid_leader",
                      "setsid|1|true|true", "setpgid|2|false|true")

    def has_pid_namespaces(self):
        return "setsid|1" in e2e.run(e2e.SAKER, "-r", self.own(), "-p",
                                     "%evt.type|%proc.vpid").splitlines()

    def test_programs(self):
        st = os.stat(os.path.join(self.dir, "fields")) if self.own() else None
        self.says("proc.exe_ino proc.exe_ino.mtime proc.exe_ino.ctime proc.is_exe_from_memfd",
                  f"{st.st_ino}|{st.st_mtime_ns}|{st.st_ctime_ns}|false", where="evt.type=execve")

    def test_log_messages(self):
        self.says("syslog.facility.str syslog.severity.str syslog.severity syslog.message",
                  "authpriv|info|6|sshd: it's me")

    def test_connections(self):
        lines = e2e.run(e2e.SAKER, "-r", self.own(), "-p",
                        "%evt.type %fd.is_server %fd.lip %fd.lport %fd.sport",
                        "fd.l4proto=tcp and fd.connected=true and fd.type=ipv4 and "
                        "evt.type in (sendto, recvfrom, read, write)").splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            name, server, ip, ours, port = line.split()
            self.assertEqual(ip, "127.0.0.1")
            self.assertEqual(server, "true" if name in ("recvfrom", "write") else "false", line)
            self.assertEqual(ours == port, server == "true", line)


if __name__ == "__main__":
    unittest.main()
