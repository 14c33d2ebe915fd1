#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the messages of sendmmsg and recvmmsg against those that strace prints for the same calls."""

import json
import os
import re
import subprocess
import sys
import unittest

import saker_e2e as e2e

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mmsg", "messages.py")
CALLS = "evt.type in (sendmmsg, recvmmsg) and evt.dir=<"
MAX = 16 # messages that an event has


def read_strace(path):
    """Returns the messages of each call: (size, port of the address, data)."""
    calls = []
    for line in e2e.read_text(path).splitlines():
        if not re.match(r"(\d+ +)?(sendmmsg|recvmmsg)\(.*\) = \d+", line):
            continue
        calls.append([])
        for body, size in re.findall(r"\{msg_hdr=\{(.*?)\}, msg_len=(\d+)\}", line):
            port = re.search(r"sin_port=htons\((\d+)\)", body)
            data = "".join(re.findall(r'iov_base="([^"]*)"', body))
            calls[-1].append((int(size), int(port[1]) if port else None, data))
    return calls


def port_of(tuple_, kind):
    """Returns the port of the peer in A:P->B:P."""
    ports = re.findall(r"\d+\.\d+\.\d+\.\d+:(\d+)", tuple_ or "")
    return int(ports[kind == "sendmmsg"]) if ports else None


def read_entry(word, kind):
    size, _, rest = word.partition(":")
    tuple_, _, data = rest.rpartition(":")
    return int(size), port_of(tuple_, kind), data


def messages_of(row):
    kind = row["evt.type"]
    first = port_of(row["evt.arg.tuple"], kind), row["evt.arg.data"]
    entries = [read_entry(word, kind) for word in (row["evt.arg.messages"] or "").split()]
    return [((entries[0][0] if entries else row["evt.buflen"]), *first), *entries[1:]]


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("strace")
        folder = e2e.own_dir(cls)
        cls.path = os.path.join(folder, "mmsg.scap")
        log = os.path.join(folder, "strace")
        e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--", "strace", "-f", "-v", "-s", "4096", "-e", "sendmmsg,recvmmsg", "-o",
                log, sys.executable, PROGRAM)
        cls.calls = read_strace(log)
        cls.rows = cls.read(cls.path)

    @staticmethod
    def read(path):
        text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*%evt.type %evt.rawres %evt.buflen %evt.buffer %evt.arg.data "
                       "%evt.arg.tuple %evt.arg.messages", CALLS)
        return [json.loads(line) for line in text.splitlines()]

    def test_messages(self):
        """Size, address and data of each, up to the limit."""
        self.assertEqual([len(call) for call in self.calls], [40, 20, 20, 2, 1, 3, 3, 3, 3])
        for row, call in zip(self.rows, self.calls, strict=True):
            self.assertEqual(row["evt.rawres"], len(call))
            self.assertEqual(messages_of(row), call[:MAX])

    def test_names(self):
        """A socket that is not connected has both ends of the first message, as with sendmsg."""
        text = e2e.run(e2e.SAKER, "-r", self.path, "-j", "-p", "*%evt.type %fd.name %fd.l4proto", CALLS)
        n = 0
        for row, call in zip(map(json.loads, text.splitlines()), self.calls, strict=True):
            port = call[0][1]
            if port:
                self.assertRegex(row["fd.name"], r"^[\d.]+:\d+->[\d.]+:\d+$", row)
                self.assertIn(f":{port}", row["fd.name"])
                n += 1
        self.assertGreater(n, 1)

    def test_bytes(self):
        """They are those of all messages, also of those that the event lacks."""
        self.assertEqual([row["evt.buflen"] for row in self.rows],
                         [sum(size for size, _, _ in call) for call in self.calls])

    def test_buffer(self):
        want = ["".join(data for _, _, data in call[:MAX]) for call in self.calls]
        got = e2e.run(e2e.SAKER, "-r", self.path, "-A", "-p", "%evt.buffer", CALLS).split()
        self.assertEqual(got, want)
        self.assertEqual(len(self.read_matching("evt.buffer contains 15xxx")), 2)

    def read_matching(self, words):
        return e2e.run(e2e.SAKER, "-r", self.path, f"{CALLS} and {words}").splitlines()

    def test_chisel(self):
        """echo_fds prints the data of all messages, and counts the bytes of all."""
        text = e2e.run(e2e.SAKER, "-r", self.path, "-c", "echo_fds", "disable_color", "evt.type in (sendmmsg, recvmmsg)")
        self.assertEqual(text.count("abcdefghi"), 2)
        total, kept = (sum(size for size, _, _ in self.calls[0][:n]) for n in (None, MAX))
        self.assertIn(f"writes {total}B ({kept} kept)", text)

    def test_cut(self):
        """Each message is cut to the snaplen, not the call."""
        path = os.path.join(e2e.own_dir(type(self)), "cut.scap")
        e2e.run(e2e.SAKER, "-q", "-s", "5", "-w", path, "--", sys.executable, PROGRAM)
        for row, call in zip(self.read(path), self.calls, strict=True):
            self.assertEqual([(size, data) for size, _, data in messages_of(row)],
                             [(size, data[:5]) for size, _, data in call[:MAX]])

    def test_other_readers(self):
        """They skip what they do not know."""
        e2e.need("sysdig", "tshark")
        text = e2e.run("sysdig", "-r", self.path, "-p", "%evt.type %evt.dir", "evt.type in (sendmmsg, recvmmsg)")
        self.assertEqual(text.split().count("<"), len(self.calls))
        n = subprocess.run(["tshark", "-r", self.path], capture_output=True, text=True, check=True).stdout.count("\n")
        self.assertGreater(n, 2 * len(self.calls))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
