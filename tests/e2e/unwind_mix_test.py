#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests user stacks of a mix of programs, each sampled until enough stacks were judged: libdw
unwinds the same samples. Run by hand, unwind_mix_test.py NAME... judges these programs and prints
the results."""

import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

import saker_e2e as e2e

ENOUGH = 150  # stacks of each program
SECONDS = 20  # at most; a busy machine gives a program less
HZ = 2000
SHARE = 99.9  # per cent of all that are judged

FOREVER = {
    "bash": 'f() { local a=$1 b=${1%%x*}; [ "$a" -gt 0 ] && f $((a - 1)); }; '
            'while :; do f 15; a=(b c d); [[ ${a[*]} =~ c.d ]]; printf -v x "%05d" 3; done',
    "perl": 'sub f { my $n = shift; $n ? f($n - 1) . $n : "" } my %h; while (1) { my $s = f(10); '
            '$s =~ s/(\\d)0/$1/g; $h{length $s}++; my @v = sort { $b <=> $a } map { $_ * 7 % 13 } 1..50 }',
    "python3": 'import json, re\n'
               'def f(n): return f(n - 1) + [n] if n else []\n'
               'while True:\n'
               '    text = json.dumps({str(k): f(10) for k in range(20)})\n'
               '    re.sub(r"(\\d), (\\d)", r"\\2 \\1", text)\n'
               '    sorted(json.loads(text), key=lambda k: -int(k))\n',
    "node": 'const f = n => n ? [...f(n - 1), n] : []; for (;;) { const t = JSON.stringify(f(20)); '
            't.replace(/(\\d),/g, "$1;"); JSON.parse(t).sort((a, b) => b - a); '
            'require("zlib").deflateSync(t) }',
    "sqlite3": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(n) FROM "
               "(SELECT count(*) n, group_concat(x % 7) FROM c GROUP BY abs(x * 7919) % 1000);",
    "gdb": "python import itertools; any(gdb.parse_and_eval(f'(1 + {i}) * 3 > sizeof(long)') is None "
           "for i in itertools.count())",
}


def compiled(compiler, source, *flags):
    """Returns a program of the mix, compiled where the command will run."""
    def make(folder):
        out = os.path.join(folder, source.replace(".", "_") + "_" + compiler[0])
        home = os.environ.get("HOME", "/")
        p = subprocess.run([*compiler, *flags, "-o", out,
                            os.path.join(e2e.SOURCE, "tests/e2e/unwind_mix", source)],
                           capture_output=True, text=True, cwd=folder,
                           env={**os.environ, "GOCACHE": folder + "/go", "HOME": home})
        if p.returncode:
            raise AssertionError(f"{source}: {p.stderr}")
        return [out]
    return make


def large_c(folder):
    path = os.path.join(folder, "large.c")
    with open(path, "w") as f:
        f.write("int printf(const char *, ...);\n")
        for i in range(1500):
            f.write(f"int f{i}(int n, int *v) {{ int s = 0; for (int i = 0; i < n; i++) {{ "
                    f"switch (v[i] % 7) {{ case 0: s += v[i] / {i + 1}; break; case 1: s ^= n; "
                    f"break; default: s -= v[n - i - 1] * {i}; }} }} "
                    f"return s > {i} ? s : printf(\"%d\", s); }}\n")
    return ["gcc", "-O2", "-c", "-o", os.path.join(folder, "large.o"), path]


def two_files(folder):
    names = []
    for k in (3, 7):
        names.append(os.path.join(folder, f"lines{k}"))
        with open(names[-1], "w") as f:
            f.writelines(f"{i * i * k % 1009}\n" for i in range(60000))
    return ["git", "diff", "--no-index", "--minimal", "--stat", *names]


def java_start(folder):
    return ["java", "-Xint", "-Xshare:off", "-XX:+UseSerialGC",
            os.path.join(e2e.SOURCE, "tests/e2e/unwind_mix/Start.java")]


# Name, required tool, function that returns its command.
MIX = [
    ("bash", "bash", lambda folder: ["bash", "-c", FOREVER["bash"]]),
    ("perl", "perl", lambda folder: ["perl", "-e", FOREVER["perl"]]),
    ("python3", "python3", lambda folder: ["python3", "-c", FOREVER["python3"]]),
    ("git", "git", two_files),
    ("gcc", "gcc", large_c),
    ("gdb", "gdb", lambda folder: ["gdb", "-nx", "-batch", "-ex", FOREVER["gdb"]]),
    ("openssl", "openssl", lambda folder: ["openssl", "speed", "-seconds", "30", "rsa2048"]),
    ("sqlite3", "sqlite3", lambda folder: ["sqlite3", ":memory:", FOREVER["sqlite3"]]),
    ("node", "node", lambda folder: ["node", "-e", FOREVER["node"]]),
    ("java", "java", java_start),
    ("C++ exceptions", "g++", compiled(["g++"], "exceptions.cc", "-O2")),
    ("aligned stacks", "gcc", compiled(["gcc"], "aligned.c", "-O2", "-fomit-frame-pointer",
                                       "-Wno-psabi")),
    ("handlers", "gcc", compiled(["gcc"], "handlers.c", "-O2")),
    ("vfork", "gcc", compiled(["gcc"], "vforks.c", "-O2")),
    ("static", "gcc", compiled(["gcc"], "calls.c", "-O2", "-static")),
    ("clang -O3", "clang", compiled(["clang"], "calls.c", "-O3")),
    ("Rust", "rustc", compiled(["rustc"], "mixed.rs", "-O", "--edition=2021")),
    ("Go", "go", compiled(["go", "build"], "mixed.go")),
]


class Result:
    def __init__(self, text):
        self.text = text
        m = re.search(r"^all +(\d+) +(\d+) +[\d.]+ +(\d+) +([\d.]+)", text, re.M)
        self.judged, self.same, self.frames = (int(n) for n in m.groups()[:3])


def judge(name, argv, folder):
    """Returns the self-test's output for a command, which it ends."""
    p = subprocess.Popen([e2e.SAKER, "selftest", "--unwind", "-v", "-F", str(HZ), "-n", str(ENOUGH),
                          "-d", str(SECONDS), "--", *argv], cwd=folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         start_new_session=True, env={**os.environ, "LC_ALL": "C"})
    try:
        out, err = p.communicate(timeout=SECONDS + 60)
    finally:
        try:  # what the command left
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if p.returncode:
        raise AssertionError(f"{name}: status {p.returncode}\n{out[-2000:]}\n{err[-2000:]}")
    return Result(out)


class Mix(unittest.TestCase):
    def test_mix(self):
        folder = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, folder)
        results = {}
        for name, program, make in MIX:
            if not shutil.which(program):
                print(f"without {name}: {program} is not installed", file=sys.stderr)
                continue
            results[name] = judge(name, make(folder), folder)
            self.assertGreater(results[name].judged, 20, (name, results[name].text))
        judged = sum(r.judged for r in results.values())
        same = sum(r.same for r in results.values())
        self.assertGreater(judged, 20 * len(MIX) / 2, results.keys())
        differ = "\n".join(f"{n}\n{r.text}" for n, r in results.items() if r.same < r.judged)
        self.assertGreaterEqual(100 * same / judged, SHARE, differ)


def by_hand(names):
    folder = e2e.temp_dir()
    try:
        for name, program, make in MIX:
            if name not in names and names != ["all"]:
                continue
            if not shutil.which(program):
                print(f"{name}: {program} is not installed")
                continue
            print(f"== {name}", flush=True)
            print(judge(name, make(folder), folder).text, flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    e2e.need_live()
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and sys.argv[1] != "Mix":
        by_hand(sys.argv[1:])
    else:
        unittest.main()
