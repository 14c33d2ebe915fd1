#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests containers: a cgroup with a name like docker's, its fields in lines and in the file. sysdig
is the judge."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest
import uuid

import saker_e2e as e2e
from exporter_test import Exporter, accounted_cgroup

DIGEST = "sha256:" + "cd" * 32


def new_id():
    return uuid.uuid4().hex * 2


class Docker(threading.Thread):
    """Serves the part of docker's API that saker queries, for the given containers."""

    def __init__(self, path, containers):
        super().__init__(daemon=True)
        self.containers = containers
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                try:
                    self.serve(client)
                except OSError:
                    pass  # the capture ended

    def serve(self, client):
        request = b""
        while b"\r\n\r\n" not in request:
            data = client.recv(4096)
            if not data:
                return
            request += data
        answer = self.answer(request.split()[1].decode())
        status = "404 Not Found" if answer is None else "200 OK"
        body = json.dumps(answer or {"message": "no such thing"})
        client.sendall(f"HTTP/1.0 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    def answer(self, path):
        m = re.fullmatch(r"/containers/(\w+)/json", path)
        if m and m[1] in self.containers:
            return {"Id": m[1], "Name": "/" + self.containers[m[1]], "Image": "sha256:" + "ab" * 32,
                    "Config": {"Image": "shop/web:1.2", "Labels": {"app": "shop"}},
                    "HostConfig": {"Privileged": True},
                    "Mounts": [{"Source": "/srv", "Destination": "/data", "Mode": "z", "RW": True,
                                "Propagation": "rprivate"}]}
        if path == "/images/sha256:" + "ab" * 32 + "/json":
            return {"RepoDigests": ["shop/web@" + DIGEST]}
        return None


class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)

    def serve(self, path, containers):
        docker = Docker(path, containers)
        docker.start()
        self.addCleanup(docker.listener.close)
        return path

    def cgroup(self, name, kinds=("cgroup", "cgroup2")):
        """A new cgroup; skips the test where none can be made."""
        path = e2e.new_cgroup(self, name, kinds)
        return path or e2e.skip_test("no cgroup can be made here")

    def capture(self, cgroup, path, until, *options):
        """Captures a program that enters the cgroup, until the printed lines contain the
        text. Returns the lines."""
        lines = path + ".lines"
        with open(lines, "w"):
            pass
        # Not the literal text: the lines contain the loop's own text, too.
        loop = (f"i=0; until grep -q '[{until[0]}]{until[1:]} sh ' {lines} || [ \\$i = 3000 ]; "
                "do i=\\$((i + 1)); cat /etc/hostname; done >/dev/null")
        e2e.run(e2e.SAKER, "-pc", "-o", lines, "--unbuffered", "-w", path, "--print", *options,
                "--", "sh", "-c", f"echo $$ >{cgroup}/cgroup.procs; exec sh -c \"{loop}\"")
        e2e.run(e2e.SAKER, "-r", path, "--verify")
        text = e2e.read_text(lines)
        self.assertTrue(f" {until} sh (" in text, until)
        return text

    def has(self, lines, pattern):
        self.assertTrue(re.search(pattern, lines, re.M), pattern)

    def test_docker(self):
        container = new_id()
        short = container[:12]
        sock = self.serve(os.path.join(self.dir, "docker.sock"), {container: "web-1"})
        path = os.path.join(self.dir, "docker.scap")
        lines = self.capture(self.cgroup(f"docker-{container}.scope"), path, f"web-1 ({short})",
                             "--container-socket", sock)
        # The program starts on the host; the first events in the container may precede the engine's
        # answer, but have the ID.
        self.has(lines, r"^\d+ \S+ \d+ host \(host\) sh \(\d+:\d+\) < ")
        self.has(lines, rf"^\d+ \S+ \d+ (<NA>|web-1) \({short}\) sh \(\d+:\d+\) < execve ")
        self.has(e2e.run(e2e.SAKER, "-r", path, "-pc"), rf"^\d+ \S+ \d+ web-1 \({short}\) sh \(")
        self.judge(path, short)

    def judge(self, path, short):
        """sysdig reads the server's answer from the file."""
        e2e.need("sysdig")
        seen = e2e.run("sysdig", "-r", path, "-p", "%container.id %container.name %container.image %container.type "
                       "%container.image.digest %container.privileged %container.mounts", "container.name=web-1")
        self.assertEqual(set(filter(None, seen.splitlines())),
                         {f"{short} web-1 shop/web:1.2 docker {DIGEST} true /srv:/data:z:true:rprivate"})
        theirs = e2e.run("sysdig", "-r", path, "-pc", "evt.type=container").splitlines()
        lines = e2e.run(e2e.SAKER, "-r", path, "-pc").splitlines()
        self.assertEqual(theirs, [l for l in lines if " > container json=" in l])
        self.assertEqual(len(theirs), 1)

    def test_unknown_to_docker(self):
        container = new_id()
        sock = self.serve(os.path.join(self.dir, "unknown.sock"), {new_id(): "web-1"})
        path = os.path.join(self.dir, "unknown.scap")
        lines = self.capture(self.cgroup(f"docker-{container}.scope"), path, f"<NA> ({container[:12]})",
                             "--container-socket", sock)
        self.assertFalse("> container json=" in e2e.run(e2e.SAKER, "-r", path))
        self.assertFalse(" web-1 (" in lines)

    def test_rootless(self):
        """A user's own podman is found, although saker has dropped most of root's capabilities."""
        uid = next(u for u in range(61000, 62000) if not os.path.exists(f"/run/user/{u}"))
        container = new_id()
        home = f"/run/user/{uid}/podman"
        os.makedirs(home)
        self.addCleanup(shutil.rmtree, f"/run/user/{uid}")
        sock = self.serve(os.path.join(home, "podman.sock"), {container: "pod-1"})
        for path in (sock, home, os.path.dirname(home)):
            os.chown(path, uid, uid)
            os.chmod(path, 0o700)
        cgroup = self.cgroup(f"user.slice/user-{uid}.slice/libpod-{container}.scope")
        self.capture(cgroup, os.path.join(self.dir, "rootless.scap"), f"pod-1 ({container[:12]})")

    def test_nobody_at_the_socket(self):
        """A given socket that does not work is reported."""
        missing, errors = (os.path.join(self.dir, name) for name in ("missing.sock", "errors"))
        loop = f"i=0; until [ -s {errors} ] || [ $i = 3000 ]; do i=$((i + 1)); cat /etc/hostname; done >/dev/null"
        with open(errors, "w") as f:
            subprocess.run([e2e.SAKER, "-q", "--container-socket", missing, "--", "sh", "-c", loop],
                           stderr=f, check=True)
        said = e2e.read_text(errors)
        self.assertTrue(said.startswith(f"saker: cannot query {missing} for names of containers"), said)

    def test_tables_show_the_id(self):
        """A container without a name."""
        container = new_id()
        cgroup = self.cgroup(f"docker-{container}.scope")
        script = f"echo $$ >{cgroup}/cgroup.procs; exec sh -c 'cat /etc/hostname /etc/none; sleep 0.1' >/dev/null 2>&1"
        sleeper = subprocess.Popen(["sh", "-c", f"echo $$ >{cgroup}/cgroup.procs; echo; exec sleep 1000"],
                                   stdout=subprocess.PIPE)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        self.addCleanup(sleeper.stdout.close)
        self.assertEqual(sleeper.stdout.readline(), b"\n")
        for chisel in ("topcontainers_file", "topcontainers_error", "topcontainers_cpu", "lscontainers"):
            p = subprocess.run(["timeout", "-k", "2", "60", e2e.SAKER, "--container-socket", "none", "-c", chisel, "--",
                                "sh", "-c", script], capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertRegex(p.stderr, rf"(?m)(^|  ){container[:12]}($|  )", chisel)

    def test_nobody_is_asked(self):
        p = subprocess.run([e2e.SAKER, "-q", "--container-socket", "none", "--", "true"],
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 0)
        self.assertNotIn("containers", p.stderr)

    def test_containerd(self):
        """The names are in a file of the runtime."""
        container = new_id()
        short, pod = container[:12], "web-" + uuid.uuid4().hex[:8]
        self.bundle(container, container_name="web", container_type="container", image_name="shop/web:1.2", sandbox_name=pod,
                    sandbox_namespace="shop", sandbox_uid="4a1b")
        path = os.path.join(self.dir, "containerd.scap")
        self.capture(self.cgroup(f"cri-containerd-{container}.scope"), path, f"web ({short})")
        fields = ("%container.id %container.name %container.image %container.type %k8s.pod.name %k8s.ns.name %k8s.pod.id "
                  "%proc.unit")
        self.assertEqual(set(e2e.run(e2e.SAKER, "-r", path, "-p", fields, "container.name=web").splitlines()),
                         {f"{short} web shop/web:1.2 containerd {pod} shop 4a1b cri-containerd-{container}.scope"})
        self.has(e2e.run(e2e.SAKER, "-r", path, "-pk"), rf"^\d+ \S+ \d+ {pod} \({short}\) sh \(\d+:\d+\) ")
        self.has(e2e.run(e2e.SAKER, "-r", path, "-pk"), r"^\d+ \S+ \d+ <NA> \(host\) sh \(\d+:\d+\) ")
        e2e.need("sysdig")
        seen = e2e.run("sysdig", "-r", path, "-p", "%container.id %container.name %container.image %container.type "
                       "%container.image.repository %container.image.tag", "container.name=web")
        self.assertEqual(set(filter(None, seen.splitlines())), {f"{short} web shop/web:1.2 containerd shop/web 1.2"})

    def bundle(self, container, **names):
        """The config.json of a container of containerd, with these annotations of CRI."""
        space = "saker-" + uuid.uuid4().hex[:8]
        place = "/run/containerd/io.containerd.runtime.v2.task"
        missing = next((d for d in ("/run/containerd", place) if not os.path.exists(d)), os.path.join(place, space))
        os.makedirs(os.path.join(place, space, container))
        self.addCleanup(shutil.rmtree, missing)
        notes = {"io.kubernetes.cri." + k.replace("_", "-"): v for k, v in names.items()}
        with open(os.path.join(place, space, container, "config.json"), "w", encoding="utf-8") as f:
            json.dump({"ociVersion": "1.0.2", "annotations": notes}, f)

    def cri(self, *words):
        """Starts a CRI server. Returns its process and its socket."""
        e2e.need_grpc()
        path = os.path.join(self.dir, uuid.uuid4().hex[:8] + ".sock")
        p = subprocess.Popen(["/usr/bin/python3", "-I", os.path.join(e2e.SOURCE, "tests/e2e/fake_cri.py"), path, *words],
                             stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "serves\n")
        return p, path

    def test_pod_labels(self):
        """They are those that the runtime's server has, for the sandbox of the container, in lines and in the file."""
        container, sandbox = new_id(), new_id()
        self.bundle(container, container_name="web", sandbox_id=sandbox, sandbox_name="web-7", sandbox_namespace="shop")
        server, sock = self.cri(sandbox, "app=shop", "tier=a=b")
        path = os.path.join(self.dir, "cri.scap")
        self.capture(self.cgroup(f"cri-containerd-{container}.scope"), path, f"web ({container[:12]})", "--cri-socket", sock)
        self.assertIn(sandbox, server.stdout.readline())
        self.assertEqual(set(e2e.run(e2e.SAKER, "-r", path, "-p", "%k8s.pod.label[app] %k8s.pod.labels %k8s.pod.name",
                                     "container.name=web").splitlines()), {"shop app=shop,tier=a=b web-7"})
        self.assertEqual(e2e.run(e2e.SAKER, "-r", path, "-p", "*%k8s.pod.labels", "container.id=host").splitlines()[0], "<NA>")

    def test_pod_labels_of_exporter(self):
        """A series for each, which ends with the pod. The runtime knows the pod only after its first process runs."""
        container, sandbox = new_id(), new_id()
        self.bundle(container, container_name="web", sandbox_id=sandbox, sandbox_name="web-7", sandbox_namespace="shop")
        sock = self.cri(sandbox, "app=shop", "tier=a=b", "late")[1]
        exporter = Exporter(self, "--cri-socket", sock)
        group = accounted_cgroup(self, f"cri-containerd-{container}.scope")
        p = subprocess.Popen(["sh", "-c", f"echo $$ >{group}/cgroup.procs; read x"], stdin=subprocess.PIPE)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        def labels():
            return sorted((dict(of)["label"], dict(of)["value"], dict(of)["pod"], v) for (name, of), v in
                          exporter.samples().items() if name == "saker_pod_label_info")
        e2e.wait_until(lambda: labels() == [("app", "shop", "web-7", 1), ("tier", "a=b", "web-7", 1)], "labels")
        p.stdin.close()
        p.wait()
        os.rmdir(group)
        e2e.wait_until(lambda: labels() == [], "no labels")

    def test_pod_labels_are_refused(self):
        """The runtime's answer is too large, it refuses, or its socket is missing: saker prints the reason once, the container
        has its name, and its pod has no labels."""
        missing = os.path.join(self.dir, "missing.sock")
        for mode, why in ("huge", "File too large"), ("refuse", "it refuses"), (None, "No such file or directory"):
            container, sandbox = new_id(), new_id()
            self.bundle(container, container_name="web", sandbox_id=sandbox)
            sock = self.cri(sandbox, "app=shop", mode)[1] if mode else missing
            path, lines = os.path.join(self.dir, "refused.scap"), os.path.join(self.dir, "refused.lines")
            e2e.write_text(lines, "")
            loop = f"i=0; until grep -q '[w]eb <NA>' {lines} || [ $i = 3000 ]; do i=$((i + 1)); cat /etc/hostname; done"
            group = self.cgroup(f"cri-containerd-{container}.scope")
            p = subprocess.run([e2e.SAKER, "-w", path, "--print", "-o", lines, "--unbuffered", "-p",
                                "*%container.name %k8s.pod.labels", "--cri-socket", sock, "--", "sh", "-c",
                                f'echo $$ >{group}/cgroup.procs; exec sh -c "$0" >/dev/null', loop], stderr=subprocess.PIPE,
                               text=True, check=True)
            self.assertIn("\nweb <NA>\n", e2e.read_text(lines), mode)
            self.assertEqual(re.findall("saker: (cannot query .*)", p.stderr), [f"cannot query {sock} for labels of pods: {why}"])

    def test_lxc(self):
        self.lxc("cgroup", "cgroup2")

    def test_lxc_in_the_unified_hierarchy(self):
        self.lxc("cgroup2")

    def test_of_others(self):
        """A capture of one process has no line for a container that begins meanwhile; the file has its event."""
        name = "box-" + uuid.uuid4().hex[:8]
        group, path = self.cgroup(f"lxc.payload.{name}"), os.path.join(self.dir, name)
        with subprocess.Popen(["sh", "-c", "while read x; do :; done"], stdin=subprocess.PIPE, text=True) as watched:
            p = subprocess.Popen([e2e.SAKER, "--pid", str(watched.pid), "-w", path, "--print", "--unbuffered"],
                                 stdout=subprocess.PIPE, text=True)
            lines = [p.stdout.readline()] # it reads already
            subprocess.run(["sh", "-c", f"echo $$ >{group}/cgroup.procs; cat /etc/hostname; true"], check=True,
                           stdout=subprocess.DEVNULL)
            watched.stdin.write("k\n")
            watched.stdin.close()
            while lines[-1] and "data=k" not in lines[-1]:
                lines.append(p.stdout.readline())
            p.send_signal(signal.SIGINT)
            lines += p.stdout.readlines()
            p.stdout.close()
            self.assertEqual(p.wait(), 0)
        self.assertIn("data=k", "".join(lines))
        self.assertNotIn(name, "".join(lines))
        self.assertIn(name, e2e.run(e2e.SAKER, "-r", path, "evt.type=container"))

    def lxc(self, *kinds):
        """The name of the container is its ID: no engine is queried."""
        name = "box-" + uuid.uuid4().hex[:8]
        path = os.path.join(self.dir, name)
        self.capture(self.cgroup(f"lxc.payload.{name}", kinds), path, f"{name} ({name})")
        e2e.need("sysdig")
        seen = e2e.run("sysdig", "-r", path, "-p", "%container.id %container.name %container.type",
                       f"container.id={name}").splitlines()
        self.assertEqual(seen[-1], f"{name} {name} lxc")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
