"""When a warm-up is over, and what is called «not steady»: on series whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import STEADY_S_MIN, Interval, Load, Settling, Trial
from httpbench.stats.steady import LOOKED_AT_MIN, LOOKS, REST_MIN, WINDOWS_MIN, changed, is_warm, truncation, unsteady
from httpbench.stats.summary import summarise
from tests.factories import make_measurement, make_plan, make_trial

SOURCE = np.random.default_rng(20261121)


def noise(count: int, size: float = 0.03, level: float = 100_000.0) -> list[float]:
    return [float(value) for value in level * (1 + SOURCE.normal(0, size, count))]


def trial_of(rates: list[float], settling: Settling | None = None, load: Load | None = None) -> Trial:
    intervals = tuple(Interval(start_s=i * 0.25, duration_s=0.25, completed=round(rate / 4)) for i, rate in enumerate(rates))
    return make_trial(make_plan(load=load), measurement=make_measurement(intervals=intervals), settling=settling)


def ends(windows: Sequence[float]) -> int:
    """After how many windows a warm-up is over; more than there are: never."""
    return next((count for count in range(len(windows) + 1) if is_warm(windows[:count])), len(windows) + 1)


def test_by_hand() -> None:
    # Kept 5: 0/25. Kept 6: one outlier of 6 among 5 zeros, 30/36. Nothing beats none.
    assert truncation([6, 0, 0, 0, 0, 0]) == 1
    assert truncation([1, 1, 1, 1, 1, 1]) == 0


@given(st.lists(st.floats(0, 1e7), max_size=60))
def test_a_third_and_at_least_five_windows_are_kept(values: list[float]) -> None:
    assert 0 <= truncation(values) <= max(len(values) - max(REST_MIN, len(values) // 3), 0)


@pytest.mark.parametrize("size", [0.005, 0.03, 0.10])
def test_where_a_step_ends_is_found_whatever_the_noise(size: float) -> None:
    found = [truncation([*noise(20, size, 50_000.0), *noise(40, size)]) for _ in range(200)]
    assert min(found) >= 19
    assert np.mean([dropped <= 30 for dropped in found]) > 0.9


@pytest.mark.parametrize("size", [0.001, 0.01, 0.05])
def test_a_curve_that_flattens_is_warm_when_it_is_nearly_flat(size: float) -> None:
    curves = [[100_000 * (1 - 0.6 * np.exp(-i / 15)) * (1 + SOURCE.normal(0, size)) for i in range(100)] for _ in range(50)]
    heights = [1 - 0.6 * np.exp(-ends(curve) / 15) for curve in curves]
    assert np.median(heights) > 0.97
    assert max(heights) < 1 - 0.6 * np.exp(-101 / 15), "one never ended"


def test_a_warm_up_of_noise_alone_is_over_as_soon_as_it_can_be_told() -> None:
    lengths = [ends(noise(100)) for _ in range(100)]
    assert min(lengths) == LOOKED_AT_MIN + LOOKS - 1 <= STEADY_S_MIN / 0.1
    assert np.quantile(lengths, 0.9) < 25


def test_what_goes_on_rising_is_never_warm() -> None:
    assert ends([1000.0 * i for i in range(1, 101)]) > 100
    assert ends([100_000 * 1.01**i for i in range(100)]) > 100


def test_what_never_answers_is_never_warm() -> None:
    assert ends([0.0] * 100) > 100


def test_noise_is_hardly_ever_called_not_steady() -> None:
    for size in (0.01, 0.03, 0.05, 0.10):
        for count in (WINDOWS_MIN, 40):
            called = [unsteady(trial_of(noise(count, size))) is not None for _ in range(150)]
            assert np.mean(called) < 0.03, (size, count)


def test_a_step_and_a_drift_are_called_not_steady() -> None:
    step = trial_of([*noise(16, 0.01), *noise(24, 0.01, 80_000.0)])
    assert "responses/s in the last 6.0 s" in (unsteady(step) or "")
    drift = trial_of([100_000.0 * (1 + 0.004 * i) for i in range(40)])
    assert unsteady(drift)


def test_a_change_that_moves_the_figure_by_less_than_two_percent_is_not() -> None:
    assert unsteady(trial_of([*noise(20, 0.0001), *noise(20, 0.0001, 98_500.0)])) is None


def test_a_server_that_stops_answering_is_not_steady() -> None:
    assert unsteady(trial_of([*noise(20, 0.01), *[0.0] * 20]))


def test_few_intervals_tell_nothing_and_a_short_last_one_is_left_out() -> None:
    assert unsteady(trial_of([100.0, 1000.0, 5000.0])) is None
    whole = trial_of([100_000.0] * 20).measurement
    assert whole is not None
    cut = whole.model_copy(update={"intervals": (*whole.intervals, Interval(start_s=5, duration_s=0.01, completed=0))})
    assert changed(cut) is None


def test_a_rate_that_is_meant_to_rise_is_not_called_so() -> None:
    load = Load(rate_rps=1000, rate_from_rps=100, rate_step_rps=100, step_s=1)
    assert unsteady(trial_of([1000.0 * i for i in range(1, 41)], load=load)) is None


def test_a_warm_up_that_was_never_over_is_said_also_of_a_row() -> None:
    cold = Settling(window_s=0.1, throughput_rps=tuple(noise(90)), is_steady=False)
    warm = cold.model_copy(update={"is_steady": True})
    trials = [
        trial_of(noise(40, 0.001), settling).model_copy(update={"plan": make_plan(round_=number)})
        for number, settling in enumerate((warm, cold, None))
    ]
    assert [unsteady(trial) for trial in trials] == [None, "throughput still changed after 9.0 s of warm-up", None]
    assert summarise(trials).verdict.reasons == ("not steady in 1 of 3 rounds: throughput still changed after 9.0 s of warm-up",)
