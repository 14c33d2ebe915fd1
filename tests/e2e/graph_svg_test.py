#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the layout of directed graphs (servicemap format=svg) with graphs made by hand: cycles, edges over several
columns, edges from a node to itself, hostile names."""

import itertools
import os
import re
import unittest
from xml.etree import ElementTree

import saker_e2e as e2e

SVG = "{http://www.w3.org/2000/svg}"
CHAR = 6.63


class Picture:
    """The parts of an SVG file: names with their rectangles, edges with text, path and head."""

    def __init__(self, text):
        self.nodes, self.edges = {}, {}
        for g in ElementTree.fromstring(text).iter(SVG + "g"):
            kind, *look = g.get("class", "none").split()
            if kind == "n":
                rect = g.find(SVG + "rect")
                x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
                self.nodes[g.find(SVG + "title").text] = (x, y, x + w, y + h)
            elif kind == "e":
                line, head = g.findall(SVG + "path")
                ends, *_ = g.find(SVG + "title").text.split("\n")
                self.edges[tuple(ends.split(" → "))] = {
                    "look": look[0], "width": float(line.get("stroke-width")), "path": line.get("d"),
                    "head": tuple(map(float, re.match(r"M(\S+) (\S+)l(-?)", head.get("d")).groups()[:2])),
                    "texts": [(float(t.get("x")), float(t.get("y")), t.text) for t in g.findall(SVG + "text")]}

    def boxes(self):
        """The rectangles of nodes and of lines of text."""
        yield from self.nodes.values()
        for edge in self.edges.values():
            for x, y, text in edge["texts"]:
                yield x, y - 10, x + CHAR * len(text), y + 2


class Graph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = e2e.own_dir(cls)
        cls.capture = os.path.join(cls.folder, "in.scap")
        e2e.run(os.path.join(e2e.BUILD, "tests/gen_capture"), cls.capture, "10")

    def svg(self, *edges):
        """Draws edges (from, to, number of requests, failed ones), whose label is two lines; names are bytes."""
        def lua(name):
            return '"' + "".join(f"\\{byte:03}" for byte in name) + '"'
        rows = ",".join(f'{{from={lua(a)}, to={lua(b)}, weight={n}, failed={failed}, label={{"{n} http", "{failed} failed"}}}}'
                        for a, b, n, failed in edges)
        path = os.path.join(self.folder, "draw.lua")
        e2e.write_text(path, f'function on_capture_end() require "graphsvg"({{{rows}}}, {{title="T<&>", subtitle="sub"}}) end')
        return e2e.run(e2e.SAKER, "-r", self.capture, "-n", "1", "-c", path)

    def draw(self, *edges):
        text = self.svg(*edges)
        self.assertEqual(self.svg(*edges), text)
        picture = Picture(text)
        for a, b in itertools.combinations(picture.boxes(), 2):
            self.assertFalse(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3], (a, b))
        width, height = map(float, re.search(r'width="(\d+)" height="(\d+)"', text).groups())
        for box in picture.boxes():
            self.assertTrue(0 < box[0] and 0 < box[1] and box[2] < width and box[3] < height, box)
        return picture

    def check_heads(self, picture):
        """The head of an edge is at a side of the node to which it goes; the path begins at the other node."""
        for (a, b), edge in picture.edges.items():
            x, y = edge["head"]
            left, top, right, bottom = picture.nodes[b]
            self.assertTrue(min(abs(x - left), abs(x - right)) < 0.2 and top < y < bottom, (a, b))

    def test_chain(self):
        picture = self.draw((b"a", b"b", 10, 0), (b"b", b"c", 1000, 5), (b"a", b"c", 1, 0))
        x = {name: rect[0] for name, rect in picture.nodes.items()}
        self.assertTrue(x["a"] < x["b"] < x["c"])
        self.check_heads(picture)
        edges = picture.edges
        self.assertEqual([edges["a", "b"]["width"], edges["b", "c"]["width"], edges["a", "c"]["width"]], [2, 4, 1])
        self.assertEqual([t for _, _, t in edges["b", "c"]["texts"]], ["1000 http", "5 failed"])

    def test_looks(self):
        """The colour is that of the share that failed."""
        looks = [self.draw((b"a", b"b", 1000, failed)).edges["a", "b"]["look"] for failed in (0, 1, 9, 10, 99, 100, 1000)]
        self.assertEqual(looks, ["e0", "e1", "e1", "e2", "e2", "e3", "e3"])

    def test_cycles(self):
        """An edge that closes a cycle goes to the left, one to the node itself stays there."""
        picture = self.draw((b"in", b"a", 9, 0), (b"a", b"b", 8, 0), (b"b", b"c", 7, 0), (b"c", b"a", 6, 1), (b"b", b"b", 5, 0),
                            (b"c", b"b", 4, 0))
        x = {name: rect[0] for name, rect in picture.nodes.items()}
        self.assertTrue(x["in"] < x["a"] < x["b"] < x["c"])
        self.check_heads(picture)
        for ends in ("c", "a"), ("c", "b"), ("b", "b"):
            self.assertAlmostEqual(picture.edges[ends]["head"][0], picture.nodes[ends[1]][2], delta=0.2)

    def test_cycle_alone(self):
        self.check_heads(self.draw((b"a", b"b", 2, 0), (b"b", b"a", 1, 0), (b"x", b"x", 1, 0)))

    def test_protocols(self):
        """Edges with the same ends are one, with all lines."""
        picture = self.draw((b"a", b"b", 90, 0), (b"a", b"b", 10, 10))
        edge, = picture.edges.values()
        self.assertEqual([t for _, _, t in edge["texts"]], ["90 http", "0 failed", "10 http", "10 failed"])
        self.assertEqual((edge["width"], edge["look"]), (3, "e3"))

    def test_names(self):
        """Any bytes are shown as text, long names cut."""
        names = [bytes(range(1, 256)), b"</text><script>alert(1)</script>", b"\xef\xbf\xbf&amp;", b"x" * 500, "…é漢".encode()]
        picture = self.draw(*((name, b"all", 1, 0) for name in names))
        self.assertEqual(len(picture.nodes), 6)
        self.assertLessEqual({"</text><script>alert(1)</script>", "x" * 500, "…é漢"}, set(picture.nodes))

    def test_many(self):
        """A graph in which every fifth pair is an edge."""
        pairs = [(a, b) for a in range(20) for b in range(20) if (7 * a + 3 * b) % 5 == 0]
        picture = self.draw(*((b"n%d" % a, b"n%d" % b, a + 1, 0) for a, b in pairs))
        self.assertEqual(len(picture.edges), len(pairs))
        self.check_heads(picture)

    def test_deep(self):
        picture = self.draw(*((b"n%d" % i, b"n%d" % (i + 1), 1, 0) for i in range(300)))
        self.assertEqual([picture.nodes[f"n{i}"][1] for i in range(301)], [picture.nodes["n0"][1]] * 301)


if __name__ == "__main__":
    unittest.main()
