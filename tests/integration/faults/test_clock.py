"""Test of a run during which the wall clock is set back by a day. A preloaded library simulates the clock."""

from __future__ import annotations

import shutil
import subprocess

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
    if (!failed && id == CLOCK_REALTIME && access(getenv("SET_BACK"), F_OK) == 0) now->tv_sec -= 86400;
    return failed;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="requires a C compiler")
def test_clock_is_set_back(fault: Fault) -> None:
    source, library, set_back = (fault.home / name for name in ("clock.c", "clock.so", "set-back"))
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    env = {**fault.env, "LD_PRELOAD": str(library), "SET_BACK": str(set_back)}
    process = fault.start("-c", "2,3,4,5", GOOD, env=env)
    until(fault.stored, limit_s=60)
    set_back.touch()
    fault.holds(fault.end(process), trials=4)
    trials = fault.trials_of(GOOD)
    assert trials[-1]["started_at"] < trials[0]["started_at"]
    assert all(0.2 < trial["measurement"]["duration_s"] < 0.5 for trial in trials)
