#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of README.md. Those that end with Ctrl-C get it once they have printed the
expected lines. Runs in its own network namespace, as one command needs port 8000. Build runs the
command that builds saker, in the folder of the source: after it, the build that the tests use is as it was."""

import fcntl
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import saker_e2e as e2e

PAGE = os.path.join(e2e.SOURCE, "README.md")
TIME = 120 # seconds, for a command that hangs

NETWORK = "needs the network"
TESTS = "it is what runs this test"
BUILD = "is run by Build"
EVENT = r"\d+ \d\d:\d\d:\d\d\.\d{9} \d+ .* \(\d+\) [<>] "

# Command: the lines that its output must contain, in order, or the reason why it is not run.
COMMANDS = {
    "git clone REPOSITORY saker && cd saker": NETWORK,
    "scripts/run -n 20": BUILD,
    "scripts/test": TESTS,
    "sudo build/saker fd.name=/tmp/tour/notes.txt":
        ["< openat fd=.*/tmp/tour/notes.txt", "< read res=.*milk"],
    "sudo build/saker -w fetch.scap -- curl -s -o page http://127.0.0.1:8000/notes.txt": [],
    "build/saker -r fetch.scap fd.port=8000 and evt.type!=getsockopt":
        ["< connect res=.*->127.0.0.1:8000", "data=GET /notes.txt HTTP", r"data=.*milk\.bread\.tea"],
    "sysdig -r fetch.scap fd.port=8000 and evt.type=sendto":
        ["> sendto fd=.*->127.0.0.1:8000", "< sendto res=.*GET /notes.txt"],
    "tshark -r fetch.scap | tail -1": ["Sysdig Event .*procexit"],
    "build/saker -r fetch.scap -q -S | head -5": ["^Event +Count +Share", r"^[<>] \S+ +\d+ "],
    "build/saker -r fetch.scap --verify": ["^fetch.scap: sound$"],
    "sudo build/saker -w all.scap -M 5 -v":
        ["^saker: capture$", "^  events shown +[1-9]", "^  bytes written +[1-9].* to all.scap$",
         r"^  memory of saker +\S+ MiB peak"],
    "build/saker -r all.scap --from +2 --to +2.5 -q -S | head -2": ["^Event +Count +Share", r"^[<>] \S+ +\d+ "],
    "sudo build/saker profile -d 5 -o cpu.svg": [],
    "sudo build/saker why -M 5": ["GET /notes.txt"],
    "sudo build/saker --failed-only -- ls": [EVENT + ".*=-[0-9]+"],
    "sudo build/saker -M 2 --uid root --syscalls openat,execve -U grep -w less.scap": [],
    "sudo build/saker -M 2 --sampling 16 -q -v": ["^  excluded by --sampling +[1-9]"],
    "sudo build/saker -p '%user.name %proc.name %fd.name' 'evt.is_open_write=true and fd.name startswith /etc/'":
        ["^root sh /etc/hosts$"],
    "sudo build/saker -p '%proc.name %evt.res %evt.path' "
    "'evt.type in (open, openat, openat2) and evt.failed=true'":
        ["^cat ENOENT .*no-such-file"],
    "sudo build/saker -p '%proc.name %evt.res %fd.name' 'evt.type=connect and fd.type in (ipv4, ipv6)'":
        [r"^bash (SUCCESS|EINPROGRESS) 127.0.0.1:\d+->127.0.0.1:8000$"],
    "sudo build/saker -p '%user.name %proc.pname: %proc.cmdline' 'evt.type=execve and evt.res=SUCCESS'":
        ["^root sh: cat notes.txt no-such-file$"],
    "sudo build/saker -p '*%evt.latency.human %proc.name %evt.type %fd.name' 'evt.latency > 100ms'":
        [r"^\S+ sleep (clock_)?nanosleep <NA>$"],
    "sudo build/saker -M 5 -p '%evt.latency %proc.name %fd.name' 'evt.is_io_read=true and fd.type=file' "
    "| sort -rn | head": [r"^\d+ \S+ /"],
}

# Makes activity while commands watch; $1 is the directory.
WORK = """
cd "$1"
while :; do
	cat notes.txt no-such-file
	: >>/etc/hosts
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/8000; printf "GET /notes.txt HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3'
	sleep 0.15
done
"""

# For machines without curl: the same calls.
CURL = f"""#!{sys.executable}
import socket
with socket.create_connection(("127.0.0.1", 8000)) as s, open("page", "wb") as page:
    s.send(b"GET /notes.txt HTTP/1.0\\r\\n\\r\\n")
    page.write(s.recv(4096))
"""

# build/saker is found before other programs of that name, and root needs no sudo.
SHELL = 'sudo() { "$@"; }\n'


def commands():
    """Returns the commands in README's blocks: with $ before them, or alone."""
    found = []
    for block in re.findall(r"(?:^    .*\n)+", e2e.read_text(PAGE), re.M):
        lines = [line[4:] for line in block.splitlines()]
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        found += [re.sub(r"\s+#.*", "", line) for line in lines if not line.startswith("#")]
    return found


def web_server():
    """Answers each connection with one page, for as long as the test runs."""
    s = socket.create_server(("127.0.0.1", 8000))

    def serve():
        while True:
            conn, _ = s.accept()
            with conn:
                conn.recv(4096)
                conn.sendall(b"HTTP/1.0 200 OK\r\n\r\nmilk\nbread\ntea\n")
    threading.Thread(target=serve, daemon=True).start()


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41)) # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        os.makedirs(os.path.join(cls.dir, "build"))
        os.symlink(e2e.SAKER, os.path.join(cls.dir, "build/saker"))
        with open(os.path.join(cls.dir, "notes.txt"), "w", encoding="utf-8") as f:
            f.write("milk\nbread\ntea\n")
        cls.path = os.environ["PATH"]
        if not shutil.which("curl"):
            cls.path = os.path.join(cls.dir, "build") + ":" + cls.path
            with open(os.path.join(cls.dir, "build/curl"), "w", encoding="utf-8") as f:
                f.write(CURL)
            os.chmod(os.path.join(cls.dir, "build/curl"), 0o755)
        bring_up_loopback()
        web_server()

    def setUp(self):
        worker = subprocess.Popen(["sh", "-c", WORK, "sh", self.dir], start_new_session=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(os.killpg, worker.pid, signal.SIGKILL)

    def start(self, args, out):
        return subprocess.Popen(args, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT, start_new_session=True,
                                env={**os.environ, "PATH": self.path})

    def missing(self, wanted, path):
        lines = e2e.read_text(path).splitlines()
        return [w for w in wanted
                if not any(re.search(w.replace("/tmp/tour", self.dir), line) for line in lines)]

    def run_to_its_end(self, command, wanted):
        path = os.path.join(self.dir, "out")
        with open(path, "wb") as out:
            p = self.start(["bash", "-c", SHELL + command], out)
        try:
            status = p.wait(TIME)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            raise
        self.assertEqual((status, self.missing(wanted, path)), (0, []), e2e.read_text(path)[-3000:])

    def run_until_ctrl_c(self, command, wanted):
        path = os.path.join(self.dir, "out")
        with open(path, "wb") as out:
            p = self.start(shlex.split(command)[1:], out) # without sudo
        end = time.monotonic() + TIME
        while p.poll() is None and self.missing(wanted, path) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIsNone(p.poll(), e2e.read_text(path)[-3000:])
        p.send_signal(signal.SIGINT)
        self.assertEqual((p.wait(TIME), self.missing(wanted, path)), (0, []), e2e.read_text(path)[-3000:])

    def test_commands(self):
        self.assertEqual(commands(), list(COMMANDS))
        for command, wanted in COMMANDS.items():
            words = command.split()
            if isinstance(wanted, str) or (words[0] in ("sysdig", "tshark") and not shutil.which(words[0])):
                continue
            here = command.replace("/tmp/tour", self.dir)
            with self.subTest(command):
                if words[0] == "sudo" and not {"-M", "-d", "-n", "--"} & set(words):
                    self.run_until_ctrl_c(here, wanted)
                else:
                    self.run_to_its_end(here, wanted)


class Build(unittest.TestCase):
    def test_in_place(self):
        command, = (c for c, why in COMMANDS.items() if why == BUILD)
        e2e.somebody(self)
        p = subprocess.run(["bash", "-c", command], cwd=e2e.SOURCE, stdin=subprocess.DEVNULL, text=True, capture_output=True,
                           errors="replace", env={**os.environ, "SAKER_BUILD_DIR": e2e.BUILD}, timeout=1200)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(len(e2e.lines(p.stdout)), 20)
        installed = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, installed, ignore_errors=True)
        subprocess.run(["cmake", "--install", e2e.BUILD], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": installed})
        files = {f for _, _, names in os.walk(installed) for f in names}
        self.assertLessEqual({"saker", "saker.1"}, files)


if __name__ == "__main__":
    e2e.need_live()
    if "SAKER_OWN_NETWORK" not in os.environ:
        if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            e2e.skip("network namespaces cannot be made here")
        os.environ["SAKER_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "-n", sys.executable, *sys.argv])
    unittest.main()
