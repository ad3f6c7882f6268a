from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.native import Native
from httpbench.load.rate_steps import interval_ms
from httpbench.model import Load
from tests.factories import make_histogram
from tests.unit.load.recorded import REPORT, job

RISING = Load(rate_from_rps=100, rate_rps=300, rate_step_rps=100, step_s=0.5, duration_s=2)


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Native:
    monkeypatch.setattr(Native, "program", lambda self: "/usr/bin/httpbench-loadgen")
    return Native()


def report(intervals: list[dict[str, Any]]) -> Output:
    return Output(json.dumps({**REPORT, "response_time_us": REPORT["service_time_us"], "intervals": intervals}), "", 0)


def interval(number: int, times_us: list[int], **changes: Any) -> dict[str, Any]:
    histogram = make_histogram([time * 1000 for time in times_us])
    values = {"start_s": number * 0.25, "duration_s": 0.25, "completed": len(times_us), "errors": 0, "offered_rps": 100.0}
    return {**values, "histogram": histogram, **changes}


def test_intervals_are_merged_into_one_distribution_per_rate(native: Native) -> None:
    intervals = [interval(at, [100 * (at // 2 + 1)] * 100, errors=at == 7) for at in range(8)]
    found = native.measurement(job(RISING), report(intervals))
    assert [(step.rate_rps, step.start_s, step.completed) for step in found.steps] == [(100, 0, 200), (200, 0.5, 200), (300, 1.0, 400)]
    assert [step.response_time_us.p50 for step in found.steps] == pytest.approx([100, 200, 300], rel=0.001)
    assert [step.errors for step in found.steps] == [0, 0, 1]
    assert found.times_us == found.steps[-1].response_time_us
    assert found.intervals[0].p90_us == pytest.approx(100, rel=0.001)


def test_percentiles_are_those_of_all_samples(native: Native) -> None:
    intervals = [interval(at, [10] * 98 + [1000] * (2 if at == 5 else 0)) for at in range(8)]
    last = native.measurement(job(RISING), report(intervals)).steps[-1].response_time_us
    assert last.count == 394 and last.p90 == pytest.approx(10, rel=0.01) and last.max == pytest.approx(1000, rel=0.001)


def test_a_stopped_generator_has_fewer_steps(native: Native) -> None:
    found = native.measurement(job(RISING), report([interval(0, [10] * 25), interval(1, [10] * 25), interval(2, [10] * 12)]))
    assert [(step.rate_rps, step.duration_s) for step in found.steps] == [(100, 0.5), (200, 0.25)]


def test_a_single_rate_has_no_steps(native: Native) -> None:
    found = native.measurement(job(Load(rate_rps=100, duration_s=2)), report([interval(0, [10])]))
    assert found.steps == () and found.times_us == found.response_time_us


def test_intervals_without_a_histogram_are_refused(native: Native) -> None:
    with pytest.raises(LoadError, match="without a histogram"):
        native.measurement(job(RISING), report([interval(0, [10], histogram=None)]))
    with pytest.raises(LoadError, match="cannot be decoded"):
        native.measurement(job(RISING), report([interval(0, [10], histogram="nonsense")]))


def test_the_command_line_of_a_rising_rate(native: Native, tmp_path: Path) -> None:
    asked = job(RISING.model_copy(update={"requests_per_connection": 50}), scratch=tmp_path)
    argv = " ".join(native.argv(asked, warmup=False))
    assert "--rate 100..300 --step 100/500ms" in argv
    assert "--interval 250ms" in argv
    assert "--requests-per-connection 50" in argv


@pytest.mark.parametrize(("step_s", "length"), [(60, 250), (0.6, 200), (0.125, 125), (0.3, 100), (0.33, None)])
def test_interval_lengths_divide_steps(step_s: float, length: int | None, native: Native) -> None:
    load = RISING.model_copy(update={"step_s": step_s})
    assert interval_ms(load) == length
    assert (native.refuses(job(load)) is None) == (length is not None)


def test_an_interval_with_few_responses_has_no_p90(native: Native) -> None:
    intervals = [interval(0, [10] * 99), interval(1, [])]
    assert [part.p90_us for part in native.measurement(job(RISING), report(intervals)).intervals] == [None, None]
