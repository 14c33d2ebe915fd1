# SPDX-License-Identifier: Apache-2.0
"""A terminal for tests: runs a program in a pseudo-terminal, and has its screen as lines."""

import fcntl
import html
import itertools
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import sys
import time

try:
    import pyte
except ImportError:  # Debian's, beside another Python that comes first in PATH
    sys.path.append("/usr/lib/python3/dist-packages")
    import pyte

DEADLINE_S = 60 # a loaded machine verifies the programs of a capture for seconds

KEYS = {
    "Up": "\033OA", "Down": "\033OB", "Right": "\033OC", "Left": "\033OD", "Home": "\033OH", "End": "\033OF",
    "PgUp": "\033[5~", "PgDn": "\033[6~", "Del": "\033[3~", "Enter": "\r", "Backspace": "\x7f", "Esc": "\033", "Tab": "\t",
    "F1": "\033OP", "F2": "\033OQ", "F3": "\033OR", "F4": "\033OS", "F5": "\033[15~", "F6": "\033[17~", "F7": "\033[18~",
    "F8": "\033[19~", "F9": "\033[20~", "F10": "\033[21~", "F12": "\033[24~", "F24": "\033[24;2~", "Space": " ",
    **{f"Ctrl-{chr(c + 64)}": chr(c) for c in range(1, 27)},
}


class Stream(pyte.ByteStream):
    """Also knows SU, SD and REP, which xterm has."""

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}


class Screen(pyte.Screen):
    last = ""

    def draw(self, data):
        self.last = data[-1:]
        super().draw(data)

    def repeat(self, count=1):
        super().draw(self.last * (count or 1))

    def scroll_at(self, line, move, count):
        y = self.cursor.y
        self.cursor.y = line
        for _ in range(count or 1):
            move()
        self.cursor.y = y

    def scroll_up(self, count=1):
        self.scroll_at(self.margins.bottom if self.margins else self.lines - 1, self.index, count)

    def scroll_down(self, count=1):
        self.scroll_at(self.margins.top if self.margins else 0, self.reverse_index, count)


# Colours of the picture of a screen; the others are "rrggbb".
COLOURS = {"black": "1e1e1e", "red": "e06c75", "green": "98c379", "brown": "e5c07b", "blue": "61afef",
           "magenta": "c678dd", "cyan": "56b6c2", "white": "d4d4d4"}
CELL = 8.4, 17 # px
NO_BREAK = "\u00a0" # other spaces of SVG collapse


def colours_of(cell):
    """Returns those of the text and behind it."""
    fg, bg = ((COLOURS.get(name, default if name == "default" else name))
              for name, default in ((cell.fg, COLOURS["white"]), (cell.bg, COLOURS["black"])))
    return (bg, fg) if cell.reverse else (fg, bg)


def run_svg(x, y, text, cell):
    """Returns the SVG of cells with the same look."""
    (width, height), (fg, bg) = CELL, colours_of(cell)
    out = ""
    if bg != COLOURS["black"]:
        out += (f'<rect x="{x * width:.1f}" y="{y * height}" width="{len(text) * width:.1f}" height="{height}" '
                f'fill="#{bg}"/>')
    text = text.rstrip()
    if text:
        bold = ' font-weight="bold"' if cell.bold else ""
        out += (f'<text x="{x * width:.1f}" y="{y * height + 13}" fill="#{fg}"{bold} '
                f'textLength="{len(text) * width:.1f}">{html.escape(text).replace(" ", NO_BREAK)}</text>')
    return out + "\n" if out else ""


class Terminal:
    """Runs @args in a terminal of the size until close()."""

    def __init__(self, test, *args, columns=80, rows=24, env=None, cwd=None):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.n_bytes = 0
        self.fd, self.other_end = pty.openpty()
        self.set_size(columns, rows)
        self.modes = termios.tcgetattr(self.fd)
        self.program = subprocess.Popen(
            args, stdin=self.other_end, stdout=self.other_end, stderr=self.other_end, preexec_fn=self.lead,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC",
                 "ASAN_OPTIONS": "abort_on_error=1",  # so that its report reaches the terminal
                 **(env or {})})
        test.addCleanup(self.close)

    @staticmethod
    def lead():
        """The program is the foreground of its terminal, as one that a shell starts."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def pump(self, seconds=0.05):
        """Shows what the program wrote; returns the number of bytes."""
        n = 0
        while select.select([self.fd], [], [], 0 if n else seconds)[0]:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                break
            if not part:
                break
            n += len(part)
            self.stream.feed(part)
        self.n_bytes += n
        return n

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def svg(self):
        """Returns a picture of the screen."""
        width, height = self.screen.columns * CELL[0], self.screen.lines * CELL[1]
        out = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
               f'font-family="monospace" font-size="14">\n<rect width="100%" height="100%" fill="#{COLOURS["black"]}"/>\n')
        for y in range(self.screen.lines):
            cells = [self.screen.buffer[y][x] for x in range(self.screen.columns)]
            x = 0
            for _, run in itertools.groupby(cells, lambda c: (colours_of(c), c.bold)):
                run = list(run)
                out += run_svg(x, y, "".join(c.data or " " for c in run), run[0])
                x += len(run)
        return out + "</svg>\n"

    def send(self, *keys):
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())

    def click(self, x, y, button=0):
        """Presses and releases a button; 64 and 65 are the wheel. From 0."""
        os.write(self.fd, f"\033[<{button};{x + 1};{y + 1}M\033[<{button};{x + 1};{y + 1}m".encode())

    def wait(self, is_so, what):
        """Returns the result of is_so(lines) when it is true, and the rest of that screen is drawn."""
        until = time.monotonic() + DEADLINE_S
        while not (said := is_so(self.lines())):
            if time.monotonic() > until:
                raise AssertionError(f"{what}: not within {DEADLINE_S} s\n{self.text()}")
            self.pump()
        self.settle()
        return is_so(self.lines()) or said

    def settle(self):
        """Waits until nothing more is drawn; where that goes on and on, not for long."""
        for _ in range(20):
            if not self.pump(0.03):
                break

    def wait_for(self, text):
        return self.wait(lambda lines: any(text in line for line in lines), repr(text))

    def press(self, *keys, shows):
        """Presses keys, and waits for a text."""
        self.send(*keys)
        self.wait_for(shows)

    def ended(self):
        """Waits for the end of the program; returns its status."""
        until = time.monotonic() + DEADLINE_S
        while self.program.poll() is None:
            if time.monotonic() > until:
                raise AssertionError(f"no end within {DEADLINE_S} s\n{self.text()}")
            self.pump()
        self.pump()
        return self.program.returncode

    def restored(self):
        """Returns whether the modes of the terminal are those before the program."""
        return termios.tcgetattr(self.fd) == self.modes

    def close(self):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGKILL)
        self.program.wait()
        for fd in (self.fd, self.other_end):
            if fd >= 0:
                os.close(fd)
        self.fd = self.other_end = -1
