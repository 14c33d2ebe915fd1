#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests selecting options: nested captures, each with another selection, watch one run of a
program. Each must equal the complete capture after filtering by hand."""

import os
import re
import shutil
import socket
import struct
import subprocess
import unittest

import saker_e2e as e2e

NOBODY = "65534"
SNAPLEN = 200
RUNS_MAX = 3

# name -> options; PID, PORT and CGROUP are filled in. Those that select most are innermost, and
# start last.
CAPTURES = {
    "pid": ["--pid", "PID"],
    "tree": ["--pid", "PID", "--tree"],
    "port": ["--pid", "PID", "--snaplen-port", f"PORT:{SNAPLEN}", "--syscalls", "-openat,!pread64"],
    "combined": ["--pid", "PID", "--tree", "--uid", NOBODY, "--syscalls", "openat,read,close",
                 "--failed-only"],
    "sampling": ["--pid", "PID", "--tree", "--sampling", "2"],
    "comm": ["--comm", "selworker,selchild"],
    "uid": ["--uid", NOBODY],
    "cgroup": ["--cgroup", "CGROUP"],
    "syscalls": ["--syscalls", "openat,dup,procexit"],
    "failed": ["--failed-only"],
    "suppress": ["-U", "selsup"],
    "full": [],
}
WHOLE = ("suppress", "full") # what the whole machine does: of that no lines while it goes on


def cgroup2_mount():
    for line in e2e.read_text("/proc/mounts").splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return where
    return None


def make_cgroup(name):
    """Returns the directory of a new cgroup, or None where none can be made."""
    mount = cgroup2_mount()
    if not mount:
        return None
    try:
        os.mkdir(os.path.join(mount, name))
    except OSError:
        return None
    return os.path.join(mount, name)


class Run:
    """One run of the program under all captures, each started inside the one before."""

    def __init__(self, out_dir, prog):
        self.dir = out_dir
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cgroup = f"saker-e2e-{os.getpid()}"
        self.cgroup_dir = make_cgroup(self.cgroup)
        self.names = [n for n in CAPTURES if n != "cgroup" or self.cgroup_dir]
        for name in ("kept", "shared"):
            with open(os.path.join(out_dir, name), "w") as f:
                f.write(name)
        self.prog = subprocess.Popen([prog, out_dir, str(self.port), self.cgroup_dir or ""],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.capture()
        finally:
            self.prog.kill()
            self.prog.wait()
            self.listener.close()
            if self.cgroup_dir:
                os.rmdir(self.cgroup_dir)
        self.tids = dict(l.split() for l in self.said.splitlines())
        self.tids = {role: int(tid) for role, tid in self.tids.items()}

    def path(self, name, kind="scap"):
        return os.path.join(self.dir, f"{name}.{kind}")

    def command(self, name):
        values = {"PID": str(self.prog.pid), "CGROUP": "/" + self.cgroup}
        options = [values.get(o, o).replace("PORT", str(self.port)) for o in CAPTURES[name]]
        if name in WHOLE:
            options += ["--ring-size", "32M"]
        else:
            options += ["--print", "-o", self.path(name, "txt")]
        return [e2e.SAKER, "-v", "--all", "-w", self.path(name), *options, "--",
                "sh", "-c", 'exec "$@" 2>"$0"', self.path(name, "err")]

    def capture(self):
        args = []
        for name in self.names:
            args += self.command(name)
        args += ["sh", "-c", "echo; read end"]
        with open(self.path("first", "err"), "w+") as err:
            p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
                                 text=True, env={**os.environ, "TZ": "UTC"})
            if p.stdout.readline():
                self.said = self.prog.communicate("\n")[0]
            p.communicate("\n")
        if p.returncode or self.prog.returncode:
            raise AssertionError(f"status {p.returncode}, {self.prog.returncode}\n" + "".join(
                e2e.read_text(self.report_path(n)) for n in self.names if
                os.path.exists(self.report_path(n))))

    def report_path(self, name):
        """Reports go to the standard error of the next outer capture."""
        at = self.names.index(name)
        return self.path(self.names[at - 1] if at else "first", "err")

    def report(self, name):
        """Returns a count that -v prints."""
        text = e2e.read_text(self.report_path(name))
        return {m[1]: int(m[2]) for m in re.finditer(r"^  (\S.*?)  +(\d+)(?: |$)", text, re.M)}

    def lines(self, name):
        if name in WHOLE:
            return self.lines_of_file(name)
        return self.mine(e2e.read_text(self.path(name, "txt")))

    def lines_of_file(self, name):
        return self.mine(e2e.run(e2e.SAKER, "-v", "-r", self.path(name)))

    def mine(self, text):
        """Returns the ends of lines about the program's calls. Other processes run as well."""
        mine, found = set(self.tids.values()), []
        for line in text.splitlines():
            m = re.match(r"\d+ \S+ \d+ .*? \((\d+)\) ", line)
            if m and int(m[1]) in mine:
                found.append(e2e.Line(line))
        return [l for l in found if l.dir == "<" or l.type in ENDS]


DROP_E, DROP_X = 148, 149
# Blocks of events -> bytes before the header of the event.
def event_types(path):
    """Returns the event types of a file, in order."""
    data = e2e.read_bytes(path)
    return [struct.unpack_from("<QQIH", data, at + e2e.EVENT_BLOCKS[kind])[3]
            for kind, at, _ in e2e.blocks(data) if kind in e2e.EVENT_BLOCKS]


ENDS = ("exit", "exit_group", "procexit")


def told(line):
    """Returns the part of a line that is equal in each capture; clone and execve contain times."""
    info = line.info
    if line.type in ("clone", "clone3", "execve"):
        info = info.split()[0].split("(")[0]
    return line.tid, line.dir, line.type, info


def fails(line):
    return line.dir == "<" and (line.result() or 0) < 0


def since(lines, tid, word):
    """Returns the calls of @tid from the first line with @word on."""
    of_tid = [l for l in lines if l.tid == tid]
    at = next(i for i, l in enumerate(of_tid) if word in l.info)
    return of_tid[at:]


class ByHand:
    """Returns the part of the complete capture that each selection must record."""

    def __init__(self, run):
        self.full, self.tids = run.lines("full"), run.tids

    def of(self, *roles):
        tids = [self.tids[r] for r in roles]
        return [l for l in self.full if l.tid in tids]

    def pid(self):
        return self.of("main", "worker")

    def tree(self):
        return self.full

    def port(self):
        return [l for l in self.pid() if l.type not in ("openat", "pread")]

    def comm(self):
        return (since(self.full, self.tids["worker"], "arg2_str=selworker") +
                since(self.full, self.tids["child"], "arg2_str=selchild") +
                self.of("childthread"))

    def uid(self):
        return since(self.full, self.tids["nobody"], "euid=" + NOBODY) + self.of("belownobody")

    def cgroup(self):
        return since(self.full, self.tids["cgroup"], "arg2_str=selcgroup")

    def syscalls(self):
        return [l for l in self.full if l.type in ("openat", "dup", "procexit")]

    def failed(self):
        return [l for l in self.full if fails(l)]

    def combined(self):
        return [l for l in self.uid() if l.type in ("openat", "read", "close") and fails(l)]

    def suppress(self):
        at = next(l for l in self.of("suppressed") if l.type == "execve")
        gone = self.of("suppressed")
        gone = gone[gone.index(at):] + self.of("belowsuppressed")
        return [l for l in self.full if l not in gone]


class Select(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_of = cls.whole_run()
        cls.dir = cls.run_of.dir
        cls.by_hand = ByHand(cls.run_of)

    @classmethod
    def whole_run(cls):
        """Repeats until a run loses nothing: a busy machine may cost one run, not each."""
        for _ in range(RUNS_MAX):
            folder = e2e.temp_dir()
            cls.addClassCleanup(shutil.rmtree, folder)
            os.chmod(folder, 0o777)
            prog = e2e.compile_program("select", folder)
            shutil.copy(prog, os.path.join(folder, "selsup"))
            run = Run(folder, prog)
            lost = {name: n for name in run.names if (n := run.report(name)["records lost"])}
            if not lost:
                return run
        raise AssertionError(f"in each of {RUNS_MAX} runs records were lost, in the last {lost}")

    def compare(self, name, of_line=told):
        """Compares the lines of each thread in order; threads may interleave."""
        want, have = getattr(self.by_hand, name)(), self.run_of.lines(name)
        if name == "cgroup":
            have = since(have, self.run_of.tids["cgroup"], "arg2_str=selcgroup")
        for role, tid in sorted(self.run_of.tids.items()):
            with self.subTest(capture=name, role=role):
                self.assertEqual([of_line(l) for l in have if l.tid == tid],
                                 [of_line(l) for l in want if l.tid == tid])
        self.assertGreater(len(have), 5)

    def test_a_selection_leaves_what_is_left_by_hand(self):
        for name in self.run_of.names:
            if name not in ("full", "port", "sampling"):
                self.compare(name)

    def test_v_says_what_was_left_out(self):
        for name in self.run_of.names:
            report = self.run_of.report(name)
            self.assertEqual(report["filtered in kernel"] > 0, name != "full", name)
            self.assertEqual(report["processes not tracked"], 0)

    def test_files_are_known_by_name_in_each(self):
        """Includes files that were opened by calls that are not shown, and before the capture."""
        for name, files in {"comm": 2, "uid": 2, "cgroup": 2, "pid": 2, "suppress": 2}.items():
            if name not in self.run_of.names:
                continue
            text = "\n".join(l.info for l in self.run_of.lines(name) if l.type == "pread")
            for file in ("kept", "shared"):
                self.assertIn(f"(<f>{self.dir}/{file})", text, name)

    def test_snaplen_is_larger_for_a_port_alone(self):
        def short(line):
            return told(line)[:3] + (re.sub("x{80,}", "x", line.info),)
        self.compare("port", lambda l: told(l) if l.type != "write" else short(l))
        sent = [l for l in self.run_of.lines("port") if "res=300 " in l.info]
        self.assertEqual([len(re.search("x+", l.info)[0]) for l in sent], [SNAPLEN, 80])

    def test_the_file_has_the_same_lines(self):
        for name in self.run_of.names:
            path = self.run_of.path(name)
            with self.subTest(capture=name):
                self.assertEqual(e2e.run(e2e.SAKER, "-r", path, "--verify"), f"{path}: sound\n")
                if name not in WHOLE:
                    self.assertEqual([l.text for l in self.run_of.lines_of_file(name)],
                                     [l.text for l in self.run_of.lines(name)])

    def test_sampling_counts_what_it_leaves_out(self):
        """Every call is in the file or counted, except the one that began before the capture."""
        full = [l for l in self.by_hand.full if l.type != "procexit"]
        have = [l for l in self.run_of.lines("sampling") if l.type != "procexit"]
        waited = [l for l in full if l.tid == self.run_of.prog.pid][0]
        self.assertEqual(waited.type, "read")
        left_out = self.run_of.report("sampling")["excluded by --sampling"]
        self.assertEqual(len(have) + left_out, len(full) - 1)
        self.assertGreater(left_out, 10)
        self.assertIn("getppid", [l.type for l in have])

    def test_sampling_keeps_what_changes_the_state(self):
        def kept(lines):
            return [told(l) for l in lines if not fails(l) and
                    l.type in ("openat", "dup", "dup2", "close", "clone", "clone3", "execve",
                               "setresuid", "procexit")]
        for tid in self.run_of.tids.values():
            self.assertEqual(kept([l for l in self.run_of.lines("sampling") if l.tid == tid]),
                             kept([l for l in self.by_hand.full if l.tid == tid]))

    def test_sampling_tells_its_pauses(self):
        drops = [t for t in event_types(self.run_of.path("sampling")) if t in (DROP_E, DROP_X)]
        self.assertGreater(len(drops), 1)
        self.assertEqual(drops[2::2], drops[:1] * ((len(drops) - 1) // 2))
        self.assertEqual(drops[1::2], [DROP_E + DROP_X - drops[0]] * (len(drops) // 2))
        told = re.findall(r"(?m)^-- \S+ CPU \d+ recording (pauses: of each second the first 1/2 is "
                          r"recorded|goes on)$", e2e.run(e2e.SAKER, "-r",
                                                         self.run_of.path("sampling")))
        self.assertEqual([DROP_X if t == "goes on" else DROP_E for t in told], drops)

    def test_sysdig_and_tshark_read_the_files(self):
        e2e.need("sysdig", "tshark")
        for name in ("pid", "combined", "sampling"):
            path = self.run_of.path(name)
            theirs = {tuple(l.split(" ", 2)[:2]): l for l in
                      e2e.run("sysdig", "-r", path).splitlines() if l}
            for l in self.run_of.lines(name):
                if l.type in ("openat", "read", "pread"):
                    self.assertIn(f" ({l.tid}) < {l.type} ", theirs[str(l.num), l.time])
            self.assertTrue(e2e.run("tshark", "-r", path))


class Wrong(unittest.TestCase):
    def test_one_sentence_and_a_status(self):
        for options in (["--syscalls", "opnat"], ["--syscalls", ""], ["--pid", "0"],
                        ["--pid", "1,x"], ["--tree"], ["--comm", ""], ["--uid", "no-such-user"],
                        ["--cgroup", "/no/such/cgroup"], ["--sampling", "3"],
                        ["--sampling", "256"], ["--snaplen-port", "0"],
                        ["--snaplen-port", "80:70000"], ["-U", ""],
                        ["--failed-only", "-r", "x.scap"]):
            with self.subTest(options=options):
                p = subprocess.run([e2e.SAKER, "-n1", *options], capture_output=True, text=True)
                self.assertIn(p.returncode, (1, 2))
                self.assertEqual(p.stdout, "")
                self.assertRegex(p.stderr, r"\Asaker: [^\n]+\n\Z")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
