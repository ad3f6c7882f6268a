"""Progress reports while a load generator runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from httpbench import load
from httpbench.load import Phase, Progress
from httpbench.run.load.generator import _Window
from httpbench.sample import Current, TreeSampler


class Sampler:
    """Counts how often the cost of a target is read."""

    def __init__(self) -> None:
        self.reads = 0

    def current(self) -> Current:
        self.reads += 1
        return Current(0.5, 1_000_000)


def test_the_cost_of_a_target_is_read_only_for_display() -> None:
    reported: list[tuple[Progress, Callable[[], Current] | None]] = []
    sampler = Sampler()
    window = _Window.__new__(_Window)  # one that samples nothing
    window._generator = load.get("native")
    window._target = cast("TreeSampler", sampler)
    window._marked = True
    window._report = lambda progress, current: reported.append((progress, current))
    assert window.line('{"event":"progress","phase":"measure","elapsed_s":1.0,"completed":9,"errors":0,"throughput_rps":9.0}')
    ((progress, current),) = reported
    assert (progress.phase, sampler.reads) == (Phase.MEASURE, 0)
    assert current is not None
    assert current() == Current(0.5, 1_000_000)
    assert sampler.reads == 1
