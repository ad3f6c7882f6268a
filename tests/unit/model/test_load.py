from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from httpbench.model import Load


def rising(**changes: float) -> Load:
    values = {"rate_from_rps": 10_000, "rate_rps": 25_000, "rate_step_rps": 1_000, "step_s": 60, "duration_s": 16 * 60, **changes}
    return Load.model_validate(values)


def test_a_rising_rate_has_one_level_per_step_and_holds_the_last() -> None:
    load = rising(duration_s=18 * 60)
    assert load.steps == len(load.levels) == 16
    assert [level.rate_rps for level in load.levels] == list(range(10_000, 26_000, 1_000))
    assert (load.levels[-1].start_s, load.levels[-1].duration_s) == (15 * 60, 3 * 60)


def test_the_last_step_may_be_smaller() -> None:
    assert [level.rate_rps for level in rising(rate_step_rps=7_000).levels] == [10_000, 17_000, 24_000, 25_000]


def test_one_rate_is_one_level_and_a_closed_loop_has_none() -> None:
    assert [(level.rate_rps, level.duration_s) for level in Load(rate_rps=5, duration_s=2).levels] == [(5, 2)]
    assert Load().levels == ()


@given(st.integers(1, 1_000), st.integers(1, 1_000), st.integers(1, 500), st.floats(0.1, 60))
def test_levels_fill_the_measurement_without_gaps(first: int, more: int, step: int, step_s: float) -> None:
    steps = -(-more // step) + 1
    load = rising(rate_from_rps=first, rate_rps=first + more, rate_step_rps=step, step_s=step_s, duration_s=steps * step_s + 1)
    assert len(load.levels) == load.steps == steps
    ends = [level.start_s + level.duration_s for level in load.levels]
    assert ends[:-1] == pytest.approx([level.start_s for level in load.levels[1:]])
    assert ends[-1] == pytest.approx(load.duration_s)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"duration_s": 10}, "too short for 16 steps"),
        ({"rate_from_rps": 25_000}, "must differ"),
        ({"step_s": None}, "requires all of"),
    ],
)
def test_invalid_changing_rates_are_rejected(changes: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        rising(**changes)
