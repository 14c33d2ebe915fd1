#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each output of the chisel timeline has the samples of the capture, on the thread, at the time and with the
stack that saker prints."""

import collections
import json
import os
import re
import struct
import subprocess
import unittest

import browser
import saker_e2e as e2e

Sample = collections.namedtuple("Sample", "begin ns reason frames")
FIELDS = "thread.tid evt.rawtime sample.reason sample.weight stack.folded".split()
FRAMES_MAX = 32 # of format=chrome


def lasting(name):
    """The name of a frame when the BPF programs of another capture, that of another test, have gone."""
    return "[kernel]_[k]" if "[bpf]" in name or name == "[kernel]" else name


def samples_of(path):
    """Returns the samples of each thread by their begin, their frames outermost first."""
    out = e2e.run(e2e.SAKER, "-r", path, "-j", "-p", "*" + " ".join("%" + f for f in FIELDS), "evt.type=sample")
    found = collections.defaultdict(list)
    for row in map(json.loads, out.splitlines()):
        tid, end, reason, weight, folded = (row.get(f) for f in FIELDS)
        ns = weight if reason == "off_cpu" else 0
        frames = [lasting(name) for name in folded.split(";")] if folded else []
        found[tid].append(Sample(end - ns, ns, reason, frames))
    return {tid: sorted(own, key=lambda s: s.begin) for tid, own in found.items()}


def known(frames):
    """The frames without the one that stands for missing ones."""
    return [name for name in frames if not name.startswith("[truncated")]


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        e2e.need_live()
        cls.folder = e2e.own_dir(cls)
        cls.path = os.path.join(cls.folder, "samples.scap")
        prog = e2e.compile_program("sample", cls.folder, "-fno-omit-frame-pointer")
        e2e.run(e2e.SAKER, "-q", "-w", cls.path, "--slices", "--sample", "199", "--sample-on", "off_cpu",
                "--sample-on", "page_fault", "--", prog)
        cls.samples = samples_of(cls.path)
        cls.first = min(int(ns) for ns in e2e.run(
            e2e.SAKER, "-r", cls.path, "-p", "%thread.slice.start", "evt.type=slice").split())
        cls.first = min([cls.first] + [own[0].begin for own in cls.samples.values()])

    def drawn(self, *words):
        return e2e.run(e2e.SAKER, "-r", self.path, "-c", "timeline", *words)

    def same(self, found, most=None):
        """Compares with lists of (begin after the first event, reason, innermost frames) by thread."""
        self.assertEqual({tid: len(own) for tid, own in found.items()}, {tid: len(own) for tid, own in self.samples.items()})
        found = {tid: [(begin, reason, [*map(lasting, frames)]) for begin, reason, frames in own] for tid, own in found.items()}
        for tid, own in self.samples.items():
            self.assertEqual([frames[-1:] for _, _, frames in found[tid]], [s.frames[-1:] for s in own])
            for (begin, reason, frames), s in zip(found[tid], own):
                self.assertLess(abs(begin - (s.begin - self.first)), 2)
                self.assertEqual((reason or s.reason, known(frames)), (s.reason, s.frames[-(most or 0):]))

    def test_capture(self):
        """The capture has what the other tests are about."""
        every = sum(self.samples.values(), [])
        self.assertEqual({s.reason for s in every}, {"cpu", "off_cpu", "page_fault"})
        self.assertEqual(len(self.samples), 2)
        self.assertTrue(any(s.frames.count("deep") == 13 for s in every))

    def test_chrome(self):
        found = collections.defaultdict(list)
        for e in json.loads(self.drawn("format=chrome"))["traceEvents"]:
            if e["ph"] == "i":
                self.assertEqual((e["s"], e["cat"]), ("t", "sample"))
                frames = e["args"].get("stack", [])[::-1]
                self.assertIn(e["name"], frames or ["[no stack]"])
                self.assertEqual(len(frames) == FRAMES_MAX, "more" in e["args"])
                found[e["tid"]].append((round(e["ts"] * 1000), e["args"]["reason"], frames))
        self.same(found, FRAMES_MAX)

    def test_firefox(self):
        """Samples, stacks and frames have the shape of Gecko profiles."""
        profile = json.loads(self.drawn("format=firefox"))
        names = [c["name"] for c in profile["meta"]["categories"]]
        reasons = {"Running": "cpu", "Blocked": "off_cpu", "Other": "page_fault"}
        self.assertAlmostEqual(profile["meta"]["interval"], 1000 / 199, places=1)
        found = {}
        for t in profile["threads"]:
            rows = {name: [dict(zip(t[name]["schema"], row)) for row in t[name]["data"]]
                    for name in ("samples", "stackTable", "frameTable")}
            own = []
            for sample in rows["samples"]:
                frames, stack = [], sample["stack"]
                while stack is not None:
                    row = rows["stackTable"][stack]
                    self.assertTrue(row["prefix"] is None or row["prefix"] < stack)
                    frames.append(rows["frameTable"][row["frame"]])
                    stack = row["prefix"]
                places = [t["stringTable"][f["location"]] for f in reversed(frames)]
                own.append((round(sample["time"] * 1e6), frames and reasons[names[frames[0]["category"]]],
                            [self.name_of(place) for place in places]))
            if own:
                found[t["tid"]] = own
        self.same(found)

    @staticmethod
    def name_of(location):
        """Returns the name in folded stacks, of NAME (in LIBRARY)."""
        name, library = re.fullmatch(r"(.*?)(?: \(in ([^)]*)\))?", location).groups()
        return name + ("_[k]" if library == "[kernel]" or name.endswith("[bpf]") else "")

    def test_page(self):
        """The data of the page, and what it shows of a sample below the mouse and of a click."""
        if browser.missing():
            e2e.skip_test(f"{browser.missing()} is not installed: scripts/setup --tests")
        page = os.path.join(self.folder, "samples.html")
        e2e.write_text(page, self.drawn().replace("'use strict';\n", "", 1))
        window = browser.Browser(os.path.join(self.folder, "browser"), 1200, 400)
        self.addCleanup(window.close)
        window.open("file://" + page)
        found = {}
        for name, begins, kinds, stacks in window.script(
                "return LANES.map(n=>[n.name, n.sb, n.sr.map(r=>TEXTS[r]), n.ss.map(s=>{"
                "let f=[];for(;s>=0;s=PARENT[s])f.unshift(NAMES[FRAME[s]]);return f})])"):
            if begins:
                found[int(re.search(r"\((\d+)\)$", name)[1])] = list(zip(begins, kinds, stacks))
        self.same(found)
        self.show(window, max(self.samples.values(), key=len))

    def show(self, window, own):
        """Moves the mouse to the longest sample off the CPU, and clicks there."""
        nap = max(own, key=lambda s: s.ns)
        x, y = window.script(
            "const t=arguments[0],n=LANES.find(n=>n.sb.includes(t)),b=document.getElementById('c').getBoundingClientRect();"
            "return [Math.round(b.left+190+(t+arguments[1]/2)/TOTAL*(b.width-190)), Math.round(b.top+n.y+22)]",
            nap.begin - self.first, nap.ns)
        window.point_at(x, y)
        text = window.wait("const t=document.getElementById('tip');return t.style.display=='block'&&t.textContent")
        self.assertRegex(text, r"^sample off CPU for \d+\.\d+ ms at ")
        self.assertEqual(text.split("\n")[1:], nap.frames[::-1])
        window.point_at(x, y, press=True)
        text = window.script("return document.getElementById('about').textContent")
        self.assertTrue(text.endswith(": " + " < ".join(nap.frames[::-1])), text)
        self.assertEqual(window.errors(), [])


class Many(unittest.TestCase):
    """More samples, and more different stacks, than are drawn."""
    SAMPLES_MAX, STACKS_MAX = 100000, 20000

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(e2e.own_dir(cls), "many.scap")
        with open(cls.path, "wb") as f:
            f.write(e2e.block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 2, 2**64 - 1)) + e2e.block(0xCA5A0001, b""))
            for i in range(cls.SAMPLES_MAX + 5):
                f.write(cls.sample(i, i % (cls.STACKS_MAX + 3)))

    @staticmethod
    def sample(i, stack):
        """A sample in the format before packed samples."""
        params = [b"\0", struct.pack("<q", 1000), struct.pack("<q", 77), b"many\0", b"",
                  struct.pack("<2Q", 0x1000 + stack // 300, 0x900000 + stack % 300), b"\0"]
        data = struct.pack(f"<{len(params)}H", *map(len, params)) + b"".join(params)
        head = struct.pack("<QQIHI", 10**18 + 1000 * i, 77, 26 + len(data), 0x4020, len(params))
        return e2e.block(0x217, struct.pack("<HI", 0, 1) + head + data)

    def test_page(self):
        p = subprocess.run([e2e.SAKER, "-r", self.path, "-c", "timeline"], capture_output=True, text=True, check=True)
        self.assertRegex(p.stderr, "(?m)^saker: 5 slices, requests and samples are not drawn: [^\n]* 100000 samples, [^\n]*\n"
                         "saker: 1[0-9] samples are drawn without their stack: at most 20000 different stacks are kept\n")
        self.assertIn(">100000 samples, 0 slices of 1 threads in ", p.stdout)
        self.assertIn('"(other stacks)"', p.stdout)
        self.assertLess(len(p.stdout), 5_000_000)


if __name__ == "__main__":
    unittest.main()
