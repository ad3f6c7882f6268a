"""Tests of runs during which the wall clock is set back or forward by a day. A preloaded library simulates the clock."""

from __future__ import annotations

import shutil
import subprocess
from datetime import datetime
from typing import Any

import pytest

from tests.integration.faults.fault import GOOD, Fault
from tests.waiting import until

CLOCK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, id, now);
    if (!failed && id == CLOCK_REALTIME && access(getenv("CLOCK_IS_SET"), F_OK) == 0) now->tv_sec += STEP_S;
    return failed;
}
"""
DAY_S = 86_400

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="requires a C compiler")


def trials_around_a_step(fault: Fault, step_s: int) -> list[dict[str, Any]]:
    """Set the clock after the first of three trials, and return the trials."""
    source, library, mark = (fault.home / name for name in ("clock.c", "clock.so", "clock-is-set"))
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", f"-DSTEP_S={step_s}", "-o", library, source], check=True)
    env = {**fault.env, "LD_PRELOAD": str(library), "CLOCK_IS_SET": str(mark)}
    process = fault.start("-c", "2,3,4", GOOD, env=env)
    until(fault.stored, limit_s=60)
    mark.touch()
    fault.holds(fault.end(process), trials=3)
    trials = fault.trials_of(GOOD)
    assert all(0.2 < trial["measurement"]["duration_s"] < 0.5 for trial in trials)
    return trials


def elapsed_s(trials: list[dict[str, Any]]) -> float:
    """Return the time between the starts of the first and the last trial according to the wall clock, in seconds."""
    first, last = (datetime.fromisoformat(trial["started_at"]) for trial in (trials[0], trials[-1]))
    return (last - first).total_seconds()


def test_clock_is_set_back(fault: Fault) -> None:
    assert elapsed_s(trials_around_a_step(fault, -DAY_S)) < 0


def test_clock_is_set_forward(fault: Fault) -> None:
    assert elapsed_s(trials_around_a_step(fault, DAY_S)) > DAY_S
