"""Run a program that competes for CPU time during an experiment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROGRAM = """
import random, time
while True:
    end = time.monotonic() + random.uniform(0.2, 2)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0.2, 2))
"""
BESIDE = ("nothing", "stranger")


@contextmanager
def running(beside: str) -> Iterator[None]:
    """Run a stranger during the block, unless ``beside`` is ``nothing``.

    The stranger uses all the CPU time it can get, on any core, for a random time of 0.2 to 2 s, and then sleeps for a random time in the
    same range. It repeats this until the block ends.
    """
    if beside == "nothing":
        yield
        return
    with subprocess.Popen([sys.executable, "-c", PROGRAM]) as stranger:
        try:
            yield
        finally:
            stranger.kill()
