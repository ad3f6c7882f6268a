"""Tests of the live area in real terminals with 80, 100 and 200 columns."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from fcntl import ioctl

import pyte
import pytest

pytestmark = pytest.mark.slow

WIDTHS = [80, 100, 200]

PROGRAM = """
import os, sys, time
from httpbench.cli.terminal.console import observer
from httpbench.load import Phase, Progress
from httpbench.sample import Current
from tests.factories import make_plan

with observer() as shown:
    shown.trial_started(make_plan("python/gunicorn-meinheld"), 3, 12, 100)
    for number in range(5):
        shown.progress(Progress(Phase.MEASURE, number / 10, 250_000.0, 150.0, 609.0), lambda: Current(0.62, 9_000_000))
        time.sleep(0.1)
    os.write(1, b"drawn\\n")  # standard output belongs to the area
    sys.stdin.readline()
"""


@dataclass
class Terminal:
    """A terminal that runs the program, and the text it shows."""

    width: int

    def __post_init__(self) -> None:
        self._screen = pyte.Screen(self.width, 24)
        self._stream = pyte.ByteStream(self._screen)
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, self.width, 0, 0))
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")} | {"TERM": "xterm-256color"}
        argv = [sys.executable, "-c", PROGRAM]
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)

    def lines(self) -> list[str]:
        """Wait until there is no more output, and return the lines that are not empty."""
        while select.select([self._ours], [], [], 0.1)[0]:
            try:
                self._stream.feed(os.read(self._ours, 65_536))
            except OSError:  # the program has ended
                break
        return [line.rstrip() for line in self._screen.display if line.strip()]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._ours)


def test_a_real_terminal_shows_three_lines_and_then_none() -> None:
    terminals = [Terminal(width) for width in WIDTHS]
    try:
        for terminal in terminals:
            assert terminal.process.stdout is not None
            assert terminal.process.stdout.readline() == b"drawn\n"
            overall, trial, figures = terminal.lines()
            assert overall.endswith("left")
            assert "3/12 trials" in overall
            assert trial.startswith("python/gunicorn-meinheld · single, 64 connections · round 1 · measuring ")
            assert figures.startswith("250,000/s ██")
            assert figures.endswith(" p99 0.609 ms · target 62% CPU, 9 MB")
            terminal.process.communicate(b"\n", timeout=20)
            assert terminal.lines() == [], "the area is gone at the end"
    finally:
        for terminal in terminals:
            terminal.close()
