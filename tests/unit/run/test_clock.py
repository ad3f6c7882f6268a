"""Tests that httpbench detects if the wall clock was set or the machine was suspended."""

from __future__ import annotations

import time

import pytest

from httpbench.run.clock import ClockCheck


class Clocks:
    """The machine's clocks, in seconds. Only ``wall_s`` can be set, and only ``boot_s`` runs while the machine is suspended."""

    def __init__(self) -> None:
        self.wall_s, self.boot_s, self.monotonic_s = 1_764_000_000.0, 5000.0, 4000.0

    def run(self, seconds: float, *, set_by_s: float = 0.0, suspended_s: float = 0.0) -> None:
        self.monotonic_s += seconds
        self.boot_s += seconds + suspended_s
        self.wall_s += seconds + suspended_s + set_by_s

    def get(self, clock: int) -> float:
        return {time.CLOCK_REALTIME: self.wall_s, time.CLOCK_BOOTTIME: self.boot_s, time.CLOCK_MONOTONIC: self.monotonic_s}[clock]


@pytest.mark.parametrize(
    ("set_by_s", "suspended_s", "problems"),
    [
        (0, 0, []),
        (0.9, 0.9, []),
        (-3600, 0, ["the clock was set back by 3,600 s during the run: times of day are wrong, durations are not affected"]),
        (3600, 0, ["the clock was set forward by 3,600 s during the run: times of day are wrong, durations are not affected"]),
        (0, 60, ["the machine was suspended for 60 s during the run: the trial at that time may be wrong; hint: run it again"]),
    ],
)
def test_a_set_clock_and_a_suspended_machine_are_reported(
    monkeypatch: pytest.MonkeyPatch, set_by_s: float, suspended_s: float, problems: list[str]
) -> None:
    clocks = Clocks()
    monkeypatch.setattr(time, "clock_gettime", clocks.get)
    check = ClockCheck()
    clocks.run(100, set_by_s=set_by_s, suspended_s=suspended_s)
    assert list(check.problems()) == problems


def test_a_clock_set_during_a_suspension_is_reported_in_addition(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks()
    monkeypatch.setattr(time, "clock_gettime", clocks.get)
    check = ClockCheck()
    clocks.run(100, set_by_s=-60, suspended_s=60)
    assert len(list(check.problems())) == 2
