"""Tests of how the end of a warm-up and unsteady measurements are detected, in series with known properties."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import STEADY_S_MIN, Interval, Load, Settling, Trial
from httpbench.report.words.reasons import joined, sentences
from httpbench.stats.steady import LOOKED_AT_MIN, LOOKS, REST_MIN, WINDOWS_MIN, changed, is_warm, steady_after_s, truncation
from httpbench.stats.steady import not_shown_steady as why_not_shown
from httpbench.stats.steady import unsteady as why_unsteady
from httpbench.stats.summary import summarize
from tests.factories import make_measurement, make_plan, make_trial

SOURCE = np.random.default_rng(20261122)
START = SOURCE.bit_generator.state


@pytest.fixture(autouse=True)
def same_noise_in_each_order_of_tests() -> None:
    SOURCE.bit_generator.state = START


def noise(count: int, size: float = 0.03, level: float = 100_000.0) -> list[float]:
    return [float(value) for value in level * (1 + SOURCE.normal(0, size, count))]


def trial_of(rates: list[float], settling: Settling | None = None, load: Load | None = None) -> Trial:
    intervals = tuple(Interval(start_s=i * 0.25, duration_s=0.25, completed=round(rate / 4)) for i, rate in enumerate(rates))
    return make_trial(make_plan(load=load), measurement=make_measurement(intervals=intervals), settling=settling)


def unsteady(trial: Trial) -> str | None:
    return joined([reason]) if (reason := why_unsteady(trial)) else None


def not_shown_steady(trial: Trial) -> str | None:
    return joined([reason]) if (reason := why_not_shown(trial)) else None


WINDOW_S = 0.1
MAXIMUM = 100
"""Number of windows in a warm-up that lasts for the default maximum of 10 s."""


def ends(windows: Sequence[float], rate_rps: float | None = None) -> int:
    """Return the number of windows after which a warm-up ends, or the total number of windows plus one if it never ends."""
    counts = range(len(windows) + 1)
    return next((count for count in counts if is_warm(windows[:count], WINDOW_S, rate_rps)), len(windows) + 1)


def ramp(size: float, low: float = 50_000.0, windows: int = 80) -> list[float]:
    """Return noisy windows in which throughput rises from ``low`` to 100,000 requests/s in 8 s and then stays there."""
    heights = [min(low + (100_000 - low) * i / windows, 100_000) for i in range(MAXIMUM)]
    return [float(height * (1 + SOURCE.normal(0, size))) for height in heights]


def test_truncation_matches_manual_calculations() -> None:
    # Without the first window, which is an outlier, the criterion is 0/25, the minimum. With all 6 windows, it is 30/36.
    assert truncation([6, 0, 0, 0, 0, 0]) == 1
    assert truncation([1, 1, 1, 1, 1, 1]) == 0


@given(st.lists(st.floats(0, 1e7), max_size=60))
def test_a_third_and_at_least_five_windows_are_kept(values: list[float]) -> None:
    assert 0 <= truncation(values) <= max(len(values) - max(REST_MIN, len(values) // 3), 0)


@pytest.mark.parametrize("size", [0.005, 0.03, 0.10])
def test_finds_the_end_of_a_step_at_any_noise(size: float) -> None:
    found = [truncation([*noise(20, size, 50_000.0), *noise(40, size)]) for _ in range(200)]
    assert min(found) >= 19
    assert np.mean([dropped <= 30 for dropped in found]) > 0.9


@pytest.mark.parametrize("size", [0.001, 0.005])
def test_a_flattening_curve_is_warm_once_flat(size: float) -> None:
    curves = [[100_000 * (1 - 0.6 * np.exp(-i / 15)) * (1 + SOURCE.normal(0, size)) for i in range(MAXIMUM)] for _ in range(50)]
    heights = [1 - 0.6 * np.exp(-ends(curve) / 15) for curve in curves]
    assert min(heights) > 0.99
    assert max(heights) < 1 - 0.6 * np.exp(-(MAXIMUM + 1) / 15), "one never ended"


@pytest.mark.parametrize("size", [0.003, 0.01, 0.03, 0.05, 0.10])
@pytest.mark.parametrize("low", [50_000.0, 80_000.0])
def test_a_ramp_is_not_warm_before_its_end_at_any_noise(size: float, low: float) -> None:
    early = [ends(ramp(size, low)[:80]) < 80 for _ in range(40)]
    assert np.mean(early) <= 0.05


@pytest.mark.parametrize(("size", "quantile_max"), [(0.003, 20), (0.01, 40), (0.02, MAXIMUM)])
def test_a_warm_up_with_little_noise_ends_within_the_maximum(size: float, quantile_max: int) -> None:
    lengths = [ends(noise(MAXIMUM, size)) for _ in range(40)]
    assert min(lengths) >= LOOKED_AT_MIN + LOOKS - 1
    assert LOOKED_AT_MIN + LOOKS - 1 <= STEADY_S_MIN / WINDOW_S
    assert np.quantile(lengths, 0.9) <= quantile_max


@pytest.mark.parametrize("size", [0.05, 0.10])
def test_a_noisy_flat_warm_up_reports_unproven_steadiness(size: float) -> None:
    for _ in range(20):
        windows = noise(MAXIMUM, size)
        assert ends(windows) > MAXIMUM
        trial = trial_of(noise(40, 0.001), Settling(window_s=WINDOW_S, throughput_rps=tuple(windows), is_steady=False))
        said = unsteady(trial) or not_shown_steady(trial)
        assert said is not None
    quiet = trial_of(noise(40, 0.001), Settling(window_s=WINDOW_S, throughput_rps=(900.0, 1100.0) * 48, is_steady=False))
    assert unsteady(quiet) is None
    assert not_shown_steady(quiet) == "9.6 s of warm-up were too short: the noise hides changes below 5.9%"


def test_enough_windows_show_steadiness_through_any_noise() -> None:
    assert any(is_warm(windows[:count], WINDOW_S) for windows in [noise(1200, 0.05)] for count in range(600, 1200, 100))


def test_an_open_loop_is_warm_when_it_keeps_its_rate() -> None:
    assert ends([10.0, 20.0] * 10, rate_rps=15.0) == LOOKED_AT_MIN + LOOKS - 1
    assert ends([10.0] * 20, rate_rps=10.0) == LOOKED_AT_MIN + LOOKS - 1
    assert ends([1000.0 * min(i / 40, 1) for i in range(MAXIMUM)], rate_rps=1000.0) > 50
    assert ends([0.0] * MAXIMUM, rate_rps=2.0) > MAXIMUM


def test_rising_throughput_is_never_warm() -> None:
    assert ends([1000.0 * i for i in range(1, 101)]) > 100
    assert ends([100_000 * 1.01**i for i in range(100)]) > 100


def test_a_target_without_responses_is_never_warm() -> None:
    assert ends([0.0] * 100) > 100


def test_noise_is_rarely_reported_as_not_steady() -> None:
    for size in (0.01, 0.03, 0.05, 0.10):
        for count in (WINDOWS_MIN, 40):
            called = [unsteady(trial_of(noise(count, size))) is not None for _ in range(150)]
            assert np.mean(called) < 0.03, (size, count)


def test_steps_and_drifts_are_not_steady() -> None:
    step = trial_of([*noise(16, 0.01), *noise(24, 0.01, 80_000.0)])
    assert re.search(r"responses/s in the last [56]\.\d s", unsteady(step) or "")
    drift = trial_of([100_000.0 * (1 + 0.004 * i) for i in range(40)])
    assert unsteady(drift)


def test_changes_below_2_percent_are_steady() -> None:
    assert unsteady(trial_of([*noise(20, 0.0001), *noise(20, 0.0001, 98_500.0)])) is None


def test_a_server_that_stops_responding_is_not_steady() -> None:
    assert unsteady(trial_of([*noise(20, 0.01), *[0.0] * 20]))


def test_few_intervals_are_inconclusive_and_a_short_last_one_is_omitted() -> None:
    assert unsteady(trial_of([100.0, 1000.0, 5000.0])) is None
    whole = trial_of([100_000.0] * 20).measurement
    assert whole is not None
    cut = whole.model_copy(update={"intervals": (*whole.intervals, Interval(start_s=5, duration_s=0.01, completed=0))})
    assert changed(cut) is None


def test_a_rising_rate_is_not_reported_as_unsteady() -> None:
    load = Load(rate_rps=1000, rate_from_rps=100, rate_step_rps=100, step_s=1)
    assert unsteady(trial_of([1000.0 * i for i in range(1, 41)], load=load)) is None


def test_a_row_reports_warm_ups_that_reached_their_limit() -> None:
    cold = Settling(window_s=0.1, throughput_rps=tuple(1000.0 * i for i in range(90)), is_steady=False)
    warm = cold.model_copy(update={"is_steady": True})
    trials = [
        trial_of(noise(40, 0.001), settling).model_copy(update={"plan": make_plan(round_=number)})
        for number, settling in enumerate((warm, cold, None))
    ]
    assert [unsteady(trial) for trial in trials] == [None, "throughput still changed after 9.0 s of warm-up", None]
    assert sentences(summarize(trials).verdict) == ["not steady in 1 of 3 rounds: throughput still changed after 9.0 s of warm-up"]


def test_a_row_counts_rounds_with_unproven_steadiness() -> None:
    noisy = Settling(window_s=0.1, throughput_rps=(900.0, 1100.0) * 48, is_steady=False)
    trials = [trial_of(noise(40, 0.001), settling) for settling in (noisy, None)]
    (reason,) = sentences(summarize(trials).verdict)
    assert reason == "not shown to be steady in 1 of 2 rounds: 9.6 s of warm-up were too short: the noise hides changes below 5.9%"


# --- start-up -------------------------------------------------------------------------------------------------------------------


def after_s(rates: Sequence[float]) -> float | None:
    """Return when a measurement with these throughputs in windows of 0.1 s became steady."""
    intervals = tuple(
        Interval(start_s=number * WINDOW_S, duration_s=WINDOW_S, completed=round(rate * WINDOW_S)) for number, rate in enumerate(rates)
    )
    return steady_after_s(make_measurement(intervals=intervals))


@pytest.mark.parametrize("slow", [0, 1, 2, 3, 7, 20])
@pytest.mark.parametrize("size", [0.0, 0.02])
def test_the_end_of_a_slow_beginning_is_found(slow: int, size: float) -> None:
    rates = noise(50, size)
    rates[:slow] = [rate * 0.7 for rate in rates[:slow]]
    assert after_s(rates) == pytest.approx((slow + 1) * WINDOW_S)


def test_a_gradual_rise_ends_within_five_percent_of_the_final_level() -> None:
    rates = [100_000 * (1 - 0.5 * 0.8**number) for number in range(60)]
    found = after_s(rates)
    assert found is not None
    window = round(found / WINDOW_S) - 1
    assert rates[window] >= 0.95 * rates[-1] > rates[window - 2]


@pytest.mark.parametrize("place", [10, 30, 48])
def test_a_short_pause_later_does_not_count(place: int) -> None:
    rates = noise(50, 0.01)
    rates[place : place + 2] = [20_000.0, 0.0]
    assert after_s(rates) == pytest.approx(WINDOW_S)


def test_a_later_drop_counts_until_it_is_over() -> None:
    """A compiler may undo an optimization, after which the server is slow for a while."""
    rates = noise(60, 0.01)
    rates[20:30] = [50_000.0] * 10
    assert after_s(rates) == pytest.approx(3.1)


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param([100_000.0 * (1 + number / 60) for number in range(60)], id="still rising"),
        pytest.param([100_000.0 * (1 if number % 2 else 2) for number in range(60)], id="noise hides it"),
        pytest.param([0.0] * 60, id="no responses"),
        pytest.param([100_000.0] * (WINDOWS_MIN - 1), id="too short"),
    ],
)
def test_the_time_is_unknown(rates: list[float]) -> None:
    assert after_s(rates) is None


def test_a_measurement_without_a_warm_up_may_change() -> None:
    rates = [50_000.0] * 40 + [100_000.0] * 40
    assert unsteady(trial_of(rates)) is not None
    assert unsteady(trial_of(rates, load=Load(warmup_s=0, rest_s=5))) is None
