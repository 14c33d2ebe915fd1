#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the events of TCP against what the kernel counts in a network namespace of its own: retransmits, resets,
connects, overflows, drops, round trip times; and to which process each event belongs."""

import collections
import json
import os
import socket
import subprocess
import sys
import time
import unittest

import saker_e2e as e2e

SCENE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tcp", "scene.py")
OURS = "(tcp.conn contains 127.77. or tcp.conn contains fd77)"
FIELDS = ("evt.type tcp.role tcp.pid tcp.comm thread.tid tcp.local tcp.remote tcp.conn tcp.state tcp.state.old tcp.srtt "
          "tcp.rttvar tcp.cwnd tcp.retrans tcp.bytes.out tcp.bytes.in tcp.connect.outcome tcp.connect.latency "
          "tcp.retransmit.kind tcp.retransmit.segs tcp.way tcp.reason tcp.overflow.n tcp.overflow.backlog").split()
TYPES = ("tcp_state", "tcp_connect", "tcp_retransmit", "tcp_reset", "tcp_rtt", "tcp_drop", "tcp_overflow")


def kernel_is_at_least(*version):
    return tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= version


def rows_of(path, condition):
    text = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*" + " ".join(f"%{f}" for f in FIELDS), condition)
    return [{k: v for k, v in json.loads(line).items() if v is not None} for line in text.splitlines()]


class Tcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("unshare", "ip")
        cls.path = os.path.join(e2e.own_dir(cls), "tcp.scap")
        # All processes: a reset for a closed port belongs to none. No calls: those of others fill rings.
        done = e2e.record("--all", "-w", cls.path, "evt.type startswith tcp_", "--", "unshare", "-n", sys.executable, SCENE)
        cls.scene = json.loads(done.stdout)
        cls.rows = rows_of(cls.path, OURS)

    def of(self, kind, **values):
        return [r for r in self.rows if r["evt.type"] == kind and
                all(r.get("tcp." + k.replace("_", ".")) == v for k, v in values.items())]

    def counted(self, name):
        return self.scene["counts"][name]

    def test_retransmits(self):
        self.assertGreater(self.counted("RetransSegs"), 3)
        retransmits = self.of("tcp_retransmit")
        self.assertEqual(sum(r["tcp.retransmit.segs"] for r in retransmits), self.counted("RetransSegs"), retransmits)
        kinds = collections.Counter(r["tcp.retransmit.kind"] for r in retransmits)
        self.assertEqual(kinds["syn"] + kinds["synack"], self.counted("TCPSynRetrans"))
        self.assertGreater(kinds["synack"], 0)
        self.assertGreater(len(self.of("tcp_retransmit", retransmit_kind="data")), 0)

    def test_resets(self):
        sent = self.of("tcp_reset", way="sent")
        if kernel_is_at_least(6, 10):  # older kernels do not report those for closed ports
            self.assertEqual(len(sent), self.counted("OutRsts"))
            self.assertEqual(len([r for r in sent if r.get("tcp.reason") == "NO_SOCKET"]), 2)
        without_socket = [r for r in sent if "tcp.state" not in r]
        self.assertEqual([r for r in without_socket if "tcp.pid" in r], [])
        self.assertEqual(len(self.of("tcp_reset", way="received", state="SYN_SENT")), 2)

    def test_connects(self):
        outcomes = collections.Counter(r["tcp.connect.outcome"] for r in self.of("tcp_connect"))
        opened = self.counted("ActiveOpens")
        self.assertEqual(outcomes, {"refused": 2, "timed_out": 1, "aborted": outcomes["aborted"],
                                    "established": opened - 3 - outcomes["aborted"]})
        self.assertGreaterEqual(outcomes["aborted"], 1)
        self.assertEqual(len([r for r in self.of("tcp_connect") if r["tcp.role"] == "client"]), opened)
        for r in self.of("tcp_connect"):
            self.assertGreater(r["tcp.connect.latency"], 0, r)
        late = self.of("tcp_connect", connect_outcome="timed_out")[0]["tcp.connect.latency"]
        self.assertTrue(0.4e9 < late < 10e9, late)

    def test_families(self):
        """IPv4 on a socket of IPv6 is shown as IPv4."""
        self.assertEqual([r for r in self.rows if "ffff" in r["tcp.conn"]], [])
        peers = [r["tcp.remote"].rsplit(":", 1)[0] for r in self.of("tcp_connect", connect_outcome="established")]
        self.assertEqual(collections.Counter(peers)["fd77::1"], 1)
        self.assertGreaterEqual(collections.Counter(peers)["127.77.0.1"], 2)

    def test_overflow(self):
        rows = self.of("tcp_overflow")
        backlogs = {str(self.scene["full_port"]): 0, str(self.scene["late_port"]): 2}
        self.assertGreater(self.counted("ListenOverflows"), 0)
        self.assertEqual({r["tcp.role"] for r in rows}, {"listener"})
        if kernel_is_at_least(6, 11):  # drops have their socket
            self.assertEqual(sum(r["tcp.overflow.n"] for r in rows), self.counted("ListenDrops"))
            self.assertEqual({r["tcp.local"].rsplit(":", 1)[1]: r["tcp.overflow.backlog"] for r in rows}, backlogs)

    def test_drops(self):
        rows = [r for r in self.of("tcp_drop") if r.get("tcp.reason") == "SOCKET_FILTER"]
        self.assertGreater(len(rows), 0)
        ports = {str(self.scene[name]) for name in ("dropped_port", "deaf_port", "late_filtered_port")}
        self.assertEqual({r["tcp.local"].rsplit(":", 1)[1] for r in rows}, ports)

    def test_copies(self):
        """TCP loses nothing if a socket that gets copies of packets has no room for them."""
        if kernel_is_at_least(6, 11):  # drops have their socket
            self.assertEqual([r for r in self.of("tcp_drop") if r.get("tcp.reason") in
                              ("PACKET_SOCK_ERROR", "SOCKET_RCVBUFF")], [])

    def test_measures(self):
        """They are those of TCP_INFO (ss -ti)."""
        info = self.scene["info"]
        end = [r for r in self.of("tcp_state", state="FIN_WAIT1")
               if r["tcp.local"].endswith(f":{self.scene['port']}")]
        self.assertEqual(len(end), 1)
        for name, of_info in (("srtt", "rtt"), ("rttvar", "rttvar")):
            self.assertEqual(end[0]["tcp." + name] // 1000, info[of_info])
        self.assertEqual((end[0]["tcp.cwnd"], end[0]["tcp.retrans"]), (info["cwnd"], info["retrans"]))
        self.assertEqual((end[0]["tcp.bytes.out"], end[0]["tcp.bytes.in"]), (info["acked"], info["received"]))
        self.assertGreater(len(self.of("tcp_rtt")), 0)

    def test_owners(self):
        """Never the interrupted task: the process that connected, accepted or listens, or none."""
        pids = {self.scene["pid"], self.scene["child"]}
        known = [r for r in self.rows if "tcp.pid" in r]
        self.assertLessEqual({r["tcp.pid"] for r in known}, pids)
        self.assertEqual([r for r in known if r["thread.tid"] != r["tcp.pid"]], [])
        self.assertEqual([r for r in self.rows if "tcp.pid" not in r and "thread.tid" in r and r["thread.tid"] > 0], [])
        if kernel_is_at_least(6, 11):  # drops have their socket
            # A packet for no socket has no state, and a connection in TIME_WAIT has no owner any more.
            self.assertEqual([r for r in self.rows if "tcp.pid" not in r and
                              r.get("tcp.state", "TIME_WAIT") != "TIME_WAIT"], [])
        accepted = [r for r in self.rows if r["tcp.role"] == "server" and
                    r["tcp.local"].endswith(f":{self.scene['child_port']}") and r.get("tcp.bytes.in")]
        self.assertEqual({r["tcp.pid"] for r in accepted}, {self.scene["child"]})

    def test_chisel(self):
        rows = [json.loads(line) for line in e2e.run(e2e.SAKER, "-r", self.path, "-j", "-c", "tcp", "top=1000",
                                                     OURS).splitlines()]
        self.assertEqual(sum(r["retrans"] for r in rows), self.counted("RetransSegs"))
        self.assertEqual(sum(r["overflows"] for r in rows), sum(r["tcp.overflow.n"] for r in self.of("tcp_overflow")))
        self.assertEqual(sum(r["connects"] for r in rows), self.counted("ActiveOpens"))
        self.assertEqual([r["faults"] for r in rows], sorted((r["faults"] for r in rows), reverse=True))
        text = e2e.run(e2e.SAKER, "-r", self.path, "-c", "tcp", "by=connection", OURS)
        self.assertIn("SOCKET_FILTER", text)

    def table(self, *words):
        text = e2e.run(e2e.SAKER, "-r", self.path, "-j", "-c", "tcp", " ".join(("top=1000", *words)), OURS)
        return [json.loads(line) for line in text.splitlines()]

    def test_chisel_connections(self):
        """Each end of a connection has one row; a connect that no socket answers has no row besides its own."""
        rows = self.table("by=connection")
        self.assertEqual(sum(r["connects"] for r in rows), self.counted("ActiveOpens"))
        ends = collections.Counter((r["pid"], r["role"], r["name"]) for r in rows)
        self.assertEqual([end for end, n in ends.items() if n > 1], [])
        for event in self.of("tcp_connect", connect_outcome="refused"):
            names = event["tcp.conn"], "->".join(reversed(event["tcp.conn"].split("->")))
            found = [r for r in rows if r["name"] in names]
            self.assertEqual([(r["pid"], r["faults"], r["why"]) for r in found], [(event["tcp.pid"], 1, "refused 1")])
            faults = [r["why"] for r in self.table() if r["name"] == event["tcp.remote"] and r["faults"]]
            self.assertEqual(faults, ["refused 1"])

    def test_chisel_rows(self):
        """The table says how many rows it lacks."""
        n = len(self.table())
        first = e2e.run(e2e.SAKER, "-r", self.path, "-c", "tcp", "top=2", OURS).splitlines()
        self.assertEqual((first[0], len(first)), (f"2 of {n} rows; top={n} shows all", 4))
        whole = e2e.run(e2e.SAKER, "-r", self.path, "-c", "tcp", f"top={n}", OURS).splitlines()
        self.assertEqual(len(whole), n + 1)

    def test_old_readers(self):
        for tool in ("sysdig", "tshark"):
            with self.subTest(tool):
                e2e.need(tool)
                e2e.run(tool, "-r", self.path)


class Requested(unittest.TestCase):
    """What makes the events recorded."""

    CONNECT = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())"

    def setUp(self):
        e2e.need_live()

    def lines(self, *args):
        done = subprocess.run([e2e.SAKER, *args, "--", sys.executable, "-c", self.CONNECT], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (done.stdout + done.stderr).splitlines()

    def test_off(self):
        self.assertFalse(any(" tcp_" in line for line in self.lines()))

    def test_option(self):
        text = "\n".join(self.lines("--tcp"))
        self.assertIn(" tcp_connect ", text)
        self.assertIn(" execve ", text)

    def test_filter(self):
        self.assertEqual(self.lines("-p", "*%tcp.connect.outcome", "evt.type=tcp_connect"), ["established"])
        self.assertEqual(self.lines("-p", "*%evt.type", "tcp.connect.latency>0"), ["tcp_connect"])

    def test_older_connection(self):
        """It is known whose it is, though it is older than the capture."""
        pairs = [socket.socket() for _ in range(100)]
        with socket.create_server(("127.0.0.1", 0)) as server:
            for s in pairs:
                s.connect(server.getsockname())
                peer = server.accept()[0]
                self.addCleanup(s.close)
                self.addCleanup(peer.close)
        saker = subprocess.Popen([e2e.SAKER, "--pid", str(os.getpid()), "-n", "1", "-p", "*%tcp.pid %tcp.role",
                                  "evt.type=tcp_state"], stdout=subprocess.PIPE, text=True)
        while saker.poll() is None and pairs:
            pairs.pop().close()  # one a time, until saker is ready
            time.sleep(0.1)
        line = saker.communicate(timeout=10)[0].split()
        self.assertEqual(line, [str(os.getpid()), "unknown"])

    def test_format(self):
        self.assertIn("tcp_connect established", self.lines("-p", "%evt.type %tcp.connect.outcome"))

    def test_syscalls(self):
        lines = self.lines("--syscalls", "tcp_connect", "-p", "*%evt.type")
        self.assertEqual(lines, ["tcp_connect"])

    def test_chisel(self):
        self.assertTrue(any(" python" in line for line in self.lines("-c", "tcp")))


if __name__ == "__main__":
    unittest.main()
