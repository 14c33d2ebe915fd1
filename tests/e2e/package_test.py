#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Debian package: made of the build that the tests use, judged by lintian, installed, upgraded and purged in a
root that is thrown away."""

import hashlib
import os
import re
import shutil
import subprocess
import unittest

import saker_e2e as e2e

CONF, UNIT = "/etc/saker/exporter.conf", "/lib/systemd/system/saker-exporter.service"
EPOCH = "1700000000"
DEBS = []


def make(folder, umask, timezone):
    """Begins to make a package in the folder."""
    env = {**os.environ, "SAKER_PACKAGE_DIR": folder, "TZ": timezone, "SOURCE_DATE_EPOCH": EPOCH, "DEB_BUILD_OPTIONS":
           "noautodbgsym", "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}  # to be fast
    return subprocess.Popen([os.path.join(e2e.SOURCE, "scripts/package"), "--from", e2e.BUILD], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=env, umask=umask)


def run_in(root, script):
    """Runs the script in the root. Returns what it printed."""
    p = subprocess.run(["chroot", root, "/bin/sh", "-euc", script], capture_output=True, text=True, timeout=300,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
    if p.returncode:
        raise AssertionError(f"{script}: {p.stdout}{p.stderr}")
    return p.stdout


def files_of(root, folders=("etc", "usr", "lib", "var/lib", "run")):
    """Returns the paths below the folders, but for what dpkg and its triggers write."""
    found = set()
    for folder in folders:
        for top, _, names in os.walk(os.path.join(root, folder)):
            found |= {os.path.join(top, n)[len(root):] for n in names + [""]}
    own = re.compile("/var/lib/dpkg|/var/cache|/var/log|/usr/share/man/.*index|/etc/ld.so.cache|/var/lib/systemd/deb-systemd")
    return {f for f in found if not own.search(f)}


def need_package():
    """Returns two packages of the same build, made at once in different surroundings; once for all tests."""
    if os.geteuid():
        e2e.skip_test("only root can install a package")
    e2e.need("dpkg-deb", "dpkg-buildpackage", "dh")
    if not DEBS:
        folder = e2e.temp_dir()
        unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
        made = [make(os.path.join(folder, name), umask, timezone)
                for name, umask, timezone in (("a", 0o022, "UTC"), ("elsewhere/b", 0o027, "Asia/Tokyo"))]
        for p in made:
            out = p.communicate(timeout=300)[0]
            if p.returncode:
                raise AssertionError(out)
            DEBS.append(out.split()[-1])
    return DEBS


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.debs = need_package()
        cls.deb = cls.debs[0]
        cls.folder = e2e.own_dir(cls)

    def test_reproducible(self):
        """Folder, umask and time zone change nothing."""
        sums = {hashlib.sha256(e2e.read_bytes(deb)).hexdigest() for deb in self.debs}
        self.assertEqual(len(sums), 1)

    def test_contents(self):
        listed = e2e.run("dpkg-deb", "-c", self.deb)
        names = {line.split()[5][1:] for line in listed.splitlines()}
        for name in ("/usr/bin/saker", "/usr/bin/saker-exporter", "/usr/bin/saker-top", "/usr/bin/saker-send", CONF, UNIT,
                     "/usr/share/man/man1/saker.1.gz", "/usr/share/man/man1/saker-exporter.1.gz",
                     "/usr/share/man/man1/saker-top.1.gz", "/usr/share/man/man1/saker-send.1.gz",
                     "/usr/share/bash-completion/completions/saker", "/usr/share/doc/saker/docs/running.md",
                     "/usr/share/saker/chisels/httptop.lua", "/usr/share/doc/saker/copyright"):
            self.assertIn(name, names)
        self.assertFalse([n for n in names if ".wants" in n or n.endswith(".a")])
        self.assertFalse([line for line in listed.splitlines() if "root/root" not in line])

    def test_no_path_of_the_build(self):
        """What is built elsewhere has the same bytes."""
        root = os.path.join(self.folder, "contents")
        e2e.run("dpkg-deb", "-x", self.deb, root)
        for name in os.listdir(os.path.join(root, "usr/bin")):
            self.assertNotIn(e2e.SOURCE.encode(), e2e.read_bytes(os.path.join(root, "usr/bin", name)), name)

    def test_lintian(self):
        e2e.need("lintian")
        p = subprocess.run(["lintian", "--fail-on", "error", "--allow-root", "--tag-display-limit", "0", self.deb],
                           capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, 0, p.stdout)

    def test_build_depends(self):
        """Those of scripts/packages, but for what each Debian that builds has."""
        rows = re.findall(r"^run\s+(\S+)", e2e.read_text(os.path.join(e2e.SOURCE, "scripts/packages")), re.M)
        field = re.search(r"^Build-Depends: ((?:.*,\n)*.*)\n", e2e.read_text(os.path.join(e2e.SOURCE, "debian/control")), re.M)
        wanted = {p.split()[0] for p in field[1].replace("\n", " ").split(",")}
        self.assertEqual(wanted | {"gcc", "libc6-dev"}, set(rows) | {"debhelper-compat"})


def next_version(folder, deb):
    """Returns a package of a later version with another default configuration."""
    tree = os.path.join(folder, "next")
    shutil.rmtree(tree, ignore_errors=True)
    e2e.run("dpkg-deb", "-R", deb, tree)
    control = os.path.join(tree, "DEBIAN/control")
    e2e.write_text(control, e2e.read_text(control).replace("Version: 0.1.0", "Version: 0.1.1"))
    e2e.write_text(tree + CONF, e2e.read_text(tree + CONF) + "# new\n")
    os.unlink(os.path.join(tree, "DEBIAN/md5sums"))
    e2e.run("dpkg-deb", "-Znone", "-b", tree, tree + ".deb")
    return tree + ".deb"


class Life(unittest.TestCase):
    """Install, upgrade, remove, purge: nothing of the owner is lost, and nothing is left."""

    @classmethod
    def setUpClass(cls):
        cls.deb = need_package()[0]
        cls.folder = e2e.own_dir(cls)

    def live(self, root, install):
        e2e.run("mount", "-t", "proc", "proc", root + "/proc")
        self.addCleanup(e2e.run, "umount", "-l", root + "/proc")
        shutil.copy(self.deb, root + "/saker.deb")
        shutil.copy(next_version(self.folder, self.deb), root + "/next.deb")
        before = files_of(root)
        run_in(root, f"{install} /saker.deb")
        self.assertIn("saker 0.1.0", run_in(root, "saker --version"))
        for name in "exporter", "top", "send":
            self.assertIn("Usage", run_in(root, f"saker {name} --help"))
        self.assertEqual(run_in(root, f"saker exporter --check-config {CONF}"), f"{CONF}: valid\n")
        self.assertIn("httptop", run_in(root, "saker -cl"))
        self.assertEqual([f for f in files_of(root) - before if ".wants/" in f], []) # not enabled
        run_in(root, f"echo 'processes = yes' >> {CONF}; mkdir -p /var/lib/saker/queue; echo x > /var/lib/saker/queue/x")
        run_in(root, "dpkg --force-confold -i /next.deb")
        self.assertIn("0.1.1", run_in(root, "dpkg-query -W saker"))
        self.assertIn("processes = yes", run_in(root, f"cat {CONF}"))
        run_in(root, "dpkg -r saker")
        self.assertTrue(os.path.exists(root + CONF))
        self.assertTrue(os.path.exists(root + "/var/lib/saker/queue/x"))
        run_in(root, "dpkg -P saker")
        self.assertEqual(files_of(root) - before, set())

    def test_on_this_machine(self):
        """Over its files, which do not change: its own libraries are the dependencies."""
        top = os.path.join(self.folder, "over")
        os.makedirs(top, exist_ok=True)
        p = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", top], capture_output=True, text=True)
        if p.returncode:
            e2e.skip_test("no tmpfs can be mounted: " + p.stderr.strip())
        self.addCleanup(e2e.run, "umount", "-l", top)
        for name in "upper", "work", "root":
            os.mkdir(f"{top}/{name}")
        p = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={top}/upper,workdir={top}/work",
                            f"{top}/root"], capture_output=True, text=True)
        if p.returncode:
            e2e.skip_test("no overlay can be mounted: " + p.stderr.strip())
        self.addCleanup(e2e.run, "umount", "-l", f"{top}/root")
        if os.path.exists(f"{top}/root/usr/bin/saker"):
            e2e.skip_test("saker is installed here")
        self.live(f"{top}/root", "dpkg -i")


class Fresh(Life):
    """The same in a root that has nothing but Debian's minimum, with the dependencies from its archive."""

    def test_on_this_machine(self):
        e2e.need("mmdebstrap")
        root = os.path.join(self.folder, "root")
        p = subprocess.run(["mmdebstrap", "--variant=apt", "--mode=root", "--include=ca-certificates", "bookworm", root],
                           capture_output=True, text=True, timeout=600)
        if p.returncode:
            e2e.skip_test("mmdebstrap cannot make a root: " + p.stderr[-200:])
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        fields = e2e.run("dpkg-deb", "-f", self.deb, "Depends")
        deps = [d.split()[0] for d in fields.replace("\n", " ").split(",")]
        run_in(root, "apt-get update -qq && apt-get install -qq -y --no-install-recommends " + " ".join(deps))
        self.live(root, "dpkg -i")


if __name__ == "__main__":
    unittest.main()
