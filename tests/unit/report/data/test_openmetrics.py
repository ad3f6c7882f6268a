"""Tests that OpenMetrics text can be read by the official parser and by the parser of the older format."""

from __future__ import annotations

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from httpbench.model import Gate, Kind, Load
from httpbench.report import FORMATS
from tests.factories import (
    make_client,
    make_distribution,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_rounds,
    make_run,
    make_target,
    make_trial,
)
from tests.hostile import ALL, PIECES

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def series(text: str) -> Series:
    """Check that both parsers agree, and return all samples by name and labels."""
    found, older = ([sample for family in parse(text) for sample in family.samples] for parse in (openmetrics, prometheus))
    assert sorted((sample.name, sorted(sample.labels.items()), sample.value) for sample in found) == sorted(
        (sample.name, sorted(sample.labels.items()), sample.value) for sample in older
    )
    known = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in found}
    assert len(known) == len(found), "no two samples have the same name and labels"
    return known


def of(text: str, name: str, **labels: str) -> list[float]:
    """Return the values of a metric with these labels."""
    return [value for (own, pairs), value in series(text).items() if own == name and labels.items() <= dict(pairs).items()]


def test_values_are_medians_in_base_units() -> None:
    run, trials = make_mixed_run()
    text = FORMATS["openmetrics"](run, trials)
    assert text.endswith("# EOF\n")
    fast = {"target": "c/epoll/level", "connections": "64"}
    assert of(text, "httpbench_requests_per_second", **fast) == [409_871.3]
    (p99,) = of(text, "httpbench_latency_seconds", quantile="0.99", **fast)
    assert 0 < p99 < 0.01
    assert of(text, "httpbench_target_memory_peak_bytes", **fast) == [9_500_000]
    assert of(text, "httpbench_verdict_info", verdict="generator", target="c/nginx") == [1]
    assert of(text, "httpbench_run_info", run=run.id, hostname="bench-1") == [1]
    assert of(text, "httpbench_run_start_time_seconds") == [1_795_248_000]
    low, high = (of(text, "httpbench_requests_per_second_interval", bound=end, **fast)[0] for end in ("low", "high"))
    assert low < 409_871.3 < high


def test_times_to_the_first_byte_are_quantiles() -> None:
    trials = make_rounds("c/a", (100.0,), measurement=make_measurement(first_byte_us=make_distribution(2000)))
    text = FORMATS["openmetrics"](make_run(trials), trials)
    assert of(text, "httpbench_first_byte_seconds", quantile="0.5", target="c/a") == [0.002]


def test_a_row_without_results_has_its_verdict_and_rounds() -> None:
    text = FORMATS["openmetrics"](*make_mixed_run())
    names = {name for name, labels in series(text) if dict(labels).get("target") == "rust/hyper"}
    assert names == {"httpbench_verdict_info", "httpbench_rounds", "httpbench_rounds_counting"}


def test_gates() -> None:
    trials = [*make_rounds("c/old", (100.0, 101.0, 99.0)), *make_rounds("c/new", (50.0, 50.5, 49.5))]
    gate = Gate(figure="rps", side="<", change=-0.03)
    text = FORMATS["openmetrics"](make_run(trials, baseline="c/old", gates=(gate, gate)), trials)
    assert of(text, "httpbench_gate_info", gate="rps<-3%", target="c/new", passage="breached") == [1]
    assert of(text, "httpbench_gate_ratio", target="c/new") == [pytest.approx(0.5)]


def test_loads_with_the_same_title_are_separate_series() -> None:
    loads = [Load(connections=64, threads=1, timeout_s=timeout_s) for timeout_s in (1, 2)]
    trials = [trial for load in loads for trial in make_rounds("c/a", (1000,), plan={"load": load})]
    assert len(of(FORMATS["openmetrics"](make_run(trials), trials), "httpbench_requests_per_second")) == 2


def test_clients_have_a_time() -> None:
    trials = [make_trial(make_plan("client:c/curl"), measurement=None, client=make_client(0.25))]
    text = FORMATS["openmetrics"](make_run(trials, {"client:c/curl": make_target("c/curl", kind=Kind.CLIENT)}), trials)
    assert of(text, "httpbench_client_time_seconds") == [0.25]


@pytest.mark.parametrize("text", [*PIECES, ALL])
def test_output_with_hostile_text_can_be_parsed(text: str) -> None:
    trials = make_rounds("a/a", (1000,))
    assert of(FORMATS["openmetrics"](make_run(trials, name=text), trials), "httpbench_run_info") == [1]
