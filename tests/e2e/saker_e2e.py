# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running saker, compiling a program, reading lines."""

import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("SAKER_SOURCE_DIR") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("SAKER_BUILD_DIR") or os.path.join(SOURCE, "build")
SAKER = os.path.join(BUILD, "userspace/saker/saker")

LINE = re.compile(r"(?P<num>\d+|-) (?P<time>\S+) (?P<cpu>\d+) (?P<comm>.*?) \((?P<tid>-?\d+)\) "
                  r"(?P<dir>[<>]) (?P<type>\S+) ?(?P<info>.*)")

DEADLINE_S = 120 # for what takes a moment on a machine that is not busy

# Types whose result is no decimal number.
BASES = {"brk": 16, "mmap": 16, "mmap2": 16, "mremap": 16, "shmat": 16, "map_shadow_stack": 16,
         "umask": 8}


class Line:
    """One line of the default format, taken apart."""

    def __init__(self, text):
        m = LINE.fullmatch(text)
        if not m:
            raise ValueError(f"not a line of the default format: {text!r}")
        self.text = text
        self.num = 0 if m["num"] == "-" else int(m["num"])
        self.cpu, self.tid = int(m["cpu"]), int(m["tid"])
        self.time, self.comm, self.dir = m["time"], m["comm"], m["dir"]
        self.type, self.info = m["type"], m["info"].rstrip()

    def result(self):
        """The call's result: the parameter res, else the first one. None if it shows none."""
        m = re.search(r"(?:^| )res=(-?\w+)", self.info) or re.match(r"\w+=(-?\w+)", self.info)
        if not m:
            return None
        if m[1].startswith("-"):
            return int(m[1])
        return int(m[1], BASES.get(self.type, 10))

    def call(self):
        return f"{self.dir} {self.type} {self.info}"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def need_live():
    if os.geteuid() != 0:
        skip("a live capture needs root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip("this kernel has no BTF (/sys/kernel/btf/vmlinux)")


def need(*programs):
    for p in programs:
        if subprocess.run(["which", p], capture_output=True).returncode:
            skip(f"{p} is not installed: scripts/setup --tests")


def temp_dir():
    return tempfile.mkdtemp(prefix="saker-e2e-")


def compile_program(name, out_dir, *flags):
    out = os.path.join(out_dir, name)
    src = sorted(glob.glob(os.path.join(SOURCE, "tests/e2e", name, "*.c")))
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-I", os.path.join(SOURCE, "driver"),
                    *flags, "-o", out, *src], check=True)
    return out


def run(*args, status=0, env=None):
    """Runs a command, returns its standard output; fails unless it ends with status."""
    p = subprocess.run(args, capture_output=True, text=True, errors="surrogateescape",
                       env={**os.environ, "TZ": "UTC", **(env or {})})
    if p.returncode != status:
        raise AssertionError(f"{' '.join(args)}: status {p.returncode}, not {status}\n"
                             f"{p.stdout[-2000:]}\n{p.stderr[-2000:]}")
    return p.stdout


def thread_names(capture):
    """{number of an event: (name of its thread, name of its process)} where they differ. To sysdig
    proc.name is the thread's."""
    out = run(SAKER, "-r", capture, "--enter-events", "-p", "%evt.num\t%thread.name\t%proc.name")
    rows = (line.split("\t") for line in out.splitlines())
    return {int(num): (thread, process) for num, thread, process in rows if thread != process}


def without_lone_exits(capture, folder):
    """A copy without I/O of which only the exit is there: sysdig guesses that its file is number 0
    (docs/differences.md)."""
    lone = run(SAKER, "-r", capture, "-p", "*%evt.num %fd.num",
               "evt.is_io=true and evt.dir=< and not fd.num exists").split()[::2]
    if not lone:
        return capture
    out = os.path.join(folder, os.path.basename(capture))
    run(SAKER, "-q", "-r", capture, "-w", out, f"not evt.num in ({', '.join(lone)})")
    return out


def somebody(test):
    """A process that makes calls until the test ends: the machine may be silent otherwise."""
    p = subprocess.Popen(["sh", "-c", "while :; do cat /etc/hostname; sleep 0.02; done"],
                         stdout=subprocess.DEVNULL)
    test.addCleanup(p.wait)
    test.addCleanup(p.kill)


def wait_for_event(path, capture):
    """Until the file of a capture that runs has an event: before that it does not heed signals. Somebody
    must make calls."""
    until = time.monotonic() + DEADLINE_S
    while not subprocess.run([SAKER, "-r", path, "-n", "1"], capture_output=True, check=False).stdout:
        if time.monotonic() > until:
            raise AssertionError(f"{path} has no event after {DEADLINE_S} s")
        if capture.poll() is not None:
            raise AssertionError(f"the capture ended with {capture.returncode}")


def block(kind, body):
    """A block of a .scap file."""
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def read_text(path):
    with open(path, errors="surrogateescape") as f:
        return f.read()


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def read_terminal(fd):
    """What was written to a pseudo-terminal until nobody had the other end open any more. Closes it."""
    out = b""
    try:
        while part := os.read(fd, 65536):
            out += part
    except OSError:
        pass  # that is how a terminal ends
    os.close(fd)
    return out


def lines(text):
    """Those of events: on a busy machine others, which begin with --, tell of losses."""
    return [Line(l) for l in text.splitlines() if l and not l.startswith("-- ")]
