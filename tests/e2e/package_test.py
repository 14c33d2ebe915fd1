#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Debian package: made of the build that the tests use, judged by lintian, installed, upgraded and purged in a
root that is thrown away; and made from the sources again."""

import glob
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


def make(folder, umask, timezone, *options, **env):
    """Begins to make a package in the folder."""
    env = {**os.environ, "SAKER_PACKAGE_DIR": folder, "TZ": timezone, "SOURCE_DATE_EPOCH": EPOCH, "DEB_BUILD_OPTIONS":
           "noautodbgsym", "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1", **env}  # to be fast
    return subprocess.Popen([os.path.join(e2e.SOURCE, "scripts/package"), *options], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=env, umask=umask)


def wait_for_package(p):
    """Returns the path of the package."""
    out = p.communicate(timeout=1500)[0]
    if p.returncode:
        raise AssertionError(out)
    return out.split()[-1]


def run_in(root, script):
    """Runs the script in the root. Returns what it printed."""
    p = subprocess.run(["chroot", root, "/bin/sh", "-euc", script], capture_output=True, text=True, timeout=300,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
    if p.returncode:
        raise AssertionError(f"{script}: {p.stdout}{p.stderr}")
    return p.stdout


def files_of(root, folders):
    """Returns the paths below the folders, but for logs and caches of apt and dpkg."""
    found = set()
    for folder in folders:
        for top, _, names in os.walk(os.path.join(root, folder)):
            found |= {os.path.join(top, n)[len(root):] for n in names + [""]}
    own = re.compile("^/proc/|/var/cache/|/var/log/|/var/lib/apt/lists/|/var/lib/dpkg/[^/]*$|/usr/share/man/.*index|/etc/ld.so.cache")
    return {f for f in found if not own.search(f)}


def need_package():
    """Returns two packages of the same build, made at once in different surroundings; once for all tests."""
    if os.geteuid():
        e2e.skip_test("only root can install a package")
    e2e.need("dpkg-deb", "dpkg-buildpackage", "dh")
    if not DEBS:
        folder = e2e.temp_dir()
        unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
        made = [make(os.path.join(folder, name), umask, timezone, "--from", e2e.BUILD)
                for name, umask, timezone in (("a", 0o022, "UTC"), ("elsewhere/b", 0o027, "Asia/Tokyo"))]
        DEBS.extend(map(wait_for_package, made))
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


class Rebuilt(unittest.TestCase):
    """A package of the sources has the bytes of one of the build that the tests use: what they test is what it has."""

    def extract(self, deb, folder):
        e2e.run("dpkg-deb", "-R", deb, folder)
        return {path.removeprefix(folder): hashlib.sha256(e2e.read_bytes(path)).hexdigest()
                for path in glob.glob(folder + "/**", recursive=True) if os.path.isfile(path)}

    def test_in_other_surroundings(self):
        """Folder, umask, time zone, locale and time differ."""
        first, *_ = need_package()
        cache = e2e.read_text(os.path.join(e2e.BUILD, "CMakeCache.txt"))
        prefix = re.search("^CMAKE_INSTALL_PREFIX:.*=(.*)", cache, re.M)[1]
        folder = e2e.own_dir(self)
        second = wait_for_package(make(os.path.join(folder, "elsewhere/b"), 0o027, "Asia/Tokyo", LC_ALL="C.UTF-8",
                                       SAKER_PREFIX=prefix))
        one, two = (self.extract(deb, os.path.join(folder, f"contents{i}")) for i, deb in enumerate((first, second)))
        self.assertIn("/usr/bin/saker-exporter", one)
        self.assertEqual(one, two)
        self.assertEqual(e2e.read_bytes(first), e2e.read_bytes(second))
        for path in two:
            self.assertNotIn(folder.encode(), e2e.read_bytes(folder + "/contents1" + path), path)


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
    """Install, upgrade, remove, purge: nothing of the owner is lost, and nothing is left. Over the files of this machine,
    which do not change: its own libraries are the dependencies."""

    FOLDERS = "etc", "usr", "lib", "var", "run"
    INSTALL, UPGRADE, REMOVE, PURGE = "dpkg -i", "dpkg --force-confold -i", "dpkg -r", "dpkg -P"

    @classmethod
    def setUpClass(cls):
        cls.deb = need_package()[0]
        cls.folder = e2e.own_dir(cls)

    def mount(self, kind, folder, *options):
        p = subprocess.run(["mount", "-t", kind, kind, *options, folder], capture_output=True, text=True)
        if p.returncode:
            e2e.skip_test(f"no {kind} can be mounted: {p.stderr.strip()}")
        self.addCleanup(e2e.run, "umount", "-l", folder)

    def make_root(self):
        top = os.path.join(self.folder, "over")
        os.makedirs(top, exist_ok=True)
        self.mount("tmpfs", top)
        for name in "upper", "work", "root":
            os.mkdir(f"{top}/{name}")
        self.mount("overlay", top + "/root", "-o", f"lowerdir=/,upperdir={top}/upper,workdir={top}/work")
        if os.path.exists(f"{top}/root/usr/bin/saker"):
            e2e.skip_test("saker is installed here")
        return top + "/root"

    def test_life(self):
        root = self.make_root()
        self.mount("proc", root + "/proc")
        shutil.copy(self.deb, root + "/saker.deb")
        shutil.copy(next_version(self.folder, self.deb), root + "/next.deb")
        before = files_of(root, self.FOLDERS)
        run_in(root, f"{self.INSTALL} /saker.deb")
        self.assertIn("saker 0.1.0", run_in(root, "saker --version"))
        for name in "exporter", "top", "send":
            self.assertIn("Usage", run_in(root, f"saker {name} --help"))
        self.assertEqual(run_in(root, f"saker exporter --check-config {CONF}"), f"{CONF}: valid\n")
        self.assertIn("httptop", run_in(root, "saker -cl"))
        self.assertEqual([f for f in files_of(root, self.FOLDERS) - before if ".wants/" in f], []) # not enabled
        run_in(root, f"echo 'processes = yes' >> {CONF}; mkdir -p /var/lib/saker/queue; echo x > /var/lib/saker/queue/x")
        run_in(root, f"{self.UPGRADE} /next.deb")
        self.assertIn("0.1.1", run_in(root, "dpkg-query -W saker"))
        self.assertIn("processes = yes", run_in(root, f"cat {CONF}"))
        run_in(root, f"{self.REMOVE} saker")
        self.assertTrue(os.path.exists(root + CONF))
        self.assertTrue(os.path.exists(root + "/var/lib/saker/queue/x"))
        run_in(root, f"{self.PURGE} saker")
        self.assertEqual(files_of(root, self.FOLDERS) - before, set())


class Fresh(Life):
    """The same in a root that has nothing but Debian's minimum, by apt, which installs and purges the dependencies, too."""

    FOLDERS = "",
    INSTALL = "apt-get install -qq -y --no-install-recommends"
    UPGRADE = INSTALL + " -o Dpkg::Options::=--force-confold"
    REMOVE, PURGE = "apt-get remove -qq -y", "apt-get purge -qq -y --autoremove"

    def make_root(self):
        """From the sources of apt of this machine."""
        e2e.need("mmdebstrap")
        root = os.path.join(self.folder, "root")
        sources = [f for name in ("", ".d/*.list", ".d/*.sources") for f in glob.glob("/etc/apt/sources.list" + name)]
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        p = subprocess.run(["mmdebstrap", "--variant=apt", "--mode=root", "--include=ca-certificates", "--skip=cleanup/apt",
                            "--dpkgopt=force-unsafe-io", "", root, *sources], capture_output=True, text=True, timeout=900)
        if p.returncode:
            e2e.skip_test("mmdebstrap cannot make a root: " + p.stderr[-200:])
        return root

    def test_life(self):
        """The dependencies go, too."""
        super().test_life()


if __name__ == "__main__":
    unittest.main()
