# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/interpreters.md: for each runtime here, how many of its own stacks the samples have, how
many samples at any instruction are right, and how long the functions of a stack take. Part interp of scripts/bench."""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../e2e"))


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--stacks", default=os.environ.get("INTERP_STACKS", "400"), help="of each runtime: 400")
    p.add_argument("--only", default="", metavar="LANGUAGE[ VERSION][,...]")
    p.add_argument("--columns", default="agreement,async,cost,warm", help="some of these")
    return p.parse_args()


OPTIONS = options()
os.environ["INTERP_STACKS"] = OPTIONS.stacks # before interp_stacks reads it

import erlang
import interp_java_test
import interp_paths as paths
import interp_python_test
import interp_stacks
import interp_test
import runtimes
import saker_e2e as e2e
from profile_test import SESSION

FUNCTIONS = 29
SECONDS = 2
ASYNC_SECONDS = int(os.environ.get("ASYNC_SECONDS", "2"))
WITHOUT_C = "Java", "Node.js" # what sorts is written in the language
NEAR = 100 # stacks among which the next one is searched: few have no sample
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLEEPS = "clock_nanosleep, nanosleep, select, pselect6"
SCRIPTS = {"Python": ("py", SLEEPS), "Lua": ("lua", "clone, clone3, vfork"), "Perl": ("pl", SLEEPS),
           "PHP": ("php", SLEEPS), "Ruby": ("rb", "select, pselect6, ppoll, futex"), "Erlang": ("erl", SLEEPS),
           "Node.js": ("js", "futex"), "Java": ("java", "futex")}
LATER = (("Python", "3.13 trixie", "/usr/bin/python3.13", "trixie", "python3.13"),
         ("Python", "3.14 sid", "/usr/bin/python3.14", "sid", "python3.14"),
         ("Lua", "5.3 sid", "/usr/bin/lua5.3", "sid", "lua5.3", "dash", "coreutils"),
         ("Lua", "5.4 trixie", "/usr/bin/lua5.4", "trixie", "lua5.4", "dash", "coreutils"),
         ("Lua", "5.5 sid", "/usr/bin/lua5.5", "sid", "lua5.5", "dash", "coreutils"),
         ("Perl", "5.40 trixie", "/usr/bin/perl", "trixie", "perl"),
         ("Perl", "5.42 sid", "/usr/bin/perl", "sid", "perl"),
         ("PHP", "8.4 trixie", "/usr/bin/php8.4", "trixie", "php8.4-cli"),
         ("Ruby", "3.3 trixie", "/usr/bin/ruby", "trixie", "ruby3.3"),
         ("Erlang", "27 trixie", "", "trixie", "erlang-base"),
         ("Java", "21 trixie", interp_java_test.java("21"), "trixie", "openjdk-21-jre-headless"),
         ("Java", "25 trixie", interp_java_test.java("25"), "trixie", "openjdk-25-jre-headless"),
         ("Node.js", "18 bookworm", "/usr/bin/nodejs", "bookworm", "nodejs"),
         ("Node.js", "20 trixie", "/usr/bin/nodejs", "trixie", "nodejs"))


def of_this_release():
    for version, python in sorted(interp_python_test.pythons().items(), key=lambda v: int(v[0].split()[0][2:])):
        yield "Python", version, python
    for version in "5.3", "5.4":
        yield "Lua", version, f"/usr/bin/lua{version}"
    yield "Perl", "5.36", "/usr/bin/perl"
    yield "PHP", "8.2", "/usr/bin/php8.2"
    yield "Ruby", "3.1", "/usr/bin/ruby3.1"
    yield "Erlang", "25", erlang.program()[0]
    yield "Java", "17", interp_java_test.java("17")


def is_wanted(language, version):
    wanted = OPTIONS.only.split(",") if OPTIONS.only else [language]
    return language in wanted or f"{language} {version}" in wanted


def rows():
    """Language, build, and a function that returns program and root; it skips if they cannot be had."""
    for language, version, program in of_this_release():
        yield language, version, lambda program=program: (program if os.path.exists(program) else "", "")
    yield "Python", "3.13 free", lambda: (runtimes.python_without_gil(), "")
    for language, version, program, *packages in LATER:
        def unpacked(program=program, packages=packages):
            root = runtimes.root(*packages)
            return program or erlang.program(root)[0], root
        yield language, version, unpacked
    for version in runtimes.NODES:
        yield "Node.js", version, lambda version=version: (runtimes.node(version), "")


def here():
    """Rows of language, build, program, root; no program: it cannot be had."""
    for language, version, find in rows():
        if not is_wanted(language, version):
            continue
        try:
            yield language, version, *find()
        except unittest.SkipTest:
            yield language, version, "", ""


def is_line(own, seen, language):
    """Functions of Node.js itself may have no line: see the limits in docs/interpreters.md."""
    return seen == own or (language == "Node.js" and not seen)


def same(got, expected, language):
    """How many stacks have the same lines in the same order, and how many of these the same names. Each stack
    that was seen is searched behind the one before. A function of Lua keeps the first name that a caller had for it."""
    lines = names = at = 0
    known = {(name, line) for stack in expected for name, line in stack}
    for stack in got:
        for i in range(at, min(at + NEAR, len(expected))):
            own = expected[i]
            if len(own) == len(stack) and all(is_line(a[1], b[1], language) for a, b in zip(own, stack)):
                lines, at = lines + 1, i + 1
                names += set(stack) <= known if language == "Lua" else [n for n, _ in own] == [n for n, _ in stack]
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
        if language == "Java":
            judge.classes = interp_java_test.classes(judge, "interp/Stacks.java")
            judge.library = interp_java_test.library(judge, judge.classes)
        expected, got = sampled(judge, language, version, program, root)
        return len(got), *same(got, expected, language)
    finally:
        judge.doCleanups()


def levels(program, rows):
    """The program's functions in a stack, innermost first: level, first and last row. A block without a name belongs to
    its function."""
    res = []
    for i, (kind, _, file, line) in enumerate(rows):
        name = paths.NAME.fullmatch(program.owner.get(line, "")) if kind == "s" else None
        if not name or os.path.basename(file) != program.file:
            continue
        if res and res[-1][0] == int(name[1]):
            res[-1][2] = i
        else:
            res.append([int(name[1]), i, i])
    return res


def is_mixed(program, rows, has_loops):
    """Whether something else stands where a function calls the next one through C, and nowhere else. None: it has no
    such call. has_loops: each function has a native frame of its own."""
    found = levels(program, rows)
    calls = [(outer[0] in paths.VIA_C, outer[2] - inner[2] - 1 - (outer[2] > outer[1]), outer[1] - inner[2] - 1)
             for inner, outer in zip(found, found[1:])]
    if not any(via_c for via_c, _, _ in calls):
        return None
    return all(n > 0 if via_c else has_loops or not between for via_c, n, between in calls)


def asynchronous(language, version, program, root):
    """Counts of samples at any instruction: those whose functions are right, those with wrong ones, and all; those of the
    first with C in its place, and all with calls through C."""
    test = interp_stacks.Stacks()
    folder = tempfile.mkdtemp(dir=root + "/tmp") if root else e2e.own_dir(test)
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    try:
        if language == "Java" and root:
            interp_java_test.later(test, version.split()[0])
        judge = paths.Program(SCRIPTS[language][0])
        capture = paths.sample(folder, *paths.command_of(judge.ending, program, judge.write(folder), ASYNC_SECONDS, root))
        counts = paths.judged(judge, capture, [])
        has_loops = language == "Python" and int(version.split()[0][2:]) < 11
        mixed = [is_mixed(judge, rows, has_loops) for _, _, rows in paths.stacks(capture, "--interpreter-frames")
                 if judge.judge(rows) == "right"]
        mixed = [m for m in mixed if m is not None]
        return counts["right"] + counts["inner"], counts["wrong"], sum(counts.values()), sum(mixed), len(mixed)
    finally:
        test.doCleanups()


def numbers(path):
    """The numbers that the kernel has for a program of BPF: a file of /proc/PID/fdinfo."""
    try:
        return dict(line.split(":\t", 1) for line in e2e.read_text(path).splitlines() if ":\t" in line)
    except OSError:
        return {}


def sampler_of(pid):
    """The file with the numbers of the program with which this process samples; None: not yet."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        number = numbers(path)
        if int(number.get("run_cnt", 0)) > 100:
            p = subprocess.run(["bpftool", "-j", "prog", "show", "id", number["prog_id"]], capture_output=True, text=True)
            if p.returncode == 0 and json.loads(p.stdout).get("name") == "sample_cpu":
                return path
    return None


def ns_per_tick(command):
    """Mean of the kernel's run times of the program that samples, which runs at ticks of this command and, on a busy
    machine, of others."""
    saker = subprocess.Popen([e2e.SAKER, "profile", "-F", "999", "-d", "20", "-w", "/dev/null", "--", *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **SESSION})
    path, last = None, {}
    while saker.poll() is None:
        path = path or sampler_of(saker.pid)
        last = path and numbers(path) or last
        time.sleep(0.1)
    return int(last["run_time_ns"]) / int(last["run_cnt"])


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


def warm(language, version, program, root):
    """us that the functions add to a sample of a system call, in blocks of calls: the least time with them minus the
    least without. Other work on the machine does not change it."""
    name = {"Python": "deep_calls.py", "Node.js": "deep_calls.js"}.get(language)
    if not name:
        return ""
    test, least = interp_stacks.Stacks(), {}
    try:
        script = os.path.join(e2e.own_dir(test) if not root else root + "/tmp", name)
        shutil.copy(os.path.join(HERE, name), script)
        command = ["taskset", "-c", "0", *(["chroot", root] if root else []), program, script.removeprefix(root)]
        for _ in range(2):
            for n in 0, FUNCTIONS:
                p = subprocess.run([e2e.SAKER, "--sample-on", "syscall", "-w", script + ".scap", "evt.type=getppid", "--",
                                    *command, str(n)], capture_output=True, text=True, check=True,
                                   env={**os.environ, **SESSION})
                least[n] = min(least.get(n, 1e9), float(p.stdout.split()[0]))
        return f"{(least[FUNCTIONS] - least[0]) / 1000:.1f}"
    finally:
        test.doCleanups()


def row(columns, *runtime):
    """The texts of a row."""
    res = list(runtime[:2])
    if "agreement" in columns:
        n, lines, names = agreement(*runtime)
        res += [f"{n} of {interp_stacks.N}", str(lines), str(names)]
    if "async" in columns:
        right, wrong, n, mixed, n_mixed = asynchronous(*runtime)
        res += [f"{right:,} of {n:,}", f"{wrong}", "" if runtime[0] in WITHOUT_C else f"{mixed:,} of {n_mixed:,}"]
    if "cost" in columns:
        res += [f"{cost(*runtime):.1f}"]
    if "warm" in columns:
        res += [warm(*runtime)]
    return res


def main():
    columns = OPTIONS.columns.split(",")
    titles = {"agreement": ["stacks sampled", "lines, order equal", "names equal"],
              "async": ["at any instruction", "wrong", "C in its place"], "cost": ["us"], "warm": ["us, warm"]}
    heads = ["language", "version", *(title for column in titles if column in columns for title in titles[column])]
    print(f"stacks that each runtime notes of itself, {interp_stacks.N} each; samples at any instruction whose functions")
    print("fit together, those that have wrong ones beyond the innermost, not only fewer, and those of the first with")
    print("native frames just where C calls; us that", FUNCTIONS, "functions add")
    print(f"to a sample, least of {ROUNDS} alternating runs at 999 Hz with and without them\n")
    print("|", " | ".join(heads), "|")
    print("|" + "---|" * len(heads))
    for runtime in here():
        cells = row(columns, *runtime) if runtime[2] else [*runtime[:2], "not there", *[""] * (len(heads) - 3)]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
