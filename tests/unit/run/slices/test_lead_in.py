"""Tests of the length of the lead-in, with a simulated server that stalls periodically."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from httpbench.run.slices.lead_in import COVERED_S_MAX, LEAD_IN_S, lead_in_s

WINDOW_S = 0.25
STEP_S = 0.002
SLICES = 2000


@pytest.mark.parametrize(("longest_s", "covered_s"), [(0.0, LEAD_IN_S), (0.1, 0.1), (9.0, COVERED_S_MAX)])
def test_a_lead_in_covers_the_slowest_response_and_has_a_random_part(longest_s: float, covered_s: float) -> None:
    found = [lead_in_s(longest_s, WINDOW_S, Random(seed)) for seed in range(200)]
    assert covered_s <= min(found) < covered_s * 1.1
    assert max(found) == pytest.approx(covered_s + min(2 * covered_s, WINDOW_S), rel=0.05)


@pytest.mark.parametrize(("run_s", "stall_s"), [(0.7, 0.15), (0.7, 0.05), (0.3, 0.1), (0.35, 0.05), (0.5, 0.1), (2.0, 0.15)])
def test_windows_contain_the_true_share_of_stalls(run_s: float, stall_s: float) -> None:
    random = Random(1)
    found = [share_of_stalls(run_s, stall_s, lambda: lead_in_s(stall_s, WINDOW_S, random)) for _ in range(3)]
    assert sum(found) / len(found) == pytest.approx(stall_s / (run_s + stall_s), rel=0.15)


def test_equally_long_slices_would_fall_into_step_with_stalls() -> None:
    assert share_of_stalls(1.0, 0.2, lambda: 0.2) < 0.8 * 0.2 / 1.2


def share_of_stalls(run_s: float, stall_s: float, next_lead_in_s: Callable[[], float]) -> float:
    """Return the share of the windows' time that is lost to stalls. The server alternates between running and stalling.

    It runs for ``run_s`` and then stalls for ``stall_s``. The simulation ignores the time during which the server is frozen. A slice ends
    when its last response arrives. If the server is stalling at that time, the slice ends at the end of the stall.
    """
    period_s = run_s + stall_s
    now_s, stalled, steps = 0.0, 0, round(WINDOW_S / STEP_S)
    for _ in range(SLICES):
        begin_s = now_s + next_lead_in_s()
        stalled += sum((begin_s + step * STEP_S) % period_s >= run_s for step in range(steps))
        now_s = begin_s + WINDOW_S
        if now_s % period_s >= run_s:
            now_s += period_s - now_s % period_s
    return stalled / (SLICES * steps)
