# SPDX-License-Identifier: Apache-2.0
"""Makes reports of a log for some seconds of CPU time: report.py SECONDS."""
import re
import sys
import time

LINE = re.compile(r"(\S+) (\w+) (\S+) (\d+)")
LOG = [f"10.0.0.{i % 50} GET /page/{i % 17} {i * 37 % 900}" for i in range(2000)]


def parse(line):
    return LINE.match(line).groups()


def count(lines):
    pages = {}
    for line in lines:
        _, _, page, ms = parse(line)
        calls, total = pages.get(page, (0, 0))
        pages[page] = calls + 1, total + int(ms)
    return pages


def mean(row):
    return row[1][1] / row[1][0]


def slowest_first(pages):
    rows = []
    for _ in range(100):
        rows = sorted(pages.items(), key=mean, reverse=True)
    return rows


def render(rows):
    return "".join(f"<tr><td>{page}</td><td>{calls}</td><td>{total}</td></tr>" for _ in range(30)
                   for page, (calls, total) in rows)


def report():
    return render(slowest_first(count(LOG)))


while time.process_time() < float(sys.argv[1]):
    report()
