# SPDX-License-Identifier: Apache-2.0
"""Copies a file with each copying method that programs use: copies.py DIR [IMAGE...]. Each method
copies PROGRAM.in to PROGRAM.out. Clones are made in DIR/clones, where the first image that can be
mounted is mounted."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request

SIZE = 300_123  # no multiple of anybody's buffer
FICLONERANGE = 0x4020940d
here = sys.argv[1]


def path(name):
    return os.path.join(here, name)


def wanted(name):
    with open(path(name + ".in"), "wb") as f:
        f.write(os.urandom(SIZE))
    return path(name + ".in"), path(name + ".out")


def by_command(program, *command, name=None):
    if shutil.which(program):
        source, target = wanted(name or program)
        subprocess.run([w.format(source, target) for w in command], check=True, stderr=subprocess.DEVNULL)


def by_calls(name, move):
    source, target = wanted(name)
    with open(source, "rb") as i, open(target, "wb") as o:
        left = SIZE
        while left:
            left -= move(i.fileno(), o.fileno(), left)


def through_pipe(i, o, left):
    r, w = os.pipe()
    n = os.splice(i, w, min(left, 65536))
    moved = 0
    while moved < n:
        moved += os.splice(r, o, n - moved)
    os.close(r)
    os.close(w)
    return n


def clone_range(i, o, left):
    """Copies in two calls: a fixed length, then the rest."""
    done = SIZE - left
    n = 65536 if not done else 0
    fcntl.ioctl(o, FICLONERANGE, struct.pack("qQQQ", i, done, n, done))
    return n or left


def make_clones(images):
    """Clones the file where the file system supports it. The mount is private to this process
    and ends with it."""
    global here
    here = path("clones")
    os.mkdir(here)
    for image in images:
        if subprocess.run(["mount", "-o", "loop", image, here], stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        return
    by_command("cp", "cp", "--reflink=always", "{0}", "{1}", name="clone")
    by_calls("clonerange", clone_range)


def fetch(port, deadline):
    """Connects as soon as the server listens."""
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/nginx.in", timeout=10) as answer:
                assert len(answer.read()) == SIZE
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def serve():
    """Copies through nginx with sendfile on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    wanted("nginx")
    with open(path("nginx.conf"), "w") as f:
        f.write(f"daemon off; master_process off; pid {path('pid')}; error_log {path('log')};\n"
                "events {}\nhttp { access_log off; sendfile on;\n"
                + "".join(f"{w}_temp_path {path('tmp')};\n" for w in
                          ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
                + f"server {{ listen 127.0.0.1:{port}; root {here}; }} }}\n")
    server = subprocess.Popen([shutil.which("nginx"), "-e", path("log"), "-c", path("nginx.conf")])
    try:
        fetch(port, time.monotonic() + 10)
    finally:
        server.terminate()
        server.wait()


by_command("cp", "cp", "{0}", "{1}")
by_command("cat", "sh", "-c", "cat {0} > {1}")
by_command("dd", "dd", "if={0}", "of={1}", "bs=4k")
by_command("rsync", "rsync", "--inplace", "{0}", "{1}")
by_calls("sendfile", lambda i, o, n: os.sendfile(o, i, None, n))
by_calls("copy_file_range", os.copy_file_range)
by_calls("splice", through_pipe)
shutil.copyfile(*wanted("shutil"))
if shutil.which("nginx"):
    serve()
if sys.argv[2:]:
    make_clones(sys.argv[2:])
