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
import interp_java_test
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
           "Ruby": ("rb", "select, pselect6, ppoll"), "Erlang": ("erl", SLEEPS), "Node.js": ("js", "futex"),
           "Java": ("java", "futex")}


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
    yield "Java", "17", interp_java_test.java("17"), ""
    for language, version, program, suite, package in (
            ("Python", "3.13 trixie", "/usr/bin/python3.13", "trixie", "python3.13"),
            ("Python", "3.14 sid", "/usr/bin/python3.14", "sid", "python3.14"),
            ("Perl", "5.40 trixie", "/usr/bin/perl", "trixie", "perl"),
            ("Perl", "5.42 sid", "/usr/bin/perl", "sid", "perl"),
            ("PHP", "8.4 trixie", "/usr/bin/php8.4", "trixie", "php8.4-cli"),
            ("Erlang", "27 trixie", "", "trixie", "erlang-base"),
            ("Java", "21 trixie", interp_java_test.java("21"), "trixie", "openjdk-21-jre-headless"),
            ("Java", "25 trixie", interp_java_test.java("25"), "trixie", "openjdk-25-jre-headless")):
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


def sampled(judge, language, version, program, root):
    """The stacks that the program prints, and those of the samples."""
    if language == "Java":
        version = version.split()[0]
        if root:
            interp_java_test.later(judge, version)
        return judge.stacks(1, version=version, root=root)
    ending, waits = SCRIPTS[language]
    if language == "Erlang":
        return interp_test.different(judge.run_erlang(1, root)), interp_test.different(judge.sampled(waits))
    expected = judge.run_program(program, f"stacks.{ending}", 1, root=root)
    return expected, judge.waits() if language == "Node.js" else judge.sampled(waits)


def judge_of(language):
    if language == "Java":
        return interp_java_test.Java()
    return interp_test.Node() if language == "Node.js" else interp_stacks.Stacks()


def agreement(language, version, program, root):
    judge = judge_of(language)
    try:
        judge.classes = interp_java_test.classes(judge, "interp/Stacks.java") if language == "Java" else None
        expected, got = sampled(judge, language, version, program, root)
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


def deep_program(test, language, version, program, root):
    """The command of the program whose functions are counted."""
    if language == "Java":
        folder = interp_java_test.classes(test, os.path.join(HERE, "Deep.java"))
        if root:
            interp_java_test.later(test, version.split()[0])
            folder = interp_java_test.copied(test, folder, root)
        return [*(["chroot", root] if root else []), program, "-cp", folder, "Deep"]
    script = os.path.join(HERE, f"deep.{SCRIPTS[language][0]}")
    if root:
        inside = os.path.join(root, "tmp", os.path.basename(script))
        e2e.write_text(inside, e2e.read_text(script))
        script = inside.removeprefix(root)
    command = [*(["chroot", root] if root else []), program, *(erlang.options() if language == "Erlang" else []), script]
    if language == "Erlang":
        command = ["env", *(f"{k}={v}" for k, v in erlang.program(root)[1].items()), *command]
    return command


def cost(*runtime):
    """us that the functions take: the least with them minus the least without."""
    test = interp_stacks.Stacks()
    try:
        command = deep_program(test, *runtime)
        runs = [[ns_per_tick(["taskset", "-c", "0", *command, str(n), str(SECONDS)]) for n in (0, FUNCTIONS)]
                for _ in range(ROUNDS)]
        return (min(run[1] for run in runs) - min(run[0] for run in runs)) / 1000
    finally:
        test.doCleanups()


def main():
    print(f"stacks that each runtime notes of itself, {interp_stacks.N} each; us that {FUNCTIONS} functions add to a")
    print(f"sample, least of {ROUNDS} alternating runs at 999 Hz with and without them\n")
    print("| language | version | stacks sampled | lines, order equal | names equal | us |")
    print("|---|---|---|---|---|---|")
    for language, version, program, root in here():
        if not root and not os.path.exists(program):
            print(f"| {language} | {version} | not installed | | | |")
            continue
        n, lines, names = agreement(language, version, program, root)
        us = cost(language, version, program, root)
        print(f"| {language} | {version} | {n} | {lines} | {names} | {us:.1f} |", flush=True)


if __name__ == "__main__":
    main()
