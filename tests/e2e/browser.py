# SPDX-License-Identifier: Apache-2.0
"""Drives headless Chromium through chromedriver (WebDriver), for tests of HTML and SVG output."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf" # a name of the protocol


def missing():
    """Returns the missing program, or None."""
    return next((p for p in ("chromium", "chromedriver") if not shutil.which(p)), None)


class Element:
    def __init__(self, browser, ref):
        self.browser, self.ref = browser, ref

    def click(self):
        self.browser.call(f"element/{self.ref[ELEMENT]}/click", {})

    def type(self, text):
        self.browser.call(f"element/{self.ref[ELEMENT]}/value", {"text": text})


class Browser:
    """One browser window; the caller closes it."""

    def __init__(self, profile_dir, width=1280, height=900):
        # A process group of its own: all processes that the driver starts end with it.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       start_new_session=True)
        self.session = None
        try:
            self.url = f"http://127.0.0.1:{self.port()}"
            args = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
                    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-extensions",
                    "--no-first-run", "--disable-background-networking",
                    f"--user-data-dir={profile_dir}", f"--window-size={width},{height}"]
            self.session = self.request("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": args}}}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def port(self):
        said = []
        for line in self.driver.stdout:
            said.append(line)
            m = re.search(r"started successfully on port (\d+)", line)
            if m:
                return int(m[1])
        raise AssertionError("chromedriver does not start: " + "".join(said))

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        r = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"},
                                   method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({})) # it is on this machine
        try:
            with opener.open(r, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{path}: {json.load(e)['value']['message']}") from None

    def call(self, what, body=None):
        return self.request("GET" if body is None else "POST", f"/session/{self.session}/{what}", body)

    def open(self, url):
        self.call("url", {"url": url})

    def find(self, css):
        return Element(self, self.call("element", {"using": "css selector", "value": css}))

    def script(self, text, *args):
        """Runs a function body in the page with arguments[0] and so on; returns its result."""
        return self.call("execute/sync", {"script": text, "args": list(args)})

    def wait(self, text, *args, seconds=60):
        """Waits until a script returns a true value, and returns that."""
        body = ("const done = arguments[arguments.length - 1], args = [...arguments].slice(0, -1);"
                "const f = function() {" + text + "};"
                "const look = () => { let v; try { v = f(...args) } catch (e) { return done({error: '' + e}) }"
                " if (v) done({value: v}); else setTimeout(look, 50) }; look();")
        self.call("timeouts", {"script": seconds * 1000})
        answer = self.call("execute/async", {"script": body, "args": list(args)})
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def keys(self, *names):
        """Presses and releases keys one after another, wherever the focus of the page is."""
        actions = [{"type": kind, "value": k} for k in names for kind in ("keyDown", "keyUp")]
        self.call("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def move_to(self, element):
        self.call("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, "origin": element.ref, "x": 0, "y": 0}]}]})

    def point_at(self, x, y, press=False):
        """Moves the mouse to a place of the window, and presses its button there."""
        keys = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")] if press else []
        self.call("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, "x": x, "y": y}, *keys]}]})

    def errors(self):
        """Returns the errors on the page's console."""
        return [l["message"] for l in self.call("se/log", {"type": "browser"}) if l["level"] == "SEVERE"]

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("screenshot")))

    def size(self, width, height):
        """Makes the inner part of the window this large."""
        more = self.script("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.call("window/rect", {"width": width + more[0], "height": height + more[1]})

    def close(self):
        try:
            if self.session:
                self.request("DELETE", f"/session/{self.session}")
        finally:
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.wait()
            self.driver.stdout.close()
