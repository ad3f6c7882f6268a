"""Tests of the kernel's counts of a target: what is known without perf."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from httpbench.model import KernelCounts
from httpbench.profile.counters import KernelCounter

SLEEPER = "import sys\nfor line in sys.stdin: print('awake', flush=True)"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[str]]:
    """Start a process that sleeps until it gets a line."""
    argv = [sys.executable, "-c", SLEEPER]
    with subprocess.Popen(argv, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        _wake(process)
        yield process
        process.kill()


def _wake(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("wake up\n")
    process.stdin.flush()
    process.stdout.readline()


def test_context_switches_are_known_without_perf(sleeper: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    counter = KernelCounter(lambda: [sleeper.pid], port=9)
    with counter.counting():
        for _ in range(20):
            _wake(sleeper)
    counts = counter.counts(requests=20)
    assert counts.switches is not None
    assert counts.switches >= 20
    assert counts.minor_faults is not None
    assert (counts.syscalls, counts.writes, counts.packets, counts.bytes_sent) == (None, None, None, None)


def test_counts_are_unknown_if_a_process_ended(sleeper: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel forgets what a process did once it has ended."""
    monkeypatch.setenv("PATH", "/nowhere")
    counter = KernelCounter(lambda: [sleeper.pid], port=9)
    with counter.counting():
        sleeper.kill()
        sleeper.wait()
    assert counter.counts(requests=1) == KernelCounts(requests=1)
