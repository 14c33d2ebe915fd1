#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --redact: no byte of a secret reaches a file or a line, whatever it was a part of, and the file remains
valid for others."""

import functools
import glob
import gzip
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

# Each value of this program that is secret, by the kind of value.
BUFFER, ARG, ENV, PATH, URL = (f"s3cr3t-{kind}" for kind in ("buffer", "argument", "environment", "path", "url"))
SECRETS = {BUFFER: "buffers", ARG: "args", ENV: "env", PATH: None, URL: "buffers"}
PATTERN = r"/s3cr3t-\w+/"

# It is an argument, so it has no secret in one piece.
PROGRAM = """
import os, socket, subprocess, sys, threading
os.chdir(sys.argv[1])
secret = "s3cr3t-"
with open(secret + "path", "w") as f:
    f.write("password=" + secret + "buffer\\n")
subprocess.run(["/bin/true", "--password", secret + "argument"], env={"TOKEN": secret + "environment"})
server = socket.create_server(("127.0.0.1", 0))
def serve():
    peer, _ = server.accept()
    peer.recv(1000)
    peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    peer.close()
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(server.getsockname())
client.sendall(("GET /?token=" + secret + "url HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n").encode())
while client.recv(1000):
    pass
thread.join()
with socket.socket(socket.AF_UNIX) as unix:
    unix.bind(secret + "path.sock")
os.unlink(secret + "path.sock")
"""


def found(data):
    """Returns the secrets in these bytes."""
    return {secret for secret in SECRETS if secret.encode() in data}


def kept(*kinds):
    """Returns the secrets that remain if these kinds are redacted."""
    return {secret for secret, kind in SECRETS.items() if kind not in kinds}


def output(*args):
    """Runs saker, and returns what it prints, and its messages."""
    p = subprocess.run([e2e.SAKER, *args], capture_output=True, check=False)
    if p.returncode:
        raise AssertionError(f"saker {' '.join(args)}: status {p.returncode}\n{p.stderr.decode()}")
    return p.stdout, p.stderr.decode()


def file_bytes(path):
    data = e2e.read_bytes(path)
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@functools.cache
def folder():
    return e2e.temp_dir()


@functools.cache
def capture(*options):
    """Captures the program with these options."""
    path = os.path.join(folder(), "_".join(re.sub(r"\W", "", o) for o in options) + ".scap")
    p = e2e.record("--requests", *options, "-w", path, "--", "/usr/bin/python3", "-I", "-c", PROGRAM, folder())
    return path, p.stderr


def n_redacted(messages):
    return int(re.search(r"^saker: (\d+) values were redacted", messages, re.M)[1])


class Files(unittest.TestCase):
    """What is written while the program runs."""

    def test_nothing_redacted(self):
        """Without the option the file has all of them: so the other tests can fail."""
        path, messages = capture()
        self.assertEqual(found(file_bytes(path)), set(SECRETS))
        self.assertNotIn("redacted", messages)

    def test_each_kind(self):
        for kind in "buffers", "args", "env":
            path, messages = capture("--redact", kind)
            self.assertEqual(found(file_bytes(path)), kept(kind), kind)
            self.assertGreater(n_redacted(messages), 0)

    def test_all_kinds(self):
        for options in ("--redact", "buffers,args,env"), ("--redact", "buffers", "--redact", "args,env", "-z"):
            path, _ = capture(*options)
            self.assertEqual(found(file_bytes(path)), {PATH}, options)

    def test_pattern(self):
        for options in ("--redact", PATTERN), ("--redact", PATTERN, "-z"):
            path, messages = capture(*options)
            self.assertEqual(found(file_bytes(path)), set(), options)
            self.assertGreater(n_redacted(messages), len(SECRETS))

    def test_what_remains(self):
        """Names of programs and of variables, and what a pattern does not match."""
        path, _ = capture("--redact", "args,env")
        self.assertEqual(output("-r", path, "-p", "%proc.exe|%proc.args|%proc.env", "evt.type=execve and proc.name=true"
                                )[0], f"/bin/true|********** {'*' * len(ARG)}|TOKEN={'*' * len(ENV)}\n".encode())
        path, _ = capture("--redact", PATTERN)
        self.assertEqual(output("-r", path, "-p", "%evt.arg.data", "evt.type=write and fd.name endswith '/***********'"
                                )[0], f"password={'*' * len(BUFFER)}.\n".encode())

    def test_derived(self):
        """A request is made of redacted bytes."""
        line = ("-p", "%request.resource", "request.side=client")
        self.assertEqual(output("-r", capture()[0], *line)[0], f"/?token={URL}\n".encode())
        self.assertEqual(output("-r", capture("--redact", PATTERN)[0], *line)[0], f"/?token={'*' * len(URL)}\n".encode())
        self.assertEqual(output("-r", capture("--redact", "buffers")[0], *line)[0], b"")

    def test_kernel_copies_no_buffers(self):
        path, _ = capture("--redact", "buffers")
        data = output("-r", path, "-p", "%evt.arg.data", "evt.is_io=true and evt.arg.data!=''")[0].split()
        self.assertEqual(set(data), {b"*"})

    def test_others_read_it(self):
        for options in ("--redact", "buffers,args,env"), ("--redact", PATTERN):
            path, _ = capture(*options)
            self.assertIn("sound", e2e.run(e2e.SAKER, "-r", path, "--verify"))
            p = subprocess.run(["sysdig", "-r", path, "-p", "%evt.info %proc.args %proc.env"], capture_output=True,
                               check=False)
            self.assertEqual((p.returncode, p.stderr), (0, b""))
            self.assertLessEqual(found(p.stdout), {PATH})
            self.assertIn(b"*" * len(ARG), p.stdout)


class Processes(unittest.TestCase):
    def test_older_process(self):
        """The list of processes at the start, live, and when it is read from /proc again."""
        p = subprocess.Popen(["sh", "-c", "while :; do sleep 0.02; done", ARG], env={"TOKEN": ENV, "PATH": "/bin"})
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        for options, left in ((), {ARG, ENV}), (("--redact", "args,env"), set()), (("--redact", PATTERN), set()):
            path = os.path.join(folder(), "older.scap")
            e2e.record("-M", "0.5", "--pid", str(p.pid), *options, "-w", path)
            self.assertEqual(found(file_bytes(path)), left, options)


class Lines(unittest.TestCase):
    """What is printed of a file with secrets, and live."""

    FORMS = ("-v",), ("-j", "-v"), ("-x",), ("-A",), ("-j", "-b"), ("-p", "*%evt.args %proc.cmdline %proc.env %fd.name "
                                                                        "%evt.buffer %proc.acmdline %request.resource")

    def test_of_a_file(self):
        for form in self.FORMS:
            whole, _ = output("-r", capture()[0], *form)
            self.assertNotEqual(whole, b"")
            text, messages = output("-r", capture()[0], "--redact", PATTERN, *form)
            self.assertEqual(found(text), set(), form)
            self.assertEqual(len(text.splitlines()), len(whole.splitlines()), form)
            self.assertGreater(n_redacted(messages), len(SECRETS))
        self.assertEqual(found(output("-r", capture()[0], *self.FORMS[-1])[0]), set(SECRETS))

    def test_live(self):
        for options, left in ((), set(SECRETS)), (("--redact", "buffers,args,env"), {PATH}), (("--redact", PATTERN), set()):
            path = os.path.join(folder(), "lines")
            e2e.record(*options, "-o", path, *self.FORMS[-1], "--", "/usr/bin/python3", "-I", "-c", PROGRAM, folder())
            self.assertEqual(found(e2e.read_bytes(path)), left, options)

    def test_filters_see_asterisks(self):
        words = ("-p", "%evt.type", f"evt.arg.data contains {BUFFER}")
        self.assertEqual(output("-r", capture()[0], *words)[0], b"write\n")
        self.assertEqual(output("-r", capture()[0], "--redact", PATTERN, *words)[0], b"")

    def test_chisels_and_views(self):
        for command in (("-c", "lsof"), ("-c", "ps"), ("-c", "echo_fds"), ("-c", "spy_users"), ("why",),
                        ("top", "-b", "-v", "procs"), ("top", "-b", "-v", "files"), ("exporter", "--print")):
            at = 1 if command[0] in ("why", "top", "exporter") else 0
            text, _ = output(*command[:at], "--redact", PATTERN, "-r", capture()[0], *command[at:])
            self.assertEqual(found(text), set(), command)

    def test_run_of_a_chisel(self):
        """A chisel that lets saker run again: that run redacts, too."""
        chisel = os.path.join(folder(), "again.lua")
        e2e.write_text(chisel, f"""description, short_description, category, args = "x", "x", "x", {{}}
            function on_init() return true end
            function on_event() return true end
            function on_capture_end() sysdig.run_app("-r {capture()[0]} -p %proc.args evt.type=execve") end""")
        self.assertEqual(found(output("-c", chisel, "-r", capture()[0])[0]), {ARG})
        self.assertEqual(found(output("--redact", PATTERN, "-c", chisel, "-r", capture()[0])[0]), set())


class Cleaning(unittest.TestCase):
    """saker -r all.scap -w redacted.scap --redact ..."""

    OPTIONS = ("--redact", "buffers,args,env", "--redact", PATTERN)

    def clean(self, *options):
        path = os.path.join(folder(), "clean.scap")
        for old in glob.glob(path + "*"):
            os.unlink(old)
        messages = output("-r", capture()[0], "-w", path, *options)[1]
        return path, messages

    def test_whole_file(self):
        whole = n_redacted(self.clean(*self.OPTIONS)[1])
        self.assertGreater(whole, 0)
        for options in (), ("-z",), ("evt.type!=futex",), ("-e", "300"):
            path, messages = self.clean(*self.OPTIONS, *options)
            self.assertEqual(n_redacted(messages), whole, options)
            for piece in glob.glob(path + "*"):
                self.assertEqual(found(file_bytes(piece)), set(), options)
                self.assertIn("sound", e2e.run(e2e.SAKER, "-r", piece, "--verify"))

    def test_same_events(self):
        """All but the values is as before; redacting again changes nothing."""
        line = ("-p", "*%evt.num %evt.rawtime %proc.name %thread.tid %evt.type %evt.res %fd.num %fd.type")
        path, _ = self.clean(*self.OPTIONS)
        self.assertEqual(output("-r", path, *line)[0], output("-r", capture()[0], *line)[0])
        again = os.path.join(folder(), "again.scap")
        output("-r", path, "-w", again, *self.OPTIONS)
        self.assertEqual(output("-r", again, "-v")[0], output("-r", path, "-v")[0])

    def test_of_others(self):
        """Captures of other tools stay readable for them."""
        for source in e2e.captures_of_others():
            path = os.path.join(folder(), "others.scap")
            output("-r", source, "-w", path, "--redact", "buffers,args,env")
            line = ("-p", "*%evt.num %evt.type %proc.name")
            self.assertEqual(output("-r", path, *line)[0], output("-r", source, *line)[0], source)
            counts = [e2e.run("sysdig", "-r", p, "-p", "%evt.num").count("\n") for p in (source, path)]
            self.assertEqual(counts[0], counts[1], source)

    def test_several_files(self):
        path = os.path.join(folder(), "joined.scap")
        output("-r", capture()[0], "-r", capture("--redact", "env")[0], "-w", path, "--redact", PATTERN)
        self.assertEqual(found(file_bytes(path)), set())
        text, _ = output("-r", capture()[0], "-r", capture("--redact", "env")[0], "-v", "--redact", PATTERN)
        self.assertEqual(found(text), set())


class Messages(unittest.TestCase):
    def refused(self, command, *args):
        p = subprocess.run([e2e.SAKER, *command, *args, "-r", "/dev/null"], capture_output=True, text=True, check=False)
        self.assertNotEqual(p.returncode, 0)
        return p.stderr

    def test_unknown(self):
        for command in (), ("profile",), ("why",), ("top",), ("exporter",):
            self.assertEqual(self.refused(command, "--redact", "bufers"),
                             "saker: --redact cannot redact 'bufers'; did you mean buffers?\n")

    def test_bad_pattern(self):
        self.assertEqual(self.refused((), "--redact", "/ab(/"),
                         "saker: --redact: invalid pattern at byte 4 of 'ab(': missing closing parenthesis\n")

    def test_not_searched(self):
        """A pattern that needs too much work."""
        _, messages = output("-r", capture()[0], "-q", "--redact", r"/(\w+\w*)+$x/")
        self.assertRegex(messages, r"\d+ values were redacted; \d+ of them as a whole, since their search exceeded")


def tearDownModule():
    shutil.rmtree(folder())


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("sysdig")
    unittest.main()
