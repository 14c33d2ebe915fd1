#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests markers that a shell writes to /dev/null: fields, filters and chisels are as in Debian's
sysdig, which derives tracers from the same capture."""

import os
import socket
import subprocess
import time
import unittest

import saker_e2e as e2e

CHISELS = "/usr/share/sysdig/chisels"
MARKERS = [">:1:a.b:k=v,l=w:", ">:t:web.api:k=v:", ">:p:one::", "<:p:one::", ">:pp:par::", "<:pp:par::",
           ">:5:esc:k=a\\:b,l=c\\,d:", "<:5:esc::", ">:6:nest::", ">:6:nest:n=2:", "<:6:nest::", "<:6:nest::",
           '[">", 12, ["js","on"], [{"k":"v"},{"l":"w"}]]', '["<", 12, ["js","on"], [{"r":"0"}]]',
           "<:t:web.api:r=0:", ">:7:::", "<:7:::", "<:1:a.b:r=3:"]
FIELDS = ("evt.type evt.dir span.id span.ntags span.nargs span.tags span.tag[0] span.tag[1] span.tag[-1] span.duration "
          "span.duration.human span.enterargs span.enterarg[0] span.enterarg[-1] span.rawtime "
          "span.duration.fortag[0] span.duration.fortag[1] span.count.fortag[0] span.count.fortag[1] "
          "span.childcount.fortag[0] span.childcount.fortag[1]")


def run_all(path, *args):
    return [e2e.run(tool, "-r", path, *args).splitlines() for tool in ("sysdig", e2e.SAKER)]


class Markers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        e2e.need("sysdig")
        cls.folder = e2e.own_dir(cls)
        cls.path = os.path.join(cls.folder, "markers.scap")
        script = "\n".join(f"printf '%s\\n' '{m}' >/dev/null" for m in MARKERS)
        e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--", "sh", "-c", script + "\ncat /dev/null")

    def test_fields(self):
        theirs, ours = run_all(self.path, "-p", "*" + " ".join(f"%{f}" for f in FIELDS.split()), "evt.type=tracer")
        self.assertEqual(len(ours), len(MARKERS))
        self.assertEqual(ours, theirs)

    def test_args(self):
        theirs, ours = run_all(self.path, "-p", "*%span.tags %span.args %span.arg[0] %span.arg[-1]", "evt.type=tracer")
        self.assertEqual(ours, theirs)

    def test_events_in_spans(self):
        for check in ("evtin.span.id=1", "evtin.span.p.tags=web.api", "evtin.span.m.tag[0]=a", "evtin.span.ntags=2",
                      "evtin.span.p.nargs=2", "evtin.span.m.tag[-1]=b"):
            # Writes to /dev/null are tracers in sysdig.
            theirs, ours = run_all(self.path, "-p", "%evt.type %evt.args",
                                   f"evt.dir=< and not evt.type in (tracer, write) and {check}")
            self.assertEqual(len(ours), len(theirs), check)
            self.assertGreater(len(ours), 0, check)

    def test_written(self):
        path = os.path.join(self.folder, "tracers.scap")
        e2e.run(e2e.SAKER, "-q", "-r", self.path, "-w", path, "evt.type=tracer")
        fields = "*%evt.dir %span.id %span.tags %span.duration %span.enterargs"
        lines = [e2e.run(e2e.SAKER, "-r", p, "-p", fields, "evt.type=tracer") for p in (self.path, path)]
        self.assertEqual(lines[0], lines[1])
        e2e.run("sysdig", "-r", path)

    def test_nothing_without_use(self):
        self.assertNotIn(" tracer ", e2e.run(e2e.SAKER, "-r", self.path))

    def test_live(self):
        p = subprocess.run([e2e.SAKER, "-p", "%evt.dir %span.tags %span.enterargs", "evt.type=tracer", "--", "sh", "-c",
                            "echo '>:1:a:k=v:' >/dev/null; echo '<:1:a::' >/dev/null"],
                           capture_output=True, text=True)
        self.assertEqual(p.stderr.splitlines(), ["> a k=v", "< a k=v"])

    def test_live_events_in_span(self):
        """The markers are recorded, though the filter matches neither their type nor their process."""
        p = subprocess.run([e2e.SAKER, "-p", "%proc.name %evtin.span.m.tags", "proc.name=cat and evt.type=execve and "
                            "evtin.span.m.id=1", "--", "sh", "-c",
                            "cat /dev/null; echo '>:1:a::' >/dev/null; cat /dev/null; echo '<:1:a::' >/dev/null; "
                            "cat /dev/null"], capture_output=True, text=True)
        self.assertEqual(p.stderr.splitlines(), ["cat a"])

    def test_kindling(self):
        """Kindling's agent writes them to /dev/null; one has a time of its own."""
        now = time.time_ns()
        p = subprocess.run([e2e.SAKER, "-s", "500", "-p", "%evt.dir %span.tags %span.enterargs %span.duration",
                            "evt.type=tracer", "--", "sh", "-c",
                            "printf 'kd-txid@4f.1!1!http!/a!' >/dev/null; "
                            f"printf 'kd-jf@{now - 5000}!{now - 2000}!7!f0!Park!w-1!3000!9!s!' >/dev/null; "
                            "printf 'kd-txid@4f.1!0!' >/dev/null"], capture_output=True, text=True)
        lines = p.stderr.splitlines()
        self.assertEqual(lines[0], f"< kd.jf.Park begin={now - 5000},end={now - 2000},lock=f0,thread=w-1,holder=9,"
                         "stack=s 3000")
        self.assertRegex(lines[1], r"^< kd\.tx\.4f\.1 protocol=http,url=/a \d+$")

    def test_counters(self):
        script = ("echo '>:1:a:k=v:' >/dev/null; echo '>:x:' >/dev/null; echo '<:2:a::' >/dev/null; "
                  f"echo '>:3:{'a' * 100}::' >/dev/null; echo no >/dev/null")
        p = subprocess.run([e2e.SAKER, "-q", "-v", "span.id exists", "--", "sh", "-c", script], capture_output=True,
                           text=True)
        at = p.stderr.index("  markers ")
        self.assertEqual([l.split(None, 1) for l in p.stderr[at + len("  markers "):].splitlines()[1:4]],
                         [["1", "malformed"], ["1", "longer than the captured bytes: raise --snaplen"],
                          ["1", "exits without an enter"]])
        self.assertEqual(p.stderr[at:].split()[1], "4")

    def test_statsd(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.bind(("127.0.0.1", 8125))
            except OSError:
                e2e.skip_test("port 8125 is in use")
            s.settimeout(5)
            e2e.run(e2e.SAKER, "-r", self.path, "--chisel-unsafe", "-c", f"{CHISELS}/tracers_2_statsd.lua")
            got = {s.recv(1000).split(b":")[0].decode() for _ in range(9)}
        self.assertEqual(got, {"a.b", "web.api", "one", "par", "esc", "nest", "js.on", ""})

    def test_columns_of_views(self):
        # The columns and the filter of v_spans_list and v_spans_summary, for a selection of depth 0.
        theirs, ours = run_all(self.path, "-p", "*%span.rawtime %span.id %span.duration.fortag[0] %span.tag[0] "
                               "%span.enterargs %span.count.fortag[0] %span.childcount.fortag[0]", "span.ntags>=1")
        self.assertEqual(ours, theirs)
        self.assertEqual(len(ours), len(MARKERS) - 2)


if __name__ == "__main__":
    unittest.main()
