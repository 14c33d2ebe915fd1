#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes each allocation of a replay fail once, in the build with sanitizers: saker gives the usual result, or prints a
warning, or ends with an error message. It never crashes or leaks."""

import concurrent.futures
import os
import re
import shlex
import subprocess
import tempfile
import unittest

import saker_e2e as e2e

# What is tried: a program and its words. FILE is a capture; OUT is written.
MODES = [
    ("saker", "-r FILE"),
    ("saker", "-r FILE -j -x proc.name=cat or fd.name contains tmp"),
    ("saker", "-r FILE -p '*%evt.num %user.name %container.name %fd.name %proc.aname[2]' evt.type in '(open, openat, execve)'"),
    ("saker", "-r FILE -w OUT proc.name!=cat"),
    ("saker", "-r FILE -z -w OUT --redact env,args"),
    ("saker", "-r FILE -q -S --requests"),
    ("saker", "-r FILE --verify"),
    ("saker", "-r FILE -c topprocs_file"),
    ("saker", "-r FILE -c spectrogram 100"),
    ("saker", "-r FILE -c spy_users"),
    ("saker", "why -r FILE"),
    ("saker-top", "-r FILE -b -v procs"),
    ("saker-top", "-r FILE -b -v files -j"),
    ("saker-exporter", "-r FILE --print"),
]
# With ALLOC_LIVE=1 these, too, which takes ten minutes. What they print differs each time.
LIVE = [
    ("saker", "-q -w OUT -- true"),
    ("saker", "profile --off-cpu -o OUT.txt -- sleep 0.05"),
    ("saker", "--requests --tls --page-faults --tcp -q -- true"),
]
CRASHED = 99
ENV = {"ASAN_OPTIONS": f"exitcode={CRASHED}:detect_stack_use_after_return=0:allocator_may_return_null=1",
       "UBSAN_OPTIONS": f"exitcode={CRASHED}:print_stacktrace=1", "LC_ALL": "C"}
EVENTS = 600


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        p = subprocess.run([os.path.join(e2e.SOURCE, "scripts/fuzz"), "--build", *sorted({mode[0] for mode in MODES})],
                           capture_output=True, text=True)
        if p.returncode == 77:
            e2e.skip_test(p.stderr.strip().removeprefix("skipped: "))
        assert p.returncode == 0, p.stderr
        cls.folder = e2e.own_dir(cls)
        cls.file = os.path.join(cls.folder, "some.scap")
        e2e.run(e2e.SAKER, "-r", e2e.made_captures()[0], "-w", cls.file, f"evt.num<={EVENTS}")

    def once(self, mode, **env):
        """Returns the status, what was printed and the events in files that were written, and the messages. A file may
        begin with more processes than it needs, where there was no memory to find those."""
        program, text = mode
        path = os.path.join(e2e.BUILD, "sanitized/userspace/saker", program)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            p = subprocess.run([path, *shlex.split(text.replace("FILE", self.file))], stdin=subprocess.DEVNULL, cwd=folder,
                               capture_output=True, errors="replace", timeout=e2e.DEADLINE_S, env={**os.environ, **ENV, **env})
            written = [subprocess.run([e2e.SAKER, "-r", os.path.join(folder, name)], capture_output=True, errors="replace").stdout
                       for name in os.listdir(folder) if name == "OUT"]
        return p.returncode, (p.stdout, written), p.stderr

    def fails_well(self, mode, place, usual):
        """Returns what is wrong if the allocation at a place of the mode fails."""
        try:
            status, result, said = self.once(mode, SAKER_FAIL_ALLOC=str(place))
        except subprocess.TimeoutExpired as e:
            return f"no end: {e.stderr}"
        if status < 0 or status == CRASHED or "Sanitizer" in said or "runtime error" in said:
            return f"status {status}: {said[-3000:]}"
        if status and not re.search(r"^saker.*: .*\w", said, re.M):
            return f"status {status} without a sentence: {said!r}"
        varies = mode in LIVE or mode[0] == "saker-exporter"  # its own times
        if not varies and not status and result != usual[1] and said == usual[2]:
            return "another result, and no message"
        return None

    def test_every_allocation(self):
        seen, wrong, tried = set(), [], 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, mode in enumerate(MODES + (LIVE if os.environ.get("ALLOC_LIVE") else [])):
                places = os.path.join(self.folder, f"places.{number}")
                usual = self.once(mode, SAKER_FAIL_ALLOC="0", SAKER_FAIL_ALLOC_PLACES=places)
                self.assertEqual(usual[0], 0, (mode, usual[2]))
                found = e2e.read_text(places).splitlines()
                self.assertGreater(len(found), 10, mode)
                new = [i for i, place in enumerate(found, 1) if (mode[0], place) not in seen]
                seen |= {(mode[0], place) for place in found}
                tried += len(new)
                for i, fault in zip(new, pool.map(lambda i, mode=mode, usual=usual: self.fails_well(mode, i, usual), new)):
                    if fault:
                        wrong.append(f"{' '.join(mode)}, place {i} ({found[i - 1]}): {fault}")
        print(f"{tried} allocations failed")
        if wrong:
            self.fail("\n".join((f"{len(wrong)} of {tried}", *wrong)))


if __name__ == "__main__":
    unittest.main()
