"""Tests of progress reports while a load generator runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from httpbench import load
from httpbench.load import Phase, Progress
from httpbench.run.load.generator import _Window
from httpbench.run.load.meters import Meters
from httpbench.sample import Current


class CountingMeters:
    """Meters that count how often the cost of a target is read."""

    def __init__(self) -> None:
        self.reads = 0

    def begin(self) -> None:
        pass

    def mark(self) -> None:
        pass

    def current(self) -> Current:
        self.reads += 1
        return Current(0.5, 1_000_000)


def test_the_cost_of_a_target_is_read_only_for_display() -> None:
    reported: list[tuple[Progress, Callable[[], Current] | None]] = []
    meters = CountingMeters()
    window = _Window(load.get("native"), cast("Meters", meters), lambda progress, current: reported.append((progress, current)))
    assert window.line('{"event":"progress","phase":"measure","elapsed_s":1.0,"completed":9,"errors":0,"throughput_rps":9.0}')
    ((progress, current),) = reported
    assert (progress.phase, meters.reads) == (Phase.MEASURE, 0)
    assert current is not None
    assert current() == Current(0.5, 1_000_000)
    assert meters.reads == 1
