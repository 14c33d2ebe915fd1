#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a web server under ab: weblog.py nginx|apache2. Prints as JSON the server's log (method, path, status, bytes
received, bytes sent), the microseconds of each request in it, and what ab counts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import servers

NGINX = """daemon off;
user root;
pid {0}/pid;
error_log {0}/error.log;
worker_processes 2;
events {{}}
http {{
    log_format bytes "$request_method $uri $status $request_length $bytes_sent $content_length $request_time";
    access_log {0}/access.log bytes;
    sendfile on;
    client_body_temp_path {0}/body;
    proxy_temp_path {0}/proxy;
    fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi;
    scgi_temp_path {0}/scgi;
    server {{
        listen 127.0.0.1:{1};
        root {0}/pages;
        location /slow {{ limit_rate 250k; }} # as much at once, the rest later
    }}
}}
"""

APACHE = """ServerRoot {0}
ServerName localhost
PidFile {0}/pid
Listen 127.0.0.1:{1}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User www-data
Group www-data
DocumentRoot {0}/pages
ErrorLog {0}/error.log
EnableSendfile On
EnableMMAP Off
LogFormat "%m %U %>s %I %O %D" bytes
CustomLog {0}/access.log bytes
"""


def ab(*words):
    """Returns how many requests ab completed, and how many had another status than 2xx."""
    text = subprocess.run(["ab", "-q", "-c", "8", *words], check=True, capture_output=True, text=True).stdout
    def number(name):
        m = re.search(rf"{name}:\s+(\d+)", text)
        return int(m[1]) if m else 0
    return [number("Complete requests"), number("Non-2xx responses")]


def without_peeks(log):
    """Returns the log without bytes that Apache counts twice. It reads the first byte of the next request early, and
    counts it for the request before, too: then another row of that request has one byte less."""
    seen = {(method, path, int(received)) for method, path, _, received, _ in log}
    return [[*row[:3], str(int(row[3]) - ((*row[:2], int(row[3]) - 1) in seen)), row[4]] for row in log]


def main(name):
    port = servers.free_port()
    with tempfile.TemporaryDirectory() as data:
        os.chmod(data, 0o755)
        os.mkdir(f"{data}/pages")
        for page, size in ("small", 20), ("large", 300000), ("slow", 300000):
            with open(f"{data}/pages/{page}", "w", encoding="utf-8") as f:
                f.write("x" * size)
        with open(f"{data}/form", "w", encoding="utf-8") as f:
            f.write("a=" + "b" * 5000)
        with open(f"{data}/conf", "w", encoding="utf-8") as f:
            f.write((NGINX if name == "nginx" else APACHE).format(data, port))
        words = ["nginx", "-e", f"{data}/error.log", "-c"] if name == "nginx" else ["apache2", "-DFOREGROUND", "-f"]
        child = subprocess.Popen([*words, f"{data}/conf"], stdout=subprocess.DEVNULL)
        try:
            servers.wait_for(port)
            url = f"http://127.0.0.1:{port}"
            counted = [ab("-n", "300", f"{url}/small"), ab("-n", "300", "-k", f"{url}/small"),
                       ab("-n", "50", "-k", f"{url}/large"), ab("-n", "150", "-k", f"{url}/none"),
                       ab("-n", "50", "-i", f"{url}/large"),
                       ab("-n", "16", f"{url}/slow"),
                       ab("-n", "50", "-k", "-T", "application/x-www-form-urlencoded", "-p", f"{data}/form",
                          f"{url}/none")]
        finally:
            child.send_signal(signal.SIGQUIT if name == "nginx" else signal.SIGWINCH) # ends when all is logged
            child.wait()
        with open(f"{data}/access.log", encoding="utf-8") as f:
            log = [line.split() for line in f]
        times = [row[:3] + [float(row[-1]) * (1e6 if name == "nginx" else 1)] for row in log]
        if name == "nginx": # it does not count bodies that it discards: those of all these requests
            log = [[*row[:3], str(int(row[3]) + int(row[5].replace("-", "0"))), row[4]] for row in log]
        else:
            log = without_peeks([row[:5] for row in log])
    print(json.dumps({"log": log, "times": times, "ab": counted}))


if __name__ == "__main__":
    main(sys.argv[1])
