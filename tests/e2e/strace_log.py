# SPDX-License-Identifier: Apache-2.0
"""Parses a log of strace -f -Y -yy -v -ttt -T: thread, call, file and result."""

import os
import re
import stat

import call_table
import saker_e2e as e2e

OPTIONS = ["-f", "-Y", "-yy", "-v", "-ttt", "-T", "-s", "4096"]

LINE = re.compile(r"(\d+)<(.*?)> +(\d+)\.(\d{6}) (.*)")
CALL = re.compile(r"(\w+)\((.*)\) += (.*?)(?: <(\d+\.\d+)>)?")
RESULT = re.compile(r"(-?(?:0x[0-9a-f]+|\d+)|\?)(<.*>)?(?: (E\w+))?.*")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", '"': '"', "\\": "\\"}


def split(text):
    """Splits arguments at commas outside of strings and brackets."""
    out, depth, at, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c in "([{<" and not text.startswith("<<", i):
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] not in "-="):
            depth -= 1
        elif c == "," and not depth:
            out.append(text[at:i].strip())
            at = i + 1
        i += 1
    return out + [text[at:].strip()] if text.strip() else []


def string(text):
    """Returns the string of an argument, or None if it is none."""
    m = re.match(r'"((?:\\.|[^"\\])*)"', text)
    if not m:
        return None
    return re.sub(r'\\(x[0-9a-f]{2}|[0-7]{1,3}|.)', unescape, m[1])


def unescape(m):
    if m[1][0] == "x":
        return chr(int(m[1][1:], 16))
    return chr(int(m[1], 8)) if m[1][0].isdigit() else ESCAPES.get(m[1], m[1])


def strings(text):
    """Returns the strings of a list."""
    return [string(t) for t in split(text[1:-1])] if text.startswith("[") else []


def file_of(text):
    """Returns the file of a descriptor argument, as strace names it."""
    m = re.match(r"(?:-?\d+|AT_FDCWD)<(.*)>$", text)
    return re.sub("<(char|block) .*", "", m[1]) if m else ""


def integer(text):
    return int(text, 8) if re.match(r"0\d", text) else int(text, 0)


def is_file(name):
    """Returns whether the file has a path, and is no FIFO: that is a pipe."""
    return name.startswith("/") and not (os.path.exists(name) and stat.S_ISFIFO(os.stat(name).st_mode))


class Call:
    def __init__(self, number, tid, comm, ns, text):
        m = CALL.fullmatch(text)
        if not m:
            raise ValueError(f"not a call: {text!r}")
        self.number, self.tid, self.comm, self.end_ns = number, tid, comm, ns
        self.name, self.args, self.text = m[1], split(m[2]), text
        r = RESULT.fullmatch(m[3])
        self.result = None if not r or r[1] == "?" else integer(r[1])
        self.made = r[2][1:-1] if r and r[2] else ""
        self.error = (r and r[3]) or ""
        self.seconds = float(m[4] or 0)

    def type(self):
        """Returns saker's name of the call."""
        call = call_table.calls().get(self.name)
        return call.printed() if call else self.name

    def path(self, i):
        """Returns the path of argument i, resolved against the preceding argument if that
        is a directory."""
        path = string(self.args[i]) or ""
        if path.startswith("/") or not i:
            return path
        return file_of(self.args[i - 1]).rstrip("/") + "/" + path


def child(line):
    """Returns (child, parent) of a line that reports a fork, which may follow lines of the
    child."""
    m = line and re.search(r"\b(?:v?fork|clone3?)\b.*\) += (\d+)", line[5])
    return (int(m[1]), int(line[1])) if m else None


class Log:
    """Parses a log. calls: in the order of their ends. ends: {tid: (name, signal or status)}.
    Names of processes follow their execs, because strace's own are sometimes old."""

    def __init__(self, path):
        self.calls, self.ends, self.names = [], {}, {}
        lines = [LINE.match(line) for line in e2e.read_text(path).splitlines()]
        self.parent = dict(filter(None, map(child, lines)))
        begun = {}
        for number, m in enumerate(lines):
            if not m:
                continue
            tid, ns, text = int(m[1]), int(m[3] + m[4]) * 1000, m[5]
            if tid not in self.names:
                self.names[tid] = [(number, self.name_at(self.parent.get(tid), number) or m[2])]
            comm = self.names[tid][-1][1]
            if text.startswith("+++"):
                self.ends[tid] = (comm, text.split()[-2])
            elif text.endswith("<unfinished ...>"):
                begun[tid] = text[:-len("<unfinished ...>")].rstrip()
            elif not text.startswith("---"):
                resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
                if resumed and tid not in begun:
                    continue  # it began before strace came
                self.add(number, tid, comm, ns, begun.pop(tid) + resumed[1] if resumed else text)

    def add(self, number, tid, comm, ns, text):
        c = Call(number, tid, comm, ns, text)
        self.calls.append(c)
        if c.name == "execve" and c.result == 0:
            c.comm = os.path.basename(string(c.args[0]))[:15]
            self.names[tid].append((number, c.comm))

    def name_at(self, tid, number):
        """Returns the name of a process when line @number was written."""
        before = [comm for n, comm in self.names.get(tid, []) if n <= number]
        return before[-1] if before else ""

    def parent_name(self, c):
        return self.name_at(self.parent.get(c.tid, 0), c.number)

    def user(self, c):
        """Returns the user by the setuid of the process or of an ancestor: root, or the number."""
        tid = c.tid
        while tid:
            own = [s.args[0] for s in self.calls
                   if s.tid == tid and s.name == "setuid" and not s.error and s.number <= c.number]
            if own:
                return own[-1]
            tid = self.parent.get(tid, 0)
        return "0"

    def named(self, *names):
        return [c for c in self.calls if c.name in names]
