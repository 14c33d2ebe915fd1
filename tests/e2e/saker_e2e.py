# SPDX-License-Identifier: Apache-2.0
"""Helpers of the end-to-end tests: run saker, compile a program, find captures, read lines."""

import contextlib
import faulthandler
import fcntl
import functools
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

SOURCE = os.environ.get("SAKER_SOURCE_DIR") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("SAKER_BUILD_DIR") or os.path.join(SOURCE, "build")
SAKER = os.path.join(BUILD, "userspace/saker/saker")

LINE = re.compile(r"(?P<num>\d+|-) (?P<time>\S+) (?P<cpu>\d+) (?P<comm>.*?) \((?P<tid>-?\d+)\) "
                  r"(?P<dir>[<>]) (?P<type>\S+) ?(?P<info>.*)")

# Programs that tests start run the same Python: what a version manager calls so is a slow script.
if os.path.dirname(sys.executable) not in os.environ["PATH"].split(":"):
    os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

DEADLINE_S = 120 # for what takes a moment on a machine that is not busy

SHARED_PATTERN = os.path.normpath(os.path.join(SOURCE, "../shared/captures/*.scap"))
SHARED = sorted(glob.glob(SHARED_PATTERN)) # of other tools
ACTS = os.path.join(SOURCE, "tests/e2e/chisels/acts.py")

# Types whose result is no decimal number.
BASES = {"brk": 16, "mmap": 16, "mmap2": 16, "mremap": 16, "shmat": 16, "map_shadow_stack": 16,
         "umask": 8}


class Line:
    """Parses one line of the default format."""

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
    """Ends the program, or only the test that calls it: in a test the status of an exit would be an error."""
    if any(frame.f_code is unittest.TestCase.run.__code__ for frame, _ in traceback.walk_stack(None)):
        skip_test(reason)
    print(f"skipped: {reason}")
    sys.exit(77)


def lacks_live():
    """Returns why no capture can be made; empty: one can be made."""
    if os.geteuid() != 0:
        return "a live capture needs root"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
    return ""


def skip_test(reason):
    """Skips one test of several. scripts/test lists what is printed."""
    print(f"skipped: {reason}")
    raise unittest.SkipTest(reason)


@functools.cache
def has_ia32_calls():
    """Returns whether a process may make 32-bit calls: else the call kills it."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "getpid")
        subprocess.run(["gcc", "-x", "c", "-o", program, "-"], check=True, text=True,
                       input='int main(void) { __asm__ volatile("int $0x80" : : "a"(20) : "memory"); return 0; }')
        return subprocess.run([program]).returncode == 0


def need_ia32_calls():
    """Skips a test where the kernel, or the machine below it, has no 32-bit calls."""
    if not has_ia32_calls():
        skip_test("this machine has no 32-bit calls")


def need_live():
    if lacks_live():
        skip(lacks_live())


def need(*programs):
    for p in programs:
        if subprocess.run(["which", p], capture_output=True).returncode:
            skip(f"{p} is not installed: scripts/setup --tests")


def need_grpc():
    """Skips a test where the system's Python cannot run a gRPC server."""
    if subprocess.run(["/usr/bin/python3", "-I", "-c", "import grpc"], capture_output=True).returncode:
        skip_test("python3-grpcio is not installed: scripts/setup --tests")


def temp_dir():
    return tempfile.mkdtemp(prefix="saker-e2e-")


def own_dir(test):
    """Makes a folder that is removed when the test, or the class of tests, ends."""
    folder = temp_dir()
    clean = test.addClassCleanup if isinstance(test, type) else test.addCleanup
    clean(shutil.rmtree, folder, ignore_errors=True)
    return folder


def compile_program(name, out_dir, *flags):
    out = os.path.join(out_dir, name)
    src = sorted(glob.glob(os.path.join(SOURCE, "tests/e2e", name, "*.c")))
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-I", os.path.join(SOURCE, "driver"),
                    *flags, "-o", out, *src], check=True)
    return out


def descendants():
    """Returns the PIDs of the children of this process, theirs, and so on."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, _, rest = read_text(path).rpartition(")")
            parents.setdefault(int(rest.split()[1]), []).append(int(pid.split()[0]))
    found = [os.getpid()]
    for pid in found:
        found += parents.get(pid, [])
    return found[1:]


def tell_where():
    """Tells where the test and its processes wait, before ctest ends them."""
    faulthandler.dump_traceback(all_threads=True)
    for pid in descendants():
        print(f"--- {pid}", file=sys.stderr)
        for name in ("cmdline", "wchan", "syscall", "stack"):
            with contextlib.suppress(OSError):
                print(name, repr(read_text(f"/proc/{pid}/{name}")[:2000]), file=sys.stderr)
        if shutil.which("gdb"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                p = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 20"], text=True,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
                print(p.stdout[-4000:], file=sys.stderr)


# ctest ends a test after 600 s, and prints what it said until then.
watch = threading.Timer(540, tell_where)
watch.daemon = True
watch.start()


def run(*args, status=0, env=None):
    """Runs a command, returns its standard output; fails unless it ends with status."""
    p = subprocess.run(args, capture_output=True, text=True, errors="surrogateescape",
                       env={**os.environ, "TZ": "UTC", **(env or {})})
    if p.returncode != status:
        raise AssertionError(f"{' '.join(args)}: status {p.returncode}, not {status}\n"
                             f"{p.stdout[-2000:]}\n{p.stderr[-2000:]}")
    return p.stdout


def record(*args, **kwargs):
    """Runs saker with these arguments, a capture; again, at most two times, where it tells that events were lost, as when
    a BPF program could not run. Returns the process."""
    for _ in range(3):
        p = subprocess.run([SAKER, *args], capture_output=True, text=True, **kwargs)
        if p.returncode:
            raise AssertionError(f"saker {' '.join(args)}: status {p.returncode}\n{p.stderr}")
        if "were lost" not in p.stderr:
            break
    return p


def records_delivered(*args):
    """Returns how many records the kernel delivers to saker with these arguments while a command runs 300 programs."""
    loop = "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); cat /dev/null; done"
    p = subprocess.run(["timeout", "-k", "2", "100", SAKER, "-v", *args, "--", "sh", "-c", loop],
                       capture_output=True, text=True, check=True)
    return [int(line.split()[-1]) for line in p.stderr.splitlines() if "records delivered" in line][0]


def record_acts(path, *acts):
    """Captures acts.py, run by saker in the folder of the file."""
    run("timeout", "-k", "2", "100", SAKER, "-w", path, "--", sys.executable, "-I", ACTS,
        os.path.dirname(path), *acts)


@functools.lru_cache
def made_captures():
    """Makes captures of all acts: one by saker, one that sysdig has rewritten in its own
    format. They are made once for all tests, and again when saker or the acts change."""
    folder = os.path.join(BUILD, "tests/captures")
    own, plain = os.path.join(folder, "acts.scap"), os.path.join(folder, "plain.scap")
    made_of = [SAKER, ACTS]
    with contextlib.suppress(OSError), open(os.path.join(BUILD, "captures.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not lacks_live() and not is_newer(own, made_of):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            record_acts(os.path.join(folder, "new.scap"), "files", "errors", "pipes", "sockets", "web",
                        "threads", "execs", "syslog", "rest")
            if shutil.which("sysdig"):
                # It takes each result of fcntl for a file, and does not know that of setsockopt.
                run("sysdig", "-r", os.path.join(folder, "new.scap"), "-w", plain,
                    "evt.type!=fcntl and evt.type!=setsockopt")
            os.rename(os.path.join(folder, "new.scap"), own)
    return [path for path in (own, plain) if os.path.exists(path)]


def is_newer(path, others):
    return os.path.exists(path) and all(os.path.getmtime(path) > os.path.getmtime(p) for p in others)


def captures():
    """Returns real captures: those of other tools, if present, and those made here."""
    found = SHARED + made_captures()
    if not found:
        skip_test(f"no {SHARED_PATTERN}, and none can be made: {lacks_live()}")
    return found


def captures_of_others():
    """Returns real captures by other tools."""
    found = SHARED + [path for path in made_captures() if os.path.basename(path) == "plain.scap"]
    if not found:
        skip_test(f"no {SHARED_PATTERN}, and none can be made: {lacks_live() or 'sysdig is missing'}")
    return found


def shared_capture(name):
    """Returns a capture by another tool whose content a test relies on."""
    for path in SHARED:
        if os.path.basename(path) == name:
            return path
    skip_test(f"no {os.path.join(os.path.dirname(SHARED_PATTERN), name)}")


def shared_captures():
    if not SHARED:
        skip_test(f"no {SHARED_PATTERN}")
    return SHARED


def wait_until(is_so, what):
    """Returns the result of is_so as soon as it is true; what: a text for the error, or a function that returns it."""
    until = time.monotonic() + DEADLINE_S
    while not (said := is_so()):
        if time.monotonic() > until:
            raise AssertionError(f"{what() if callable(what) else what}: not within {DEADLINE_S} s")
        time.sleep(0.01)
    return said


def in_call(pid, nr):
    """Returns whether the process sleeps in the call, as the kernel reports it."""
    try:
        words = read_text(f"/proc/{pid}/syscall").split()
        state = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return words[0] == str(nr) and state in "SD"


def proc_stat(pid):
    """Returns the fields of /proc/PID/stat that follow the name: the first one is the state."""
    return read_text(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()


def memory(pid):
    """Returns the resident memory of a process and its anonymous part, in MiB."""
    text = read_text(f"/proc/{pid}/status")
    return [int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) / 1024 for name in ("VmRSS", "RssAnon")]


def thread_names(capture):
    """Returns {number of an event: (thread name, process name)} where they differ. sysdig's
    proc.name is the thread's."""
    out = run(SAKER, "-r", capture, "--enter-events", "-p", "%evt.num\t%thread.name\t%proc.name")
    rows = (line.split("\t") for line in out.splitlines())
    return {int(num): (thread, process) for num, thread, process in rows if thread != process}


def without_lone_exits(capture, folder):
    """Returns a copy without I/O exits that have no enter: sysdig assumes descriptor 0 for them
    (docs/differences.md)."""
    lone = run(SAKER, "-r", capture, "-p", "*%evt.num %fd.num",
               "evt.is_io=true and evt.dir=< and not fd.num exists").split()[::2]
    if not lone:
        return capture
    out = os.path.join(folder, os.path.basename(capture))
    run(SAKER, "-q", "-r", capture, "-w", out, f"not evt.num in ({', '.join(lone)})")
    return out


def somebody(test):
    """Starts a process that makes calls until the test ends: the machine may be silent
    otherwise."""
    p = subprocess.Popen(["sh", "-c", "while :; do cat /etc/hostname; sleep 0.02; done"],
                         stdout=subprocess.DEVNULL)
    test.addCleanup(p.wait)
    test.addCleanup(p.kill)


def wait_for_event(path, capture):
    """Waits until the file of a running capture has an event: earlier it does not handle
    signals. Another process must make calls."""
    until = time.monotonic() + DEADLINE_S
    while not subprocess.run([SAKER, "-r", path, "-n", "1"], capture_output=True, check=False).stdout:
        if time.monotonic() > until:
            raise AssertionError(f"{path} has no event after {DEADLINE_S} s")
        if capture.poll() is not None:
            raise AssertionError(f"the capture ended with {capture.returncode}")


# Subsystems whose cgroups are in events.
CGROUP_SUBSYSTEMS = {"cpuset", "cpu", "cpuacct", "io", "blkio", "memory"}


def cgroup_roots(kind):
    """Returns where cgroups of version 1 (cgroup) or 2 (cgroup2) are mounted."""
    mounts = [line.split() for line in read_text("/proc/mounts").splitlines()]
    return [m[1] for m in mounts
            if m[2] == kind and (kind == "cgroup2" or CGROUP_SUBSYSTEMS & set(m[3].split(",")))]


def new_cgroup(test, name, kinds=("cgroup", "cgroup2")):
    """Makes a cgroup that is removed after the test (a TestCase). Returns None where none can
    be made."""
    for root in (r for kind in kinds for r in cgroup_roots(kind)):
        path = os.path.join(root, name)
        try:
            os.makedirs(path)
        except OSError:
            continue
        test.addCleanup(remove_cgroup, root, name)
        return path
    return None


def make_cgroup(test, root, name):
    """Makes a cgroup that is removed after the test (a TestCase); skips the test where none can be made. Returns its
    folder."""
    path = os.path.join(root, name)
    try:
        os.makedirs(path)
    except OSError as e:
        skip_test(f"no cgroup can be made in {root}: {e.strerror}")
    test.addCleanup(remove_cgroup, root, name)
    return path


def remove_cgroup(root, name):
    while name:
        try:
            os.rmdir(os.path.join(root, name))
        except OSError:
            return  # it was there before, and others are in it
        name = os.path.dirname(name)


def with_container(capture, path, later_ns=0):
    """Writes a copy of a capture in which an event before the first one, of its time or later, names the
    container web-1."""
    json = b'{"container":{"id":"0123456789ab","name":"web-1","type":0,"image":"i"}}\0'
    state, at = read_bytes(capture), 0
    while state[at:at + 4] != b"\x16\x02\0\0": # the first event
        at += int.from_bytes(state[at + 4:at + 8], "little")
    time = int.from_bytes(state[at + 10:at + 18], "little") + later_ns
    head = (time.to_bytes(8, "little") + b"\xff" * 8 + (30 + len(json)).to_bytes(4, "little") +
            (324).to_bytes(2, "little") + (1).to_bytes(4, "little"))
    with open(path, "wb") as f:
        f.write(state[:at] + block(0x221, bytes(2) + head + len(json).to_bytes(4, "little") + json) + state[at:])
    return path


def block(kind, body):
    """Returns a block of a .scap file."""
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


# Of each type of block with an event: where that begins.
EVENT_BLOCKS = {0x216: 10, 0x217: 14, 0x221: 10, 0x222: 14}


def blocks(data):
    """Yields type, begin and end of each complete block of a .scap file."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > len(data):
            return
        yield kind, at, at + size
        at += size


def without_sums(data):
    """Returns a .scap file in which the checksums have a code that no reader knows: it can be
    changed."""
    data = bytearray(data)
    for kind, begin, end in blocks(data):
        at = data.find(struct.pack("<Q", begin), begin, end) - 4 if kind in EVENT_BLOCKS else 0
        if at > begin and data[at:at + 2] == b"\x05\x80":
            data[at + 1] = 0x8f
    return data


def read_text(path):
    with open(path, errors="surrogateescape") as f:
        return f.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def read_terminal(fd):
    """Returns what was written to a pseudo-terminal until its other end was closed, and closes
    it."""
    out = b""
    try:
        while part := os.read(fd, 65536):
            out += part
    except OSError:
        pass  # that is how a terminal ends
    os.close(fd)
    return out


def lines(text):
    """Returns the lines of events: on a busy machine, lines that begin with -- report losses."""
    return [Line(l) for l in text.splitlines() if l and not l.startswith("-- ")]
