#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the output of saker profile in its readers: flame graphs in a browser, operated as a person
would, speedscope in the same browser, and go tool pprof."""

import os
import re
import shutil
import unittest

import browser
import profile_test as base
import saker_e2e as e2e

SPEEDSCOPE = os.path.join(e2e.SOURCE, "build/npm/node_modules/speedscope/dist/release/index.html")
ESCAPE = "\ue00c"


class Page(base.Hot):
    @classmethod
    def setUpClass(cls):
        if browser.missing():
            e2e.skip_test(f"{browser.missing()} is not installed: scripts/setup --tests")
        super().setUpClass()
        cls.browser = browser.Browser(os.path.join(cls.dir, "chromium"))
        cls.addClassCleanup(cls.browser.close)

    def percent(self, pattern):
        """Returns the functions and weights of the folded lines."""
        return 100 * base.share(base.folded(self.make("a.folded").decode()), pattern)


class Graph(Page):
    """Tests the flame graph: search results, and where frames are on the page."""

    COMMAND = "{prog} long; {prog} kernel"

    FRAMES = """
      return Array.from(document.querySelectorAll('.f')).filter(g => g.style.display != 'none').map(g => {
        const r = g.querySelector('rect');
        return {name: g.querySelector('text').textContent, kind: g.getAttribute('class'),
                x: +r.getAttribute('x'), y: +r.getAttribute('y'), width: +r.getAttribute('width')};
      })"""

    def setUp(self):
        self.make("a.svg")
        self.browser.open("about:blank") # behind a # alone nothing is loaded anew
        self.browser.open("file://" + self.path("a.svg") + "#flip=0")

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])
        self.assertEqual(self.browser.script("return performance.getEntriesByType('resource').length"), 0,
                         "needs the network")

    def frames(self):
        """Returns names of processes without PIDs."""
        return [{**f, "name": re.sub(r"^prog \(\d+\)$", "prog", f["name"])} for f in self.browser.script(self.FRAMES)]

    def widest(self, name):
        return max((f for f in self.frames() if f["name"] == name), key=lambda f: f["width"])

    def element(self, name):
        """Returns the widest frame of that name."""
        return browser.Element(self.browser, self.browser.script("""
          return Array.from(document.querySelectorAll('.f'))
            .filter(g => g.querySelector('text').textContent == arguments[0])
            .sort((a, b) => b.querySelector('rect').getAttribute('width')
                            - a.querySelector('rect').getAttribute('width'))[0]""", name))

    def text(self, id):
        return self.browser.script("return document.getElementById(arguments[0]).textContent", id)

    def search(self, query):
        self.browser.find("#search").click()
        self.browser.keys(*query)

    def found(self):
        m = re.fullmatch(r"(\d+) found, (\d+\.\d\d)% of all", self.text("found"))
        self.assertTrue(m, self.text("found"))
        return int(m[1]), float(m[2])

    def test_search(self):
        self.search("^very_h.t$")
        n, share = self.found()
        hits = [f for f in self.frames() if f["kind"] == "f hit"]
        self.assertEqual(len(hits), n)
        self.assertLessEqual({f["name"] for f in hits}, {"very_hot", "", "very_h\u2026"})
        self.assertIn("very_hot", [f["name"] for f in hits])
        self.assertAlmostEqual(share, self.percent("(^|;)very_hot(;|$)"), delta=0.5)
        self.browser.keys(ESCAPE)
        self.assertEqual(self.text("found"), "")
        self.assertEqual([f for f in self.frames() if "hit" in f["kind"]], [])
        self.browser.keys(*"/nothing_like_it") # a slash goes to where one types
        self.assertEqual(self.found(), (0, 0))
        self.browser.find("#reset").click()
        self.assertEqual(self.browser.script("return document.getElementById('search').value"), "")
        self.search("very_hot(") # no regular expression yet: as it is
        self.assertEqual(self.found(), (0, 0))

    def test_zoom_and_reset(self):
        before, all = self.frames(), self.widest("all")
        self.assertLess(self.widest("in_between")["width"], all["width"])
        ratio = self.widest("very_hot")["width"] / self.widest("in_between")["width"]
        self.element("in_between").click()
        focus = self.widest("in_between")
        self.assertAlmostEqual(focus["width"], all["width"], delta=0.1)
        self.assertAlmostEqual(self.widest("very_hot")["width"] / focus["width"], ratio, delta=0.01)
        for f in self.frames():
            is_below = f["y"] > focus["y"]
            self.assertEqual(f["kind"], "f above" if is_below else "f", f)
            if is_below:
                self.assertAlmostEqual(f["width"], all["width"], delta=0.1)
            self.assertLessEqual(f["x"] + f["width"], all["x"] + all["width"] + 0.1)
        self.assertEqual({f["name"] for f in self.frames() if f["kind"] == "f above"} & {"main", "prog"},
                         {"main", "prog"})
        self.browser.find("#reset").click()
        self.assertEqual(self.frames(), before)
        self.element("in_between").click()
        self.browser.keys(ESCAPE)
        self.assertEqual(self.frames(), before)

    def test_inverted(self):
        before = {(f["x"], f["width"], f["y"]): f["name"] for f in self.frames()}
        self.browser.find("#flip").click()
        order = [self.widest(n)["y"] for n in ("all", "prog", "main", "in_between", "very_hot")]
        self.assertEqual(order, sorted(order), "the root is above")
        all = self.widest("all")["y"]
        self.assertEqual({f["y"] for f in self.frames()}, {y for _, _, y in before})
        self.assertEqual(min(y for _, _, y in before), all)
        self.browser.find("#flip").click()
        self.assertEqual({(f["x"], f["width"], f["y"]): f["name"] for f in self.frames()}, before)

    def test_taller_than_the_window(self):
        for height, is_above in ((250, True), (2000, False)):
            self.browser.call("window/rect", {"width": 1280, "height": height})
            self.browser.open("about:blank")
            self.browser.open("file://" + self.path("a.svg"))
            self.assertEqual(self.widest("all")["y"] < self.widest("main")["y"], is_above)

    def test_pointed_at(self):
        self.browser.move_to(self.element("in_between"))
        self.browser.wait("return document.getElementById('tip').style.display != 'none'")
        tip = self.text("tip")
        self.assertRegex(tip, r"\Ain_between\S*prog\.c:\d+ in \S+/prog\d+\.\d\dm?s, \d\d\.\d\d% of all, \d+ samples")

    def test_by_address(self):
        self.browser.open("about:blank")
        self.browser.open("file://" + self.path("a.svg") + "#search=very_hot&zoom=in_between&flip=1")
        self.assertGreater(self.found()[0], 0)
        self.assertIn("f above", [f["kind"] for f in self.frames()])

    def test_difference(self):
        base.profile("-F", "999", "--with-symbols", "-w", self.path("b.scap"), "--", self.prog, "kernel")
        base.profile("--diff", self.capture, self.path("b.scap"), "-o", self.path("diff.svg"))
        self.browser.open("file://" + self.path("diff.svg"))
        self.search("vfs_read")
        self.assertGreater(self.found()[1], 25)
        self.assertRegex(self.text("sub"), r"^before: \d+ samples, [\d.]+m?s; after: \d+ samples, [\d.]+m?s$")


class Speedscope(Page):
    """Tests speedscope with each of the three formats that it opens: functions and weights in
    its table."""

    # Rows of the last table on the page: total, self, name.
    ROWS = """
      const tables = document.querySelectorAll('table');
      return Array.from(tables[tables.length - 1].querySelectorAll('tr')).map(
        r => Array.from(r.cells).map(c => c.innerText)).filter(r => r.length == 3)"""

    def setUp(self):
        if not os.path.exists(SPEEDSCOPE):
            e2e.skip_test("speedscope is not in build/npm: scripts/setup --tests, which needs npm")

    def load(self, name, title):
        """Opens a file and selects the profile with this title; returns functions by weight."""
        self.make(name)
        self.browser.open("about:blank")
        self.browser.open("file://" + SPEEDSCOPE)
        self.browser.wait("return document.querySelector('input[type=file]')")
        self.browser.find("input[type=file]").type(self.path(name))
        self.browser.wait("return document.querySelector('canvas')")
        self.browser.keys("3")
        self.browser.wait("return Array.from(document.querySelectorAll('th')).some(t => t.innerText == 'Self')")
        for _ in range(20):
            if re.search(title, self.browser.script("return document.title + '\\n' + document.body.innerText")):
                break
            self.browser.keys("n") # the next profile
        else:
            self.fail(f"{name}: no profile {title}")
        self.assertEqual(self.browser.errors(), [])

    def row(self, name):
        """Returns total and self of a function as (text, percent), once the page shows them."""
        total, self_, _ = self.browser.wait(
            "const rows = (() => {" + self.ROWS + "})();"
            "return rows.find(r => r[2].trim() == arguments[0])", name)
        return [re.fullmatch(r"(.*) \([<>]?([\d.]+)%\)", t).groups() for t in (total, self_)]

    def by_total(self):
        """Sorts by the total, so that callers come first."""
        self.browser.script("""Array.from(document.querySelectorAll('th')).filter(
          t => t.innerText == 'Total').forEach(t => t.click())""")
        self.browser.wait("const rows = (() => {" + self.ROWS + "})();"
                          "return rows.length > 1 && rows.some(r => r[2].trim() == 'very_hot')")

    def check(self, suffix, shown):
        """Checks that the page has the weights of the folded lines; shown: nanoseconds as text."""
        stacks = base.folded(self.make("a.folded").decode())
        total = sum(stacks.values())
        self_ns = sum(w for s, w in stacks.items() if s.endswith(";put_in_[i]"))
        all_ns = sum(w for s, w in stacks.items() if re.search(r"(^|;)very_hot(;|$)", s))
        text, percent = self.row("put_in" + suffix)[1]
        self.assertEqual(text, shown(self_ns))
        self.assertAlmostEqual(float(percent), 100 * self_ns / total, delta=1)
        self.by_total()
        text, percent = self.row("very_hot")[0]
        self.assertEqual(text, shown(all_ns))
        self.assertAlmostEqual(float(percent), 100 * all_ns / total, delta=1)

    def test_own_format(self):
        self.load("a.speedscope.json", r"(?m)^saker( \(1/\d+\))?$")
        self.check("", lambda ns: f"{ns / 1e9:.2f}s" if ns >= 1e9 else f"{ns / 1e6:.2f}ms")

    def test_folded(self):
        self.load("a.folded", r"a\.folded")
        self.check("_[i]", lambda ns: f"{ns:,}")

    def test_perf_text(self):
        # Here weights are times between samples, which other processes make longer.
        self.load("a.perf.txt", r"\nprog pid: \d+ tid: \d+\b")
        self.assertGreater(float(self.row("put_in")[1][1]), 25, "the inlined function")
        self.by_total()
        self.assertGreater(float(self.row("very_hot")[0][1]), 50)
        self.assertGreater(float(self.row("in_between")[0][1]), 25)


class Pprof(base.Hot):
    def setUp(self):
        if not shutil.which("go"):
            e2e.skip_test("go is not installed: scripts/setup --tests")

    def pprof(self, *args):
        self.make("f.pb.gz")
        return e2e.run("go", "tool", "pprof", *args, self.path("f.pb.gz"),
                       env={"HOME": self.dir, "PPROF_TMPDIR": self.dir})

    def test_top(self):
        stacks = base.folded(self.make("f.folded").decode())
        total = sum(stacks.values())
        text = self.pprof("-top", "-cum", "-unit=ms")
        self.assertIn("Type: cpu\n", text)
        row = r"(?m)^ *\S+ +\S+% +\S+% +([\d.]+)ms +([\d.]+)% +very_hot$"
        ms, percent = map(float, re.search(row, text).groups())
        expected = sum(w for s, w in stacks.items() if re.search(r"(^|;)very_hot(;|$)", s))
        self.assertAlmostEqual(ms, expected / 1e6, delta=0.02)
        self.assertAlmostEqual(percent, 100 * expected / total, delta=0.5)

    def test_lines_and_tags(self):
        self.assertRegex(self.pprof("-top", "-lines", "-sample_index=samples"),
                         r"(?m)^ *\d+ .* put_in \S*prog\.c:\d+ \(inline\)$")
        self.assertRegex(self.pprof("-tags"), r"process: Total .*\n.*prog\n")


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
