# SPDX-License-Identifier: Apache-2.0
"""Reads the driver's tables of system calls, and the cases of tests/e2e/calls."""

import functools
import glob
import os
import re

import saker_e2e as e2e

GENERIC = "SYSCALL_X"


class Call:
    """A row of syscalls.def."""

    def __init__(self, nr, name, event):
        self.nr, self.name, self.event = nr, name, event
        self.reason = None  # why the event is the generic one
        self.family = None  # of its case

    def printed(self):
        """Returns the event type that lines show for the call."""
        return self.name if self.event == GENERIC else event_names()[self.event]


def source(*path):
    return e2e.read_text(os.path.join(e2e.SOURCE, *path))


@functools.cache
def event_names():
    """Returns {symbol of an event: its printed name}."""
    return dict(re.findall(r'^EVT\(\w+, (\w+), "(\w+)"', source("driver/events.def"), re.M))


def cases():
    """Returns (family, name) of every row of cases_FAMILY.c."""
    out = []
    for path in sorted(glob.glob(os.path.join(e2e.SOURCE, "tests/e2e/calls/cases_*.c"))):
        family = os.path.basename(path)[len("cases_"):-len(".c")]
        out += [(family, n) for n in re.findall(r'^\t\{"(\w+)", \w+\},', e2e.read_text(path), re.M)]
    return out


@functools.cache
def calls():
    """Returns {name: Call}, in the order of the numbers."""
    table = {name: Call(int(nr), name, event) for nr, name, event in re.findall(
        r"^SYS\((\d+), (\w+), (\w+), \w+", source("driver/syscalls.def"), re.M)}
    for name, reason in re.findall(r'^GENERIC\((\w+), "(.*)"\)', source("driver/generic.def"), re.M):
        table[name].reason = reason
    for family, name in cases():
        table[name].family = family
    return table


def by_nr(nr):
    return next((c for c in calls().values() if c.nr == nr), None)
