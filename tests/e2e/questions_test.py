#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/questions.md over a capture of questions/stage.sh, and live while it
runs. The answers must be right, and look as on the page."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import unittest
import uuid

import saker_e2e as e2e

PAGE = os.path.join(e2e.SOURCE, "docs/questions.md")
PARTS = ("ifup", "nginx", "curl", "app", "supervisor", "api", "db", "shop", "backup")
FILES = ("passwd", "group", "nsswitch.conf", "ld.so.cache")

# {heading: (lines that the answer must contain, patterns that no line may match)}
ANSWERS = {
    "Who writes to /etc?":
        ([r"\d\d:\d\d:\d\d root sh /etc/hosts"], "passwd|ld.so"),
    "Which files does nginx fail to open?":
        (["ENOENT /srv/www/missing.html", "ENOENT /srv/www/status"], "index|access"),
    "Where does a program look for its configuration?":
        (["ENOENT /srv/app/app.conf", "ENOENT /root/.apprc", "ENOENT /etc/app/app.conf"], "hosts"),
    "Which file reads are slowest?":
        ([r"\d+ backup /srv/data.img 25165824"], "->"),
    "Which files are read most?":
        ([r"72\.0M \d+ /srv/data.img"], "pipe"),
    "Which file is slow?":
        ([r"\S+s \S+s \d /srv/data.img", r"\S+s \S+s \d /srv/backup.tmp"], "->"),
    "Who fills the disk?":
        (["32.0M 0 1 db /srv/db.log", "24.0M 24.0M 1 backup /srv/backup.tmp", r"24.0M 24.0M \d+ cp /srv/copy.img",
          r"\d+ \d+ 4 nginx /var/log/access.log"], "curl|3200M"),
    "Which container fills the disk?":
        ([r"104\.\dM 72\.\dM \d+ host host", r"24.0M 24.0M \d+ [0-9a-f]{12} -"], "<NA>"),
    "Which files were made?":
        (["nginx /var/log/access.log", "db /srv/db.log", "app /srv/app.state", "backup /srv/backup.tmp"], "hosts"),
    "Who deleted that page?":
        ([r"\d\d:\d\d:\d\d root sh rm /srv/www/index.html /srv/www/index.html",
          r"\d\d:\d\d:\d\d root sh rm news.html /srv/www/news.html"], "missing"),
    "What changed this configuration?":
        ([r"\S+ root sh sed -i s/welcome/go away/ /etc/motd rename /etc/sed\w+,/etc/motd",
          r"\S+ root sh mv /etc/motd /etc/motd.old rename\w* /etc/motd,/etc/motd.old"], "hosts"),
    "What was renamed?":
        (["mv /etc/motd -> /etc/motd.old", "backup /srv/backup.tmp -> /srv/backup.img"], "rm"),
    "Whose permissions were not enough?":
        (["www-data app openat EACCES /etc/shadow"], "root"),
    "Who changes permissions?":
        ([r"root backup chmod res=0 filename=/srv/backup.tmp mode=0644\(.*\)"], "nginx"),
    "Who writes byte by byte?":
        (["20 app /srv/app.state"], "backup"),
    "Who waits for the disk?":
        ([r"\S+s backup fsync /srv/backup.tmp", r"\S+s app fsync /srv/app.state"], "flock"),
    "Which commands were run, by whom?":
        ([r"\d\d:\d\d:\d\d root sh: rm /srv/www/index.html", r"\d\d:\d\d:\d\d root sh: app",
          r"\d\d:\d\d:\d\d www-data (sh|nginx): cat /proc/loadavg"], "ENOENT"),
    "Does the web server start shells?":
        (["www-data nginx sh -c cat /proc/loadavg >/dev/null"], "id -u"),
    "Who started it?":
        (["id < sh < sh < sh"], "nginx"),
    "Who starts so many processes?":
        ([r"\d\d sh", "3 supervisor"], "curl"),
    "Why does it not start?":
        (["3 openat ENOENT /srv/api/api.conf"], "app"),
    "Who restarts it?":
        ([r"\d\d:\d\d:\d\d supervisor \d+ starts \d+ api --listen 80"], "sh"),
    "What died, and of what?":
        ([r"\S+ cat \d+ SIGTERM", r"\S+ app \d+ SIGABRT"], "nginx"),
    "Who killed it?":
        (["root sh kill cat SIGTERM", "www-data app kill app SIGABRT"], "nginx|0$"),
    "What did it do last?":
        ([r"< kill res=0 .*SIGABRT.*", r"> procexit status=6 .*SIGABRT.*"], "backup"),
    "Who becomes another user?":
        ([r"nginx setuid res=0 uid=33\(www-data\)", r"app setgid res=0 gid=33\(www-data\)"], "curl"),
    "Who runs with LD_PRELOAD?":
        (["cat /etc/hosts /srv/extra.so"], "nothing"),
    "Which calls does nginx make?":
        (["Event Count .*", r"< accept4 4 .*", r"< openat 5 \S+ 3 .*"], "renameat|fsync"),
    "Which process connects where?":
        ([r"curl SUCCESS 127.0.0.1:\d+->127.0.0.1:80", "app ECONNREFUSED .*->127.0.0.1:5432",
          "app ENETUNREACH .*->192.0.2.7:443", r"app SUCCESS .*:\d+->127.0.0.1:53"], "/run"),
    "Which connections fail?":
        (["app ECONNREFUSED .*->127.0.0.1:5432", "app ENETUNREACH .*->192.0.2.7:443",
          "app ECONNREFUSED .*->127.0.0.1:6379", "app EINPROGRESS .*->127.0.0.1:9200"], "SUCCESS"),
    "Who leaves the machine?":
        ([r"app connect 198.51.100.9:514", r"app sendto 198.51.100.9:514"], "127|/run"),
    "Who listens where?":
        (["root nginx ipv4 127.0.0.1:80", "root app unix /run/app.sock"], "curl"),
    "Who asks the name server?":
        (["app sendto ..example"], "curl"),
    "Which clients come, and how many?":
        (["4 nginx 80 127.0.0.1"], "curl"),
    "What was asked of the web server?":
        ([f"127.0.0.1 GET /{page} HTTP/1.0..Host: localhost...." for page in
          ("index.html", "missing.html", "status", "quit")], "200 OK"),
    "What was said, word for word?":
        (["GET /index.html HTTP/1.0", "HTTP/1.0 200 OK", "hello", "HTTP/1.0 404 Not Found"], "GET /hello"),
    "How much goes through each connection?":
        ([r"70 2 curl 127.0.0.1:\d+->127.0.0.1:80", r"70 2 nginx 127.0.0.1:\d+->127.0.0.1:80"], "app"),
    "Who talks over this socket?":
        (["app bind /run/app.sock", "app connect .*/run/app.sock", "app sendto .*/run/app.sock"], "curl"),
    "Which query is slow?":
        ([r"\S+ shop write select name from goods", r"\S+ shop read 3 rows",
          r"\S+ shop write select sum\(price\) from goods"], "db"),
    "Which calls take more than 100 ms?":
        ([r"\S+ app flock /run/app.lock", r"\S+ app read( <NA>)?", r"\S+ sh wait4 <NA>"], "[nu]s app flock"),
    "Who waits for locks?":
        ([r"\S+ app /run/app.lock"], "[nu]s app"),
    "What fails, and how often?":
        (["3 nginx openat ENOENT", "1 app connect ENETUNREACH", "1 app openat EACCES"], "SUCCESS"),
    "Where does the time go?":
        ([r"\S+s \S+s 2 flock", r"\S+s \S+s \d read"], "fchmod"),
    "How can I work on with a table?":
        (["evt.rawtime\tproc.name\tevt.type\tevt.res\tfd.name",
          "\\d{19}\tcurl\tconnect\tSUCCESS\t127.0.0.1:\\d+->127.0.0.1:80"], "app"),
    "Can I send only this to a colleague?":
        (["nginx 127.0.0.1:80"], "app"),
}


def questions():
    """Returns (heading, command, lines below it) of each question."""
    with open(PAGE, encoding="utf-8") as f:
        return [(heading, command, below.splitlines()) for heading, command, below in
                re.findall(r"^### (.*)\n\n```\n\$ (.*)\n((?:.*\n)*?)```\n\n\S", f.read(), re.M)]


def alike(line):
    """Returns a line without what varies: numbers, units of time, names that sed makes."""
    line = re.sub(r"/sed\w{6}", "/sed", " ".join(line.split()))
    return re.sub(r"[0-9a-f]*[0-9][0-9a-f.]*([nmu]?s\b)?", "0", line)


class Stage:
    """Returns the directory that stage.sh needs, and the command that runs it."""

    def __init__(self, cast, cgroup=None):
        self.dir = e2e.temp_dir()
        for part in PARTS:
            os.makedirs(os.path.join(self.dir, "bin"), exist_ok=True)
            os.link(cast, os.path.join(self.dir, "bin", part))
        os.mkdir(os.path.join(self.dir, "etc"))
        for name in FILES:
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, os.path.join(self.dir, "etc"))
        for name, text in ("hosts", "127.0.0.1 localhost\n"), ("motd", "welcome\n"), ("shadow", "secret\n"):
            with open(os.path.join(self.dir, "etc", name), "w", encoding="utf-8") as f:
                f.write(text)
        os.chmod(os.path.join(self.dir, "etc/shadow"), 0o600)
        os.mkfifo(os.path.join(self.dir, "ready"))
        self.command = ["unshare", "-m", "-n", "sh", os.path.join(e2e.SOURCE, "tests/e2e/questions/stage.sh"),
                        self.dir, *([cgroup] if cgroup else [])]

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Questions:
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.dir = e2e.temp_dir()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        os.chmod(cls.dir, 0o755)  # www-data's programs are in there
        cls.cast = e2e.compile_program("questions", cls.dir, "-Wall", "-Wextra", "-Werror")
        cls.asked = questions()

    def stage(self):
        stage = Stage(self.cast, e2e.new_cgroup(self, f"docker-{uuid.uuid4().hex * 2}.scope"))
        self.addCleanup(stage.close)
        return stage

    def run_shell(self, script, *args):
        p = subprocess.run(["bash", "-c", script, "bash", *args], cwd=self.dir, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, errors="replace", timeout=120,
                           env={**os.environ, "LC_ALL": "C", "SAKER": e2e.SAKER})
        said = re.sub(r"saker: \d+ events? lacks? \S+ and (?:has|have) no line; .*\n", "", p.stderr)
        self.assertEqual((p.returncode, said), (0, ""), script)
        return p.stdout.splitlines()

    def check(self, heading, shown, lines):
        wanted, unwanted = ANSWERS[heading]
        squeezed = [re.sub(" +", " ", line).strip() for line in lines]
        for pattern in wanted:
            self.assertTrue(any(re.fullmatch(pattern, line) for line in squeezed), (pattern, lines))
        self.assertEqual([line for line in lines if re.search(unwanted, line)], [])
        now = {alike(line) for line in lines}
        self.assertEqual([line for line in shown if alike(line) not in now], [], lines)


class Replay(Questions, unittest.TestCase):
    def test_the_page_and_the_answers(self):
        self.assertGreaterEqual(len(self.asked), 25)
        self.assertEqual([heading for heading, _, _ in self.asked], list(ANSWERS))

    def test_of_a_capture(self):
        stage = self.stage()
        p = subprocess.run([e2e.SAKER, "-w", os.path.join(self.dir, "day.scap"), "--", *stage.command],
                           capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, 0, p.stderr)
        for heading, command, shown in self.asked:
            with self.subTest(heading):
                self.check(heading, shown, self.run_shell('saker() { "$SAKER" "$@"; }\n' + command))


class Live(Questions, unittest.TestCase):
    def ask_live(self, command, n):
        """Runs the command live: saker runs the stage, whose output goes to standard error."""
        stage = self.stage()
        live = ('saker() { "$SAKER" "$@"; }; stage=("$@")\n'
                'live() { "$SAKER" "$@" -- "${stage[@]}" 2>&1; }\n')
        command = command.replace("saker -r day.scap", "live").replace("nginx.scap", f"nginx{n}.scap")
        return self.run_shell(live + command, *stage.command)

    def test_while_it_happens(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(self.ask_live, q[1], n) for n, q in enumerate(self.asked)]
        for (heading, _, shown), lines in zip(self.asked, answers):
            with self.subTest(heading):
                self.check(heading, shown, lines.result())


def need_mounts():
    if subprocess.run(["unshare", "-m", "-n", "mount", "-t", "tmpfs", "none", "/srv"],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        e2e.skip("namespaces with mounts of their own cannot be made here")


if __name__ == "__main__":
    e2e.need_live()
    need_mounts()
    unittest.main()
