"""Tests of the time that threads ran, and the time that they waited for a CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from httpbench.sample.threads import Threads
from tests.waiting import SPIN, until

CPU = min(os.sched_getaffinity(0))
BURN = f"import os; os.sched_setaffinity(0, [{CPU}]); print(flush=True)\n{SPIN}"


def test_two_threads_that_share_a_cpu_wait_for_each_other() -> None:
    """Two threads that are always ready to run share at most one CPU, so each waits at least as long as the other runs."""
    pair = [subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in pair:
            assert process.stdout
            process.stdout.readline()
        threads = Threads()
        threads.begin([process.pid for process in pair])
        deadline = time.monotonic() + 0.5
        until(lambda: time.monotonic() > deadline)
        threads.look([process.pid for process in pair])
    finally:
        for process in pair:
            process.kill()
            process.communicate()
    assert threads.wait_cores_mean is not None
    assert threads.wait_cores_mean > 0.6


def test_a_sleeping_thread_does_not_wait_and_keeps_its_result_after_it_ends() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        threads = Threads()
        threads.begin([process.pid])
        threads.look([process.pid])
        before = threads.wait_cores_mean
        process.kill()
    threads.look([process.pid])
    assert before == threads.wait_cores_mean
    assert before is not None
    assert before < 0.5


def test_no_observation_is_not_zero() -> None:
    threads = Threads()
    threads.begin([])
    threads.look([])
    assert threads.wait_cores_mean is None
    assert threads.count is None
    assert threads.fullest_cores is None


def busy_cores(threads: Threads, pid: int) -> float:
    """Return the running and waiting time of the busiest thread, in cores. A wait counts once it has ended, so the last may be missing."""
    time.sleep(0.1)
    threads.look([pid])
    return (threads.fullest_cores or 0.0) + (threads.wait_cores_mean or 0.0)


def test_one_busy_thread_is_visible_beside_a_sleeping_one() -> None:
    burn = f"import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(flush=True)\n{SPIN}"
    with subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        threads = Threads()
        threads.begin([process.pid])
        until(lambda: busy_cores(threads, process.pid) > 0.9)
        process.kill()
    assert threads.count == 2
    assert threads.fullest_cores is not None and threads.wait_cores_mean is not None
    assert 0.9 < threads.fullest_cores + threads.wait_cores_mean <= 1.1
