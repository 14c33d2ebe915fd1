#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a file that was written through a filter: its events equal those of the full capture, and
it has no events beyond those that they need."""

import functools
import glob
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

import saker_e2e as e2e

# Makes descriptors of all kinds, threads, processes that outlive their parents, and many events
# that no filter selects.
PROGRAM = """
import os, socket, threading
def idle():
    for i in range(100):
        os.close(os.open("/etc/hosts", os.O_RDONLY))
threads = [threading.Thread(target=idle) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(9):
    client.send(b"c"); peer.recv(1); udp.sendto(b"u", ("127.0.0.1", 9))
os.chdir("/usr"); os.mkfifo; os.dup2(server.fileno(), 50)
r, w = os.pipe(); kept = os.dup(r); os.close(r)
if not os.fork():
    os.setsid(); os.chdir("share")
    if not os.fork():
        idle(); os.write(w, b"end"); open(TARGET).read(); os.execvp("cat", ["cat", TARGET])
    os._exit(0)
os.wait(); os.close(w); os.read(kept, 3); os.read(kept, 3)
for _ in range(5):
    if not os.fork():
        idle(); os._exit(0)
    os.wait()
os.execvp("sh", ["sh", "-c", "cd /; cat " + TARGET + " | wc -l; exec 7<" + TARGET + "; read x <&7; :"])
"""

# A thread leaves the directory and the descriptors of the process; another one executes a program.
APART = """
import ctypes, os, signal, threading
libc, begun, go = ctypes.CDLL(None), threading.Event(), threading.Event()
def apart():
    libc.unshare(0x200); os.chdir("/usr"); os.close(os.open("share", os.O_RDONLY))
    fd = os.open(TARGET, os.O_RDONLY); libc.unshare(0x400)
    begun.set(); go.wait()
    os.read(fd, 1); os.close(fd); os.close(os.open("share", os.O_RDONLY)); os.chdir("share")
os.chdir("/")
thread = threading.Thread(target=apart); thread.start(); begun.wait()
os.close(os.open("etc", os.O_RDONLY)); kept = os.open(TARGET, os.O_RDONLY); os.close(kept - 1)
go.set(); thread.join(); os.close(os.open("etc", os.O_RDONLY)); os.read(kept, 1)
threading.Thread(target=os.execv, args=("/usr/bin/cat", ["cat", TARGET])).start()
signal.pause()
"""

# Fields that depend on other events differ in a file with fewer events.
OF_THE_STREAM = re.compile(r"evt\.(num|rel|delta|around|capture|info|count)|thread\.(exec|totexec|cpu|slice|time)|proc\.time|.*(\]|NAME)$")
# Times, and values that each capture reads from /proc by itself.
OF_ONE_LOOK = re.compile(r"proc\.(pidns_init|std)|evt\.(time|datetime|rawtime|latency|wait_latency|cpu|is_blocked)|.*(duration|\.ts$|vm|pf)")


@functools.cache
def fields():
    """Returns all fields that have a value in formats, without those that depend on other
    events."""
    listed = re.findall(r"^([a-z]+\.[\w.\[\]]+) ", e2e.run(e2e.SAKER, "-l"), re.M)
    names = [f for f in listed if not OF_THE_STREAM.match(f)] + ["proc.aname", "proc.acmdline", "proc.env",
                                                                  "proc.apid", "evt.args"]
    while True:
        p = subprocess.run([e2e.SAKER, "-r", "/dev/null", "-p", " ".join("%" + n for n in names)],
                           capture_output=True, text=True, check=False)
        refused = re.match(r"saker: in the format of -p: .*?([a-z]+\.[\w.]+)", p.stderr)
        if not refused:
            return names
        names.remove(next(n for n in names if n.split("[")[0] == refused[1]))


def lines(path, text, names):
    """Returns the values of these fields for each event, as one byte string."""
    command = [e2e.SAKER, "-r", path, "-p", "*" + "\1".join("%" + n for n in names), *[text] * bool(text)]
    p = subprocess.run(command, capture_output=True, check=False)
    if p.returncode:
        raise AssertionError(f"{command}: {p.stderr.decode(errors='replace')}")
    return p.stdout.split(b"\n")[:-1]


def differences(want, got, names):
    """Returns the first values of the first event that differs, and {field: both values}; None:
    all are equal."""
    for a, b in zip(want, got):
        if a != b:
            a, b = (text.decode(errors="replace").split("\1") for text in (a, b))
            return a[:6], {n: (x, y) for n, x, y in zip(names, a, b) if x != y}
    return None


class FilteredFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.dir = e2e.own_dir(cls)
        cls.target = cls.path("target")
        e2e.write_text(cls.target, "text\n")
        cls.program = PROGRAM.replace("TARGET", repr(cls.target))
        cls.whole = cls.path("whole")
        e2e.run(e2e.SAKER, "-w", cls.whole, "--", "/usr/bin/python3", "-c", cls.program)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    def same(self, whole, part, text, names):
        want, got = lines(whole, text, names), lines(part, text, names)
        self.assertEqual(len(want), len(got), text)
        self.assertIsNone(differences(want, got, names), text)
        return len(want)

    def filters(self):
        return (f"fd.name={self.target}", "evt.type=execve", "proc.name=cat", "evt.failed=true",
                "fd.type=ipv4", "evt.type in (dup, procexit)", "evt.type=sendto and fd.l4proto=udp",
                "evt.dir=> and evt.type in (read, wait4)", "evt.type in (clone, clone3, fork, vfork)")

    def test_fields_of_a_filtered_file_are_those_of_the_whole(self):
        names = fields()
        for text in self.filters():
            part = self.path("part")
            e2e.run(e2e.SAKER, "-r", self.whole, "-w", part, text)
            self.assertGreater(self.same(self.whole, part, text, names), 0, text)
            e2e.run(e2e.SAKER, "-r", part, "--verify")

    def test_threads_apart(self):
        """A thread may have a directory and an fd table of its own, and the main thread ends before another one
        executes a program. All files show the same of it, and so does a capture that the kernel filters."""
        apart, part = self.path("apart"), self.path("part")
        command = ["/usr/bin/python3", "-c", APART.replace("TARGET", repr(self.target))]
        e2e.run(e2e.SAKER, "-w", apart, "--", *command)
        names = [n for n in fields() if n.startswith(("proc.", "thread.", "fd.")) or n == "evt.args"]
        for text in "proc.name=cat and evt.type!=execve", "evt.type in (openat, close)", f"fd.name={self.target}":
            e2e.run(e2e.SAKER, "-r", apart, "-w", part, text)
            self.assertGreater(self.same(apart, part, text, names), 1, text)
        e2e.run(e2e.SAKER, "-r", apart, "-w", self.path("apart-piece"), "-e", "20")
        files = sorted(glob.glob(self.path("apart-piece") + "[0-9]*"), key=lambda p: int(re.search(r"\d+$", p)[0]))
        got = [line for f in files for line in lines(f, "evt.type=openat", names)]
        self.assertIsNone(differences(lines(apart, "evt.type=openat", names), got, names))
        text = "evt.type=openat and (evt.arg.name contains share or evt.arg.name contains etc)"
        self.assertEqual(*[e2e.run(e2e.SAKER, *options, "-p", "%proc.cwd %fd.name", text, "--", *command).splitlines()
                           for options in ([], ["--no-pushdown"])])

    def capture_of_one_signal(self, program, path):
        """Captures the machine while a Python program that has set itself up gets SIGUSR1, until it and its
        children have ended. Returns its PID."""
        p = subprocess.Popen(["/usr/bin/python3", "-c", program], stdout=subprocess.PIPE)
        capture = None
        try:
            p.stdout.readline()
            capture = subprocess.Popen([e2e.SAKER, "-w", path, "-q"])
            e2e.wait_for_event(path, capture)
            p.send_signal(signal.SIGUSR1)
            p.stdout.read()
            p.wait(60)
            capture.send_signal(signal.SIGINT)
            self.assertEqual(capture.wait(60), 0)
        finally:
            for child in [p, capture] if capture else [p]:
                child.kill()
                child.communicate()
        return p.pid

    def test_events_that_the_first_state_contains(self):
        """/proc is read while events arrive: a descriptor may be closed after its process's list was read
        and before that list's time. That close has no effect, and no later one is left out for it."""
        e2e.somebody(self)
        early, part = self.path("early"), self.path("part")
        pid = self.capture_of_one_signal("import os, signal\n"
                                         "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                                         "fd = os.open('/etc/hosts', os.O_RDONLY)\n"
                                         "print(flush=True)\n"
                                         "signal.sigwait([signal.SIGUSR1])\n"
                                         "os.close(fd)\n"
                                         "os.close(os.open('/etc/passwd', os.O_RDONLY))\n"
                                         "os.path.exists('/nonexistent')\n", early)
        close_ns = int(e2e.run(e2e.SAKER, "-r", early, "-n", "1", "-p", "%evt.rawtime",
                               f"proc.pid={pid} and evt.type=close"))
        # Kind of the entry, TID, start of the process, time of the list: see EXTRA_THREAD.
        whole = e2e.without_sums(e2e.read_bytes(early))
        rows = [m.end() for m in re.finditer(re.escape(struct.pack("<HQ", 1, pid)) + b".{8}", whole, re.S)
                if abs(struct.unpack_from("<Q", whole, m.end())[0] - close_ns) < 60 * 10**9]
        self.assertEqual(len(rows), 1)
        struct.pack_into("<Q", whole, rows[0], close_ns + 1)
        with open(early, "wb") as f:
            f.write(whole)
        text = f"evt.failed=true and proc.pid={pid}"
        e2e.run(e2e.SAKER, "-r", early, "-w", part, text)
        names = [n for n in fields() if n.startswith(("proc.", "fd."))]
        self.assertGreater(self.same(early, part, text, names), 0)

    def test_parent_that_ends(self):
        """The end of a parent that nothing else needs is in the file: it gave the process its next parent."""
        e2e.somebody(self)
        orphan, part = self.path("orphan"), self.path("part")
        pid = self.capture_of_one_signal("import os, signal, time\n"
                                         "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                                         "parent = os.getpid()\n"
                                         "if not os.fork():\n"
                                         "    while os.getppid() == parent: time.sleep(0.001)\n"
                                         "    os.execv('/usr/bin/cat', ['cat', '/nonexistent'])\n"
                                         "print(flush=True)\n"
                                         "signal.sigwait([signal.SIGUSR1])\n", orphan)
        text = "evt.failed=true and proc.name=cat and evt.arg.name=/nonexistent"
        e2e.run(e2e.SAKER, "-r", orphan, "-w", part, text)
        self.assertGreater(self.same(orphan, part, text, [n for n in fields() if n.startswith("proc.")]), 0)
        self.assertNotIn(str(pid), e2e.run(e2e.SAKER, "-r", part, "-p", "%proc.ppid", text).split())

    def test_captures_of_others(self):
        names = fields()
        for path in e2e.captures():
            for text in "evt.failed=true", "evt.type in (open, openat, connect, execve)", "proc.pid>1":
                part = self.path("part")
                e2e.run(e2e.SAKER, "-r", path, "-w", part, text)
                self.same(path, part, text, names)
                e2e.run(e2e.SAKER, "-r", part, "--verify")

    def test_a_pipe_that_cannot_be_read_twice(self):
        text, part = f"fd.name={self.target}", self.path("piped")
        with open(self.whole, "rb") as f:
            subprocess.run([e2e.SAKER, "-r", "-", "-w", part, text], stdin=f, check=True)
        self.same(self.whole, part, text, fields())

    def test_pieces_and_what_they_hold(self):
        text = "evt.failed=true or evt.type=procexit"
        e2e.run(e2e.SAKER, "-r", self.whole, "-w", self.path("piece"), "-e", "40", text)
        files = sorted(glob.glob(self.path("piece") + "[0-9]*"), key=lambda p: int(re.search(r"\d+$", p)[0]))
        names = [n for n in fields() if not n.startswith(("evt.latency", "evt.wait"))]
        want = lines(self.whole, text, names)
        got = [line for f in files for line in lines(f, text, names)]
        self.assertGreater(len(files), 2)
        self.assertEqual(len(want), len(got))

    def test_it_has_what_its_events_need_and_no_more(self):
        sizes = {}
        for name, options in ("part", ()), ("fat", ("-F",)):
            e2e.run(e2e.SAKER, "-r", self.whole, "-w", self.path(name), *options, f"fd.name={self.target}")
            sizes[name] = os.path.getsize(self.path(name))
        # 800 unrelated opens and closes of some hundred bytes each.
        self.assertLess(sizes["part"] + 400_000, sizes["fat"])
        self.same(self.whole, self.path("fat"), f"fd.name={self.target}",
                  [n for n in fields() if ".vm" not in n])

    def test_sysdig_reads_it(self):
        e2e.need("sysdig")
        text, part = f"fd.name={self.target} and evt.type=read and proc.name=cat", self.path("part")
        e2e.run(e2e.SAKER, "-r", self.whole, "-w", part, text)
        form = "%evt.rawtime %evt.latency %proc.pname %proc.cmdline %fd.name %proc.cwd"
        want = e2e.run("sysdig", "-r", self.whole, "-p", form, text)
        self.assertIn(self.target, want)
        self.assertLessEqual(set(want.splitlines()),
                             set(e2e.run("sysdig", "-r", part, "-p", form, text).splitlines()))

    def test_several_files_become_one(self):
        """Joins files, each with its own state, in the order of time."""
        later, joined, cat = self.path("later"), self.path("joined"), self.path("cat")
        e2e.run(e2e.SAKER, "-w", later, "--", "sh", "-c", f"cd /usr; exec 7<{self.target}; read x <&7")
        with open(cat, "wb") as f:
            f.write(e2e.read_bytes(self.whole) + e2e.read_bytes(later))
        names = fields()
        for text in "evt.num>0", f"fd.name={self.target}":
            want = lines(self.whole, text, names) + lines(later, text, names)
            for files in (later, self.whole), (self.whole, later), (cat,):
                e2e.run(e2e.SAKER, *(x for f in files for x in ("-r", f)), "-w", joined, text)
                got = lines(joined, "evt.num>0", names)
                self.assertEqual(len(want), len(got), (text, files))
                self.assertIsNone(differences(want, got, names), (text, files))
                e2e.run(e2e.SAKER, "-r", joined, "--verify")
        e2e.run(e2e.SAKER, "-r", later, "-r", self.whole, "-w", joined)
        self.assertEqual(lines(joined, "", names[5:]),
                         [line for f in (self.whole, later) for line in lines(f, "", names[5:])])
        p = subprocess.run([e2e.SAKER, "-r", later, "-r", later, "-w", joined], capture_output=True, text=True,
                           check=True)
        self.assertIn("captures overlap in time", p.stderr)
        e2e.run(e2e.SAKER, "-r", self.whole, "-r", later, "-w", joined)
        if shutil.which("sysdig"):
            out = e2e.run("sysdig", "-r", joined, "-p", "%proc.cmdline %fd.name", f"fd.name={self.target}")
            self.assertIn("python3", out)
            self.assertIn("sh -c cd /usr", out)

    def test_live(self):
        """Two captures of the same run, one through a filter."""
        text = f"fd.name={self.target}"
        whole, part = self.path("live_whole"), self.path("live_part")
        capture = subprocess.Popen([e2e.SAKER, "-w", whole], stderr=subprocess.DEVNULL)
        try:
            e2e.somebody(self)
            e2e.wait_for_event(whole, capture)
            e2e.run(e2e.SAKER, "--all", "-w", part, text, "--", "/usr/bin/python3", "-c", self.program)
        finally:
            capture.send_signal(2)
            try:
                capture.wait(timeout=e2e.DEADLINE_S)
            finally:
                capture.kill()
        names = [n for n in fields() if not OF_ONE_LOOK.match(n)]
        self.assertGreater(self.same(whole, part, text, names), 5)
        e2e.run(e2e.SAKER, "-r", part, "--verify")
        # Not in bytes: both have the processes of their starts, which may be thousands.
        n_part, n_whole = (e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.type").count("\n") for path in (part, whole))
        self.assertLess(n_part * 3, n_whole)


if __name__ == "__main__":
    unittest.main(verbosity=2)
