#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command line on the live system: commands to capture, signals, a full disk."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import saker_e2e as e2e


class Live(unittest.TestCase):
    def setUp(self):
        self.dir = e2e.temp_dir()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.capture = os.path.join(self.dir, "c.scap")

    def saker(self, *args, **kwargs):
        return subprocess.run([e2e.SAKER, *args], capture_output=True, text=True, timeout=120,
                              errors="surrogateescape", **kwargs)

    def start(self, *args):
        p = subprocess.Popen([e2e.SAKER, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, errors="surrogateescape")
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def wait_for_bytes(self, path):
        """The capture is running once the file has content."""
        for _ in range(600):
            if os.path.exists(path) and os.path.getsize(path):
                return
            time.sleep(0.1)
        self.fail(f"{path} stays empty")

    # saker --pid

    def test_suppressed_calls_are_counted(self):
        """1000 calls of dd, twice, of which the kernel passes none; others are not counted."""
        path = os.path.join(self.dir, "suppressed.scap")
        shell = "dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none; cat /dev/null"
        p = self.saker("-q", "-v", "-U", "dd", "-w", path, "--", "sh", "-c", shell)
        live = re.search(r"(\d+) of suppressed processes", p.stderr)
        self.assertTrue(2000 <= int(live[1]) < 3000, p.stderr)
        read = self.saker("-q", "-v", "-r", path)
        self.assertEqual(re.search(r"(\d+) of suppressed processes", read.stderr)[1], live[1])
        self.assertNotIn("of suppressed", self.saker("-q", "-v", "--", "true").stderr)

    def test_the_capture_ends_with_its_process(self):
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        for tree, who in ([], "process has"), (["--tree"], "process and its descendants have"):
            sh = subprocess.Popen(["sh", "-c", 'read x <"$0" & read x', fifo],
                                  stdin=subprocess.PIPE)
            p = self.start("--pid", str(sh.pid), *tree, "-w", self.capture)
            self.wait_for_bytes(self.capture)
            sh.communicate(b"\n", timeout=120)
            if tree:
                self.assertRaises(subprocess.TimeoutExpired, p.wait, 0.5)
            with open(fifo, "w", encoding="utf-8"):
                pass # the child of sh ends
            self.assertEqual(p.wait(60), 0)
            self.assertEqual(p.stderr.read(), f"saker: the {who} exited\n")
            os.unlink(self.capture)

    def test_users_without_names(self):
        for options, name in ([], "root"), (["-E"], "<NA>"):
            p = self.saker(*options, "-p", "%evt.type %evt.args", "--", "id", "-u")
            self.assertEqual(p.returncode, 0)
            self.assertIn(f"geteuid euid=0({name}) ", p.stderr)

    # saker -- CMD

    def test_exit_status_is_the_commands(self):
        for script, status in ("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137):
            self.assertEqual(self.saker("-q", "--", "sh", "-c", script).returncode, status)

    def test_children_that_a_parent_ignores(self):
        """So does its child: the kernel would keep the status of none."""
        p = self.saker("-q", "--", "sh", "-c", "exit 7", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((p.returncode, p.stderr), (7, ""))

    def test_signals_that_are_blocked(self):
        ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)
        self.addCleanup(signal.pthread_sigmask, signal.SIG_UNBLOCK, ends)
        p = self.start("-q", "-w", self.capture)
        e2e.somebody(self)
        e2e.wait_for_event(self.capture, p)
        p.terminate()
        self.assertEqual(p.wait(60), 0)
        # The command blocks them as ever.
        p = self.saker("-q", "--", "grep", "^SigBlk:", "/proc/self/status")
        self.assertEqual(int(p.stdout.split()[1], 16), sum(1 << end - 1 for end in ends))

    def test_commands_that_cannot_run(self):
        script = os.path.join(self.dir, "script")
        with open(script, "w", encoding="utf-8") as f:
            f.write("exit 5\n")
        for name, status in ("no-such-command", 127), ("/no/such", 127), ("", 127), \
                (script, 126), (self.dir, 126):
            p = self.saker("--", name)
            self.assertEqual(p.returncode, status, p.stderr)
            self.assertEqual(p.stderr.count("\n"), 1, p.stderr)
        os.chmod(script, 0o755)
        self.assertEqual(self.saker("-q", "--", script).returncode, 5, "a script without #!")

    def test_saker_itself_failed(self):
        p = self.saker("-w", "/nowhere/x.scap", "--", "touch", os.path.join(self.dir, "ran"))
        self.assertEqual(p.returncode, 125)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "ran")))

    def test_output_of_the_command_stays_clean(self):
        p = self.saker("--", "echo", "hello")
        self.assertEqual((p.returncode, p.stdout), (0, "hello\n"))
        lines = e2e.lines(p.stderr)
        self.assertEqual(lines[0].type, "execve", "not what the child did before")
        if lines[0].dir == ">": # it waited for the disk
            del lines[0]
        self.assertIn("args=hello.", lines[0].info)
        self.assertEqual(lines[-1].type, "procexit")
        self.assertEqual({line.comm for line in lines}, {"echo"})

    def test_times_of_the_program(self):
        """Works also after the times were read, which the kernel marks in the nanoseconds."""
        st = os.stat("/bin/true")
        line = self.saker("--syscalls", "execve", "--", "/bin/true").stderr
        for name, ns in ("ctime", st.st_ctime_ns), ("mtime", st.st_mtime_ns):
            text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ns // 10 ** 9))
            self.assertIn(f" exe_ino_{name}={text}.{ns % 10 ** 9:09d} ", line)

    def test_lines_to_a_file(self):
        path = os.path.join(self.dir, "lines")
        p = self.saker("-o", path, "--", "echo", "hello")
        self.assertEqual((p.stdout, p.stderr), ("hello\n", ""))
        with open(path, encoding="utf-8") as f:
            self.assertIn("write", {line.type for line in e2e.lines(f.read())})

    def test_descendants_and_nobody_else(self):
        noise = subprocess.Popen(["sh", "-c", "while :; do cat /etc/hostname; done"],
                                 stdout=subprocess.DEVNULL)
        try:
            p = self.saker("--", "sh", "-c", "(sleep 0.1; uname -r) | tac")
        finally:
            noise.kill()
            noise.wait()
        comms = {line.comm for line in e2e.lines(p.stderr)}
        self.assertEqual(comms & {"sh", "sleep", "uname", "tac", "cat"},
                         {"sh", "sleep", "uname", "tac"})

    def test_the_whole_machine_meanwhile(self):
        noise = subprocess.Popen(["sh", "-c", "while :; do cat /etc/hostname; done"],
                                 stdout=subprocess.DEVNULL)
        try:
            p = self.saker("--all", "--", "sleep", "0.2")
        finally:
            noise.kill()
            noise.wait()
        said = "\n".join(l for l in p.stderr.splitlines() if not l.startswith("saker: "))
        comms = {line.comm for line in e2e.lines(said)} # some may be lost on a busy machine
        self.assertLessEqual({"sleep", "cat"}, comms)

    def test_limit_leaves_the_command_alone(self):
        ran = os.path.join(self.dir, "ran")
        p = self.saker("-n", "3", "--", "sh", "-c", f"sleep 0.3; touch {ran}; exit 4")
        self.assertEqual((p.returncode, len(e2e.lines(p.stderr))), (4, 3))
        self.assertTrue(os.path.exists(ran))

    def test_lines_do_not_wait_for_the_command(self):
        p = self.start("-n", "5", "--", "sleep", "60")
        self.assertEqual(len([p.stderr.readline() for _ in range(5)]), 5)
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(timeout=120), 128 + signal.SIGTERM)

    def test_signal_is_passed_on(self):
        p = self.start("-q", "--", "sh", "-c", "echo go; exec sleep 60")
        p.stdout.readline()
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(timeout=120), 128 + signal.SIGTERM)

    # signals that were ignored when saker was started

    def start_from_script(self, script, *args):
        """In a shell without job control, background commands start with SIGINT and SIGQUIT
        ignored."""
        p = subprocess.Popen(["sh", "-c", script, e2e.SAKER, *args], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        pid = int(p.stdout.readline())
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.addCleanup(subprocess.run, ["kill", "-9", str(pid)], stderr=subprocess.DEVNULL, check=False)
        return p, pid

    def test_background_job_of_a_script_is_interrupted(self):
        e2e.somebody(self)
        for sig in signal.SIGINT, signal.SIGQUIT:
            capture = os.path.join(self.dir, sig.name)
            p, pid = self.start_from_script('"$0" -w "$1" & echo $!; wait $!', capture)
            e2e.wait_for_event(capture, p)
            os.kill(pid, sig)
            self.assertEqual(p.wait(timeout=60), 0, sig)
            self.assertEqual(self.saker("-r", capture, "--verify").returncode, 0)

    def test_background_job_is_interrupted_before_it_captures(self):
        p, pid = self.start_from_script('"$0" -w "$1" & echo $!; wait $!', self.capture)
        for _ in range(600): # until saker runs, and no longer the shell that becomes it
            if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(e2e.SAKER):
                break
            time.sleep(0.01)
        deadline = time.monotonic() + 60
        while p.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
            time.sleep(0.1)
        self.assertIsNotNone(p.poll())

    def test_command_of_a_background_job(self):
        """The command ignores SIGINT, as it would without saker; a second request still ends it."""
        shown = 'echo $$; grep SigIgn /proc/$$/status; exec sleep 60'
        p, pid = self.start_from_script(f'"$0" -q -- sh -c "{shown}" & echo $!; wait $!'.replace("$$", r"\$\$"))
        child = int(p.stdout.readline())
        ignored = int(p.stdout.readline().split()[1], 16)
        self.assertEqual(ignored & (1 << signal.SIGINT - 1), 1 << signal.SIGINT - 1)
        for _ in range(600):
            if os.readlink(f"/proc/{child}/exe").endswith("sleep"):
                break
            time.sleep(0.1)
        os.kill(pid, signal.SIGINT)
        self.assertEqual(p.wait(timeout=60), 128 + signal.SIGTERM)

    def test_nohup_is_honoured(self):
        e2e.somebody(self)
        p, pid = self.start_from_script('nohup "$0" -w "$1" & echo $!; wait $!', self.capture)
        e2e.wait_for_event(self.capture, p)
        os.kill(pid, signal.SIGHUP)
        self.assertRaises(subprocess.TimeoutExpired, p.wait, 0.5)
        os.kill(pid, signal.SIGINT)
        self.assertEqual(p.wait(timeout=60), 0)

    # the whole machine: other processes may fill more than a ring

    @staticmethod
    def but_losses(said):
        return re.sub(r"(?m)^saker: .*\bevents were lost\b.*\n", "", said)

    def test_some_events(self):
        e2e.somebody(self)
        p = self.saker("-n", "20")
        self.assertEqual((p.returncode, self.but_losses(p.stderr)), (0, ""))
        self.assertEqual(len(e2e.lines(p.stdout)), 20)

    def test_file_of_some_events_is_sound(self):
        e2e.somebody(self)
        p = self.saker("-n", "20", "-w", self.capture)
        self.assertEqual((p.returncode, self.but_losses(p.stderr)), (0, ""))
        p = self.saker("-r", self.capture, "--verify")
        self.assertEqual((p.returncode, self.but_losses(p.stderr)), (0, ""))

    def test_own_calls_are_left_out(self):
        e2e.somebody(self)
        p = self.start("--unbuffered", "-M", "2")
        lines = e2e.lines(p.communicate(timeout=120)[0])
        self.assertGreater(len(lines), 0)
        self.assertEqual([line.text for line in lines if line.tid == p.pid], [])

    def test_time_limit(self):
        self.assertEqual(self.saker("-q", "-M", "0.5").returncode, 0) # else it would not end

    def test_interrupt_ends_cleanly(self):
        e2e.somebody(self)
        for sig in signal.SIGINT, signal.SIGTERM:
            p = self.start("-w", self.capture, "--print", "--unbuffered", "-v")
            p.stdout.readline()
            p.send_signal(sig)
            out, said = p.communicate(timeout=120)
            self.assertEqual(p.returncode, 0, said)
            self.assertRegex(said, r"records lost +\d+\n")
            self.assertEqual(self.saker("-r", self.capture, "--verify").returncode, 0)
            last = out.splitlines()[-1] # the first may be the end of a line that was read above
            self.assertEqual(self.saker("-r", self.capture, "-v").stdout.splitlines()[-1], last)

    def test_one_request_that_comes_twice(self):
        """Sends signals as timeout(1) does: to its child, then to its group."""
        e2e.somebody(self)
        p = self.start("-w", self.capture, "--print", "--unbuffered")
        p.stdout.readline()
        for sig in signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT:
            p.send_signal(sig)
        p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(self.saker("-r", self.capture, "--verify").returncode, 0)

    def test_an_empty_result_says_so(self):
        e2e.somebody(self)
        some = self.start("-n", "1", "--unbuffered", "--no-pushdown", "proc.name=nobody-is-it")
        p = self.start("-n", "1", "--unbuffered", "proc.name=nobody-is-it")
        time.sleep(0.5)
        for q, said in ((some, r"0 of [1-9]\d* events match"),
                        (p, r"0 of \d+ events match; [1-9]\d* calls were filtered in kernel")):
            for _ in range(600): # until it handles signals
                with open(f"/proc/{q.pid}/status", encoding="utf-8") as f:
                    if int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16) & 1 << signal.SIGINT - 1:
                        break
                time.sleep(0.1)
            time.sleep(0.5)
            q.send_signal(signal.SIGINT)
            self.assertRegex(self.but_losses(q.communicate(timeout=60)[1]), rf"^saker: {said}\n$")

    def test_report(self):
        e2e.somebody(self)
        said = self.saker("-q", "-v", "-M", "0.5").stderr
        for row in ("time to start", "time to the first event", "events", "records lost", "rings",
                    "time in BPF programs", "CPU time of saker", "memory of saker"):
            self.assertRegex(said, rf"(?m)^  {row} +\S")

    def test_lost_events_are_told(self):
        lines = os.path.join(self.dir, "lines")
        p = self.start("--ring-size", "256K", "-n", "1000000", "-o", lines, "-v")
        busy = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"],
                                stderr=subprocess.DEVNULL)
        try:
            self.wait_for_bytes(lines)
            p.send_signal(signal.SIGSTOP)
            time.sleep(1)
            p.send_signal(signal.SIGCONT)
        finally:
            busy.kill()
            busy.wait()
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=120)[1]
        self.assertEqual(p.returncode, 0, said)
        m = re.search(r"^saker: (\d+) events were lost: the ring was (?:nearly )?full; "
                      r"use a larger --ring-size, or -w FILE instead of lines$", said, re.M)
        self.assertIsNotNone(m, said)
        self.assertRegex(said, rf"(?m)^  records lost +{m[1]}$")

    def test_file_of_a_killed_saker(self):
        e2e.somebody(self)
        p = self.start("-w", self.capture, "-o", os.path.join(self.dir, "lines"), "--print")
        self.wait_for_bytes(os.path.join(self.dir, "lines"))
        e2e.wait_for_event(self.capture, p)
        p.kill()
        p.wait()
        q = self.saker("-r", self.capture)
        self.assertGreater(len(e2e.lines(q.stdout)), 0)
        # The kernel may cut off the end of the last write.
        self.assertRegex(f"{q.returncode} {q.stderr}", r"^0 saker: .* has no counters at its end: [^\n]+\n$|"
                         r"^1 saker: .*: the file ends inside a block at byte \d+: [^\n]+\n$")

    def test_no_btf(self):
        p = subprocess.run(["unshare", "-m", "sh", "-c",
                            'mount -t tmpfs none /sys/kernel/btf || exit 77; "$0" -n 1', e2e.SAKER],
                           capture_output=True, text=True, timeout=120)
        if p.returncode == 77:
            e2e.skip_test("no tmpfs can be mounted here")
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertRegex(p.stderr, r"^saker: this kernel has no /sys/kernel/btf/vmlinux.*\n$")

    def test_pid_namespace(self):
        p = subprocess.run(["unshare", "-p", "-f", "--mount-proc", e2e.SAKER, "-n", "1"],
                           capture_output=True, text=True, timeout=120)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertRegex(p.stderr, r"^saker: saker runs in a PID namespace.*\n$")

    def on_small_disk(self, script, *args):
        """Runs sh -c @script in a file system of 4 MB (room for the processes of a busy
        machine and some events), and copies the capture out at the end."""
        whole = ('mount -t tmpfs -o size=4m none "$1" || exit 77; cd "$1"; copy=$2; shift 2; '
                 f'{script}; s=$?; cp c.scap "$copy"; exit $s')
        os.makedirs(os.path.join(self.dir, "m"), exist_ok=True)
        p = subprocess.run(["unshare", "-m", "sh", "-c", whole, "sh", os.path.join(self.dir, "m"), self.capture,
                            *args], capture_output=True, text=True, errors="surrogateescape", timeout=120)
        if p.returncode == 77:
            e2e.skip_test("no tmpfs can be mounted here")
        return p

    def check_cut_off(self, said):
        """The file ended with one sentence, and what it holds can be read."""
        self.assertEqual(len(re.findall(r"(?m)^saker: .*c\.scap.*No space left on device.*$", said)), 1, said)
        q = self.saker("-r", self.capture)
        self.assertEqual(q.returncode, 0)
        self.assertRegex(q.stderr, "^saker: .* has no counters at its end: [^\\n]+\\n$")
        self.assertGreater(len(e2e.lines(q.stdout)), 100)

    def test_disk_that_fills(self):
        busy = subprocess.Popen(["sh", "-c", "while :; do cat /etc/passwd; done"],
                                stdout=subprocess.DEVNULL)
        try:
            p = self.on_small_disk('"$@" --min-free 0 -w c.scap -M 30', e2e.SAKER)
        finally:
            busy.kill()
            busy.wait()
        self.assertEqual(p.returncode, 1, p.stderr)
        self.check_cut_off(p.stderr)

    # Makes calls until the file has had no room for a while.
    FILLER = ('n=0; while [ $n -lt 3 ]; do a=$(stat -f -c %f .); cat /etc/passwd /etc/passwd >/dev/null; '
              '[ "$a" -lt 2 ] && n=$((n + 1)); done; echo ran to its end; exit 3')

    def test_disk_that_fills_ends_no_command(self):
        p = self.on_small_disk('"$@"', e2e.SAKER, "--min-free", "0", "-w", "c.scap", "--", "sh", "-c",
                               self.FILLER)
        self.assertEqual((p.returncode, p.stdout), (3, "ran to its end\n"), p.stderr)
        self.check_cut_off(p.stderr)

    def test_disk_that_fills_ends_no_lines(self):
        lines = os.path.join(self.dir, "lines")
        p = self.on_small_disk('"$@"', e2e.SAKER, "--min-free=0", "-w", "c.scap", "--print", "-o", lines, "--",
                               "sh", "-c",
                               self.FILLER)
        self.assertEqual((p.returncode, p.stdout), (3, "ran to its end\n"), p.stderr)
        self.check_cut_off(p.stderr)
        self.assertIn("procexit status=768 ret=3", e2e.read_text(lines).splitlines()[-1])

    def test_disk_that_fills_ends_no_profile(self):
        p = self.on_small_disk('"$@"', e2e.SAKER, "profile", "--min-free", "0", "-w", "c.scap", "-c",
                               "topfuncs", "--", "sh", "-c",
                               "dd if=/dev/zero of=fill bs=1k 2>/dev/null; "
                               "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo ran; exit 3")
        self.assertEqual(p.returncode, 3, p.stderr)
        self.assertTrue(p.stdout.startswith("ran\n"), p.stdout)
        self.assertEqual(len(re.findall("No space left on device", p.stderr)), 1, p.stderr)
        self.assertIn("FUNCTION", p.stdout + p.stderr)

    # limits of the file

    BUSY = "i=0; while [ $i -lt 3000 ]; do read x </etc/passwd; i=$((i + 1)); done; echo ran to its end; exit 3"

    def check_ended(self, p, said):
        """The file ended at a limit, whole, with its counters, and the command went on."""
        self.assertEqual((p.returncode, p.stdout), (3, "ran to its end\n"), p.stderr)
        self.assertEqual(len(re.findall("saker: ", p.stderr)), 1, p.stderr)
        self.assertRegex(p.stderr, said)
        q = self.saker("-r", self.capture, "--verify")
        self.assertEqual((q.returncode, q.stdout), (0, f"{self.capture}: sound\n"), q.stderr)
        self.assertGreater(len(e2e.lines(self.saker("-r", self.capture).stdout)), 100)

    def test_size_of_the_file_is_limited(self):
        for how in ["-q"], ["--print", "-o", os.path.join(self.dir, "lines")]:
            p = self.saker("--max-size", "1M", "-w", self.capture, *how, "--", "sh", "-c", self.BUSY)
            self.check_ended(p, "it has --max-size")
            self.assertLessEqual(os.path.getsize(self.capture), 1 << 20)
            self.assertGreater(os.path.getsize(self.capture), 900 << 10)
        self.assertIn("procexit", e2e.read_text(os.path.join(self.dir, "lines")).splitlines()[-1], "lines went on")

    def test_size_of_pieces_is_limited(self):
        p = self.saker("--max-size", "2M", "-e", "500", "-w", self.capture, "--", "sh", "-c", self.BUSY)
        self.assertEqual(p.returncode, 3)
        sizes = [os.path.getsize(os.path.join(self.dir, f)) for f in os.listdir(self.dir) if f.startswith("c.scap")]
        self.assertGreater(len(sizes), 1)
        self.assertLessEqual(sum(sizes), 2 << 20)

    def test_file_system_keeps_room(self):
        p = self.on_small_disk('mount -o remount,size=8m "$PWD"; "$@"; s=$?; '
                               '[ "$(stat -f -c %a .)" -ge 1024 ] || echo too full; (exit $s)',
                               e2e.SAKER, "--min-free", "4M", "-w", "c.scap", "--", "sh", "-c",
                               self.BUSY.replace("3000", "20000"))
        self.check_ended(p, "its file system has .* left, too little for .* more beside the 4 MiB of --min-free; ")

    def test_file_system_keeps_room_when_the_file_is_renamed(self):
        p = self.on_small_disk('"$@"; s=$?; mv d.scap c.scap; '
                               '[ "$(stat -f -c %a .)" -ge 128 ] || echo too full; (exit $s)',
                               e2e.SAKER, "--min-free", "512K", "-w", "c.scap", "--", "sh", "-c",
                               "mv c.scap d.scap; " + self.BUSY.replace("3000", "20000"))
        self.check_ended(p, r"its file system has [0-9.]+ [KM]iB left, too little for [0-9.]+ [KM]iB more beside the 512 KiB of --min-free; ")

    def test_lines_to_a_full_disk_end_no_command(self):
        p = self.saker("-o", "/dev/full", "--", "sh", "-c", "cat /etc/passwd >/dev/null; exit 3")
        self.assertEqual((p.returncode, p.stderr),
                         (3, "saker: cannot write lines to /dev/full: No space left on device\n"))


if __name__ == "__main__":
    e2e.need_live()
    unittest.main()
