"""How much threads waited for a CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from httpbench.sample.waits import Waits
from tests.waiting import until

CPU = min(os.sched_getaffinity(0))
BURN = f"import os; os.sched_setaffinity(0, [{CPU}]); print(flush=True)\nwhile True: pass"


def test_two_that_share_a_cpu_wait_for_each_other() -> None:
    """Two that always want to run get at most one CPU between them: they wait at least for the other one."""
    pair = [subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in pair:
            assert process.stdout
            process.stdout.readline()
        waits = Waits()
        waits.begin([process.pid for process in pair])
        deadline = time.monotonic() + 0.5
        until(lambda: time.monotonic() > deadline)
        waits.look([process.pid for process in pair])
    finally:
        for process in pair:
            process.kill()
            process.communicate()
    assert waits.cores_mean is not None
    assert waits.cores_mean > 0.6


def test_one_that_sleeps_does_not_wait_and_keeps_its_figure_when_it_is_gone() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        waits = Waits()
        waits.begin([process.pid])
        waits.look([process.pid])
        before = waits.cores_mean
        process.kill()
    waits.look([process.pid])
    assert before == waits.cores_mean
    assert before is not None
    assert before < 0.5


def test_nothing_seen_is_not_zero() -> None:
    waits = Waits()
    waits.begin([])
    waits.look([])
    assert waits.cores_mean is None
