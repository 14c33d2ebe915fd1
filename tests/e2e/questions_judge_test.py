#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares each answer of docs/questions.md with a log of strace, which follows the same run of
questions/stage.sh that saker captures."""

import collections
import json
import os
import re
import subprocess
import time
import unittest

import questions_test as questions
import saker_e2e as e2e
import strace_log

STARTER = "starter" # it waits for strace, and is nobody's business
USERS = {"0": "root", "33": "www-data"}
OPENS = ("open", "openat", "openat2", "creat")
EXECS = ("execve", "execveat")
READS = ("read", "pread64", "readv", "preadv", "recvfrom", "recvmsg")
WRITES = ("write", "pwrite64", "writev", "pwritev", "sendto", "sendmsg")
CONNECTS = ("connect", "getsockopt", "close")


def opened(c):
    return c.path(1 if c.name in ("openat", "openat2", "newfstatat") else 0)


def writes_to(c):
    return not c.error and re.search("O_WRONLY|O_RDWR", c.text)


def ends(log):
    """Returns (call, file, number of bytes) of each read and each write."""
    reads, writes = [], []
    for c in log.calls:
        n = c.result or 0
        if c.name in READS:
            reads.append((c, strace_log.file_of(c.args[0]), n))
        elif c.name in WRITES:
            writes.append((c, strace_log.file_of(c.args[0]), n))
        elif c.name in ("sendfile", "copy_file_range"):
            at_in, at_out = (1, 0) if c.name == "sendfile" else (0, 2)
            reads.append((c, strace_log.file_of(c.args[at_in]), n))
            writes.append((c, strace_log.file_of(c.args[at_out]), n))
    return reads, writes


def to_disk(log):
    return [(c, name, n) for c, name, n in ends(log)[1] if strace_log.is_file(name) and not name.startswith("/dev/")]


def space(log):
    """Returns (call, file, bytes written or reserved, bytes written) of writes and fallocate."""
    return [(c, name, n, n) for c, name, n in to_disk(log)] + [
        (c, strace_log.file_of(c.args[0]), int(c.args[3]), 0) for c in log.named("fallocate") if not c.error]


def sums(rows):
    """Returns {key: (sum, ..., count)} of (key, number, ...)."""
    out = {}
    for key, *numbers in rows:
        numbers.append(1)
        out[key] = tuple(a + b for a, b in zip(out.get(key, [0] * len(numbers)), numbers))
    return out


def command_line(c):
    return " ".join(strace_log.strings(c.args[1]))


def programs(log):
    """Returns the programs that started: successful calls of exec."""
    return [c for c in log.named(*EXECS) if c.result == 0]


def current_command(log, c):
    """Returns the program of the process at that call: from its last exec, or from its
    ancestor's."""
    tid = c.tid
    while tid:
        own = [e for e in programs(log) if e.tid == tid and e.number <= c.number]
        if own:
            return command_line(own[-1])
        tid = log.parent.get(tid, 0)
    return ""


def who(log, c):
    return USERS[log.user(c)]


def address(c):
    """Returns IP and port of an IPv4 address argument."""
    m = re.search(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)', c.text)
    return (m[2], m[1]) if m else None


def protocol(name):
    """Returns TCP for TCP:[127.0.0.1:5->127.0.0.1:80]."""
    return name.split(":")[0]


def tcp_name(name):
    m = re.match(r"TCP:\[(.*->.*)\]$", name)
    return m[1] if m else None


# ---- strace's log, as lines without times and other expected differences ----

def writers_of_etc(log):
    return [f"{who(log, c)} {c.comm} {opened(c)}" for c in log.named(*OPENS)
            if writes_to(c) and opened(c).startswith("/etc/")]


def failing_opens(log):
    return [f"{c.error} {opened(c)}" for c in log.named(*OPENS) if c.comm == "nginx" and c.error]


def places_of_configuration(log):
    return [f"{c.error or 'SUCCESS'} {opened(c)}" for c in log.named(*OPENS) if c.comm == "app" and "app" in opened(c)]


def file_reads(log):
    return [f"{c.comm} {name} {n}" for c, name, n in ends(log)[0] if strace_log.is_file(name)]


def read_by_file(log):
    return sums((name, n) for _, name, n in ends(log)[0] if strace_log.is_file(name))


def io_by_file(log):
    rows = collections.Counter()
    for c in log.named(*READS, *WRITES, "fsync", "fdatasync", "fallocate"):
        if strace_log.is_file(strace_log.file_of(c.args[0])):
            rows[strace_log.file_of(c.args[0])] += 1
    for c in log.named("copy_file_range"):
        rows[strace_log.file_of(c.args[2])] += 1
    return {name: (n,) for name, n in rows.items()}


def written_by_file(log):
    return sums(((c.comm, name), *n) for c, name, *n in space(log))


def written_by_container(log):
    """A process that writes its PID to a cgroup's file is in the container from then on."""
    members = {c.tid: (re.search(r"docker-(\w{12})", name)[1], c.number)
               for c, name, _ in ends(log)[1] if name.endswith("/cgroup.procs")}
    rows = []
    for c, _, *n in space(log):
        container, since = members.get(c.tid, ("host", 0))
        rows.append((container if c.number > since else "host", *n))
    return sums(rows)


def made(log):
    there = {"/etc/" + name for name in (*questions.FILES, "hosts", "motd", "shadow")}
    lines = []
    for c in log.named(*OPENS, "rename", "renameat", "renameat2", "unlink", "unlinkat"):
        if c.error:
            continue
        if c.name in OPENS:
            if "O_CREAT" in c.text and opened(c) not in there and not opened(c).startswith(("/dev/", "/sys/")) \
                    and not opened(c).endswith("/ready"):
                lines.append(f"{c.comm} {opened(c)}")
            there.add(opened(c))
        else:
            there.discard(c.path(0 if c.name in ("rename", "unlink") else 1))
            if c.name.startswith("rename"):
                there.add(c.path(1 if c.name == "rename" else 3))
    return lines


def deleted_pages(log):
    return [f"{who(log, c)} {log.parent_name(c)} {current_command(log, c)} {path}"
            for c in log.named("unlink", "unlinkat") if not c.error
            for path in [c.path(0 if c.name == "unlink" else 1)] if path.endswith(".html")]


def rename_paths(c):
    return (c.path(0), c.path(1)) if c.name == "rename" else (c.path(1), c.path(3))


def changes_of_configuration(log):
    lines = [(c, opened(c)) for c in log.named(*OPENS) if writes_to(c) and opened(c) == "/etc/motd"]
    lines += [(c, ",".join(rename_paths(c))) for c in log.named("rename", "renameat", "renameat2")
              if not c.error and "/etc/motd" in rename_paths(c)]
    return [f"{who(log, c)} {log.parent_name(c)} {current_command(log, c)} {c.type()} {paths}" for c, paths in lines]


def renames(log):
    return [f"{c.comm} {' -> '.join(rename_paths(c))}" for c in log.named("rename", "renameat", "renameat2")]


def refused(log):
    return [f"{who(log, c)} {c.comm} {c.type()} {c.error} " + opened(c)
            for c in log.calls if c.error in ("EACCES", "EPERM")]


def permissions(log):
    return [f"{who(log, c)} {c.comm} {c.type()} {c.result} {string_or_file(c)}"
            for c in log.named("chmod", "fchmod", "fchmodat", "chown", "fchownat")]


def string_or_file(c):
    return strace_log.string(c.args[0]) or strace_log.file_of(c.args[0])


def small_writes(log):
    rows = collections.Counter((c.comm, name) for c, name, n in ends(log)[1] if strace_log.is_file(name) and 0 < n < 8)
    return {key: (n,) for key, n in rows.items()}


def syncs(log):
    return [f"{c.comm} {c.type()} {strace_log.file_of(c.args[0])}" for c in log.named("fsync", "fdatasync")]


def commands(log):
    return [f"{who(log, c)} {log.parent_name(c) or 'saker'}: {command_line(c)}" for c in programs(log)]


def shells_of_nginx(log):
    return [f"{who(log, c)} {log.parent_name(c)} {command_line(c)}" for c in programs(log)
            if os.path.basename(strace_log.string(c.args[0])) == "sh" and log.parent_name(c) == "nginx"]


def ancestors_of_id(log):
    lines = []
    for c in programs(log):
        if c.comm != "id":
            continue
        names, tid = ["id"], c.tid
        for _ in range(3):
            tid = log.parent.get(tid, 0)
            names.append(log.name_at(tid, c.number))
        lines.append(" < ".join(names))
    return lines


def programs_by_parent(log):
    rows = collections.Counter(log.parent_name(c) or "saker" for c in programs(log))
    return {(name,): (n,) for name, n in rows.items()}


def errors_of_api(log):
    rows = collections.Counter((c.type(), c.error, opened(c) if c.name in OPENS else "-")
                               for c in log.calls if c.comm == "api" and c.error)
    return {key: (n,) for key, n in rows.items()}


def starts_of_api(log):
    return [f"{log.parent_name(c)} {log.parent[c.tid]} starts {c.tid} {command_line(c)}"
            for c in programs(log) if c.comm == "api"]


def killed(log):
    return [f"{comm} {tid} {how}" for tid, (comm, how) in log.ends.items() if how.startswith("SIG")]


def signals(log):
    out = []
    for c in log.named("kill", "tkill", "tgkill"):
        if c.args[-1] == "0":
            continue
        m = re.match(r"\d+<(.*)>", c.args[0])
        out.append(f"{who(log, c)} {c.comm} {c.type()} {m[1] if m else c.args[0]} {c.args[-1]}")
    return out


def last_calls_of_app(log):
    """Returns the state before the end of the process."""
    tids = [tid for tid, (comm, how) in log.ends.items() if comm == "app" and how == "SIGABRT"]
    return [c.type() for c in log.calls if c.tid in tids][-2:]


def other_users(log):
    return [f"{c.comm} {c.type()} {c.result} {c.args[0]}" for c in log.named("setuid", "setgid", "setresuid", "setresgid")]


def preloads(log):
    out = []
    for c in programs(log):
        values = [v for v in strace_log.strings(c.args[2]) if v and v.startswith("LD_PRELOAD=")]
        out += [command_line(c) + " " + v.partition("=")[2] for v in values]
    return out


def calls_of_nginx(log):
    rows = collections.Counter(c.type() for c in log.calls if c.comm == "nginx" and c.name != "exit_group")
    for name in "clone", "clone3":
        rows[name] *= 2 # it returns in the child, too
    rows = +rows
    failed = collections.Counter(c.type() for c in log.calls if c.comm == "nginx" and c.error)
    return {(name,): (n, failed[name]) for name, n in rows.items()}


def connects(log):
    return [f"{c.comm} {c.error or 'SUCCESS'} {':'.join(address(c))}" for c in log.named("connect") if address(c)]


def outcomes(log):
    """Returns connects that failed at once, by SO_ERROR, or by the close of the socket."""
    out, pending = [], {}
    for c in log.named(*CONNECTS):
        fd = (c.tid, c.args[0].split("<")[0])
        if c.name == "connect" and address(c):
            to = f"{c.comm} %s {':'.join(address(c))}"
            if c.error == "EINPROGRESS":
                pending[fd] = to
            elif c.error:
                out.append(to % c.error)
        elif c.name == "getsockopt" and "SO_ERROR" in c.text and fd in pending:
            error = re.search(r"\[(\w+)\]", c.args[3])[1]
            to = pending.pop(fd)
            out += [to % error] if error != "0" else []
        elif c.name == "close" and fd in pending:
            out.append(pending.pop(fd) % "EINPROGRESS")
    return out


def abroad(log):
    last, out = {}, []
    for c in log.named("connect", "sendto", "sendmsg"):
        fd = (c.tid, c.args[0].split("<")[0])
        if c.name == "connect" and address(c) and not c.error:
            last[fd] = address(c)
        if fd in last and not last[fd][0].startswith("127.") and not c.error:
            out.append(f"{c.comm} {c.type()} {':'.join(last[fd])}")
    return out


def listeners(log):
    bound, out = {}, []
    for c in log.named("bind", "listen"):
        fd = (c.tid, c.args[0].split("<")[0])
        if c.name == "bind" and not c.error:
            unix = re.search(r'sun_path="(.*?)"', c.text)
            bound[fd] = "unix " + unix[1] if unix else "ipv4 " + ":".join(address(c))
        elif not c.error:
            out.append(f"{who(log, c)} {c.comm} {bound[fd]}")
    return out


def questions_to_port_53(log):
    to_53 = {(c.tid, c.args[0].split("<")[0]) for c in log.named("connect") if "htons(53)" in c.text}
    return [f"{c.comm} {c.type()} {dots(strace_log.string(c.args[1]))}"
            for c in log.named("sendto", "write", "sendmsg")
            if protocol(strace_log.file_of(c.args[0])) == "UDP" and "->127.0.0.1:53]" in c.args[0] and to_53]


def clients(log):
    rows = collections.Counter()
    for c in log.named("accept", "accept4"):
        m = re.match(r"TCP:\[[\d.]+:(\d+)->([\d.]+):\d+\]", c.made)
        if m:
            rows[c.comm, m[1], m[2]] += 1
    return {key: (n,) for key, n in rows.items()}


def dots(text):
    """Returns the data as %evt.buffer shows it."""
    return "".join(x if x.isprintable() else "." for x in text)


def requests(log):
    return ["127.0.0.1 " + dots(strace_log.string(c.args[1])) for c in log.named(*READS)
            if c.comm == "nginx" and "TCP:" in c.args[0]]


def words_of_curl(log):
    text = "".join(strace_log.string(c.args[1]) for c in log.named(*READS, *WRITES)
                   if c.comm == "curl" and "TCP:" in c.args[0] and (c.result or 0) > 0)
    return [line for line in text.splitlines() if line]


def through_connections(log):
    reads, writes = ends(log)
    rows = []
    for c, name, n in reads + writes:
        tcp = tcp_name(name)
        if tcp:
            rows.append(((c.comm, frozenset(tcp.split("->"))), n))
    return sums(rows)


def talk_on_app_sock(log):
    ours, out = set(), []
    for c in log.named("bind", "listen", "connect", "sendto", "close"):
        fd = (c.tid, c.args[0].split("<")[0])
        if "/run/app.sock" in c.text or fd in ours:
            ours.add(fd)
            out.append(f"{c.comm} {c.type()}")
        if c.name == "close":
            ours.discard(fd)
    return out


def queries(log):
    return [f"shop {'read' if c.name in READS else 'write'} {strace_log.string(c.args[1])}"
            for c in log.named(*READS, *WRITES) if c.comm == "shop" and "TCP:" in c.args[0]]


def slow_calls(log):
    return [f"{c.comm} {c.type()}" for c in log.calls if c.seconds > 0.1]


def lock_waits(log):
    return [f"{c.comm} {strace_log.file_of(c.args[0])}" for c in log.named("flock") if c.seconds > 0.15]


def failures(log):
    rows = collections.Counter((c.comm, c.type(), c.error) for c in log.calls if c.error and c.comm != STARTER)
    return {key: (n,) for key, n in rows.items()}


def calls_of_app(log):
    rows = collections.Counter(c.type() for c in log.calls if c.comm == "app" and c.name != "exit_group")
    return {(name,): (n,) for name, n in rows.items()}


def connects_of_curl(log):
    return [f"curl\tconnect\t{c.error or 'SUCCESS'}" for c in log.named("connect") if c.comm == "curl"]


def listeners_of_nginx(log):
    return [line.split()[1] + " " + line.split()[3] for line in listeners(log) if " nginx " in line]


# ---- comparison of an answer with the log ----

TIME = r"\d\d:\d\d:\d\d(\.\d+)? "
TOOK = r"\S+s "
PORT = r"\S+->(?=\d)" # our end of a connection


class Lines:
    """Checks for the same lines in any order; strace's log lacks what @drop matches."""

    def __init__(self, judge, drop="$^"):
        self.judge, self.drop = judge, drop

    def compare(self, test, log, lines):
        ours = list(filter(None, (re.sub(self.drop, "", line).strip() for line in lines)))
        theirs = [line.strip() for line in self.judge(log)]
        test.assertTrue(theirs)
        test.assertEqual(sorted(ours), sorted(theirs))


class Part(Lines):
    """Checks that the answer is a subset. Libraries have the names of their links, which strace
    does not show."""

    def compare(self, test, log, lines):
        ours = [" ".join(os.path.realpath(w) if w.startswith(("/lib", "/usr")) else w
                         for w in re.sub(self.drop, "", line).split()) for line in lines]
        theirs = collections.Counter(self.judge(log))
        test.assertTrue(ours)
        test.assertEqual(collections.Counter(ours) - theirs, {})


class Table:
    """Checks rows of -c: the same keys and numbers; if not all are shown, those with the
    largest. A table that is sorted by another column may show any rows."""

    def __init__(self, judge, keys, numbers, is_sorted=True):
        self.judge, self.keys, self.numbers, self.is_sorted = judge, keys, numbers, is_sorted

    def compare(self, test, log, lines):
        rows = [json.loads(line) for line in lines]
        ours = self.added((tuple(r.get(k, "-") for k in self.keys), [r[n] for n in self.numbers]) for r in rows)
        theirs = self.added((k if isinstance(k, tuple) else (k,), n[:len(self.numbers)])
                            for k, n in self.judge(log).items())
        ours = {k: n for k, n in ours.items() if n[0]}
        test.assertTrue(ours)
        test.assertEqual(ours, {k: n for k, n in theirs.items() if k in ours})
        if self.is_sorted:
            least = min(n[0] for n in ours.values())
            test.assertEqual([(k, n) for k, n in theirs.items() if k not in ours and n[0] > least], [])

    def added(self, rows):
        """Several names may refer to one file."""
        out = {}
        for key, numbers in rows:
            key = self.key(key)
            out[key] = tuple(a + b for a, b in zip(out.get(key, [0] * len(numbers)), numbers))
        return out

    @staticmethod
    def key(key):
        """Removes expected differences: both directions of a connection, symbolic links,
        numbers and their text."""
        return tuple(frozenset(k.split("->")) if isinstance(k, str) and "->" in k else
                     os.path.realpath(k) if isinstance(k, str) and k.startswith("/") else
                     k if isinstance(k, frozenset) else str(k) for k in key)


class Summary:
    """Checks -S: calls, how often each was made and how often it failed."""

    def __init__(self, judge):
        self.judge = judge

    def compare(self, test, log, lines):
        rows = [line.split() for line in lines if line.startswith("<")]
        test.assertEqual({(r[1],): (int(r[2]), int(r[4])) for r in rows}, self.judge(log))


JUDGES = {
    "Who writes to /etc?": Lines(writers_of_etc, TIME),
    "Which files does nginx fail to open?": Lines(failing_opens),
    "Where does a program look for its configuration?": Lines(places_of_configuration),
    "Which file reads are slowest?": Part(file_reads, r"^\d+ "),
    "Which files are read most?": Table(read_by_file, ["fd.in.name"], ["sum(evt.io.read_bytes)"]),
    "Which file is slow?": Table(io_by_file, ["fd.name"], ["count"], False),
    "Who fills the disk?": Table(written_by_file, ["proc.name", "fd.out.name"],
        ["sum(evt.io.space_bytes)", "sum(evt.io.write_bytes)"]),
    "Which container fills the disk?": Table(written_by_container, ["container.id"],
        ["sum(evt.io.space_bytes)", "sum(evt.io.write_bytes)"]),
    "Which files were made?": Lines(made),
    "Who deleted that page?": Lines(deleted_pages, TIME),
    "What changed this configuration?": Lines(changes_of_configuration, TIME),
    "What was renamed?": Lines(renames),
    "Whose permissions were not enough?": Lines(refused),
    "Who changes permissions?": Lines(permissions, r"(?<= )(res|filename)=| mode=.*"),
    "Who writes byte by byte?": Table(small_writes, ["proc.name", "fd.out.name"], ["count"]),
    "Who waits for the disk?": Lines(syncs, TOOK),
    "Which commands were run, by whom?": Lines(commands, TIME),
    "Does the web server start shells?": Lines(shells_of_nginx),
    "Who started it?": Lines(ancestors_of_id),
    "Who starts so many processes?": Table(programs_by_parent, ["proc.pname"], ["count"]),
    "Why does it not start?": Table(errors_of_api, ["evt.type", "evt.res", "path"], ["errors"]),
    "Who restarts it?": Lines(starts_of_api, TIME),
    "What died, and of what?": Lines(killed, TIME),
    "Who killed it?": Lines(signals),
    "What did it do last?": Lines(last_calls_of_app, "^> .*|^< | res=.*"),
    "Who becomes another user?": Lines(other_users, r"(?<= )(res|uid|gid)=|\(.*"),
    "Who runs with LD_PRELOAD?": Lines(preloads),
    "Which calls does nginx make?": Summary(calls_of_nginx),
    "Which process connects where?": Lines(connects, PORT),
    "Which connections fail?": Lines(outcomes, PORT),
    "Who leaves the machine?": Lines(abroad),
    "Who listens where?": Lines(listeners),
    "Who asks the name server?": Lines(questions_to_port_53),
    "Which clients come, and how many?": Table(clients, ["proc.name", "fd.sport", "fd.cip"], ["count"]),
    "What was asked of the web server?": Lines(requests),
    "What was said, word for word?": Lines(words_of_curl),
    "How much goes through each connection?":
        Table(through_connections, ["proc.name", "fd.name"], ["sum(evt.io.net_bytes)"]),
    "Who talks over this socket?": Lines(talk_on_app_sock, r" \S*->\S* .*| /run.*"),
    "Which query is slow?": Lines(queries, TIME),
    "Which calls take more than 100 ms?": Part(slow_calls, TOOK + r"| <NA>| /.*| \S*->\S*"),
    "Who waits for locks?": Lines(lock_waits, TOOK),
    "What fails, and how often?": Table(failures, ["proc.name", "evt.type", "evt.res"], ["count"]),
    "Where does the time go?": Table(calls_of_app, ["evt.type"], ["count"], False),
    "How can I work on with a table?": Lines(connects_of_curl, r"^\d+\t|\t\S*->.*|^evt.rawtime.*"),
    "Can I send only this to a colleague?": Lines(listeners_of_nginx),
}


class Judge(questions.Questions, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = os.path.join(cls.dir, "strace.log")

    def starter(self, saker):
        """Returns the process that waits for strace, once saker has started it."""
        until = time.monotonic() + e2e.DEADLINE_S
        while time.monotonic() < until:
            self.assertIsNone(saker.poll())
            for path in [f"/proc/{saker.pid}/task/{saker.pid}/children"]:
                for pid in e2e.read_text(path).split():
                    if e2e.read_text(f"/proc/{pid}/comm") == STARTER + "\n":
                        return int(pid)
            time.sleep(0.02)
        raise AssertionError("the command was not started")

    def traced_by(self, pid, strace):
        until = time.monotonic() + e2e.DEADLINE_S
        while f"TracerPid:\t{strace.pid}\n" not in e2e.read_text(f"/proc/{pid}/status"):
            self.assertIsNone(strace.poll())
            self.assertLess(time.monotonic(), until, "strace does not follow")
            time.sleep(0.02)

    def play(self):
        """Captures the stage to day.scap, with strace beside it; returns strace's log."""
        stage, go = self.stage(), os.path.join(self.dir, "go")
        os.mkfifo(go)
        os.symlink("/bin/sh", os.path.join(self.dir, STARTER))
        with subprocess.Popen([e2e.SAKER, "-q", "-w", os.path.join(self.dir, "all.scap"), "--",
                               *stage.command[:3], os.path.join(self.dir, STARTER), "-c", 'read -r _ <"$0"; exec "$@"', go,
                               *stage.command[3:]], stderr=subprocess.PIPE) as saker:
            pid = self.starter(saker)
            with subprocess.Popen(["nsenter", "-t", str(pid), "-n", "strace", *strace_log.OPTIONS, "-o", self.trace, "-p", str(pid)],
                                  stderr=subprocess.DEVNULL) as strace:
                self.traced_by(pid, strace)
                with open(go, "w", encoding="utf-8") as f:
                    f.write("\n")
            _, errors = saker.communicate()
        self.assertEqual((saker.returncode, errors), (0, b""))
        e2e.run(e2e.SAKER, "-q", "-r", os.path.join(self.dir, "all.scap"), "-w", os.path.join(self.dir, "day.scap"),
                f"not proc.name in (unshare, {STARTER})")

    def answer(self, command):
        """Returns tables as JSON."""
        if " -c " in command:
            command = command.replace("saker -r", "saker -j -r")
        return self.run_shell('saker() { "$SAKER" "$@"; }\n' + command)

    def test_strace_says_the_same(self):
        e2e.need("strace")
        self.play()
        log = strace_log.Log(self.trace)
        for heading, command, _ in self.asked:
            with self.subTest(heading):
                JUDGES[heading].compare(self, log, self.answer(command))


if __name__ == "__main__":
    e2e.need_live()
    questions.need_mounts()
    unittest.main()
