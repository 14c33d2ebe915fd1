#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command line on capture files that are built here byte by byte: options, output, bad
input. Needs no root; tests that do are in command_test.py."""

import fcntl
import gzip
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import unittest

import saker_e2e as e2e
from saker_e2e import block

SHB, PL_V9, EV_V2 = 0x0A0D0D0A, 0x215, 0x216
OPEN_X, CLOSE_E, CLOSE_X, WRITE_E, WRITE_X = 3, 4, 5, 8, 9
LOST_E = 0x4000  # saker's own
START = 1700000000 * 10**9  # 2023-11-14 22:13:20 UTC
TID = 1234


def header():
    return block(SHB, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1))


def process(comm):
    def text(s):
        return struct.pack("<H", len(s)) + s

    entry = struct.pack("<QQQQQ", TID, TID, 1, TID, TID)
    entry += text(comm) + text(comm) + text(comm) + text(b"") + text(b"/")
    entry += struct.pack("<QIII", 1024, 1, 0, 0) + struct.pack("<IIIQQ", 0, 0, 0, 0, 0)
    entry += text(b"") + struct.pack("<qq", TID, TID) + text(b"") + text(b"/")
    entry += struct.pack("<IB", 0, 0)
    return block(PL_V9, struct.pack("<I", len(entry) + 4) + entry)


def event(ns, kind, *params):
    lens = b"".join(struct.pack("<H", len(p)) for p in params)
    body = lens + b"".join(params)
    evt = struct.pack("<QQIHI", START + ns, TID, 26 + len(body), kind, len(params)) + body
    return block(EV_V2, struct.pack("<H", 1) + evt)


def s64(n):
    return struct.pack("<q", n)


def close_calls(n, step_ns=10**6):
    """Returns n calls of close (enter and exit events), one time step apart."""
    return b"".join(event(2 * i * step_ns, CLOSE_E, s64(i)) +
                    event((2 * i + 1) * step_ns, CLOSE_X, s64(0 if i % 2 else -9))
                    for i in range(n))


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.ten = cls.file("ten.scap", header() + process(b"prog") + close_calls(10))

    @classmethod
    def file(cls, name, data):
        path = os.path.join(cls.dir, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def saker(self, *args, **kwargs):
        return subprocess.run([e2e.SAKER, *args], capture_output=True,
                              env={**os.environ, "TZ": "UTC"}, timeout=60, **kwargs)

    def lines(self, *args):
        p = self.saker(*args)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        return p.stdout.decode().splitlines()

    def refuses(self, sentence, *args, status=1):
        """Checks for exactly one sentence on stderr, this exit status, and no output."""
        p = self.saker(*args)
        said = p.stderr.decode()
        self.assertEqual(p.returncode, status, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertRegex(said, "^saker: ")
        self.assertRegex(said, sentence)
        return p.stdout

    # options

    def test_unknown_options(self):
        self.refuses(r"--sumary: did you mean --summary\?", "--sumary")
        self.refuses(r"--verb: did you mean --verbose\?", "--verb")
        self.refuses(r"--xyzzy: see saker --help", "--xyzzy")
        self.refuses(r"-V: did you mean -v, --verbose\?", "-V")

    def test_commands_without_dashes(self):
        """Words are a filter; if the first is no field, the message suggests that a command
        was intended."""
        for words in ("ls",), ("ls", "-v", "/tmp", "x"):
            self.assertRegex(self.saker(*words).stderr.decode(),
                             r"\Asaker: filter: unknown macro or field ls; to run a command: saker -- ls")
        for args in ("user=root",), ("(ls",), ("-r", self.ten, "ls"), ("proc.nmae=ls",):
            said = self.saker(*args).stderr.decode()
            self.assertIn("saker: filter: ", said)
            self.assertNotIn("to run a command", said)

    def test_misspelt_command(self):
        """The message names the nearest command, wherever the misspelt word stands."""
        for args in ("profle", "--", "ls"), ("profle",), ("profle", "-F", "99"), ("profle", "--dwarf", "--", "ls"):
            self.assertRegex(self.saker(*args).stderr.decode(), r"\Asaker: .*; did you mean saker profile\?", args)
        self.assertIn("did you mean saker selftest?", self.saker("selftst").stderr.decode())
        said = self.saker("-r", self.ten, "profile").stderr.decode()
        self.assertIn("did you mean saker profile?", said)

    # files that are written

    WRITERS = (("-w",), ("-q", "-o"), ("-c", "topprocs_cpu", "-o"))

    def test_files_are_for_their_owner_alone(self):
        for i, words in enumerate(self.WRITERS):
            path = os.path.join(self.dir, f"mode-{i}")
            self.assertEqual(self.saker("-r", self.ten, *words, path, umask=0).returncode, 0, words)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600, words)

    def test_links_of_others_are_not_followed(self):
        """Also where the kernel allows it: fs.protected_symlinks is for sticky folders only."""
        if os.geteuid():
            e2e.skip_test("only root can make a link of another user")
        target = self.file("target", b"precious")
        for i, words in enumerate(self.WRITERS):
            own, others = (os.path.join(self.dir, f"{whose}-{i}") for whose in ("own", "others"))
            for link in own, others:
                os.symlink("target", link)
            os.chown(others, 65534, 65534, follow_symlinks=False)
            self.refuses(f"cannot write .*{others}: Permission denied", "-r", self.ten, *words, others)
            with open(target, "rb") as f:
                self.assertEqual(f.read(), b"precious", words)
            self.assertEqual(self.saker("-r", self.ten, *words, own).returncode, 0, words)
            self.assertTrue(os.path.islink(own))
            with open(target, "rb") as f:
                self.assertNotEqual(f.read(), b"precious", words)
            self.file("target", b"precious")

    def test_files_of_others_are_not_used(self):
        """In a folder that all may write to, a file or pipe of another user is bait: its owner reads what is written.
        Also where the kernel allows it: fs.protected_regular and fs.protected_fifos are for O_CREAT only."""
        if os.geteuid():
            e2e.skip_test("only root can make a file of another user")
        shared = os.path.join(self.dir, "shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        for i, words in enumerate(self.WRITERS):
            path = os.path.join(shared, f"bait-{i}")
            with open(path, "w", encoding="ascii"):
                pass
            os.chown(path, 65534, 65534)
            if words == ("-w",):  # replaces it
                self.assertEqual(self.saker("-r", self.ten, *words, path).returncode, 0)
                self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o777), (0, 0o600))
            else:
                self.refuses(f"cannot write .*{path}: Permission denied", "-r", self.ten, *words, path)
                self.assertEqual(os.path.getsize(path), 0)
            pipe = os.path.join(shared, f"pipe-{i}")
            os.mkfifo(pipe)
            os.chown(pipe, 65534, 65534)
            self.refuses(f"cannot write .*{pipe}: Permission denied", "-r", self.ten, *words, pipe)

    def test_failures_with_a_command_are_125(self):
        self.refuses("unknown option --nope", "--nope", "--", "true", status=125)

    def test_help(self):
        out = self.saker("--help").stdout.decode()
        self.assertEqual(out, self.saker("-h").stdout.decode())
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertIn("Examples:", out)

    def test_help_of_commands(self):
        for words, same in ((["help"], ["--help"]), (["help", "profile"], ["profile", "--help"]), (["help", "selftest"],
                            ["selftest", "--help"]), (["help", "why"], ["-i", "why"]), (["why", "--help"], ["-i", "why"])):
            self.assertEqual(self.saker(*words).stdout, self.saker(*same).stdout, words)

    def test_version(self):
        self.assertRegex(self.saker("--version").stdout.decode(), r"^saker \d+\.\d+\.\d+\n$")

    def test_completion(self):
        built = os.path.join(e2e.BUILD, "userspace/saker/saker.bash")
        script = f'source {built}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _saker; ' \
                 'echo "${COMPREPLY[@]}"'

        def offers(*words):
            return e2e.run("bash", "-c", script, "bash", e2e.SAKER, *words,
                           env={"SAKER_CHISEL_DIR": os.path.join(e2e.SOURCE, "chisels")}).split()
        self.assertEqual(offers("--su"), ["--suppress-comm", "--summary"])
        self.assertEqual(offers("--ring", ""), ["array", "ringbuf", "perf"])
        self.assertEqual(offers("-n", ""), [])
        self.assertEqual(offers("exporter", "--otlp-h"), ["--otlp-header"])
        self.assertEqual(offers("top", "--list-k"), ["--list-keys"])
        self.assertIn("/usr", offers("exporter", "--config", "/us"))
        self.assertEqual(offers("expor"), ["exporter"])
        self.assertIn("/usr", offers("-r", "/us"))
        for option in "-c", "--chisel", "-i", "--chisel-info":
            self.assertEqual(offers(option, "topfiles_b"), ["topfiles_bytes"])
            self.assertIn("/usr", offers(option, "/us"))
        self.assertLess({"lsof", "ps", "topprocs_errors"}, set(offers("-c", "")))

    def test_man_page(self):
        if not shutil.which("groff"):
            e2e.skip_test("groff is not installed")
        page = os.path.join(e2e.BUILD, "userspace/saker/saker.1")
        p = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", page], capture_output=True,
                           text=True)
        self.assertEqual(p.stderr, "")
        text = " ".join(p.stdout.split())
        for name in re.findall(r"(?m)^  (?:-.,|   ) (--[a-z-]+)",
                               self.saker("--help").stdout.decode()):
            self.assertIn(name, text)

    def test_list_of_events(self):
        out = self.lines("-L")
        self.assertIn("> open(FSPATH name, FLAGS32 flags, UINT32 mode)", out)
        self.assertGreater(len(out), 200)
        self.assertGreater(len(self.lines("-L", "-v")), len(out))

    def test_page_of_events_is_current(self):
        page = os.path.join(e2e.SOURCE, "docs/events.md")
        with open(page, encoding="utf-8") as f:
            self.assertEqual(e2e.run(os.path.join(e2e.SOURCE, "scripts/events-page")), f.read(),
                             "docs/events.md is old: scripts/events-page >docs/events.md")

    def test_list_of_fields(self):
        out = self.lines("-l")
        self.assertLessEqual(max(map(len, out)), 80)
        self.assertIn("evt.num", [line.split(" ")[0] for line in out])
        self.assertGreater(len(self.lines("-lv")), len(out))

    def test_width_of_the_list_is_the_terminals(self):
        def longest(columns):
            return max(map(len, self.on_terminal("-l", columns=columns).splitlines()))
        self.assertLessEqual(longest(75), 75)
        self.assertGreater(longest(120), 80)
        self.assertLessEqual(longest(120), 120)

    def test_page_of_fields_is_current(self):
        with open(os.path.join(e2e.SOURCE, "docs/fields.md"), encoding="utf-8") as f:
            self.assertEqual(self.saker("-l", "--markdown").stdout.decode(), f.read(),
                             "docs/fields.md is old: saker -l --markdown >docs/fields.md")

    # lines

    def on_terminal(self, *args, columns=80, **env):
        """Returns the output on a terminal of this width, whatever the width of the caller's."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        settings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        with subprocess.Popen([e2e.SAKER, *args], stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=theirs, env={**settings, "TERM": "xterm", **env}) as p:
            os.close(theirs)
            out = e2e.read_terminal(ours)
            self.assertEqual(p.wait(timeout=60), 0)
        return out.decode().replace("\r\n", "\n")

    def test_colours(self):
        args = ("-r", self.ten, "-n", "2")
        plain = "\n".join(self.lines(*args)) + "\n"
        coloured = self.on_terminal(*args, TZ="UTC")
        self.assertNotEqual(coloured, plain)
        self.assertEqual(re.sub("\033\\[[0-9]*m", "", coloured), plain)
        self.assertEqual(self.on_terminal(*args, TZ="UTC", NO_COLOR="1"), plain)
        self.assertEqual(self.on_terminal(*args, TZ="UTC", TERM="dumb"), plain)
        self.assertEqual(self.on_terminal(*args, "--color", "never", TZ="UTC"), plain)
        self.assertEqual("\n".join(self.lines(*args, "--color", "always")) + "\n", coloured)
        self.assertNotIn("\033", self.on_terminal(*args, "-j"))

    def test_formats(self):
        self.assertEqual(self.lines("-r", self.ten, "-n2", "-p", "%evt.num|%6proc.name|%evt.type"),
                         ["1|prog  |close", "2|prog  |close"])
        # Hidden lines are not counted.
        self.assertEqual(self.lines("-r", self.ten, "-n2", "-p", "%evt.num %evt.res", "evt.dir=<"),
                         ["2 EBADF", "4 SUCCESS"])
        self.assertEqual(self.lines("-r", self.ten, "-n1", "--tsv", "-p", "%evt.num %evt.type"),
                         ["evt.num\tevt.type", "1\tclose"])
        self.assertEqual(self.lines("-r", self.ten, "-n1", "-j", "-p", "%evt.type"),
                         ['{"evt.type":"close"}'])
        out = self.lines("-r", self.ten)
        self.assertEqual(self.lines("-r", self.ten, "-p", self.lines("-pp")[0]), out)

    def test_formats_of_lines_are_not_for_chisels(self):
        plain = self.saker("-r", self.ten, "-c", "topscalls")
        for option in ("-p%evt.num", "-tr"):
            p = self.saker("-r", self.ten, option, "-c", "topscalls")
            self.assertEqual((p.returncode, p.stdout), (0, plain.stdout))
            self.assertEqual(p.stderr, b"saker: -p FORMAT and -t apply to lines; chisels have "
                                       b"output of their own\n")
        for option in ("-pc", "-x"):
            p = self.saker("-r", self.ten, option, "-c", "topscalls")
            self.assertEqual((p.returncode, p.stderr), (plain.returncode, b""))

    def test_format_that_is_wrong(self):
        p = self.saker("-r", self.ten, "-p", "%evt.num %proc.nmae")
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertEqual(p.stderr.decode(),
                         "saker: in the format of -p: unknown field proc.nmae; "
                         "did you mean proc.name?\n"
                         "  %evt.num %proc.nmae\n"
                         "            ^\n")
        self.refuses("does not query Mesos", "-r", self.ten, "-pm")

    def test_live_only(self):
        """The option that was given is named."""
        for option in "--tcp", "--tls":
            self.refuses(f"saker: {option} applies to a live capture, not to -r", "-r", self.ten, option)

    def test_every_field_of_the_list_has_a_place_in_formats(self):
        only_filters = ("fd.ip", "fd.port", "fd.proto", "fd.net", "fd.cnet", "fd.snet", "fd.lnet",
                        "fd.rnet")
        given = {"evt.type.is": ".open", "evt.arg": ".fd", "evt.rawarg": ".fd"}
        for line in self.lines("-lv"):
            m = re.match(r"([a-z]+\.[a-z0-9_.]*[a-z0-9_])(\.NAME|\[N\])?(\[\[N\]\]|\[\.NAME\])?(  |$)", line)
            if not m or m[1] == "evt.around":
                continue
            if m[1] in only_filters:
                p = self.saker("-r", self.ten, "-p", "%" + m[1])
                self.assertEqual((p.returncode, p.stdout), (1, b""), m[1])
                self.assertIn(b"it is for filters", p.stderr)
                continue
            name = m[1] + (given.get(m[1], ".x") if m[2] == ".NAME" else "[1]" if m[2] else "")
            p = self.saker("-r", self.ten, "-n1", "-p", "*%" + name)
            self.assertEqual((p.returncode, p.stderr), (0, b""), name)
            self.assertEqual(p.stdout.count(b"\n"), 1, name)
            json.loads(self.saker("-r", self.ten, "-n1", "-j", "-p", "*%" + name).stdout)

    def test_lines(self):
        out = self.lines("-r", self.ten)
        self.assertEqual(out[0], "1 22:13:20.000000000 1 prog (1234) > close fd=0 ")
        self.assertEqual(out[1], "2 22:13:20.001000000 1 prog (1234) < close res=-9(EBADF) ")
        self.assertEqual(len(out), 20)

    def test_times(self):
        def times(fmt):
            return [line.split()[1] for line in self.lines("-r", self.ten, "-t", fmt)[:4]]
        self.assertEqual(times("a")[1], "1700000000.001000000")
        self.assertEqual(times("r")[3], "0.003000000")
        self.assertEqual(times("d"), ["0.000000000", "0.001000000"] * 2)
        self.assertEqual(times("D")[2:], ["0.001000000", "0.001000000"])

    def test_limits(self):
        self.assertEqual(len(self.lines("-r", self.ten, "-n", "3")), 3)
        self.assertEqual(len(self.lines("-r", self.ten, "-M", "0.005")), 5)
        self.assertEqual(self.lines("-r", self.ten, "-q"), [])
        back = self.file("back.scap", header() + process(b"prog") + b"".join(
            event(ns, CLOSE_E, s64(3)) for ns in (0, -10**9, 10**6, 10**9)))
        self.assertEqual(len(self.lines("-r", back, "-M", "0.5")), 3, "time may run back")

    def test_an_empty_result_says_so(self):
        for words in ["proc.name=nobody"], ["-j", "proc.name=nobody"], ["-c", "topscalls", "proc.name=nobody"]:
            p = self.saker("-r", self.ten, *words)
            self.assertEqual((p.returncode, p.stderr), (0, b"saker: 0 of 20 events match\n"), words)
        for words in ["-q", "proc.name=nobody"], ["evt.type=close"], \
                ["-w", os.path.join(self.dir, "some.scap"), "evt.type=close"]:
            self.assertEqual(self.saker("-r", self.ten, *words).stderr, b"", words)

    def test_what_a_capture_says_of_itself_is_no_match(self):
        """Chisels receive the event whatever the filter is; it does not count as a matching
        event."""
        u64 = lambda n: struct.pack("<Q", n)
        lost = event(10**6, LOST_E, struct.pack("<I", 0), u64(7), b"ring full\0", u64(START), u64(START + 10**6),
                     *[u64(0)] * 6)
        path = self.file("lost.scap", header() + process(b"prog") + close_calls(5) + lost)
        for chisel in "topscalls", "by":
            p = self.saker("-r", path, "-c", chisel, *["evt.type"] * (chisel == "by"), "proc.name=nobody")
            self.assertIn(b"saker: 0 of 10 events match\n", p.stderr, chisel)
            self.assertEqual(p.returncode, 0)

    def test_events_without_a_line_are_counted(self):
        for words in ["-p", "%evt.num %evt.buffer %evt.arg.name"], ["-j", "-p", "%evt.num %evt.buffer"]:
            p = self.saker("-r", self.ten, *words)
            self.assertEqual((p.returncode, p.stdout), (0, b""))
            self.assertEqual(p.stderr, b"saker: 20 events lack evt.buffer and have no line; begin the format with * "
                                       b"to show them\n")
        p = self.saker("-r", self.ten, "-p", "%evt.buffer", "evt.num=1")
        self.assertEqual(p.stderr, b"saker: 1 event lacks evt.buffer and has no line; begin the format with * to show it\n")
        for words in ["-p", "*%evt.num %evt.buffer"], ["-q", "-p", "%evt.num %evt.buffer"], ["-p", "%evt.num"]:
            self.assertEqual(self.saker("-r", self.ten, *words).stderr, b"", words)

    def test_suppressed_process(self):
        self.assertEqual(self.lines("-r", self.ten, "-U", "prog"), [])
        self.assertEqual(len(self.lines("-r", self.ten, "-U", "other")), 20)

    def test_files_one_after_the_other(self):
        out = self.lines("-r", self.ten, "-r", self.ten)
        self.assertEqual(len(out), 40)

    def test_output_file(self):
        path = os.path.join(self.dir, "lines.txt")
        self.assertEqual(self.lines("-r", self.ten, "-o", path), [])
        with open(path, encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines(), self.lines("-r", self.ten))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_unbuffered(self):
        self.assertEqual(self.lines("-r", self.ten, "--unbuffered"), self.lines("-r", self.ten))

    def test_summary_as_json(self):
        rows = [line.split() for line in self.lines("-r", self.ten, "-q", "-S")][1:]
        told = [json.loads(line) for line in self.lines("-r", self.ten, "-q", "-j", "-S")]
        self.assertEqual([[o["evt.dir"], o["evt.type"], str(o["count"]), str(o["failed"])] for o in told],
                         [[*r[:3], r[4]] for r in rows])

    def test_summary(self):
        rows = [line.split() for line in self.lines("-r", self.ten, "-q", "-S")]
        self.assertEqual(rows[0][:3], ["Event", "Count", "Share"])
        self.assertEqual(rows[1], [">", "close", "10", "50.00%", "0", "-", "-"])
        self.assertEqual(rows[2], ["<", "close", "10", "50.00%", "5", "0.010000", "1000.000"])

    def test_report(self):
        p = self.saker("-r", self.ten, "-q", "-v")
        self.assertEqual(p.stdout, b"")
        said = p.stderr.decode()
        self.assertRegex(said, r"\n  events +20\n")
        self.assertRegex(said, r"\n  records lost +not counted: not in the file\n")

    def test_progress_without_a_terminal(self):
        p = self.saker("-r", self.ten, "-q", "-P")
        self.assertEqual(p.stdout, b"")
        self.assertNotIn(b"\r", p.stderr)

    def test_no_control_bytes(self):
        evil = b"\x1b[31m\x07\x00\x7f\x9b\xff\xc3\x28\r\n"
        path = self.file("evil.scap", header() + process(b"p\x1b]0;x\x07") + event(
            0, OPEN_X, s64(3), b"/tmp/\x1b[2J\r\x9b31m\x00", struct.pack("<I", 1),
            struct.pack("<I", 0), struct.pack("<I", 0)) + event(1, WRITE_X, s64(len(evil)), evil))
        for option in [], ["-x"], ["-X"], ["-b"]:
            out = self.saker("-r", path, *option).stdout
            bad = [b for b in out if (b < 0x20 and b not in b"\n\t") or b == 0x7f]
            self.assertEqual(bad, [], out)
        self.refuses(r"no\.\[31msuch", "-r", os.path.join(self.dir, "no\x1b[31msuch"))

    def test_messages_have_no_control_characters(self):
        p = self.saker("-r", os.fsdecode(b"/no\x1b[2J\xc2\x9b2J\xe2\x80\xae\xff\xc3\xa9"))
        self.assertEqual(p.stderr, b"saker: cannot open /no.[2J..2J....\xc3\xa9: No such file or directory\n")

    def test_reader_that_goes_away(self):
        path = self.file("long.scap", header() + close_calls(50000))
        p = subprocess.Popen([e2e.SAKER, "-r", path], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        p.stdout.readline()
        p.stdout.close()
        self.assertEqual(p.stderr.read(), b"")
        p.stderr.close()
        self.assertEqual(p.wait(), 0)

    def test_lines_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            p = subprocess.run([e2e.SAKER, "-r", self.ten], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr, rb"^saker: cannot write lines to standard output: No space.*\n$")
        self.refuses("cannot write lines to /nowhere/x: ", "-r", self.ten, "-o", "/nowhere/x")

    def test_file_to_a_pipe_without_a_reader(self):
        reader, writer = os.pipe()
        os.close(reader)
        p = subprocess.run([e2e.SAKER, "-r", self.ten, "-w", "-"], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"cannot write standard output after byte 0: Broken pipe", p.stderr)

    def test_times_after_the_first_event(self):
        """That is none of the containers with which a capture of another tool begins, of later times."""
        path = e2e.with_container(self.ten, os.path.join(self.dir, "containers.scap"), later_ns=10**9)
        lines = e2e.run(e2e.SAKER, "-r", path)
        self.assertEqual(len(lines.splitlines()), 20)
        self.assertEqual(e2e.run(e2e.SAKER, "-r", path, "--from", "+0"), lines)
        with open(path, "rb") as f:
            self.assertEqual(subprocess.run([e2e.SAKER, "-r", "-", "--from", "+0"], stdin=f, capture_output=True,
                                            text=True).stdout, lines)

    def test_lines_that_are_compressed(self):
        path = os.path.join(self.dir, "lines.gz")
        for options in [], ["-j"], ["--unbuffered"]:
            e2e.run(e2e.SAKER, "-r", self.ten, "-o", path, *options)
            with gzip.open(path, "rt") as f:
                self.assertEqual(f.read(), e2e.run(e2e.SAKER, "-r", self.ten, *options), options)
        with open(path, "wb") as f:
            f.write(b"as before")
        os.remove(path)
        os.symlink("/dev/full", path)
        self.refuses("cannot write lines to ", "-r", self.ten, "-o", path)

    def test_full_standard_output(self):
        for words in ("exporter", "-r", self.ten, "--print"), ("exporter", "--list-metrics"), ("send", "--help"), \
                ("top", "-r", self.ten, "-b"), ("top", "-r", self.ten, "-b", "-j"), ("top", "--list-views"), ("-L",):
            for unbuffered in [], ["stdbuf", "-o0"]:
                with open("/dev/full", "wb") as full:
                    p = subprocess.run([*unbuffered, e2e.SAKER, *words], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(p.returncode, 1, words)
                self.assertRegex(p.stderr, rb"^saker.*: cannot write to standard output: .*\n$", words)
                p = subprocess.Popen([*unbuffered, e2e.SAKER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                p.stdout.close() # a reader may close the pipe before saker has written all
                self.assertEqual(p.stderr.read(), b"", words)
                self.assertIn(p.wait(), (0, -signal.SIGPIPE), words)
                p.stderr.close()

    # writing files

    def test_written_file_prints_the_same(self):
        for options in [], ["-z"], ["--zstd"]:
            copy = os.path.join(self.dir, "copy.scap")
            self.assertEqual(self.lines("-r", self.ten, "-w", copy, *options), [])
            self.assertEqual(self.lines("-r", copy), self.lines("-r", self.ten))
            self.assertEqual(self.lines("-r", copy, "--verify"), [f"{copy}: sound"])
            self.assertEqual(os.stat(copy).st_mode & 0o777, 0o600)

    def test_print_while_writing(self):
        copy = os.path.join(self.dir, "copy.scap")
        self.assertEqual(self.lines("-r", self.ten, "-w", copy, "--print"),
                         self.lines("-r", self.ten))

    def test_pipes(self):
        p = self.saker("-r", self.ten, "-w", "-")
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        for data in p.stdout, gzip.compress(p.stdout):
            q = self.saker("-r", "-", input=data)
            self.assertEqual((q.returncode, q.stderr), (0, b""))
            self.assertEqual(q.stdout.decode().splitlines(), self.lines("-r", self.ten))

    def test_lines_of_a_slow_pipe_come_at_once(self):
        p = subprocess.Popen([e2e.SAKER, "-r", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with p, p.stdin, p.stdout:
            p.stdin.write(header() + process(b"prog") + close_calls(1))
            p.stdin.flush()
            self.assertIn(b"> close fd=0", p.stdout.readline())
            self.assertIn(b"< close", p.stdout.readline())

    def test_interrupted_while_a_pipe_is_quiet(self):
        p = subprocess.Popen([e2e.SAKER, "-r", "-", "-S"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        with p, p.stdin, p.stdout:
            p.stdin.write(header() + process(b"prog") + close_calls(1))
            p.stdin.flush()
            p.stdout.readline()
            p.stdout.readline()
            p.send_signal(signal.SIGINT)
            self.assertIn(b"Event", p.stdout.readline())
            self.assertEqual(p.wait(timeout=20), 0)

    def test_terminals_are_no_capture_files(self):
        ours, theirs = os.openpty()
        for fd in ours, theirs:
            self.addCleanup(os.close, fd)
        for args, kwargs in (("-r", "-"), {"stdin": theirs, "stdout": subprocess.PIPE}), \
                (("-r", self.ten, "-w", "-"), {"stdout": theirs}):
            p = subprocess.run([e2e.SAKER, *args], stderr=subprocess.PIPE, timeout=60, **kwargs)
            self.assertEqual(p.returncode, 1)
            self.assertRegex(p.stderr, rb"^saker: .* the terminal: pipe .*\n$")

    def test_progress_on_a_terminal(self):
        ours, theirs = os.openpty()
        self.addCleanup(os.close, ours)
        path = self.file("long.scap", header() + close_calls(200000))
        subprocess.run([e2e.SAKER, "-r", path, "-q", "-P"], stderr=theirs, timeout=60, check=True)
        os.close(theirs)
        shown = os.read(ours, 65536)
        self.assertRegex(shown, rb"^\r\[#* *\] +\d+ %")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), "the bar is wiped away")

    def test_closed_standard_output(self):
        copy = os.path.join(self.dir, "copy.scap")
        p = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", e2e.SAKER, "-r", self.ten, "-w", copy,
                            "--print"], capture_output=True)
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertRegex(p.stderr, rb"^saker: cannot write lines to standard output: Bad file.*\n$")
        self.assertEqual(self.lines("-r", copy, "--verify"), [f"{copy}: sound"])

    def test_file_size_limit(self):
        big = os.path.join(self.dir, "big.scap")
        copy = os.path.join(self.dir, "copy.scap")
        with open(self.ten, "rb") as f:
            data = f.read()
        with open(big, "wb") as f:
            f.write(data * (200000 // len(data) + 1))
        p = subprocess.run(["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", e2e.SAKER, "-r", big,
                            "-w", copy], capture_output=True)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr, rb"(?m)^saker: .*cannot write .*copy.scap after byte \d+: File"
                                   rb" too large.*\n\Z")
        p = self.saker("-r", copy)
        self.assertEqual((p.returncode, b"no counters at its end" in p.stderr), (0, True))

    def test_bad_targets(self):
        self.refuses("/nowhere/x.scap", "-r", self.ten, "-w", "/nowhere/x.scap")
        self.refuses(self.dir, "-r", self.ten, "-w", self.dir)
        self.refuses("/dev/full", "-r", self.ten, "-w", "/dev/full")
        before = self.lines("-r", self.ten)
        self.refuses("it is also read; write to another file", "-r", self.ten, "-w", self.ten)
        self.refuses("it is also read; write to another file", "-r", self.ten, "-o", self.ten)
        self.assertEqual(self.lines("-r", self.ten), before)

    # bad files

    def test_files_that_are_none(self):
        self.refuses("nothere", "-r", os.path.join(self.dir, "nothere"))
        self.refuses(self.dir, "-r", self.dir)
        self.refuses("empty", "-r", self.file("empty", b""))
        self.refuses("text", "-r", self.file("text", b"hello, this is not a capture\n" * 9))
        self.refuses("swapped", "-r", self.file("swapped", struct.pack(
            ">IIIHHQI", SHB, 28, 0x1A2B3C4D, 1, 2, 2**64 - 1, 28)))

    def test_file_cut_in_a_block(self):
        data = header() + process(b"prog") + close_calls(10)
        whole = self.lines("-r", self.ten)
        for cut in (1, 5, 20, 47):
            path = self.file("cut.scap", data[:-cut])
            out = self.refuses("cut.scap", "-r", path).decode().splitlines()
            self.assertEqual(out, whole[:19])
            self.refuses("cut.scap", "-r", path, "--verify")
        # The message is the last line, also where it meets the lines of the events.
        mixed = subprocess.run([e2e.SAKER, "-r", self.file("cut.scap", data[:-20])], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True).stdout.splitlines()
        self.assertEqual((mixed[:-1], mixed[-1][:7]), (whole[:19], "saker: "))
        path = self.file("cut.scap.gz", gzip.compress(data)[:-20])
        out = self.refuses("cut.scap.gz", "-r", path).decode().splitlines()
        self.assertEqual(out, whole[:len(out)])

    def test_file_cut_between_blocks(self):
        copy = os.path.join(self.dir, "copy.scap")
        self.lines("-r", self.ten, "-w", copy)
        with open(copy, "rb") as f:
            data = f.read()
        counters = struct.unpack("<I", data[-4:])[0]
        cut = self.file("cut.scap", data[:-counters])
        p = self.saker("-r", cut)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(p.stdout.decode().splitlines(), self.lines("-r", self.ten))
        self.assertRegex(p.stderr, rb"\Asaker: \S+/cut.scap has no counters at its end: .*\n\Z")
        two = self.file("two.scap", data[:-counters] + data)
        self.assertEqual(self.saker("-r", two, "-q").stderr.count(b"no counters"), 1)
        self.refuses("cut.scap", "-r", cut, "--verify")

    def test_what_was_read_before_damage_is_written(self):
        path = self.file("cut.scap", (header() + process(b"prog") + close_calls(10))[:-5])
        copy = os.path.join(self.dir, "copy.scap")
        self.refuses("cut.scap", "-r", path, "-w", copy)
        self.assertEqual(len(self.lines("-r", copy)), 19)

    def ends_well(self, what, data):
        p = self.saker("-r", self.file("bad.scap", data))
        said = p.stderr.decode().splitlines()
        self.assertIn(p.returncode, (0, 1), f"{what}: {said}")
        self.assertEqual([s for s in said if not s.startswith("saker: ")], [], what)
        self.assertLessEqual(p.returncode, len(said), what)

    def test_every_truncation(self):
        data = header() + process(b"prog") + close_calls(2)
        for n in range(len(data)):
            self.ends_well(f"cut at {n}", data[:n])

    def test_flipped_bytes(self):
        data = header() + process(b"prog") + close_calls(2)
        for i in range(len(data)):
            for value in 0, 0xFF, data[i] ^ 0x10:
                self.ends_well(f"byte {i} = {value:#x}", data[:i] + bytes([value]) + data[i + 1:])

    def test_not_root(self):
        if os.geteuid() != 0:
            self.refuses("needs root: use sudo saker, or read a file with -r")
            return
        copy = os.path.join(self.dir, "saker")
        shutil.copy(e2e.SAKER, copy)
        os.chmod(self.dir, 0o755)
        samples = b"sampling stacks"
        for args, what in (((), b"watching system calls"), (("profile",), samples),
                           (("-c", "no-such"), b"watching system calls"),
                           (("profile", "no.such=field"), samples),
                           (("profile", "-o", "/no/such/file.svg"), samples)):
            p = subprocess.run([copy, *args], capture_output=True, user=65534, group=65534, cwd="/")
            self.assertEqual(p.returncode, 1, args)
            self.assertRegex(p.stderr, rb"^saker: " + what + rb" needs root: .*\n$", args)
        p = subprocess.run(["setpriv", "--bounding-set=-sys_admin,-bpf", "--inh-caps=-all", copy], capture_output=True, check=False)
        self.assertRegex(p.stderr, rb"^saker: watching system calls needs CAP_BPF and .*, which root lacks here")

    @unittest.skipIf(os.geteuid(), "needs to be root")
    def test_a_folder_that_cannot_be_entered(self):
        """No link is to blame."""
        copy, closed = os.path.join(self.dir, "saker"), os.path.join(self.dir, "closed")
        shutil.copy(e2e.SAKER, copy)
        os.mkdir(closed, 0o700)
        os.chmod(self.dir, 0o755)
        os.chmod(self.ten, 0o644)
        p = subprocess.run([copy, "-r", self.ten, "-w", os.path.join(closed, "x")], capture_output=True, user=65534, group=65534,
                           cwd="/", check=False)
        self.assertEqual((p.returncode, p.stderr), (1, f"saker: cannot write {closed}/x: Permission denied\n".encode()))


class Alone(unittest.TestCase):
    """The command without any other file: its chisels are a part of it."""

    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        self.copy = os.path.join(self.dir, "saker")
        shutil.copy(e2e.SAKER, self.copy)
        self.capture = os.path.join(self.dir, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), self.capture, "100")

    def saker(self, *args, status=0):
        env = {k: v for k, v in os.environ.items() if not k.endswith("_CHISEL_DIR")}
        p = subprocess.run([self.copy, *args], capture_output=True, text=True, cwd="/",
                           env={**env, "HOME": self.dir})
        self.assertEqual(p.returncode, status, p.stderr)
        return p.stdout + p.stderr

    def own(self, name, text):
        folder = os.path.join(self.dir, ".chisels")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".lua"), "w") as f:
            f.write(text)

    def test_has_every_chisel(self):
        folder = os.path.join(e2e.SOURCE, "chisels")
        names = {f[:-4] for d in (folder, os.path.join(folder, "lib")) for f in os.listdir(d) if f.endswith(".lua")}
        self.assertGreater(len(names), 80)
        listed = {l.split()[0] for l in self.saker("-cl").splitlines() if l.startswith("  ")}
        self.assertLess({"topfuncs", "topscalls", "lsof"}, listed)
        for name in names:
            self.assertIn("File: built in\n", self.saker("-i", name))
        self.assertIn("no chisel 'no-such'", self.saker("-c", "no-such", "-r", self.capture, status=1))

    def test_profile_of_a_file_needs_no_folder(self):
        self.assertRegex(self.saker("profile", "-r", self.capture, status=1), "contains no samples")
        self.assertRegex(self.saker("-r", self.capture, "-c", "topscalls"), r"(?m)^\s*\d+ .*read")

    def test_a_folder_overrides(self):
        told = self.saker("-r", self.capture, "-c", "topscalls")
        self.own("toplist", "error('not of topscalls')")  # a module that topscalls requires
        self.assertEqual(self.saker("-r", self.capture, "-c", "topscalls"), told)
        self.own("topscalls", "print(require('toplist'))")
        self.assertIn("not of topscalls", self.saker("-r", self.capture, "-c", "topscalls", status=1))
        self.own("topscalls", "local r = require('report') print(type(r))")
        self.assertIn("table\n", self.saker("-r", self.capture, "-c", "topscalls"))
        self.assertIn(f"File: {self.dir}/.chisels/topscalls.lua", self.saker("-i", "topscalls"))

    def test_the_installed_command_has_them_too(self):
        target = os.path.join(self.dir, "target")
        e2e.run("cmake", "--install", e2e.BUILD, "--prefix", target)
        self.copy = os.path.join(target, "bin/saker")
        self.assertIn("topfuncs", self.saker("-cl"))


if __name__ == "__main__":
    unittest.main()
