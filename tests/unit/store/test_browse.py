"""Tests of the lists of runs and targets: filters and pages, with queries that read no documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.model import RunStatus
from httpbench.store import Store, browse
from httpbench.store.browse import Wanted
from httpbench.store.store import MADE
from tests.factories import make_environment, make_plan, make_run, make_trial

COMMITS = ("a" * 40, "b" * 40 + "+changes", None, "abc" + "0" * 37)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Create four runs, ``r0`` to ``r3``, a day apart."""
    with Store(tmp_path / "results.db") as store:
        for day, commit in enumerate(COMMITS):
            trials = [make_trial(make_plan("c/a" if day % 2 else "golang/b", round_, round_)) for round_ in range(2)]
            run = make_run(
                trials,
                id=f"r{day}",
                started_at=f"2026-11-2{day}T08:00:00.000Z",
                name="Main" if day == 1 else None,
                tags=("nightly", "%") if day > 1 else (),
                environment=make_environment(git_commit=commit),
            )
            store.begin(run)
            for trial in trials[: 1 if day == 3 else 2]:
                store.add(run.id, trial)
            if day < 3:
                store.finish(run.id, RunStatus.FINISHED, run.started_at)
        yield store


def ids(store: Store, **wanted: str) -> list[str]:
    found, count = browse.runs(store, Wanted(**wanted), first=0, limit=10)
    assert count == len(found)
    return [run.id for run in found]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, "r3 r2 r1 r0"),
        ({"target": "GOLANG"}, "r2 r0"),
        ({"target": "_"}, ""),
        ({"name": "mai"}, "r1"),
        ({"name": "%"}, ""),
        ({"commit": "ab"}, "r3"),
        ({"commit": "A"}, "r3 r0"),
        ({"tag": "nightly"}, "r3 r2"),
        ({"tag": "night"}, ""),
        ({"tag": "%"}, "r3 r2"),
        ({"since": "2026-11-22"}, "r3 r2"),
        ({"until": "2026-11-21"}, "r1 r0"),
        ({"since": "2026-11-21", "until": "2026-11-22", "target": "c/a"}, "r1"),
        ({"name": "'; DROP TABLE run; --"}, ""),
    ],
)
def test_a_search_lists_matching_runs_newest_first(store: Store, wanted: dict[str, str], expected: str) -> None:
    assert ids(store, **wanted) == expected.split()


def test_a_list_comes_in_pages(store: Store) -> None:
    found, count = browse.runs(store, Wanted(), first=1, limit=2)
    assert ([run.id for run in found], count) == (["r2", "r1"], 4)


def test_a_listed_run_has_all_searchable_fields(store: Store) -> None:
    (newest, _, named, _), _ = browse.runs(store, Wanted(), first=0, limit=10)
    assert (newest.status, newest.trials_done, newest.trials_planned, newest.tags) == (RunStatus.FINISHED, 1, 2, ("nightly", "%"))
    assert (named.name, named.targets, named.command) == ("Main", ("c/a",), "httpbench bench")


def test_a_search_reads_no_document(store: Store) -> None:
    where, values = browse._condition(store, Wanted(target="c/a", name="x", commit="a", tag="t", since="2026-01-01", until="2026-12-31"))
    plan = store.select(f"EXPLAIN QUERY PLAN SELECT id FROM run WHERE {where} ORDER BY sequence DESC", values)
    assert any("COVERING INDEX run_by_words" in row[-1] for row in plan)


def test_state_reports_the_progress_of_a_run(store: Store) -> None:
    state = browse.state(store, "r0")
    assert state is not None
    assert (state.id, state.status, state.trials, state.trials_done, state.trials_planned) == ("r0", RunStatus.FINISHED, 2, 2, 2)
    assert browse.state(store, "none") is None


def test_the_run_before_shares_a_target_and_a_load(store: Store) -> None:
    assert [browse.before(store, name) for name in ("r3", "r2", "r1", "r0", "none")] == ["r1", "r0", None, None, None]


def test_targets_list_their_newest_run(store: Store) -> None:
    assert [(target.id, target.runs, target.last_run) for target in browse.targets(store)] == [("c/a", 2, "r3"), ("golang/b", 2, "r2")]
    assert browse.target_ids(store) == ["c/a", "golang/b"]


def test_an_empty_store_lists_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "none.db", reading=True) as store:
        assert browse.runs(store, Wanted(), first=0, limit=10) == ([], 0)
        assert (browse.targets(store), browse.target_ids(store)) == ([], [])


def test_a_store_opened_for_reading_cannot_be_written(store: Store) -> None:
    with Store(store.path, reading=True) as reading, pytest.raises(Exception, match="readonly"):
        reading.select("DELETE FROM run")


def test_counting_trials_does_not_read_the_plan_repeatedly(store: Store) -> None:
    steps = [row[-1] for row in store.select(f"EXPLAIN QUERY PLAN SELECT {MADE} FROM run")]
    counting = [step for step in steps if " trial " in step]
    assert len(counting) == 2
    assert all("COVERING INDEX" in step and "(run_id=?" in step for step in counting), counting
    assert "(run_id=? AND number<?)" in counting[0]
