#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seeds and dictionaries of the fuzz targets: seeds.py DIR.

They come from what tests make and contain: captures, conversations, filters, programs that are
here. A part that is missing (no captures, no test binaries) gives no seeds."""
import glob
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SAKER_BUILD_DIR", os.path.join(SOURCE, "build"))
CAPTURES = (glob.glob(os.path.join(BUILD, "tests/captures/*.scap")) +
            glob.glob(os.path.join(SOURCE, "../shared/captures/*.scap")))
OUT = sys.argv[1]

SHB, EV_V2, EVF_V2, CLOSING = 0x0A0D0D0A, 0x216, 0x217, 0x7FFF
SUMS = 0x8005  # an option of an event
SEED_MAX = 5000  # bytes of a capture
EACH_TYPE = 4  # events of a type in the seeds of a capture


def put(target, name, data):
    folder = os.path.join(OUT, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def put_dict(target, words):
    lines = []
    for word in sorted({w if isinstance(w, bytes) else w.encode() for w in words}):
        if 0 < len(word) <= 60:
            lines.append('"' + "".join(f"\\x{b:02x}" for b in word) + '"\n')
    with open(os.path.join(OUT, target + ".dict"), "w") as file:
        file.writelines(lines)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def literals(text):
    """The string literals of a C file, each alone."""
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        yield re.sub(rb"\\(x[0-9a-f]{2}|.)",
                     lambda m: bytes([int(m[1][1:], 16)]) if m[1][:1] == b"x" and len(m[1]) > 1
                     else {b"n": b"\n", b"t": b"\t", b"0": b"\0", b"r": b"\r"}.get(m[1], m[1]),
                     literal.encode())


# ---- captures ----

def blocks(data):
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > len(data):
            return
        yield kind, data[at:at + size]
        at += size


def events_of(kind, block):
    """Type and bytes of the event in a block."""
    at = 10 if kind == EV_V2 else 14
    size, evt = struct.unpack_from("<IH", block, at + 16)
    return evt, block[at:at + size]


def place_sums(data):
    """Returns a capture whose checksums are taken for its own: their option has the offset of its block."""
    out, at = b"", 0
    for kind, block in blocks(data):
        option = block.rfind(struct.pack("<H", SUMS)) if kind in (EV_V2, EVF_V2) else -1
        if option >= 0 and option % 4 == 0 and option + 24 <= len(block):
            block = block[:option + 4] + struct.pack("<QQ", at, 0) + block[option + 20:]
        out += block
        at += len(block)
    return out


def make_captures():
    for path in CAPTURES:
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        head, now, seen, number = b"", b"", {}, 0
        name = os.path.basename(path)
        for kind, block in blocks(data):
            if kind not in (EV_V2, EVF_V2):
                if len(head) + len(block) < SEED_MAX // 2:
                    head += block
                continue
            evt, event = events_of(kind, block)
            seen[evt] = seen.get(evt, 0) + 1
            if seen[evt] > EACH_TYPE or len(block) > SEED_MAX // 2:
                continue
            if seen[evt] == 1 and evt < 0x4000:
                record = struct.pack("<HHHHQ", 0, 0, 0, evt // 2, 1) + event
                put("record", f"{name}-{evt}", record + bytes(-len(record) % 8))
                count, = struct.unpack_from("<I", event, 22)
                put("redact", f"{name}-{evt}", struct.pack("<HB", evt, count) + event[26:])
            if len(head) + len(now) + len(block) > SEED_MAX:
                put("capture", f"{name}-{number}", head + now)
                now, number = b"", number + 1
            now += block
        if now:
            put("capture", f"{name}-{number}", place_sums(head + now))
    put_dict("redact", ["s3cr3t", "xxy", "A=", "*=", '"env":[', "\\", "\0"])


# ---- checkpoints ----

def make_checkpoints():
    """Pieces without their trailers: they begin with what a checkpoint has."""
    saker = os.path.join(BUILD, "userspace/saker/saker")
    folder = os.path.join(OUT, "checkpoint")
    for path in sorted(glob.glob(os.path.join(OUT, "capture/*-[0-9]"))) if os.path.exists(saker) else ():
        piece = os.path.join(folder, os.path.basename(path) + ".")
        os.makedirs(folder, exist_ok=True)
        subprocess.run([saker, "-r", path, "-w", piece, "-e", "20", "--min-free", "0"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60, check=False)
    for path in glob.glob(os.path.join(folder, "*")):
        with open(path, "rb") as file:
            kept = [block for kind, block in blocks(file.read())
                    if kind not in (EV_V2, EVF_V2) or events_of(kind, block)[0] != CLOSING]
        put("checkpoint", os.path.basename(path), b"".join(kept))


def make_packed():
    text = b"0123456789" * 40
    members = [gzip.compress(text, level, mtime=1) for level in (0, 1, 9)]
    named = members[1][:3] + b"\x08" + members[1][4:10] + b"name\0" + members[1][10:]
    for name, data in (("stored", members[0]), ("one", members[2]), ("two", members[1] + members[2] + bytes(8)),
                       ("empty", gzip.compress(b"") + members[1]), ("named", named), ("plain", text)):
        put("unpack", name, b"\5\x80" + data)
    for level in ("1", "19") if shutil.which("zstd") else ():
        done = subprocess.run(["zstd", "-c", "--check", "-" + level], input=text, stdout=subprocess.PIPE, check=False)
        put("unpack", "zstd" + level, b"\3\x10" + done.stdout)
    put_dict("unpack", [b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"])


# ---- texts ----

def make_filters():
    fields = set()
    for path in glob.glob(os.path.join(SOURCE, "userspace/libsinsp/fields/fields_*.c")):
        fields |= set(re.findall(r'\{\s*"([a-z0-9]+\.[A-Za-z0-9_.]+)"', read(path)))
    texts = []
    for path in ("filter/parser_test.c", "filter/filter_run_test.c"):
        texts += literals(read("userspace/libsinsp/" + path))
    texts += [t.encode() for t in re.findall(r"`([^`\n]+)`", read("docs/filters.md"))]
    for i, text in enumerate(sorted({t for t in texts if 3 < len(t) < 400})):
        put("filter", f"filter-{i}", text)
    formats = [t for t in literals(read("userspace/libsinsp/fields/format_test.c")) if b"%" in t]
    for i, text in enumerate(sorted(set(formats))):
        put("filter", f"format-{i}", b"\1" + text)
    words = "and or not in exists contains icontains startswith endswith glob regex pmatch intersects " \
        "val( tolower( toupper( b64( basename( len( join( concat( getopt( anyof allof oneof >= != %"
    put_dict("filter", list(fields) + words.split())


def make_chisels():
    words = {"a=", "filter=", "-1", "1e9", "evt.type", "fd.name"}
    paths = sorted(glob.glob(os.path.join(SOURCE, "chisels/*.lua")))
    for path in paths:
        words |= set(re.findall(r'name = "([^"]+)"', read(path)))
    for i in range(len(paths)):
        put("chisel", f"none-{i}", bytes([i]))
        put("chisel", f"word-{i}", bytes([i]) + b"proc.name\0evt.count\0evt.type=read")
    put_dict("chisel", words)


# ---- requests ----

PROTOCOLS = {"http": "http1", "http2": "http2", "redis": "redis", "memcached": "memcached",
             "mysql": "mysql", "pgsql": "pgsql", "fastcgi": "fastcgi", "nats": "nats",
             "amqp": "amqp", "mongodb": "mongodb", "kafka": "kafka", "dns": "dns"}


def make_requests():
    """The tests write their conversations."""
    for target, test in PROTOCOLS.items():
        folder = os.path.join(OUT, target)
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(BUILD, f"userspace/libsinsp/{test}_test")
        if os.path.exists(program):
            subprocess.run([program], env=dict(os.environ, SAKER_FUZZ_SEEDS=folder), check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for i, name in enumerate(sorted(os.listdir(folder))[:12]):
            with open(os.path.join(folder, name), "rb") as file:
                put("protocols", f"{target}-{i}", file.read())
        words = [w for w in literals(read(f"userspace/libsinsp/requests/{test}.c")) if len(w) > 1]
        put_dict(target, words)


# ---- programs and names ----

PROGRAM = """
extern int puts(const char *), printf(const char *, ...);
static int twice(int n) { return n ? n + twice(n - 1) : 0; }
int called(int n) { return printf("%d", twice(n)); }
int main(int argc, char **argv) { (void)argv; return argc > 1 ? puts("x") : called(argc); }
"""


def run(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def make_elf():
    source, made = os.path.join(OUT, "elf.c"), os.path.join(OUT, "elf.out")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for name, flags in {"plain": ["-s"], "symbols": [], "debug": ["-g", "-gz"], "object": ["-c"],
                        "shared": ["-shared", "-fPIC", "-s"],
                        "now": ["-s", "-Wl,-z,now", "-Wl,--hash-style=gnu"]}.items():
        if not run("gcc", "-O1", "-Wl,-z,noseparate-code", *flags, source, "-o", made):
            continue
        with open(made, "rb") as file:
            put("elf", name, file.read())
        if run("objcopy", "-O", "binary", "--only-section=.eh_frame", "--set-section-flags",
               ".eh_frame=alloc", made, made + ".eh"):
            with open(made + ".eh", "rb") as file:
                put("cfi", name, b"\0" + file.read())
    for path in ("/bin/true", "/bin/sh", "/lib64/ld-linux-x86-64.so.2"):
        if run("objcopy", "-O", "binary", "--only-section=.eh_frame", "--set-section-flags",
               ".eh_frame=alloc", path, made + ".eh"):
            with open(made + ".eh", "rb") as file:
                put("cfi", os.path.basename(path), b"\0" + file.read(3000))
    put_dict("elf", [".eh_frame", ".symtab", ".dynsym", ".strtab", ".gnu_debugdata", ".gopclntab",
                     ".plt", ".gnu.hash", b"\xf1\xff\xff\xff\0\0\1\x08", b"\xfd7zXZ\0", "main"])


def jitdump():
    head = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 77, 1, 0)
    name, code = b"f\0", b"\x90" * 16
    load = struct.pack("<IIQIIQQQQ", 0, 16 + 40 + len(name) + len(code), 5, 77, 77, 16, 16,
                       len(code), 1) + name + code
    lines = struct.pack("<QQQII", 16, 1, 16, 3, 0) + b"a.js\0"
    debug = struct.pack("<IIQ", 2, 16 + len(lines), 4) + lines
    move = struct.pack("<IIQIIQQQQQ", 1, 16 + 48, 9, 77, 77, 32, 16, 32, len(code), 1)
    return head + debug + load + move + struct.pack("<IIQ", 3, 16, 9)


def make_names():
    put("jit", "map", "10 8 f\n20 10 LazyCompile:*g /a.js:3:1\n20 8 h\n0x40 0x8 with blanks\n")
    put("jit", "dump", jitdump())
    put("kallsyms", "few", "ffffffff81000000 T _text\nffffffff81000400 t f.cold\n"
        "ffffffffc0000000 t g\t[nf_tables]\nffffffffc0100000 t bpf_prog_1_x\t[bpf]\n")
    for i, name in enumerate(["_ZN3foo3barEi", "_ZNSt6vectorIiSaIiEE9push_backERKi",
                              "_RNvCs1234_7mycrate3foo", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
                              "_ZZN1A1fIiEEvT_ENKUlvE_clEv"]):
        put("mangled", str(i), name)
    put("marker", "text", "\0" + ">:1:a.b:k=v,l=w:")
    put("marker", "json", "\0" + '[">",1,["a","b"],[{"k":"v"}]]')
    put("marker", "kindling", "\0" + "kd-jf@1!2!3!f0!Park!t!1!4!s!")


# ---- /proc, containers, OTLP ----

# In the order of files[] in proc_fuzz.c; None: not from this process.
PROC = ["stat", "status", "cmdline", "environ", "cgroup", "limits", "loginuid", None, None,
        "fdinfo/0", "fdinfo/1", "net/tcp", "net/tcp6", "net/udp", "net/raw", "net/netlink",
        "net/unix", None, None, None, None, None, None, None, "comm", "maps", None]
LINKS = {17: "/tmp", 18: "/", 19: "/bin/x (deleted)", 20: "socket:[123]", 21: "/memfd:x (deleted)",
         22: "net:[4026531840]", 23: "pid:[4026531836]", 26: "32768"}


def make_proc():
    def entry(i, data):
        return struct.pack("<BH", i, len(data)) + data

    parts = []
    for i, name in enumerate(PROC):
        if name:
            try:
                with open(f"/proc/self/{name}", "rb") as file:
                    parts.append(entry(i, file.read(700)))
            except OSError:
                pass
    links = b"".join(entry(i, text.encode()) for i, text in LINKS.items())
    put("proc", "all", b"".join(parts) + links)
    for i, part in enumerate(parts):
        put("proc", str(i), part + links)
    put_dict("proc", ["Pid:", "Tgid:", "PPid:", "NSpid:", "NStgid:", "Uid:", "Gid:", "VmSize:", "VmRSS:",
                      "CapEff:", "socket:[", "pipe:[", "anon_inode:[eventpoll]", " (deleted)",
                      "pos:\t", "flags:\t0100002", "mnt_id:", "0::/docker/", "Max open files"])


EVENT = ('{"container":{"id":"0123456789ab","type":0,"name":"web","image":"nginx:1","imageid":"ab",'
         '"imagerepo":"nginx","imagetag":"1","imagedigest":"sha256:0","ip":"10.0.0.1","is_pod_sandbox":false,'
         '"privileged":false,"labels":{"a":"b","io.kubernetes.pod.name":"p"},"Mounts":[{"Source":"/a",'
         '"Destination":"/b","Mode":"ro","RW":false,"Propagation":"rprivate"}],"Healthcheck":'
         '{"exe":"/bin/true","args":["-x"]},"port_mappings":[]}}')
DIGEST = "0123456789ab" * 5 + "0123"
DOCKER = ('{"Id":"%s","Name":"/web","Image":"sha256:%s","Config":{"Image":"nginx:1","Labels":{"a":"b"},'
          '"Healthcheck":{"Test":["CMD-SHELL","true"]}},"HostConfig":{"Memory":1,"CpuShares":2,"Privileged":true},'
          '"Mounts":[{"Source":"/a","Destination":"/b","Mode":"","RW":true,"Propagation":""}],'
          '"NetworkSettings":{"IPAddress":"10.0.0.2","Ports":{"80/tcp":[{"HostIp":"0.0.0.0","HostPort":"8080"}]}},'
          '"RepoTags":["nginx:1"],"RepoDigests":["nginx@sha256:%s"]}' % ((DIGEST,) * 3))
CONFIG = ('{"annotations":{"io.kubernetes.cri.container-type":"container","io.kubernetes.cri.container-name":"web",'
          '"io.kubernetes.cri.image-name":"nginx:1","io.kubernetes.cri.sandbox-name":"p",'
          '"io.kubernetes.cri-o.Labels":"{\\"a\\":\\"b\\"}"}}')
LIST = ('[{"id":"%s","names":["web"],"image":"%s","metadata":"{\\"image-name\\":\\"nginx:1\\"}"}]'
        % (DIGEST, DIGEST))


def make_containers():
    put("container", "event", EVENT)
    put("docker", "one", DOCKER)
    put("docker", "list", '[{"Id":"%s","Names":["/web"],"Image":"nginx:1"},{"Id":"x"}]' % DIGEST)
    put("http_answer", "ok", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    put("http_answer", "chunks", "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    for name, field in (("id", b"\x0a\x045a0d"), ("uid", b"\x12\x0c\x0a\x03web\x12\x05uid-1")):
        sandbox = field + b"\x18\x00\x2a\x0a\x0a\x03app\x12\x03web"
        put("cri", name, b"\x0a" + bytes([len(sandbox)]) + sandbox)
    put("oci", "config", CONFIG)
    put("oci", "list", LIST)
    for i, path in enumerate([f"/docker/{DIGEST}", f"/system.slice/docker-{DIGEST}.scope",
                              f"/kubepods.slice/kubepods-pod{DIGEST[:8]}_{DIGEST[:4]}_1_2_3.slice/"
                              f"cri-containerd-{DIGEST}.scope", "/lxc.payload.web/x", "/machine.slice/"
                              f"libpod-{DIGEST}.scope", "/user.slice/user-1000.slice/user@1000.service"]):
        put("cgroup", str(i), f"cpu={path}\0memory={path}\0")
    words = re.findall(r'"([A-Za-z_./ -]+)"', EVENT + DOCKER + CONFIG + LIST)
    for target in ("container", "docker", "oci"):
        put_dict(target, words + ["{", "}", "[", "]", "\\u0000", "null", "true", "1e999"])
    put_dict("http_answer", ["HTTP/1.0 ", "Content-Length:", "Transfer-Encoding:", "\r\n\r\n", "\r\n"])
    put_dict("cgroup", ["docker-", ".scope", ".slice", "/kubepods", "crio-", "libpod-", "lxc.payload.",
                        DIGEST, "user@1000.service", "cpu=", "\0"])


def make_otlp():
    inner = b"\x08\x05\x12\x03why"
    put("otlp_answer", "partial", b"\x0a" + bytes([len(inner)]) + inner)
    put("otlp_answer", "empty", b"")
    put("otlp_answer", "url", "https://user:p@[::1]:4318/v1/traces?x=y")
    put_dict("otlp_answer", ["http://", "https://", "\xf0\x9f", ": ", "]:"])
    body = b"text"
    for magic in re.findall(r'magic\[\d*\] = "([^"]+)"', read("userspace/libotlp/otlp_files.c")):
        put("otlp_file", "whole", magic.encode().ljust(8, b"\0") +
            struct.pack("<II", len(body), zlib.crc32(body)) + body)


def main():
    os.makedirs(OUT, exist_ok=True)
    make_captures()
    make_checkpoints()
    make_packed()
    make_filters()
    make_chisels()
    make_requests()
    make_elf()
    make_names()
    make_proc()
    make_containers()
    make_otlp()


main()
