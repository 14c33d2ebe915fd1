#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --tls: the plaintext of programs' TLS connections is what their servers and clients have."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tls")
FIELDS = "*%request.method %request.resource %request.status"


def uses(program, library):
    path = shutil.which(program)
    return path and library in subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout


def of_requests(rows):
    return [f"GET {path} 200" for _, path, _ in rows]


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem"],
                   check=True, capture_output=True)


class Requests(unittest.TestCase):
    """Clients and a server run by saker."""

    @classmethod
    def setUpClass(cls):
        cls.folder = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.folder, "capture.scap")
        clients = ["asyncio"] + ["curl"] * bool(uses("curl", "libssl")) + ["wget"] * bool(uses("wget", "gnutls"))
        out = e2e.run(e2e.SAKER, "--tls", "--requests", "-w", cls.capture, "--", sys.executable,
                      os.path.join(FOLDER, "web.py"), cls.folder, *clients)
        cls.truth = json.loads(out)

    def lines(self, *words):
        return e2e.run(e2e.SAKER, "-r", self.capture, *words).splitlines()

    def test_both_ends(self):
        self.assertGreaterEqual(len(self.truth), 3)
        for side in "server", "client":
            got = self.lines("-p", FIELDS, f"request.side={side} and request.proto=http")
            self.assertEqual(got, of_requests(self.truth), side)

    def test_ends_know_each_other(self):
        names = [self.lines("-p", "%request.conn", f"request.side={side} and request.proto=http")
                 for side in ("client", "server")]
        self.assertEqual(*names)
        self.assertEqual(len(names[0]), len(self.truth))

    def test_sockets(self):
        """Each event with bytes has the socket, except a write before the first send of a memory BIO."""
        known = self.lines("-p", "%fd.l4proto", "evt.type in (tls_read, tls_write) and evt.rawres>0")
        lone = self.lines("-p", "*%evt.type %fd.num", "evt.type in (tls_read, tls_write) and evt.rawres>0 "
                          "and not fd.num exists")
        self.assertEqual(set(known), {"tcp"})
        self.assertEqual(lone, ["tls_write <NA>"])

    def test_bytes(self):
        """Bytes count once: as those of the socket."""
        self.assertEqual(self.lines("-p", "%evt.io.bytes", "evt.type in (tls_read, tls_write)"), [])

    def test_others_read_it(self):
        if shutil.which("sysdig"):
            p = subprocess.run(["sysdig", "-r", self.capture, "-p", "%evt.num", "evt.type=execve"],
                               capture_output=True, text=True, check=False)
            self.assertEqual((p.returncode, p.stderr), (0, ""))


class Many(unittest.TestCase):
    def test_sockets(self):
        """Each request has the same connection at both ends."""
        folder = e2e.own_dir(self)
        path = os.path.join(folder, "many.scap")
        truth = json.loads(e2e.run(e2e.SAKER, "--tls", "--requests", "-w", path, "--", sys.executable,
                                   os.path.join(FOLDER, "web.py"), folder, "many"))
        ends = [sorted(e2e.run(e2e.SAKER, "-r", path, "-p", "*%request.resource %request.conn",
                               f"request.side={side} and request.proto=http").splitlines())
                for side in ("client", "server")]
        self.assertEqual(*ends)
        self.assertEqual([line.split()[0] for line in ends[0]], sorted(path for _, path, _ in truth))


class Off(unittest.TestCase):
    def test_nothing(self):
        """Without --tls there is nothing."""
        folder = e2e.own_dir(self)
        path = os.path.join(folder, "plain.scap")
        out = e2e.run(e2e.SAKER, "-w", path, "--", sys.executable, os.path.join(FOLDER, "web.py"), folder, "asyncio")
        self.assertEqual(len(json.loads(out)), 3)
        self.assertEqual(e2e.run(e2e.SAKER, "-r", path, "evt.type in (tls_read, tls_write)"), "")


class Hostile(unittest.TestCase):
    def test_program(self):
        """Functions with OpenSSL's names that unmap their buffer, jump out, call themselves, exit."""
        folder = e2e.own_dir(self)
        program = os.path.join(folder, "hostile")
        subprocess.run(["gcc", "-O1", "-rdynamic", "-fcf-protection=none", "-o", program,
                        os.path.join(FOLDER, "../tls_hostile/hostile.c")], check=True)
        path = os.path.join(folder, "hostile.scap")
        truth = e2e.run(e2e.SAKER, "--tls", "-w", path, "--", program).splitlines()
        self.assertEqual(len(truth), 6)
        got = e2e.run(e2e.SAKER, "-r", path, "-p", "%evt.type %evt.rawres %evt.arg.data",
                      "evt.type in (tls_read, tls_write)")
        want = [line.strip() for line in truth]
        for line, expected in zip(got.splitlines(), want, strict=True):
            self.assertEqual(line.rstrip(" \0.")[:len(expected)], expected)


    LOADS = """
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
at = [ctypes.cast(f, ctypes.c_void_p).value for f in (library.SSL_read, library.SSL_write)]
until = time.monotonic() + 1
while ctypes.string_at(at[1], 1) != b"\\xcc" and time.monotonic() < until:
    time.sleep(0.01)
print("unharmed")
"""

    def test_library(self):
        """Symbols that point into instructions, and behind the code."""
        folder = e2e.own_dir(self)
        library = os.path.join(folder, "libssl.so.9")
        subprocess.run(["gcc", "-shared", "-o", library, os.path.join(FOLDER, "../tls_hostile/lying.c")], check=True)
        p = subprocess.run([e2e.SAKER, "--tls", "-v", "-q", "--", sys.executable, "-c", self.LOADS, library],
                           capture_output=True, text=True, check=False)
        self.assertEqual((p.returncode, p.stdout), (0, "unharmed\n"))
        self.assertRegex(p.stderr, f"(cannot probe|TLS data of) {library}")

    REWRITES = """
import subprocess, sys, time
library, other = sys.argv[1:]
load = '''
import ctypes, sys, time
f = ctypes.CDLL(sys.argv[1]).SSL_read
until = time.monotonic() + 2
while ctypes.string_at(ctypes.cast(f, ctypes.c_void_p).value, 1)[0] != 0xcc and time.monotonic() < until:
    time.sleep(0.01)
print(f())
'''
def run():
    return subprocess.run([sys.executable, "-c", load, library], capture_output=True, text=True, check=False).stdout
def content(path):
    with open(path, "rb") as f:
        return f.read()
versions = [content(path) for path in (library, other)]
print(run(), end="")
for version in versions[1], versions[0]:
    with open(library, "wb") as to:
        to.write(version)
    until = time.monotonic() + 5
    while not run() and time.monotonic() < until: # saker needs some milliseconds
        pass
    print(run(), end="")
"""
    REWRITTEN = """__asm__(".text\\n.balign 4096\\n.globl SSL_read, SSL_write\\n.type SSL_read, @function\\n"
".type SSL_write, @function\\nSSL_read: {} mov $42, %eax\\nret\\nSSL_write: ret\\n");"""

    def test_rewritten_library(self):
        """A file that is written while it has probes: its new code is not disturbed by those of the old one."""
        folder = e2e.own_dir(self)
        libraries = []
        for i, begin in enumerate(("nop\\n", "")):
            libraries.append(os.path.join(folder, f"libssl.so.{i}"))
            source = os.path.join(folder, f"{i}.c")
            e2e.write_text(source, self.REWRITTEN.format(begin))
            subprocess.run(["gcc", "-shared", "-nostdlib", "-o", libraries[i], source], check=True)
        out = e2e.run(e2e.SAKER, "--tls", "-q", "--", sys.executable, "-c", self.REWRITES, *libraries)
        self.assertEqual(out, 3 * "42\n")


class Detach(unittest.TestCase):
    PROGRAM = """
import ctypes, select, ssl, sys, time
folder = sys.argv[1]
at = ctypes.cast(ctypes.CDLL("libssl.so.3").SSL_write_ex, ctypes.c_void_p).value
client, server = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
server.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
ends = [client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)]
for end in ends * 3:
    try:
        end.do_handshake()
    except ssl.SSLWantReadError:
        pass
before = ctypes.string_at(at, 8)
print("ready", flush=True)
n = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    ends[0].write(b"message %d" % n)
    assert ends[1].read(100) == b"message %d" % n
    n += 1
until = time.monotonic() + 10
while ctypes.string_at(at, 8) != before and time.monotonic() < until:
    time.sleep(0.01)
print("restored" if ctypes.string_at(at, 8) == before else "changed")
"""

    def test_program_goes_on(self):
        """A program that calls the library all the time, while probes come and go."""
        if not glob.glob("/usr/lib/*/libssl.so.3"):
            e2e.skip_test("this machine has no libssl.so.3")
        folder = e2e.own_dir(self)
        make_certificate(folder)
        p = subprocess.Popen([sys.executable, "-c", self.PROGRAM, folder], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "ready\n")
        for _ in range(3):
            got = e2e.run(e2e.SAKER, "--tls", "--pid", str(p.pid), "-n", "100", "-p", "%evt.type %evt.arg.data",
                          "evt.type in (tls_read, tls_write)").splitlines()
            self.assertEqual(len(got), 100)
            self.assertTrue(all(" message " in line for line in got), got[0])
        self.assertEqual(p.communicate("end\n")[0], "restored\n")
        self.assertEqual(p.returncode, 0)


class Crowd(unittest.TestCase):
    N, TIMES, LINES = 10000, 3, 5000

    def capture(self):
        """Until there are enough lines, of enough processes: on a busy machine some have long turns."""
        saker = subprocess.Popen([e2e.SAKER, "--tls", "-p", "%proc.pid %evt.arg.data", "evt.type=tls_write", "and",
                                  "proc.name=crowd"], stdout=subprocess.PIPE, text=True)
        for end in saker.stdout.close, saker.wait, saker.kill:
            self.addCleanup(end)
        pids, n, until = set(), 0, time.monotonic() + e2e.DEADLINE_S
        for line in saker.stdout:
            pid, _, data = line.rstrip("\n").partition(" ")
            self.assertEqual(data, "a message of one of the crowd")
            self.assertLess(time.monotonic(), until)
            pids.add(pid)
            n += 1
            if n >= self.LINES and len(pids) > self.N // 4:
                break
        self.assertGreaterEqual(n, self.LINES)
        self.assertGreater(len(pids), self.N // 4)
        saker.terminate()
        saker.stdout.close()
        self.assertEqual(saker.wait(e2e.DEADLINE_S), 0)

    def test_all_go_on(self):
        """10,000 processes write in turns, while probes come and go: none ends, no write fails."""
        if not glob.glob("/usr/lib/*/libssl.so.3"):
            e2e.skip_test("this machine has no libssl.so.3")
        program = os.path.join(e2e.own_dir(self), "crowd")
        subprocess.run(["gcc", "-O1", "-o", program, os.path.join(e2e.SOURCE, "tests/e2e/tls_crowd/crowd.c"),
                        "-l:libssl.so.3", "-l:libcrypto.so.3"], check=True)
        p = subprocess.Popen([program, str(self.N)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "ready\n")
        for _ in range(self.TIMES):
            self.capture()
        n_well, n_writes, n_wrong = map(int, p.communicate()[0].split())
        self.assertEqual((n_well, n_wrong), (self.N, 0))
        self.assertGreater(n_writes, self.TIMES * self.LINES)


class Namespaces(unittest.TestCase):
    PROGRAM = """
import ctypes, os, ssl, sys, time
library = ctypes.CDLL("libssl.so.3")
assert "/mnt/" in open("/proc/self/maps").read()
at = ctypes.cast(library.SSL_write, ctypes.c_void_p).value
until = time.monotonic() + 10
while ctypes.string_at(at, 1) != b"\\xcc" and time.monotonic() < until:
    time.sleep(0.01)
sys.argv = ["web.py", sys.argv[1], "asyncio"]
exec(open(sys.argv.pop() and os.environ["WEB"]).read().replace("sys.argv[2:]", "['asyncio']"))
"""

    def test_private_library(self):
        """A library that exists in the mount namespace of the process only."""
        found = glob.glob("/usr/lib/*/libssl.so.3")
        if not found or not shutil.which("unshare"):
            e2e.skip_test("this machine has no libssl.so.3, or no unshare")
        folder = e2e.own_dir(self)
        path = os.path.join(folder, "namespace.scap")
        script = os.path.join(folder, "program.py")
        e2e.write_text(script, self.PROGRAM)
        shell = (f"mount -t tmpfs none /mnt && cp {found[0]} /mnt && WEB={FOLDER}/web.py "
                 f"LD_LIBRARY_PATH=/mnt exec {sys.executable} {script} {folder}")
        truth = json.loads(e2e.run(e2e.SAKER, "--tls", "--requests", "-w", path, "--",
                                   "unshare", "-m", "sh", "-c", shell))
        got = e2e.run(e2e.SAKER, "-r", path, "-p", FIELDS, "request.side=client and request.proto=http")
        self.assertEqual(got.splitlines(), of_requests(truth))


class Node(unittest.TestCase):
    SERVER = """
const https = require('https'), fs = require('fs');
https.createServer({key: fs.readFileSync(process.argv[2] + '/key.pem'),
                    cert: fs.readFileSync(process.argv[2] + '/certificate.pem')},
                   (q, r) => r.end(q.url)).listen(0, '127.0.0.1', function() { console.log(this.address().port); });
"""

    def test_static_library(self):
        """OpenSSL within node, with memory BIOs."""
        if not shutil.which("node") or uses("node", "libssl"):
            e2e.skip_test("this machine has no node with its own OpenSSL")
        folder = e2e.own_dir(self)
        script, path = os.path.join(folder, "server.js"), os.path.join(folder, "node.txt")
        e2e.write_text(script, self.SERVER)
        make_certificate(folder)
        node = subprocess.Popen(["node", script, folder], stdout=subprocess.PIPE, text=True)
        self.addCleanup(node.communicate)
        self.addCleanup(node.kill)
        port = int(node.stdout.readline())
        with open(path, "w", encoding="utf-8") as out:
            saker = subprocess.Popen([e2e.SAKER, "--tls", "--unbuffered", "--pid", str(node.pid), "-p",
                                      FIELDS + " %fd.type", "evt.type=request and request.proto=http"], stdout=out)
        self.addCleanup(saker.kill)

        def get(name):
            subprocess.run(["curl", "-sk", f"https://127.0.0.1:{port}/{name}"], check=True, stdout=subprocess.DEVNULL)

        e2e.wait_until(lambda: get("first") or e2e.read_text(path), "a request of node")
        for i in range(5):
            get(i)
        saker.send_signal(signal.SIGINT)
        saker.wait()
        got = [line for line in e2e.read_text(path).splitlines() if "first" not in line]
        self.assertEqual([line.rsplit(" ", 1)[0] for line in got], [f"GET /{i} 200" for i in range(5)])


if __name__ == "__main__":
    e2e.need_live()
    e2e.need("openssl", "gcc")
    unittest.main()
