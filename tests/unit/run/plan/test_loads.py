from __future__ import annotations

from typing import Any

import pytest

from httpbench import catalog
from httpbench.errors import UsageError
from httpbench.model import Load
from httpbench.run import load_of

RISING = {"rate_from_rps": 10_000, "rate_rps": 25_000, "rate_step_rps": 1_000, "step_s": 60, "duration_s": 120}


def test_a_rising_rate_lasts_as_long_as_its_steps_and_is_then_held() -> None:
    load = load_of(RISING)
    assert load.duration_s == 15 * 60 + 120
    assert load.levels[-1].duration_s == 120


def test_a_constant_rate_is_unchanged() -> None:
    assert load_of({"connections": 8, "duration_s": 3, "rate_rps": None}) == Load(connections=8, duration_s=3)


def test_a_scale_lowers_rates_and_times_but_keeps_the_number_of_steps() -> None:
    load = load_of(RISING | {"warmup_s": 2}, scale=0.2)
    assert (load.rate_from_rps, load.rate_rps, load.rate_step_rps, load.step_s) == (2_000, 5_000, 200, 12)
    assert load.levels[-1].duration_s == pytest.approx(24)
    assert load.warmup_s == pytest.approx(0.4)
    assert load.steps == load_of(RISING).steps == 16


def test_typed_values_are_not_scaled() -> None:
    load = load_of(RISING | {"warmup_s": 2, "step_s": 1}, scale=0.2, as_typed={"warmup_s", "step_s", "duration_s"})
    assert (load.rate_from_rps, load.rate_rps, load.step_s, load.warmup_s) == (2_000, 5_000, 1, 2)
    assert load.levels[-1].duration_s == 120


@pytest.mark.parametrize(
    ("duration_s", "warmup_s", "warmup_max_s"),
    [(0.5, 0.25, None), (1, 0.5, None), (2.4, 1, None), (2.5, 1, 2.5), (5, 1, 5), (10, 1, 10), (60, 1, 10)],
)
def test_a_warm_up_is_not_longer_than_a_measurement_of_typed_length(duration_s: float, warmup_s: float, warmup_max_s: float | None) -> None:
    load = load_of({"warmup_s": 1, "warmup_max_s": 10, "duration_s": duration_s}, as_typed={"duration_s"})
    assert (load.warmup_s, load.warmup_max_s) == (warmup_s, warmup_max_s)


@pytest.mark.parametrize(
    ("changes", "as_typed"),
    [({}, {"duration_s", "warmup_max_s"}), ({}, ()), (RISING | {"duration_s": 60, "step_s": 60}, {"duration_s"})],
    ids=["typed", "of a suite", "rising"],
)
def test_other_warm_ups_keep_their_limit(changes: dict[str, Any], as_typed: set[str]) -> None:
    load = load_of({"warmup_s": 1, "warmup_max_s": 10, "duration_s": 1} | changes, as_typed=as_typed)
    assert (load.warmup_s, load.warmup_max_s) == (1, 10)


def test_a_scaled_step_is_still_measurable() -> None:
    assert load_of(RISING, scale=0.001).step_s == 0.5


def test_a_cap_ends_the_rise_early() -> None:
    load = load_of(RISING, cap_rps=15_000)
    assert load.rate_rps == 15_000 and load.steps == 6


def test_a_cap_below_the_first_rate_leaves_one_rate_to_hold() -> None:
    load = load_of(RISING, cap_rps=10_000, scale=0.5)
    assert (load.rate_rps, load.rate_from_rps, load.step_s, load.duration_s) == (5_000, None, None, 60)


def test_a_rise_without_steps_is_refused() -> None:
    with pytest.raises(UsageError, match="also requires rate_from_rps"):
        load_of({"rate_rps": 10, "step_s": 1, "duration_s": 1})


def test_the_suite_matches_the_original_benchmark() -> None:
    rising, most, fresh = catalog.load().suite("tcp-proxies").load
    load = load_of(rising.model_dump(exclude={"connections", "caps", "shares_of_peak"}))
    assert [level.rate_rps for level in load.levels] == list(range(10_000, 26_000, 1_000))
    assert load.requests_per_connection == 50 and load.step_s == 60
    assert most.rate_rps is None and most.connections == (100,)
    assert not fresh.keepalive and (fresh.rate_from_rps, fresh.rate_rps, fresh.rate_step_rps) == (500, 3_500, 500)
    assert rising.caps == {"proxy:java/netcrusher": 15_000, "proxy:python/pproxy": 10_000}
    assert set(rising.caps) <= set(catalog.load().targets)
