"""Tests of options that change the loads of a suite."""

from __future__ import annotations

import pytest

from httpbench.cli.options.load import Overrides
from httpbench.errors import UsageError
from httpbench.model import SuiteLoad

FLAT = SuiteLoad(connections=(1,), duration_s=1)
RISING = SuiteLoad(connections=(1,), duration_s=1, rate_from_rps=100, rate_rps=300, rate_step_rps=100, step_s=60)


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
