"""Tests of rates relative to each target's own peak."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Arrivals, Load, Trial, TrialPlan, Verdict, VerdictKind
from httpbench.run.rounds.brief import brief
from httpbench.run.rounds.peaks import no_rate, peak, with_rate
from tests.factories import make_plan, make_rounds

NAME = "a/a"
CLOSED = Load(connections=64)
INVALID = Verdict(kind=VerdictKind.INVALID)


def at_share(share: float, target: str = NAME, **changes: Any) -> TrialPlan:
    load = {"share_of_peak": share, "peak_of": NAME, "arrivals": Arrivals.POISSON, **changes}
    return make_plan(target, load=CLOSED.model_copy(update=load))


def rounds(*rps: float, load: Load = CLOSED, target: str = NAME, **changes: Any) -> list[Trial]:
    return make_rounds(target, rps, plan={"load": load}, **changes)


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=7), st.floats(0.01, 10))
def test_the_rate_is_the_share_of_the_median_to_three_digits(rps: list[float], share: float) -> None:
    made = rounds(*rps)
    rate_rps = with_rate(at_share(share), made).load.rate_rps
    assert rate_rps == pytest.approx(share * sorted(rps)[len(rps) // 2], rel=0.005) or len(rps) % 2 == 0
    assert rate_rps == float(f"{rate_rps:.3g}")
    assert with_rate(at_share(share), [brief(trial, with_result=True) for trial in made]).load.rate_rps == rate_rps


def test_later_trials_do_not_change_the_rate() -> None:
    made = rounds(1000, 1010, 1020)
    half = with_rate(at_share(0.5), made)
    assert half.load.rate_rps == 505
    made += rounds(490, load=half.load)
    assert with_rate(at_share(0.5), made) == half and with_rate(half, [*made, *rounds(9000)]) == half


def test_the_baseline_gets_the_rate_of_its_proxy() -> None:
    assert with_rate(at_share(0.8, "baseline"), [*rounds(9000, target="baseline"), *rounds(1000)]).load.rate_rps == 800


def test_only_the_same_requests_and_connections_count() -> None:
    others = [CLOSED.model_copy(update=changes) for changes in ({"tls": True}, {"connections": 8}, {"pipeline": 4}, {"rate_rps": 900.0})]
    made = [trial for other in others for trial in rounds(5000, load=other)]
    assert peak(at_share(0.5), made) is None
    assert peak(at_share(0.5), [*made, *rounds(1000)]) == 1000


def test_an_overload_exceeds_the_peak_of_all_numbers_of_connections() -> None:
    made = [*rounds(1000), *rounds(3000, load=Load(connections=256))]
    assert with_rate(at_share(1.5, connections=1000), made).load.rate_rps == 4500


def test_a_trial_without_a_valid_peak_fails_with_the_reason() -> None:
    planned = with_rate(at_share(0.5), rounds(1000, verdict=INVALID))
    error = no_rate(planned)
    assert error is not None and "the peak of a/a is unknown" in error.message
    assert no_rate(make_plan()) is None and no_rate(with_rate(at_share(0.5), rounds(1000))) is None
