"""Tests of responses and bytes per second, from intervals of any length that divides a second evenly."""

from __future__ import annotations

import pytest

from httpbench.model import Interval, OverSeconds, PerSecond
from httpbench.stats.per_second import over_seconds, per_second
from tests.factories import make_measurement


def intervals(completed: list[int], length_s: float, sizes: list[int | None] | None = None) -> tuple[Interval, ...]:
    return tuple(
        Interval(
            start_s=number * length_s,
            duration_s=length_s,
            completed=count,
            bytes_received=None if sizes is None else sizes[number],
        )
        for number, count in enumerate(completed)
    )


@pytest.mark.parametrize("parts", [1, 2, 4, 5, 8, 10])
def test_intervals_within_a_second_are_added(parts: int) -> None:
    counts = [number for number in (100, 300, 200) for _ in range(parts)]
    found = per_second(make_measurement(intervals=intervals(counts, 1 / parts, [2 * count for count in counts])))
    assert found is not None and found.bytes_received is not None
    assert found.seconds == 3
    assert found.requests.mean == 200 * parts
    assert found.requests.min == found.requests.p1 == found.requests.p2_5 == 100 * parts
    assert found.requests.p50 == 200 * parts and found.requests.p97_5 == 300 * parts
    assert found.bytes_received.p50 == 400 * parts


def test_a_partial_second_at_the_end_is_omitted() -> None:
    found = per_second(make_measurement(intervals=intervals([10, 10, 10, 10, 10], 0.5)))
    assert found is not None and found.seconds == 2


@pytest.mark.parametrize("length_s", [0.3, 0.7, 2.0])
def test_intervals_across_seconds_have_no_summary(length_s: float) -> None:
    assert per_second(make_measurement(intervals=intervals([10] * 12, length_s))) is None


def test_no_intervals_have_no_summary() -> None:
    assert per_second(make_measurement()) is None


def test_intervals_of_an_earlier_version_have_no_bytes() -> None:
    found = per_second(make_measurement(intervals=intervals([10, 20], 1)))
    assert found is not None and found.bytes_received is None


def test_the_load_generators_own_summary_is_used() -> None:
    told = PerSecond(seconds=9, requests=over_seconds([1, 2, 3]), bytes_received=None)
    assert per_second(make_measurement(per_second=told, intervals=intervals([10], 1))) is told


def test_percentiles_use_the_nearest_rank() -> None:
    found = over_seconds(list(range(1, 201)))
    assert found.stddev == pytest.approx(57.734, abs=0.001)
    assert found == OverSeconds(mean=100.5, stddev=found.stddev, min=1, p1=2, p2_5=5, p50=100, p97_5=195)
