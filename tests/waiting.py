"""Bounded waits for tests."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import psutil

Value = TypeVar("Value")

SPIN = "__import__('signal').alarm(120)\nwhile True: pass\n"
"""Python code that keeps a core busy. It ends after two minutes even if its test is killed."""


PAUSE_S_MIN, PAUSE_S_MAX = 0.01, 0.2


def until(condition: Callable[[], Value], limit_s: float = 10) -> Value:
    """Wait for the condition and return its first true value.

    The pauses are four times as long as the last look, because looks at all processes would otherwise keep a core busy.
    """
    deadline = time.monotonic() + limit_s
    looked = time.monotonic()
    while not (value := condition()):
        assert time.monotonic() < deadline, f"the condition was not true within {limit_s} s"
        time.sleep(min(max(4 * (time.monotonic() - looked), PAUSE_S_MIN), PAUSE_S_MAX))
        looked = time.monotonic()
    return value


def while_running(process: subprocess.Popen[str], condition: Callable[[], Value], limit_s: float = 60) -> Value:
    """Wait for the condition. If the process ends first, fail with its output."""

    def found() -> Value:
        value = condition()
        assert value or process.poll() is None, f"ended with exit code {process.returncode}: {' '.join(process.communicate())[-2000:]}"
        return value

    return until(found, limit_s)


def gone(pids: Iterable[int]) -> bool:
    """Return whether all processes have ended. A zombie counts as ended."""
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return False
        except psutil.NoSuchProcess:
            continue
    return True
