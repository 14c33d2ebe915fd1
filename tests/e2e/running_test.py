#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what keeps saker exporter running for months: its configuration file, reloads, its messages to a service manager,
and the unit of systemd."""

import base64
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
import uuid

import exporter_test as exporter
import saker_e2e as e2e

UNIT = os.path.join(e2e.SOURCE, "contrib/systemd/saker-exporter.service")


def check(path):
    p = subprocess.run([e2e.SAKER, "exporter", "--check-config", path], capture_output=True, text=True, timeout=20)
    return p.returncode, p.stdout, p.stderr.splitlines()


class Config(unittest.TestCase):
    """--check-config says what is wrong, and where."""

    def setUp(self):
        self.folder = e2e.own_dir(self)
        self.path = os.path.join(self.folder, "exporter.conf")

    def write(self, text):
        e2e.write_text(self.path, text)

    def test_valid(self):
        self.write("# a comment\nlisten = [::1]:9436\ntls=yes\notlp = http://127.0.0.1:4318\notlp-logs = evt.type=execve\n")
        self.assertEqual(check(self.path), (0, f"{self.path}: valid\n", []))

    def test_each_line(self):
        self.write("lisen = 127.0.0.1:1\n\nmax-series = 5\nsyscalls = 1\nhelp = yes\nfoo\n")
        status, out, said = check(self.path)
        self.assertEqual((status, out), (1, ""))
        self.assertEqual([s.removeprefix(f"saker: {self.path}:") for s in said], [
            "1: unknown key 'lisen': did you mean listen?",
            "3: --max-series is a number from 100 to 10000000, not 5",
            "4: syscalls is yes or no, not '1'",
            "5: help is for the command line",
            "6: a line is KEY = VALUE"])

    def test_what_it_names(self):
        for text, said in (("auth-file = /none\n", "cannot read --auth-file /none: No such file or directory"),
                           ("tls-cert = /none\n", "--tls-cert and --tls-key need each other"),
                           ("otlp = http://a\notlp-header = @/none\n", "cannot read --otlp-header /none: No such file or "
                                                                       "directory"),
                           ("otlp = http://a\notlp-logs = evt.tpe=open\n", "evt.tpe")):
            self.write(text)
            status, _, lines = check(self.path)
            self.assertEqual(status, 1, text)
            self.assertIn(said, lines[0])

    def test_all_that_it_names(self):
        self.write("auth-file = /none\notlp = http://a\notlp-header = @/none\notlp-ca = /none\n"
                   "otlp-logs = evt.tpe=open\n")
        status, _, said = check(self.path)
        self.assertEqual(status, 1)
        for option in "--auth-file", "--otlp-header", "--otlp-ca", "--otlp-logs":
            self.assertTrue(any(option in line for line in said), (option, said))

    def test_hostile(self):
        self.write("x\x1b[31m = 1\n" * 1000)
        status, _, said = check(self.path)
        self.assertEqual((status, len(said)), (1, 21))
        self.assertNotIn("\x1b", "".join(said))
        self.write("listen = " + "x" * 100000)
        self.assertLess(len(check(self.path)[2][0]), 3000)
        for path, why in (("/dev/zero", "not a regular file"), (self.folder, "not a regular file")):
            self.assertIn(why, check(path)[2][0])

    def test_trust(self):
        if os.geteuid():
            e2e.skip_test("only root refuses a configuration file that others can write to")
        self.write("tls = yes\n")
        os.chmod(self.path, 0o664)
        self.assertIn("others can write to it", check(self.path)[2][0])


def new_cert(folder, name):
    e2e.need("openssl")
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    e2e.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", key, "-out", cert)
    return cert, key


class Reload(unittest.TestCase):
    """SIGHUP applies what can change, and no scrape notices."""

    def setUp(self):
        self.folder = e2e.own_dir(self)
        self.path = os.path.join(self.folder, "exporter.conf")
        self.n = 0

    def start(self, text, *options):
        e2e.write_text(self.path, text)
        self.x = exporter.Exporter(self, "-r", e2e.captures()[0], "--config", self.path, *options)

    def reload(self, text=None):
        """Returns what was said, when it is done."""
        if text is not None:
            e2e.write_text(self.path, text)
        self.x.process.send_signal(signal.SIGHUP)
        said = []
        while not said or not re.search(r": (not )?applied", said[-1]):
            line = self.x.process.stderr.readline()
            if not line:
                self.fail(f"the exporter ended with status {self.x.process.wait(e2e.DEADLINE_S)}: {self.x.said}{said}")
            said.append(line.removeprefix("saker: ").rstrip())
        return said

    def status(self, user, port=None):
        return self.x.get(Authorization="Basic " + base64.b64encode(user.encode()).decode())[0]

    def test_limits(self):
        self.start("max-series = 200\n")
        limit = lambda: exporter.value(self.x.samples(), "saker_exporter_series_limit")
        self.assertEqual(limit(), 200)
        before = exporter.value(self.x.samples(), "saker_exporter_start_time_seconds")
        self.assertEqual(self.reload("max-series = 300\n"), [f"{self.path}: applied"])
        e2e.wait_until(lambda: limit() == 300, "the limit changes")
        self.assertEqual(exporter.value(self.x.samples(), "saker_exporter_start_time_seconds"), before)

    def test_users(self):
        auth = os.path.join(self.folder, "auth")
        e2e.write_text(auth, "a:1\n")
        os.chmod(auth, 0o600)
        self.start(f"auth-file = {auth}\n")
        self.assertEqual((self.status("a:1"), self.status("a:2")), (200, 401))
        e2e.write_text(auth, "a:2\n")
        self.reload()
        self.assertEqual((self.status("a:1"), self.status("a:2")), (401, 200))

    def test_certificate(self):
        cert, key = new_cert(self.folder, "one")
        self.start(f"tls-cert = {cert}\ntls-key = {key}\n")
        seen = lambda: ssl.get_server_certificate(("127.0.0.1", self.x.port))
        self.assertEqual(seen().split(), e2e.read_text(cert).split())
        new_cert(self.folder, "two")
        self.reload()
        self.assertEqual(seen().split(), e2e.read_text(cert).split())
        old = seen()
        e2e.write_text(cert, "no certificate\n")
        said = self.reload()
        self.assertEqual((len(said), said[-1]), (2, f"{self.path}: not applied: the options are as before"))
        self.assertEqual(seen(), old)

    def test_address(self):
        self.start("")
        with socket.socket() as s:
            s.bind(("127.0.0.2", 0))
            port = s.getsockname()[1]
        # The command line overrides the file: the address stays.
        self.assertEqual(self.reload(f"listen = 127.0.0.2:{port}\n"), [f"{self.path}: applied"])
        self.assertEqual(self.x.get()[0], 200)

    def test_moves(self):
        e2e.write_text(self.path, "listen = 127.0.0.1:0\n")
        self.x = exporter.Exporter(self, "-r", e2e.captures()[0], "--config", self.path, listen=())
        port = self.x.port
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.x.port = s.getsockname()[1]
        said = self.reload(f"listen = 127.0.0.1:{self.x.port}\n")
        self.assertEqual(said[0], f"serving metrics at http://127.0.0.1:{self.x.port}/metrics")
        self.assertEqual(self.x.get()[0], 200)
        with socket.socket() as s:  # nothing would accept it
            self.assertEqual(s.connect_ex(("127.0.0.1", port)), errno.ECONNREFUSED)
        self.x.port = port
        self.assertEqual(self.reload(f"listen = 127.0.0.1:{port}\n")[0], f"serving metrics at http://127.0.0.1:{port}/metrics")
        self.assertEqual(self.x.get()[0], 200)

    def test_other_address_of_the_same_port(self):
        e2e.write_text(self.path, "listen = 127.0.0.1:0\n")
        self.x = exporter.Exporter(self, "-r", e2e.captures()[0], "--config", self.path, listen=())
        self.assertEqual(self.reload(f"listen = 0.0.0.0:{self.x.port}\n"),
                         [f"cannot listen on 0.0.0.0:{self.x.port}: saker itself uses this port; restart it, or select another port",
                          f"{self.path}: not applied: the options are as before"])
        self.assertEqual(self.x.get()[0], 200)

    def test_errors_change_nothing(self):
        self.start("max-series = 200\n")
        said = self.reload("max-series = 300\nbogus = 1\n")
        self.assertEqual(said[0], f"{self.path}:2: unknown key: keys are the options of saker exporter --help")
        self.assertEqual(exporter.value(self.x.samples(), "saker_exporter_series_limit"), 200)
        os.unlink(self.path)
        self.assertIn("No such file", self.reload()[0])
        self.assertIn("only a restart begins or ends --otlp", self.reload("otlp = http://127.0.0.1:1\n")[0])

    def test_what_needs_a_restart(self):
        self.start("")
        self.assertEqual(self.reload("verbose = yes\n"), [f"{self.path}: only a restart changes verbose",
                                                          f"{self.path}: applied"])
        self.assertEqual(self.reload(""), [f"{self.path}: applied"])

    def test_no_scrape_fails(self):
        self.start("")
        ends, statuses = threading.Event(), []
        def scrape():
            while not ends.is_set():
                statuses.append(self.x.get()[0])
        t = threading.Thread(target=scrape)
        t.start()
        try:
            for i in range(20):
                self.reload(f"max-series = {200 + i}\n")
        finally:
            ends.set()
            t.join()
        self.assertEqual(set(statuses), {200})
        self.assertEqual(self.x.end(), 0)


class Manager:
    """The socket of a service manager."""

    def __init__(self, test):
        self.path = os.path.join(e2e.own_dir(test), "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(e2e.DEADLINE_S)
        test.addCleanup(self.socket.close)
        self.env = {"NOTIFY_SOCKET": self.path}

    def receive(self):
        return self.socket.recv(4096).decode().splitlines()

    def wait_for(self, *lines):
        """Waits until the lines arrive in this order, with others between them."""
        wanted = list(lines)
        while wanted:
            if wanted[0] in self.receive():
                wanted.pop(0)

    def is_silent(self, seconds):
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(4096)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(e2e.DEADLINE_S)
        return False


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207


def stop_thread(test, tid):
    """Stops one thread, and not those beside it."""
    for request in PTRACE_SEIZE, PTRACE_INTERRUPT:
        test.assertEqual(libc.ptrace(request, tid, None, None), 0, os.strerror(ctypes.get_errno()))
    e2e.wait_until(lambda: e2e.proc_stat(tid)[0] == "t", "it stops")


class Service(unittest.TestCase):
    """What the exporter sends to a service manager, and what it writes to the journal."""

    def test_life(self):
        manager = Manager(self)
        conf = os.path.join(e2e.own_dir(self), "exporter.conf")
        e2e.write_text(conf, "")
        x = exporter.Exporter(self, "-r", e2e.captures()[0], "--config", conf,
                              env={**manager.env, "WATCHDOG_USEC": "400000"})
        manager.wait_for("READY=1", "WATCHDOG=1", "WATCHDOG=1")
        x.process.send_signal(signal.SIGHUP)
        manager.wait_for("RELOADING=1", "READY=1", "WATCHDOG=1")
        x.process.send_signal(signal.SIGTERM)
        manager.wait_for("STOPPING=1")
        self.assertEqual(x.process.wait(timeout=e2e.DEADLINE_S), 0)

    def test_only_a_capture_that_proceeds_is_alive(self):
        """While one thread is stopped the server answers, but the exporter sends no WATCHDOG=1."""
        manager = Manager(self)
        x = exporter.Exporter(self, "-r", e2e.captures()[0], env={**manager.env, "WATCHDOG_USEC": "200000"})
        manager.wait_for("WATCHDOG=1")
        stop_thread(self, x.process.pid)
        e2e.wait_until(lambda: manager.is_silent(0.3), "what was sent before is read")
        self.assertEqual(x.get()[0], 200)
        self.assertTrue(manager.is_silent(0.3))
        libc.ptrace(PTRACE_DETACH, x.process.pid, None, None)
        manager.wait_for("WATCHDOG=1")
        self.assertEqual(x.end(), 0)

    def capture(self):
        path = os.path.join(e2e.own_dir(self), "few.scap")
        e2e.run(e2e.SAKER, "-r", e2e.captures()[0], "-n", "10", "-w", path)
        return path

    def test_waits_for_a_pipe(self):
        """The exporter waits for a source that has no events for a while: it does not poll it in a loop."""
        fifo = os.path.join(e2e.own_dir(self), "fifo")
        os.mkfifo(fifo)
        holder = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, holder)
        fcntl.fcntl(holder, fcntl.F_SETPIPE_SZ, 1 << 20)
        data = e2e.read_bytes(self.capture())
        self.assertEqual(os.write(holder, data), len(data)) # all of it; the writer stays
        x = exporter.Exporter(self, "-r", fifo)
        used = lambda: sum(map(int, e2e.proc_stat(x.process.pid)[11:13]))
        before, until = used(), time.monotonic() + 1
        while time.monotonic() < until:
            x.get()
        self.assertLess(used() - before, 0.5 * os.sysconf("SC_CLK_TCK"))
        x.process.kill()

    def test_live(self):
        e2e.need_live()
        manager = Manager(self)
        x = exporter.Exporter(self, "--no-accounting", env={**manager.env, "WATCHDOG_USEC": "400000"})
        manager.wait_for("READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1")
        self.assertEqual(x.end(), 0)
        manager.wait_for("STOPPING=1")

    def test_journal(self):
        path = os.path.join(e2e.own_dir(self), "journal")
        with open(path, "w", encoding="utf-8") as f:
            st = os.fstat(f.fileno())
            env = {**os.environ, "JOURNAL_STREAM": f"{st.st_dev}:{st.st_ino}"}
            p = subprocess.Popen([e2e.SAKER, "exporter", "-r", e2e.captures()[0], "--listen", "127.0.0.1:0"], stderr=f, env=env)
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            e2e.wait_until(lambda: e2e.read_text(path), "it says something")
            self.assertRegex(e2e.read_text(path), r"^<5>serving metrics at \S+\n$")
            p = subprocess.run([e2e.SAKER, "exporter", "-r", "/none\n<0>x", "--listen", "127.0.0.1:0"], stderr=f, env=env, timeout=20)
        self.assertEqual(e2e.read_text(path).splitlines()[1:], ["<3>cannot open /none.<0>x: No such file or directory"])
        p = subprocess.run([e2e.SAKER, "exporter", "-r", "/none", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True,
                           timeout=20, env={**env, "JOURNAL_STREAM": "1:1"})
        self.assertTrue(p.stderr.startswith("saker: cannot"), p.stderr)


class Container(unittest.TestCase):
    """--host-root: the files of the host are below a folder."""

    def test_host_root(self):
        e2e.need_live()
        host, full_id = os.path.join(e2e.own_dir(self), "host"), uuid.uuid4().hex * 2
        files = {
            f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{full_id}/config.json": json.dumps({"annotations": {
                "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": "web",
                "io.kubernetes.cri.sandbox-name": "shop-7", "io.kubernetes.cri.sandbox-namespace": "prod"}}),
            "sys/class/powercap/intel-rapl:0/name": "package-0\n",
            "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "100000000\n",
            "sys/class/powercap/intel-rapl:0/energy_uj": "1\n"}
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(host, name)), exist_ok=True)
            e2e.write_text(os.path.join(host, name), text)
        name = f"kubepods/burstable/pod{uuid.uuid4()}/{full_id}"
        for root in e2e.cgroup_roots("cgroup") + e2e.cgroup_roots("cgroup2"): # one of them counts
            self.addCleanup(e2e.remove_cgroup, root, name)
            with contextlib.suppress(OSError):
                os.makedirs(os.path.join(root, name))
        join = "".join(f"echo $$ > {root}/{name}/cgroup.procs; " for root in
                       e2e.cgroup_roots("cgroup") + e2e.cgroup_roots("cgroup2"))
        sleeper = subprocess.Popen(["sh", "-c", join + "exec sleep 1000"], stderr=subprocess.DEVNULL)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        x = exporter.Exporter(self, "--host-root", host)
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_container_cpu_seconds_total", container_id=full_id[:12],
                                              container="web", namespace="prod", pod="shop-7") is not None,
                       "the container has its name")
        self.assertIsNotNone(exporter.value(x.samples(), "saker_energy_supported", zone="package"))
        self.assertEqual(x.end(), 0)


def documents(name):
    """Returns the documents of an example in YAML."""
    try:
        import yaml
    except ImportError:
        e2e.skip_test("python3-yaml is missing")
    return list(yaml.safe_load_all(e2e.read_text(os.path.join(e2e.SOURCE, "contrib", name))))


class Examples(unittest.TestCase):
    """Worked configurations that no tool of Debian reads; exporter_test.py has those of Prometheus."""

    def test_collector(self):
        """Its pipelines have components that are defined, and each component is in one."""
        conf, = documents("opentelemetry/collector.yml")
        for kind in "receivers", "processors", "exporters":
            used = {name for pipeline in conf["service"]["pipelines"].values() for name in pipeline[kind]}
            self.assertEqual(used, set(conf[kind]), kind)

    def test_daemonset(self):
        """saker accepts its configuration; its capabilities are those of the unit."""
        _, config, daemonset = documents("kubernetes/daemonset.yml")
        folder = e2e.own_dir(self)
        for name, text in config["data"].items():
            e2e.write_text(os.path.join(folder, name), text.replace("= /host", f"= {folder}"))
        path = os.path.join(folder, "exporter.conf")
        self.assertEqual(check(path), (0, f"{path}: valid\n", []))
        pod = daemonset["spec"]["template"]["spec"]
        container, = pod["containers"]
        self.assertEqual(container["args"], ["--config", os.path.join(container["volumeMounts"][0]["mountPath"], "exporter.conf")])
        self.assertEqual({m["name"] for m in container["volumeMounts"]}, {v["name"] for v in pod["volumes"]})
        unit = re.search("^CapabilityBoundingSet=(.*)$", e2e.read_text(UNIT), re.M)[1].replace("CAP_", "").split()
        self.assertEqual(set(container["securityContext"]["capabilities"]["add"]), set(unit))


class Unit(unittest.TestCase):
    """Checks the unit with the tools of systemd."""

    def test_judges(self):
        e2e.need("systemd-analyze")
        unit = os.path.join(e2e.own_dir(self), "saker-exporter.service")
        text = e2e.read_text(UNIT).replace("/usr/bin/saker ", os.path.realpath(e2e.SAKER) + " ")
        e2e.write_text(unit, re.sub("^Documentation=.*\n", "", text, flags=re.M)) # the page may not be installed
        p = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stdout + p.stderr), (0, ""))
        p = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=35", unit], capture_output=True,
                           text=True, timeout=60, env={**os.environ, "SYSTEMD_PAGER": "cat"})
        self.assertEqual(p.returncode, 0, p.stdout[-300:] + p.stderr)

    def test_capabilities(self):
        """The capabilities of the unit suffice."""
        e2e.need_live()
        e2e.need("setpriv")
        names = re.search("^CapabilityBoundingSet=(.*)$", e2e.read_text(UNIT), re.M)[1].lower().replace("cap_", "").split()
        x = exporter.Exporter(self, "-v", prefix=["setpriv", "--no-new-privs", "--inh-caps=-all",
                                                  "--bounding-set=-all," + ",".join("+" + n for n in names)])
        self.assertEqual(len(x.said.splitlines()), 1, x.said)
        e2e.wait_until(lambda: exporter.value(x.samples(), "saker_events_seen_total"), "events come")
        self.assertGreater(exporter.value(x.samples(), "saker_node_cpu_seconds_total"), 0)
        self.assertEqual(x.end(), 0)


if __name__ == "__main__":
    unittest.main()
