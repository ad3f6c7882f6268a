"""Tests of the CPU time that a process uses without requests."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.isolate import Command, ProcessTree
from httpbench.sample import QUIET_MAX, polling_threads
from tests.waiting import SPIN, until

READY = "import os, time\nopen('ready', 'w').close()\n"
SPINS = f"{READY}{SPIN}"
SPINS_TWICE = f"{READY}os.fork()\n{SPIN}"
SLEEPS = f"{READY}time.sleep(60)"
WORKS_FOR_A_MOMENT = f"{READY}end = time.monotonic() + 0.06\nwhile time.monotonic() < end: pass\ntime.sleep(60)"


@contextmanager
def running(folder: Path, program: str, copies: int = 1) -> Iterator[int]:
    """Run copies of a program, and yield the process id of their parent."""
    log = folder / "log"
    with ProcessTree([Command((sys.executable, "-c", program), folder, {})] * copies, stdout=log, stderr=log) as tree:
        until((folder / "ready").exists)
        yield tree.guard_pid


def test_a_spinning_program_is_busy_at_every_look(tmp_path: Path) -> None:
    """A busy machine doesn't change the result, because a program that is ready to run counts as busy."""
    with running(tmp_path, SPINS) as parent:
        assert polling_threads(parent) == 1


def test_all_processes_count(tmp_path: Path) -> None:
    with running(tmp_path, SPINS_TWICE) as parent:
        until(lambda: polling_threads(parent) == 2)


def test_a_sleeping_program_needs_only_one_short_look(tmp_path: Path) -> None:
    with running(tmp_path, SLEEPS) as parent:
        until(lambda: polling_threads(parent) == 0)
        begin = time.process_time()
        assert polling_threads(parent) == 0
        assert time.process_time() - begin < 0.05


def test_work_that_ends_is_not_polling(tmp_path: Path) -> None:
    with running(tmp_path, WORKS_FOR_A_MOMENT) as parent:
        until(lambda: (found := polling_threads(parent)) is not None and found <= QUIET_MAX)


def test_a_program_that_is_gone_is_unknown(tmp_path: Path) -> None:
    with running(tmp_path, "open('ready', 'w').close()") as parent:
        until(lambda: polling_threads(parent) is None)
