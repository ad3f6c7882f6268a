"""Tests of the current CPU and memory use, which the live display shows while a program runs."""

from __future__ import annotations

import pytest

from httpbench.sample import Current
from httpbench.sample.series import SampleSeries


def test_the_current_use_is_a_phrase() -> None:
    assert str(Current(0.874, 12_400_000)) == "87% CPU, 12 MB"
    assert str(Current(0.5, 1_500_000_000, 0.41)) == "50% CPU (throttled 41%), 1,500 MB"
    assert str(Current(0.5, 2_000_000, 0.0)) == "50% CPU, 2 MB", "a quota that was never reached"


def test_only_the_last_second_counts() -> None:
    series = SampleSeries(0.0)
    assert series.cores_of_late() == 0.0
    for tenth in range(1, 21):
        series.add(tenth / 10, 0.1 if tenth <= 10 else 0.0, 1, 1)
        if tenth == 10:
            assert series.cores_of_late() == pytest.approx(1.0)
    assert series.cores_of_late() == pytest.approx(0.0, abs=0.11)
