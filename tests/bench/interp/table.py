# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/interpreters.md: for each runtime here, how many of its own stacks the samples have,
and how long the functions of a stack take. Part interp of scripts/bench."""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../e2e"))

import erlang
import interp_python_test
import interp_stacks
import interp_test
import runtimes
import saker_e2e as e2e
from profile_test import SESSION

FUNCTIONS = 29
SECONDS = 2
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLEEPS = "clock_nanosleep, nanosleep, select, pselect6"
SCRIPTS = {"Python": ("py", SLEEPS), "Lua": ("lua", "clone, clone3"), "Perl": ("pl", SLEEPS), "PHP": ("php", SLEEPS),
           "Ruby": ("rb", "select, pselect6, ppoll"), "Erlang": ("erl", SLEEPS), "Node.js": ("js", "futex")}


def here():
    """Rows of language, build, program, root."""
    for version, python in sorted(interp_python_test.pythons().items(), key=lambda v: int(v[0].split()[0][2:])):
        yield "Python", version, python, ""
    for version in "5.3", "5.4":
        yield "Lua", version, f"/usr/bin/lua{version}", ""
    yield "Perl", "5.36", "/usr/bin/perl", ""
    yield "PHP", "8.2", "/usr/bin/php8.2", ""
    yield "Ruby", "3.1", "/usr/bin/ruby3.1", ""
    yield "Erlang", "25", erlang.program()[0], ""
    for language, version, program, suite, package in (
            ("Python", "3.13 trixie", "/usr/bin/python3.13", "trixie", "python3.13"),
            ("Python", "3.14 sid", "/usr/bin/python3.14", "sid", "python3.14"),
            ("Perl", "5.40 trixie", "/usr/bin/perl", "trixie", "perl"),
            ("Perl", "5.42 sid", "/usr/bin/perl", "sid", "perl"),
            ("PHP", "8.4 trixie", "/usr/bin/php8.4", "trixie", "php8.4-cli"),
            ("Erlang", "27 trixie", "", "trixie", "erlang-base")):
        root = runtimes.root(suite, package)
        yield language, version, program or erlang.program(root)[0], root
    for version in runtimes.NODES:
        yield "Node.js", version, runtimes.node(version), ""


def same(got, expected, by_caller):
    """How many stacks have the same lines in the same order, and how many of these the same names. Each stack
    that was seen is searched behind the one before. by_caller: a function keeps the first name that a caller had
    for it."""
    lines = names = at = 0
    known = {(name, line) for stack in expected for name, line in stack}
    for stack in got:
        for i in range(at, len(expected)):
            if [line for _, line in expected[i]] == [line for _, line in stack]:
                lines, at = lines + 1, i + 1
                names += set(stack) <= known if by_caller else expected[i] == stack
                break
    return lines, names


def agreement(language, program, root):
    ending, waits = SCRIPTS[language]
    judge = interp_test.Node() if language == "Node.js" else interp_stacks.Stacks()
    try:
        if language == "Erlang":
            expected = interp_test.different(judge.run_erlang(1, root))
            got = interp_test.different(judge.sampled(waits))
        else:
            expected = judge.run_program(program, f"stacks.{ending}", 1, root=root)
            got = judge.waits() if language == "Node.js" else judge.sampled(waits)
        return len(got), *same(got, expected, language == "Lua")
    finally:
        judge.doCleanups()


def ns_per_tick(command):
    """Mean of the kernel's run times of the program that samples."""
    saker = subprocess.Popen([e2e.SAKER, "profile", "-F", "999", "-d", "20", "-w", "/dev/null", "--", *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **SESSION})
    try:
        time.sleep(SECONDS - 0.3)
        text = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout
        found = [p for p in json.loads(text) if p.get("name") == "sample_cpu" and p.get("run_cnt", 0) > 100]
        return found[-1]["run_time_ns"] / found[-1]["run_cnt"]
    finally:
        saker.wait()


def cost(language, program, root):
    """us that the functions take: the least with them minus the least without."""
    script = os.path.join(HERE, f"deep.{SCRIPTS[language][0]}")
    if root:
        inside = os.path.join(root, "tmp", os.path.basename(script))
        e2e.write_text(inside, e2e.read_text(script))
        script = inside.removeprefix(root)
    command = [*(["chroot", root] if root else []), program, *(erlang.options() if language == "Erlang" else []), script]
    if language == "Erlang":
        command = ["env", *(f"{k}={v}" for k, v in erlang.program(root)[1].items()), *command]
    runs = [[ns_per_tick(["taskset", "-c", "0", *command, str(n), str(SECONDS)]) for n in (0, FUNCTIONS)]
            for _ in range(ROUNDS)]
    return (min(run[1] for run in runs) - min(run[0] for run in runs)) / 1000


def main():
    print(f"stacks that each runtime notes of itself, {interp_stacks.N} each; us that {FUNCTIONS} functions add to a")
    print(f"sample, least of {ROUNDS} alternating runs at 999 Hz with and without them\n")
    print("| language | version | stacks sampled | lines, order equal | names equal | us |")
    print("|---|---|---|---|---|---|")
    for language, version, program, root in here():
        if not root and not os.path.exists(program):
            print(f"| {language} | {version} | not installed | | | |")
            continue
        n, lines, names = agreement(language, program, root)
        print(f"| {language} | {version} | {n} | {lines} | {names} | {cost(language, program, root):.1f} |", flush=True)


if __name__ == "__main__":
    main()
