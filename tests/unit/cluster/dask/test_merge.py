"""Tests that the merged result is the sum of the agents' results, and that an agent's result is refused if it doesn't match the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.cluster.dask.merge import MergedResults
from httpbench.cluster.dask.results import DISTRIBUTIONS, separated
from httpbench.errors import LoadError
from httpbench.quantiles import decoded, figures_us, recorded
from tests.agent_results import agent_result, encoded, histogram

times = st.lists(st.integers(1, 10**9), min_size=1, max_size=20)


def merged(*results: dict[str, Any]) -> dict[str, Any]:
    sums = MergedResults()
    for result in results:
        sums.add(separated(result))
    return sums.document()


@settings(max_examples=5)
@given(agents=st.lists(st.tuples(times, times, times), min_size=1, max_size=4))
def test_counts_and_histograms_are_sums(agents: list[tuple[list[int], ...]]) -> None:
    results = [agent_result(intervals) for intervals in agents]
    whole = merged(*results)
    count = sum(len(interval) for intervals in agents for interval in intervals)
    assert whole["requests"]["completed"] == whole["requests"]["offered"] == count
    assert whole["errors"] == {"timeout": 0, "reset": len(agents)}
    assert whole["bytes"] == {"received": 100 * count, "sent": 50 * count}
    assert whole["throughput_rps"] == pytest.approx(count / 0.75)
    assert whole["config"] == {"connections": 4 * len(agents), "threads": len(agents), "part": "1/1"}
    assert whole["connections_opened"] == 4 * len(agents)
    assert whole["censored"] == len(agents) and whole["unfinished_s"] == 0.5 * len(agents)
    for number, interval in enumerate(whole["intervals"]):
        own = [time_ns for intervals in agents for time_ns in intervals[number]]
        assert list(decoded(interval["histogram"]).counts) == list(histogram(own).counts)
        assert interval["completed"] == len(own) and interval["offered_rps"] == 4.0 * len(own)
    every = [time_ns for intervals in agents for interval in intervals for time_ns in interval]
    assert whole["service_time_us"]["count"] == count
    assert list(decoded(whole["service_time_us"]["histogram"]).counts) == list(histogram(every).counts)


def test_times_to_the_first_byte_are_sums() -> None:
    first = [{"count": 1, "p99": None, "histogram": encoded([time_ns])} for time_ns in (500, 900)]
    whole = merged(*(agent_result(first_byte_us=each) for each in first))["first_byte_us"]
    assert whole["count"] == 2
    assert list(decoded(whole["histogram"]).counts) == list(histogram([500, 900]).counts)


def test_percentiles_are_computed_from_the_summed_histogram() -> None:
    fast, slow = agent_result([[1_000_000] * 900]), agent_result([[9_000_000] * 100])
    whole = merged(fast, slow)["response_time_us"]
    expected = figures_us(recorded(histogram([1_000_000] * 900 + [9_000_000] * 100)))
    assert {name: whole[name] for name in expected} == expected
    assert whole["p50"] == pytest.approx(1000, rel=0.001) and whole["p99"] == pytest.approx(9000, rel=0.001)
    assert whole["p99_9"] is None, "fewer than ten samples lie beyond it"


def test_a_closed_loop_has_no_response_times() -> None:
    closed: dict[str, Any] = dict.fromkeys(("response_time_us", "schedule_lag_us", "connection_wait_us", "generator_lag_us"))
    results = [agent_result(**closed) for _ in range(2)]
    for result in results:
        result["requests"]["offered"] = None
        result["intervals"][0]["offered_rps"] = None
    whole = merged(*results)
    assert all(whole[name] is None for name in closed) and set(closed) < set(DISTRIBUTIONS)
    assert whole["requests"]["offered"] is None and whole["intervals"][0]["offered_rps"] is None


def test_costs_are_summed_and_the_busiest_generator_counts() -> None:
    busy = agent_result()
    busy["generator"] = {**busy["generator"], "busy": 0.9, "waiting": None, "engine_fallback": "seccomp"}
    generator = merged(agent_result(), busy, agent_result())["generator"]
    assert (generator["busy"], generator["waiting"], generator["cpu_s"]) == (0.9, 0.01, 1.5)
    assert len(generator["threads"]) == 3 and generator["engine_fallback"] == "seccomp"


def test_merging_does_not_change_its_inputs() -> None:
    first, second = agent_result(), agent_result()
    merged(first, second)
    assert first == second == agent_result()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": "0.2.0"}, "its version is 0.2.0, but the other load hosts have 0.1.0"),
        ({"duration_s": 0.1}, "its duration_s is 0.1"),
        ({"response_time_us": None}, "its result has different distributions"),
    ],
)
def test_a_result_that_does_not_match_gives_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LoadError, match=sentence):
        merged(agent_result(), agent_result(**changes))


def test_a_result_with_fewer_intervals_is_refused() -> None:
    with pytest.raises(LoadError, match="its intervals differ from those of the other load hosts"):
        merged(agent_result([[1000], [1000]]), agent_result([[1000]], duration_s=0.5))


def test_lengths_of_intervals_may_differ_slightly() -> None:
    other = agent_result()
    other["intervals"][0]["duration_s"] += 1e-6
    assert merged(agent_result(), other)["intervals"][0]["completed"] == 4


def test_an_empty_histogram_can_be_added() -> None:
    assert merged(agent_result([[]]), agent_result([[1000]]))["intervals"][0]["histogram"] == encoded([1000])
