"""Waiting in tests: bounded, and loud when it was in vain."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import psutil

Value = TypeVar("Value")

SPIN = "__import__('signal').alarm(120)\nwhile True: pass\n"
"""Python that uses a core, and ends by itself where its test was killed."""


def until(condition: Callable[[], Value], limit_s: float = 10) -> Value:
    """The first true value of the condition."""
    deadline = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {limit_s} s in vain"
        time.sleep(0.01)
    return value


def while_running(process: subprocess.Popen[str], condition: Callable[[], Value], limit_s: float = 60) -> Value:
    """The first true value of the condition. A process that ends before fails the test with what it printed."""

    def found() -> Value:
        value = condition()
        assert value or process.poll() is None, f"ended with exit code {process.returncode}: {' '.join(process.communicate())[-2000:]}"
        return value

    return until(found, limit_s)


def gone(pids: Iterable[int]) -> bool:
    """Whether no process is left; one that only waits for its new parent to take note of its end is gone."""
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return False
        except psutil.NoSuchProcess:
            continue
    return True
