#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests accounting of the exporter by container and pod, with real runtimes: containerd with runc, and podman. The
kernel's own counts are the judges: files of cgroups, /proc/stat, /proc/softirqs, and what nstat prints."""

import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import unittest
import uuid

import saker_e2e as e2e
from exporter_test import Exporter, cpu_mounts, fresh, value

POD_UID = "01234567-89ab-cdef-0123-456789abcdef"
STATE = "/run/containerd"  # where saker reads the files of containerd
# Uses a CPU, fails to open a file, and sleeps.
BURN = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; read x < /none; exec /bin/busybox sleep 1000"


def make_rootfs(folder):
    """A root folder with busybox only."""
    root = os.path.join(folder, "rootfs")
    shutil.rmtree(root, ignore_errors=True)
    for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(shutil.which("busybox"), os.path.join(root, "bin"))
    return root


def used_by(cgroups):
    """Returns the CPU seconds of the cgroups in the lines of /proc/PID/cgroup, by their own files: first of the hierarchy
    that accounting uses."""
    one, two = cpu_mounts()
    found = []
    if one:
        path = re.search(r"^\d+:[\w,]*\bcpuacct\b[\w,]*:(.*)$", cgroups, re.M)[1]
        found.append(int(e2e.read_text(os.path.join(one + path, "cpuacct.usage"))) / 1e9)
    if two:
        path = re.search(r"^0::(.*)$", cgroups, re.M)[1]
        stat = e2e.read_text(os.path.join(two + path, "cpu.stat")) if path != "/" or not one else ""
        found += [int(n) / 1e6 for n in re.findall(r"usage_usec (\d+)", stat)]
    return found


def wait_for_sleep(pid):
    """Waits until the burner sleeps: then what it used does not change."""
    e2e.wait_until(lambda: e2e.read_text(f"/proc/{pid}/cmdline").startswith("/bin/busybox\0sleep") and
                   e2e.proc_stat(pid)[0] == "S", "the burner sleeps")


class Runtime(unittest.TestCase):
    """Needs root, the runtimes, and cgroups that can be made."""

    needs = ()

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("busybox", "runc", *cls.needs)
        cls.folder = e2e.own_dir(cls)
        cls.rootfs = make_rootfs(cls.folder)
        cls.exporter = Exporter(cls, "--syscalls")

    def check_burner(self, pid, **labels):
        """Its CPU seconds are those of its cgroup's file, within 1 %; its syscalls have names."""
        cgroups = e2e.read_text(f"/proc/{pid}/cgroup")
        wait_for_sleep(pid)
        samples = e2e.wait_until(lambda: (s := self.exporter.samples()) and
                                 value(s, "saker_container_cpu_seconds_total", **labels) is not None and s,
                                 lambda: f"{labels} among {[of for name, of in self.exporter.samples() if 'container_cpu_s' in name]}")
        used = used_by(cgroups)[0]
        self.assertGreater(used, 0.1)
        self.assertAlmostEqual(value(samples, "saker_container_cpu_seconds_total", **labels), used, delta=used / 100)
        self.assertGreater(value(samples, "saker_container_minor_faults_total", **labels), 0)
        self.assertGreater(value(samples, "saker_container_syscalls_total", syscall="execve", **labels), 0)
        self.assertGreater(value(samples, "saker_container_syscall_errors_total", syscall="openat", **labels), 0)
        return samples


WAITING_BURN = 'echo; read x; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; read x'
KUBEPODS = ("kubepods/burstable/pod{pod}/", "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{pod_}.slice/")


class Layouts(unittest.TestCase):
    """A burner in each of 20 containers, as runtimes lay out their cgroups with cgroupfs and with systemd."""

    layouts = (
        "docker/{id}", "system.slice/docker-{id}.scope",
        KUBEPODS[0] + "{id}", KUBEPODS[1] + "cri-containerd-{id}.scope", "k8s.io/{id}", "system.slice/nerdctl-{id}.scope",
        KUBEPODS[0] + "crio-{id}", KUBEPODS[1] + "crio-{id}.scope",
        "libpod_parent/libpod-{id}", "machine.slice/libpod-{id}.scope")

    def start(self, layout):
        """Starts a burner in a container of its own, before it burns. Returns it and its ID."""
        full_id, pod = uuid.uuid4().hex * 2, str(uuid.uuid4())
        p = subprocess.Popen(["sh", "-c", WAITING_BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        self.sleeps(p)
        name = layout.format(id=full_id, pod=pod, pod_=pod.replace("-", "_"))
        for root in filter(None, cpu_mounts()):
            path = e2e.make_cgroup(self, root, name)
            self.addCleanup(lambda root=root: e2e.write_text(os.path.join(root, "cgroup.procs"), str(p.pid)))
            e2e.write_text(os.path.join(path, "cgroup.procs"), str(p.pid))
        return p, full_id[:12]

    @staticmethod
    def sleeps(p):
        """Waits until it has said so and sleeps: then its time is whole."""
        assert p.stdout.readline() == "\n"
        e2e.wait_until(lambda: e2e.proc_stat(p.pid)[0] == "S", "it sleeps")

    def test_burners(self):
        e2e.need_live()
        exporter = Exporter(self, "--container-socket", "none")
        burners = [self.start(layout) for layout in 2 * self.layouts]
        for p, _ in burners:
            p.stdin.write("\n")
            p.stdin.flush()
        for p, _ in burners:
            self.sleeps(p)
        samples = fresh(exporter)
        for (p, container), layout in zip(burners, 2 * self.layouts):
            found = value(samples, "saker_container_cpu_seconds_total", container_id=container)
            for used in used_by(e2e.read_text(f"/proc/{p.pid}/cgroup")):
                self.assertGreater(used, 0.01, layout)
                self.assertAlmostEqual(found, used, delta=used / 100, msg=layout)
        pods = {dict(labels)["pod_uid"] for name, labels in samples if name == "saker_pod_cpu_seconds_total"
                and "pod_uid" in dict(labels)}
        self.assertGreaterEqual(len(pods), 8)


class WithContainerd(Runtime):
    needs = ("containerd", "ctr")
    plugins = 'disabled_plugins = ["io.containerd.grpc.v1.cri"]'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.path.exists(os.path.join(STATE, "containerd.sock")):
            e2e.skip("containerd runs already")
        cls.socket = os.path.join(cls.folder, "containerd.sock")
        config = os.path.join(cls.folder, "containerd.toml")
        e2e.write_text(config, f"""version = 2
root = "{cls.folder}/containerd"
state = "{STATE}"
{cls.plugins}
[grpc]
  address = "{cls.socket}"
""")
        cls.log = open(os.path.join(cls.folder, "containerd.log"), "w", encoding="utf-8")
        cls.addClassCleanup(cls.log.close)
        cls.daemon = subprocess.Popen(["containerd", "-c", config], stdout=cls.log, stderr=cls.log)
        cls.addClassCleanup(cls.daemon.wait)
        cls.addClassCleanup(cls.daemon.terminate)
        e2e.wait_until(lambda: os.path.exists(cls.socket) and subprocess.run(
            ["ctr", "-a", cls.socket, "version"], capture_output=True, check=False).returncode == 0, "containerd serves")

    @classmethod
    def ctr(cls, *words, check=True):
        p = subprocess.run(["ctr", "-a", cls.socket, "-n", "k8s.io", *words], capture_output=True, text=True, timeout=60,
                           check=False)
        if check and p.returncode:
            raise AssertionError(f"ctr {words}: {p.stderr}")
        return p.stdout


class Containerd(WithContainerd):
    def test_default_namespace(self):
        """ctr without a namespace: the cgroup is /default/ID."""
        full_id = uuid.uuid4().hex * 2
        def ctr(*words):
            return subprocess.run(["ctr", "-a", self.socket, *words], capture_output=True, text=True, timeout=60, check=False)
        self.addCleanup(ctr, "container", "rm", full_id)
        self.addCleanup(ctr, "task", "rm", "-f", full_id)
        p = ctr("run", "-d", "--rootfs", "--annotation", "io.kubernetes.cri.container-name=box", self.rootfs, full_id,
                "/bin/busybox", "sh", "-c", BURN)
        self.assertEqual(p.returncode, 0, p.stderr)
        line = next(x for x in ctr("task", "ls").stdout.splitlines() if x.startswith(full_id))
        pid = int(line.split()[1])
        self.assertIn(f":/default/{full_id}\n", e2e.read_text(f"/proc/{pid}/cgroup"))
        self.check_burner(pid, container_id=full_id[:12], container="box")

    def start(self, kind, name, command, image=()):
        """Starts a container of the pod. Returns its ID and its process."""
        full_id = uuid.uuid4().hex * 2
        notes = {"io.kubernetes.cri.container-type": kind, "io.kubernetes.cri.sandbox-name": "shop-7",
                 "io.kubernetes.cri.sandbox-namespace": "prod", **dict(image)}
        if name:
            notes["io.kubernetes.cri.container-name"] = name
        self.addCleanup(self.ctr, "container", "rm", full_id, check=False)
        self.addCleanup(self.ctr, "task", "rm", "-f", full_id, check=False)
        self.ctr("run", "-d", "--rootfs", "--cgroup", f"/kubepods/burstable/pod{POD_UID}/{full_id}", "--label", "a=b",
                 *(w for k, v in notes.items() for w in ("--annotation", f"{k}={v}")), self.rootfs, full_id, *command)
        line = [x for x in self.ctr("task", "ls").splitlines() if x.startswith(full_id)]
        return full_id[:12], int(line[0].split()[1])

    def test_pod(self):
        """Two containers of a pod: names from the annotations; the pod is their sum."""
        pause, pause_pid = self.start("sandbox", None, ["/bin/busybox", "sleep", "1000"])
        burner, pid = self.start("container", "web", ["/bin/busybox", "sh", "-c", BURN],
                                 {"io.kubernetes.cri.image-name": "registry/shop/web:1"}.items())
        wait_for_sleep(pause_pid)
        samples = self.check_burner(pid, container_id=burner, container="web", image="registry/shop/web:1", namespace="prod",
                                    pod="shop-7")
        samples = e2e.wait_until(lambda: (s := self.exporter.samples()) and value(
            s, "saker_container_cpu_seconds_total", container_id=pause, container="shop-7") is not None and s,
            "the sandbox has its name")
        pod = {"pod_uid": POD_UID, "namespace": "prod", "pod": "shop-7"}
        for name in ("cpu_seconds", "minor_faults", "voluntary_switches", "threads_started"):
            both = [value(samples, f"saker_container_{name}_total", container_id=i) for i in (pause, burner)]
            self.assertAlmostEqual(value(samples, f"saker_pod_{name}_total", **pod), sum(both), 6, name)
        before = value(samples, "saker_container_cpu_seconds_total")
        self.ctr("task", "rm", "-f", next(i for i in self.ctr("task", "ls", "-q").split() if i.startswith(burner)))
        samples = e2e.wait_until(lambda: (s := self.exporter.samples()) and value(
            s, "saker_container_cpu_seconds_total", container_id=burner) is None and s, "the container is gone")
        self.assertGreaterEqual(value(samples, "saker_container_cpu_seconds_total"), before)


class Cri(WithContainerd):
    """A pod of containerd's own CRI server, without a network of its own, which would need plugins."""

    plugins = """[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "saker.test/pause:1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
"""

    def make_image(self):
        """An image of busybox, as docker saves one. Returns its file."""
        def tar(path, files):
            with tarfile.open(path, "w") as t:
                for name, data in files:
                    info = tarfile.TarInfo(name)
                    info.size, info.mode = len(data), 0o755
                    t.addfile(info, io.BytesIO(data))
            return e2e.read_bytes(path)
        layer = tar(os.path.join(self.folder, "layer.tar"), [("bin/busybox", e2e.read_bytes(shutil.which("busybox")))])
        config = json.dumps({"architecture": os.uname().machine.replace("x86_64", "amd64"), "os": "linux",
                             "config": {"Entrypoint": ["/bin/busybox", "sleep", "1000"]},
                             "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}})
        manifest = [{"Config": "config.json", "RepoTags": ["saker.test/pause:1"], "Layers": ["layer.tar"]}]
        path = os.path.join(self.folder, "image.tar")
        tar(path, [("config.json", config.encode()), ("layer.tar", layer), ("manifest.json", json.dumps(manifest).encode())])
        return path

    def test_labels(self):
        """The labels of the pod are those that it was made with; its name is known, too."""
        e2e.need_grpc()
        self.ctr("images", "import", "--snapshotter", "native", self.make_image())
        pod = subprocess.Popen(["/usr/bin/python3", os.path.join(e2e.SOURCE, "tests/e2e/run_sandbox.py"), self.socket,
                                self.folder, POD_UID, "web-7", "shop", "app=web", "tier=a=b"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(pod.stdout.close)
        self.addCleanup(pod.wait)
        self.addCleanup(pod.stdin.close)
        full_id = pod.stdout.readline().strip()
        self.assertRegex(full_id, "^[0-9a-f]{64}$")
        exporter = Exporter(self, "--cri-socket", self.socket)
        def labels():
            return {(dict(of)["label"], dict(of)["value"]) for (name, of), v in exporter.samples().items()
                    if name == "saker_pod_label_info" and {("pod_uid", POD_UID), ("pod", "web-7")} <= set(of)}
        found = e2e.wait_until(labels, "labels of the pod")
        self.assertEqual(found, {("app", "web"), ("tier", "a=b"), ("io.kubernetes.pod.uid", POD_UID)})
        self.assertIsNotNone(value(exporter.samples(), "saker_container_cpu_seconds_total", container_id=full_id[:12],
                                   namespace="shop", pod="web-7"))


class Podman(Runtime):
    needs = ("podman",)

    @staticmethod
    def podman(*words, check=True):
        p = subprocess.run(["podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs", *words],
                           capture_output=True, text=True, timeout=60, check=False)
        if check and p.returncode:
            raise AssertionError(f"podman {words}: {p.stderr}")
        return p.stdout

    def test_container(self):
        """Its name and image are those of podman's list."""
        name, image = f"saker-e2e-{os.getpid()}", f"localhost/saker-e2e-{os.getpid()}:latest"
        tar = os.path.join(self.folder, "rootfs.tar")
        e2e.run("tar", "-C", self.rootfs, "-cf", tar, ".")
        self.addCleanup(self.podman, "rmi", "-f", image, check=False)
        self.podman("import", tar, image)
        self.addCleanup(self.podman, "rm", "-f", "-t", "0", name, check=False)
        full_id = self.podman("run", "-d", "--name", name, "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit",
                              "nproc=1024:1024", image, "/bin/busybox", "sh", "-c", BURN).strip()
        pid = int(self.podman("inspect", "-f", "{{.State.Pid}}", name))
        self.check_burner(pid, container_id=full_id[:12], container=name, image=image)


def cpu_counts():
    """Returns what /proc counts: switches, and softirqs by vector."""
    switches = int(re.search(r"^ctxt (\d+)", e2e.read_text("/proc/stat"), re.M)[1])
    rows = [line.split() for line in e2e.read_text("/proc/softirqs").splitlines()[1:]]
    return {"switches": switches, **{row[0].rstrip(":"): sum(map(int, row[1:])) for row in rows}}


def tcp_counts():
    """Returns the counts of TCP that nstat prints."""
    names, values = [line.split()[1:] for line in e2e.read_text("/proc/net/snmp").splitlines() if line.startswith("Tcp:")]
    return dict(zip(names, map(int, values)))


class Judges(unittest.TestCase):
    """What the node did between two scrapes is what the kernel counted meanwhile: at least what it counted between the
    ends of the scrapes, at most what it counted from before the first one."""

    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.exporter = Exporter(cls)

    def test_cpus(self):
        def exported():
            s = fresh(self.exporter)
            vectors = {dict(labels)["vector"] for name, labels in s if name == "saker_softirqs_total"}
            return {"switches": value(s, "saker_cpu_switches_total"),
                    **{v: value(s, "saker_softirqs_total", vector=v) for v in vectors}}
        outer, first, inner = cpu_counts(), exported(), cpu_counts()
        for _ in range(20):
            e2e.somebody(self)
        inner_end, last, outer_end = cpu_counts(), exported(), cpu_counts()
        self.assertGreater(last["switches"], first["switches"])
        slack = os.cpu_count()  # one is counted between the kernel's count and the driver's, on each CPU
        for name, n in last.items():
            self.assertGreaterEqual(n - first[name] + slack, inner_end[name] - inner[name], name)
            self.assertLessEqual(n - first[name] - slack, outer_end[name] - outer[name], name)

    def test_busy(self):
        """Busy time is that of /proc/stat, whose ticks are 10 ms."""
        def idle():
            fields = [list(map(int, line.split()[1:])) for line in e2e.read_text("/proc/stat").splitlines()
                      if re.match(r"cpu\d", line)]
            return sum(f[3] + f[4] for f in fields) / os.sysconf("SC_CLK_TCK")
        def exported():
            return value(fresh(self.exporter), "saker_cpu_seconds_total", state="idle")
        outer, first, inner = idle(), exported(), idle()
        subprocess.run([sys.executable, "-I", "-c", "import time\nwhile time.process_time() < 1: pass"], check=True)
        inner_end, last, outer_end = idle(), exported(), idle()
        slack = 0.02 * os.cpu_count() + 0.05
        self.assertGreaterEqual(last - first + slack, inner_end - inner)
        self.assertLessEqual(last - first - slack, outer_end - outer)

    def test_tcp(self):
        """SYNs to a full listen queue are sent again; connects to a closed port are reset."""
        def exported():
            s = fresh(self.exporter)
            return {"RetransSegs": value(s, "saker_node_tcp_retransmits_total"),
                    "OutRsts": value(s, "saker_node_tcp_resets_sent_total")}
        outer, first, inner = tcp_counts(), exported(), tcp_counts()
        with socket.socket() as listener, socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for i in range(8):
                s = socket.socket()
                self.addCleanup(s.close)
                s.setblocking(False)
                s.connect_ex((listener if i < 5 else closed).getsockname())
            e2e.wait_until(lambda: tcp_counts()["RetransSegs"] > inner["RetransSegs"] and
                           tcp_counts()["OutRsts"] > inner["OutRsts"], "the kernel sent them")
        inner_end, last, outer_end = tcp_counts(), exported(), tcp_counts()
        for name, n in last.items():
            self.assertGreaterEqual(n - first[name], inner_end[name] - inner[name], name)
            self.assertLessEqual(n - first[name], outer_end[name] - outer[name], name)


if __name__ == "__main__":
    unittest.main()
