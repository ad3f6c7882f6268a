"""Tests of the history of one target: its points, one series per environment, changes, and the commits between runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from httpbench.analysis.history import Series, histories
from httpbench.model import Bound, Expectation, Kind, Load, Search, ServiceLevel, Verdict, VerdictKind, Workload
from httpbench.report.words.changes import mismatch_text, mismatches_text
from httpbench.report.words.history import series_load
from httpbench.store import Store, browse
from tests.factories import (
    make_client,
    make_distribution,
    make_environment,
    make_load_host,
    make_measurement,
    make_plan,
    make_target,
    make_trial,
)
from tests.histories import SEVERAL, A, fall, keep, rounds


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results.db")


def of(found: Sequence[Series], figure: str) -> list[Series]:
    return [series for series in found if series.figure == figure]


def test_each_run_is_a_point_with_its_interval(store: Store) -> None:
    keep(store, 1, rounds(100_000), name="first")
    keep(store, 2, rounds(101_000)[:2], commit=None)
    (series,) = of(histories(store, A), "rps")
    first, second = series.points
    assert (series_load(series), series.differs, series.changes) == ("plaintext single -c 64 -d 10s", (), ())
    assert (first.run, first.name, first.git_commit, first.verdict) == ("run-0001", "first", "aaaa", VerdictKind.TARGET)
    assert first.estimate.median == 100_000
    assert first.estimate.interval is not None
    assert first.estimate.interval.low < 100_000 < first.estimate.interval.high
    assert (second.estimate.interval, second.estimate.rounds, second.git_commit) == (None, 2, None)


def test_a_target_without_runs_has_no_history(store: Store) -> None:
    keep(store, 1, rounds(100_000))
    assert histories(store, "c/b") == []
    assert browse.target_ids(store) == [A]


def test_throughput_and_p99_are_separate_series_and_a_rate_has_only_p99(store: Store) -> None:
    timed = make_measurement(response_time_us=make_distribution(p50_us=200))
    rated = make_trial(make_plan(A, load=Load(connections=64, rate_rps=1000)), measurement=timed)
    keep(store, 1, [*rounds(100_000), rated])
    found = histories(store, A)
    assert [(series_load(series), series.figure) for series in found] == [
        ("plaintext single -c 64 --rate 1000 -d 10s", "p99"),
        ("plaintext single -c 64 -d 10s", "rps"),
        ("plaintext single -c 64 -d 10s", "p99"),
    ]
    assert found[0].points[0].estimate.median == 500


def test_rates_relative_to_a_peak_have_no_history(store: Store) -> None:
    load = Load(connections=64, rate_rps=500, share_of_peak=0.5, peak_of=A)
    keep(store, 1, [*rounds(100_000), make_trial(make_plan(A, load=load))])
    assert {series_load(series) for series in histories(store, A)} == {"plaintext single -c 64 -d 10s"}


def test_different_loads_have_different_names(store: Store) -> None:
    loads = [Load(), Load(pipeline=16), Load(keepalive=False), Load(requests_per_connection=50), Load(duration_s=2)]
    keep(store, 1, [make_trial(make_plan(A, number, load=load)) for number, load in enumerate(loads)])
    assert {series_load(series).removeprefix("plaintext single -c 64 ") for series in of(histories(store, A), "rps")} == {
        "-d 10s",
        "--pipeline 16 -d 10s",
        "--no-keepalive -d 10s",
        "--requests-per-connection 50 -d 10s",
        "-d 2s",
    }


def test_clients_have_a_series_of_times(store: Store) -> None:
    plan = make_plan("client:c/curl")
    curl = make_target("c/curl").model_copy(update={"id": plan.target, "kind": Kind.CLIENT})
    keep(store, 1, [make_trial(plan, measurement=None, client=make_client(0.2))], targets={plan.target: curl})
    (series,) = histories(store, "client:c/curl")
    assert (series.figure, series.points[0].estimate.median) == ("time", 0.2)


def test_only_the_last_attempt_of_a_round_counts_and_only_if_it_is_valid(store: Store) -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))
    disturbed = Verdict(kind=VerdictKind.DISTURBED, reasons=("spin",))
    keep(
        store,
        1,
        [
            make_trial(make_plan(A, round_=0), disturbed, rps=1),
            make_trial(make_plan(A, round_=1), rps=100_000),
            make_trial(make_plan(A, round_=2), invalid, rps=2),
            make_trial(make_plan(A, round_=0, attempt=1), rps=102_000),
        ],
    )
    keep(store, 2, [make_trial(make_plan(A), invalid, rps=3)])
    (series,) = of(histories(store, A), "rps")
    (point,) = series.points
    assert (point.estimate.min, point.estimate.max, point.estimate.rounds) == (100_000, 102_000, 2)


def test_one_generator_bound_round_is_reported(store: Store) -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
    trials = rounds(100_000)
    keep(store, 1, [*trials[:2], trials[2].model_copy(update={"verdict": generator})])
    assert histories(store, A)[0].points[0].verdict is VerdictKind.GENERATOR


def test_each_environment_has_its_own_series_newest_first(store: Store) -> None:
    keep(store, 1, rounds(50_000), environment=make_environment(kernel="5.10"))
    keep(store, 2, rounds(100_000))
    keep(store, 3, rounds(50_000), environment=make_environment(kernel="5.10"))
    keep(store, 4, rounds(100_000))
    newest, other = of(histories(store, A), "rps")
    assert [point.run for point in newest.points] == ["run-0002", "run-0004"]
    assert [point.run for point in other.points] == ["run-0001", "run-0003"]
    assert newest.differs == ()
    assert list(map(mismatch_text, other.differs)) == ["kernel (5.10 → 6.1.0-28-amd64)"]


@pytest.mark.parametrize(
    "changed",
    [
        {"load_host": make_load_host()},
        {"workloads": {"plaintext": Workload(name="plaintext", description="x", expect=Expectation(status=201))}},
    ],
)
def test_runs_that_compare_rejects_are_in_separate_series(store: Store, changed: dict[str, Any]) -> None:
    keep(store, 1, rounds(100_000), **changed)
    keep(store, 2, rounds(100_000))
    assert [len(series.points) for series in of(histories(store, A), "rps")] == [1, 1]


def test_each_number_of_workers_has_its_own_series(store: Store) -> None:
    keep(store, 1, rounds(100_000, plan={"workers": 4}))
    keep(store, 2, rounds(100_000))
    assert [mismatches_text(series.differs) for series in of(histories(store, A), "rps")] == ["", "workers of targets (4 → one per core)"]


def test_searches_are_left_out(store: Store) -> None:
    level = ServiceLevel(bounds=(Bound(figure="p99", limit_us=1000),))
    search = Search(level=level, duration_s=5, scout_duration_s=1)
    keep(store, 1, rounds(100_000), search=search)
    assert histories(store, A) == []


def test_a_change_has_a_ratio_an_interval_and_the_commits_between(store: Store) -> None:
    asked: list[tuple[str, str]] = []

    def between(before: str, after: str) -> list[str]:
        asked.append((before, after))
        return ["bbbb slower"]

    fall(store)
    (series,) = of(histories(store, A, between), "rps")
    (change,) = series.changes
    assert change.index == SEVERAL
    assert change.ratio == pytest.approx(0.95, abs=0.01)
    assert change.interval is not None
    assert change.interval.low < 0.95 < change.interval.high < 1
    assert (change.commit_before, change.commit_after, change.commits) == ("aaaa", "bbbb", ("bbbb slower",))
    assert set(asked) == {("aaaa", "bbbb")}
    before, after = series.levels
    assert (before.first, before.last, after.first, after.last) == (0, SEVERAL - 1, SEVERAL, 2 * SEVERAL - 1)
    assert after.value / before.value == pytest.approx(change.ratio)


def test_without_a_commit_lister_a_change_has_only_two_commits(store: Store) -> None:
    fall(store)
    (change,) = of(histories(store, A), "rps")[0].changes
    assert (change.commit_before, change.commit_after, change.commits) == ("aaaa", "bbbb", ())
