# SPDX-License-Identifier: Apache-2.0
"""The peer of scripts/bench peer: scap-open of falcosecurity/libs with its modern BPF probe, found or built."""

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.abspath(os.path.join(HERE, "../../.."))
sys.path.insert(0, os.path.join(SOURCE, "tests/e2e"))
os.environ.setdefault("SAKER_SOURCE_DIR", SOURCE)  # before runtimes reads them
os.environ.setdefault("SAKER_BUILD_DIR", os.path.join(SOURCE, "build"))

FOLDER = os.path.join(os.environ["SAKER_BUILD_DIR"], "peer")
PROGRAM = os.path.join(FOLDER, "build/libscap/examples/01-open/scap-open")
START_S = 30


def run(*args):
    done = subprocess.run(args, check=False, capture_output=True, text=True, errors="replace")
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
        sys.exit(f"bench: cannot build the peer: {' '.join(args[:4])} ...: {told[-1]}")


def build_libbpf():
    """The libbpf that the peer needs, newer than Debian 12's: from the source package of the next release."""
    import runtimes  # pylint: disable=import-outside-toplevel

    root = os.path.join(FOLDER, "libbpf")
    if not os.path.exists(f"{root}/usr/lib/libbpf.a"):
        source = os.path.join(FOLDER, "libbpf-source")
        shutil.rmtree(source, ignore_errors=True)
        os.makedirs(source)
        runtimes.apt(runtimes.use_suite("deb-src", "trixie"), source, "source", "--download-only", "libbpf")
        run("tar", "-xf", *glob.glob(f"{source}/*.orig.tar.*"), "-C", source, "--strip-components=1")
        run("make", "-s", "-C", f"{source}/src", "BUILD_STATIC_ONLY=1", f"DESTDIR={root}", "PREFIX=/usr", "LIBDIR=/usr/lib",
            "install")
    return root


def build(libs):
    """Writes two generated headers into the checkout, as its own build does."""
    print(f"building the peer from {libs}", flush=True)
    os.makedirs(FOLDER, exist_ok=True)
    run("cmake", "-S", HERE, "-B", f"{FOLDER}/build", "-G", "Ninja", f"-DLIBS={libs}", f"-DLIBBPF_ROOT={build_libbpf()}",
        "-DCMAKE_BUILD_TYPE=Release", "-DMODERN_CLANG_EXE=/usr/bin/clang-19")
    run("cmake", "--build", f"{FOLDER}/build", "--target", "scap-open")


def find():
    """Returns the program, built if there is its source; None and a sentence what to do if not."""
    named = os.environ.get("SCAP_OPEN") or shutil.which("scap-open")
    libs = os.environ.get("FALCO_LIBS") or os.path.join(FOLDER, "libs")
    if named:
        return (named, "") if shutil.which(named) else (None, f"SCAP_OPEN={named} is no program")
    if os.path.isdir(os.path.join(libs, "driver/modern_bpf")):
        build(os.path.abspath(libs))
        return PROGRAM, ""
    return None, ("there is no scap-open; name one with SCAP_OPEN, or with FALCO_LIBS a checkout of falcosecurity/libs, "
                  f"which is built then; {libs} is none")


def n_links(pid):
    """Number of programs that a process has attached."""
    n = 0
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as f:
            n += "link_type:" in f.read()
    return n


def wait_attached(peer):
    end, before = time.monotonic() + START_S, 0
    while time.monotonic() < end and peer.poll() is None:
        now = n_links(peer.pid)
        if now and now == before:
            return
        before = now
        time.sleep(0.5)
    peer.kill()
    sys.exit(f"bench: the peer attached nothing: {peer.communicate()[0].strip().splitlines()[-1:]}")


@contextlib.contextmanager
def capturing(program, cpu):
    """The peer captures all calls, its reader on @cpu. Ends the benchmark if it lost events."""
    peer = subprocess.Popen(["taskset", "-c", str(cpu), program, "--modern_bpf"], text=True, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_attached(peer)
    try:
        yield
    finally:
        peer.send_signal(signal.SIGINT)
        told = peer.communicate()[0]
    lost = re.search(r"n_drops: (\d+)", told)
    if not lost or int(lost[1]):
        sys.exit(f"bench: the peer lost {lost[1] if lost else 'an unknown number of'} events; repeat on a quiet machine")
