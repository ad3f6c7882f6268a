"""Tests of tables in autocannon's format. They equal autocannon's own tables, and have the same layout for other load generators."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.errors import UsageError
from httpbench.load import get
from httpbench.load.autocannon import Autocannon
from httpbench.model import ClientWork, Distribution, Interval, Kind, Measurement, Requests, Verdict, VerdictKind, Workload
from httpbench.report.data.autocannon import render_autocannon, result
from tests.factories import make_client, make_histogram, make_plan, make_rounds, make_run, make_target, make_trial
from tests.unit.load.recorded import FIXTURES, recorded


def test_the_format_has_the_name_of_its_load_generator() -> None:
    assert isinstance(get("autocannon"), Autocannon)


@pytest.mark.parametrize("name", ["autocannon_ok", "autocannon_pipelined"])
def test_a_run_of_autocannon_looks_like_its_own_output(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Autocannon, "version", lambda self: "9.0.0")
    told = recorded(name)
    assert result(Autocannon().measurement(told.job, told.output)) == (FIXTURES / f"{name}.txt").read_text()


def measured(**changes: Any) -> Measurement:
    values: dict[str, Any] = {
        "generator": "native",
        "generator_version": "0.1.0",
        "duration_s": 3.0,
        "requests": Requests(sent=30_500, completed=30_000, ok=30_000),
        "bytes_received": 5_310_000,
        "throughput_rps": 10_000.0,
        "service_time_us": Distribution(count=30_000, p50=411.5, p99=2_000, mean=512.25, stddev=99.0, max=14_000, p2_5=150, p97_5=1_800.4),
        "intervals": tuple(
            Interval(start_s=second, duration_s=1, completed=count, bytes_received=177 * count)
            for second, count in enumerate((9_000, 10_000, 11_000))
        ),
    }
    return Measurement(**values | changes)


OURS = """
┌─────────┬─────────┬──────────┬────────┬──────┬──────────┬──────────┬───────┐
│ Stat    │ 2.5%    │ 50%      │ 97.5%  │ 99%  │ Avg      │ Stdev    │ Max   │
├─────────┼─────────┼──────────┼────────┼──────┼──────────┼──────────┼───────┤
│ Latency │ 0.15 ms │ 0.411 ms │ 1.8 ms │ 2 ms │ 0.512 ms │ 0.099 ms │ 14 ms │
└─────────┴─────────┴──────────┴────────┴──────┴──────────┴──────────┴───────┘
┌───────────┬─────────┬─────────┬─────────┬─────────┬─────────┬────────┬─────────┐
│ Stat      │ 1%      │ 2.5%    │ 50%     │ 97.5%   │ Avg     │ Stdev  │ Min     │
├───────────┼─────────┼─────────┼─────────┼─────────┼─────────┼────────┼─────────┤
│ Req/Sec   │ 9,000   │ 9,000   │ 10,000  │ 11,000  │ 10,000  │ 816.5  │ 9,000   │
├───────────┼─────────┼─────────┼─────────┼─────────┼─────────┼────────┼─────────┤
│ Bytes/Sec │ 1.59 MB │ 1.59 MB │ 1.77 MB │ 1.95 MB │ 1.77 MB │ 145 kB │ 1.59 MB │
└───────────┴─────────┴─────────┴─────────┴─────────┴─────────┴────────┴─────────┘

Req/Bytes counts sampled once per second.
# of samples: 3

31k requests in 3s, 5.31 MB read
"""


def test_a_run_of_the_native_generator_has_the_same_tables() -> None:
    assert result(measured()) == OURS


def test_percentiles_that_are_not_reported_come_from_the_histogram() -> None:
    histogram = make_histogram([microseconds * 1000 for microseconds in range(1, 1001)])
    times = Distribution(count=1000, histogram=histogram)
    (line,) = [line for line in result(measured(service_time_us=times)).splitlines() if line.startswith("│ Latency")]
    assert line.startswith("│ Latency │ 0.025 ms │ - ")
    assert "│ 0.975 ms │" in line


def test_without_values_per_second_there_is_a_mean_and_a_sentence() -> None:
    text = result(measured(generator="wrk", intervals=()))
    assert "wrk reported no values per second.\n" in text
    assert "samples" not in text
    assert "│ Req/Sec   │ -  │ -    │ -   │ -     │ 10,000  │ -     │ -   │" in text
    assert "│ Bytes/Sec │ -  │ -    │ -   │ -     │ 1.77 MB │ -     │ -   │" in text


def test_missing_values_are_not_shown_as_zero() -> None:
    text = result(measured(bytes_received=None, service_time_us=None, intervals=(), requests=Requests(completed=999, ok=999)))
    assert "999 requests in 3s, an unknown number of bytes read\n" in text
    assert "│ Latency │ -    │ -   │ -     │ -   │ -   │ -     │ -   │" in text


def test_a_value_below_the_resolution_is_not_shown_as_zero() -> None:
    times = Distribution(count=1000, resolution_us=1000, max=2000)
    assert "│ Latency │ <1 ms │ <1 ms │ <1 ms │ <1 ms │ -   │ -     │ 2 ms │" in result(measured(service_time_us=times))


def test_errors_are_counted() -> None:
    text = result(measured(errors={"timeout": 1_500, "reset": 2}))
    assert text.endswith("5.31 MB read\n2k errors (2k timeouts)\n")


def test_a_row_shows_its_median_round() -> None:
    trials = make_rounds("a/a", (3000, 1000, 2000))
    text = render_autocannon(make_run(trials), trials)
    assert text.startswith("a/a: plaintext · target on one core · ")
    assert text.splitlines()[0].endswith(", round 3 of 3")


def test_an_invalid_trial_shows_its_reason() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("7 responses were wrong",))
    trials = [make_trial(make_plan("a/a"), verdict)]
    text = render_autocannon(make_run(trials), trials)
    assert text.endswith("\ninvalid: 7 responses were wrong\n")
    assert "Latency" not in text


def test_every_row_is_shown() -> None:
    trials = [make_trial(make_plan(name, number=number)) for number, name in enumerate(("a/a", "b/b"))]
    assert render_autocannon(make_run(trials), trials).count("│ Latency │") == 2


def test_a_run_of_clients_is_rejected() -> None:
    trials = [make_trial(make_plan("client:c/curl", workload="client-small-1000"), measurement=None, client=make_client(1.0))]
    workload = Workload(name="client-small-1000", description="", client=ClientWork(requests=1000))
    targets = {"client:c/curl": make_target("c/curl", kind=Kind.CLIENT)}
    with pytest.raises(UsageError, match="has clients"):
        render_autocannon(make_run(trials, targets, workloads={workload.name: workload}), trials)
