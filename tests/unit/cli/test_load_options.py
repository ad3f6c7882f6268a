"""Tests of options that change the loads of a suite."""

from __future__ import annotations

import pytest

from httpbench.cli.options.load import Overrides
from httpbench.errors import UsageError
from httpbench.model import Arrivals, SuiteLoad

FLAT = SuiteLoad(connections=(1,), duration_s=1)
RISING = SuiteLoad(connections=(1,), duration_s=1, rate_from_rps=100, rate_rps=300, rate_step_rps=100, step_s=60)

SHARES = SuiteLoad(connections=(64,), duration_s=2, warmup_s=1, warmup_max_s=10, shares_of_peak=(0.5, 1.5))


def test_a_step_without_a_rising_rate_is_refused() -> None:
    with pytest.raises(UsageError, match="--step requires a rising rate") as caught:
        Overrides({"step_s": 2.0}, None).loads([FLAT])
    assert "--rate 10k..25k" in str(caught.value.hint)
    with pytest.raises(UsageError, match="--step requires a rising rate"):
        Overrides({"step_s": 2.0, "rate_rps": 500.0}, None).loads([RISING])


def test_a_step_changes_the_loads_that_have_one() -> None:
    assert [load.step_s for load in Overrides({"step_s": 2.0}, None).loads([FLAT, RISING])] == [None, 2.0]
    (load,) = Overrides({"rate_from_rps": 100.0, "rate_rps": 300.0, "rate_step_rps": 50.0, "step_s": 2.0}, None).loads([FLAT])
    assert (load.rate_from_rps, load.rate_step_rps, load.step_s) == (100.0, 50.0, 2.0)


def test_a_closed_loop_is_repeated_at_shares_of_the_peak() -> None:
    closed, half, overload = Overrides({}, None).loads([SHARES])
    assert closed.share_of_peak is None and closed.arrivals is Arrivals.CONSTANT
    assert half == closed.model_copy(update={"share_of_peak": 0.5, "arrivals": Arrivals.POISSON})
    assert (overload.share_of_peak, overload.connections, overload.warmup_s, overload.warmup_max_s) == (1.5, 1000, 0, 10)
    assert [load.connections for load in Overrides({}, (8, 64, 2000)).loads([SHARES])] == [8, 8, 1000, 64, 64, 2000, 2000, 2000]


def test_options_change_the_shares_or_replace_them_by_a_rate() -> None:
    assert [load.share_of_peak for load in Overrides({}, None, shares_of_peak=(0.8,)).loads([SHARES, FLAT, RISING])] == [
        *(None, 0.8),
        *(None, 0.8),
        None,
    ]
    assert {load.arrivals for load in Overrides({"arrivals": "constant"}, None).loads([SHARES])} == {Arrivals.CONSTANT}
    assert [load.rate_rps for load in Overrides({"rate_rps": 100.0}, None).loads([SHARES])] == [100]
    with pytest.raises(UsageError, match="requires a closed loop") as caught:
        Overrides({"rate_rps": 100.0}, None, shares_of_peak=(0.8,)).loads([FLAT])
    assert caught.value.hint == "remove --rate"
