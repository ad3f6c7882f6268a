"""Tests that a target's results over many runs are read from the table ``figures``, even in stores created before it existed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from httpbench.errors import StoreError
from httpbench.model import Kind, Step, Verdict, VerdictKind
from httpbench.store import RunFigures, Store, browse
from tests.factories import (
    make_client,
    make_distribution,
    make_failed,
    make_measurement,
    make_plan,
    make_run,
    make_target,
    make_trial,
)

CURL = "client:c/curl"
TRIALS = (
    make_trial(make_plan(number=0, round_=0)),
    make_trial(make_plan(number=1, round_=1), measurement=make_measurement(response_time_us=make_distribution(p50_us=300))),
    make_trial(
        make_plan(number=2, round_=2),
        measurement=make_measurement(
            steps=(
                Step(rate_rps=1, start_s=0, duration_s=1, completed=1, errors=0, response_time_us=make_distribution(p50_us=100)),
                Step(rate_rps=2, start_s=1, duration_s=1, completed=2, errors=0, response_time_us=make_distribution(p50_us=100, p99=None)),
            )
        ),
    ),
    make_trial(make_plan(number=3, round_=3), Verdict(kind=VerdictKind.DISTURBED)),
    make_trial(make_plan(number=4, round_=3, attempt=1), Verdict(kind=VerdictKind.DISTURBED, is_accepted=True)),
    make_trial(make_plan(number=5, round_=4), Verdict(kind=VerdictKind.INVALID)),
    make_failed(make_plan(number=6, round_=5)),
    make_trial(make_plan(CURL, number=7), measurement=None, client=make_client(0.2)),
)


def stored(path: Path) -> list[RunFigures]:
    with Store(path, reading=True) as store:
        return [*store.figures("c/epoll/level", 10), *store.figures(CURL, 10)]


def make(path: Path, *names: str) -> None:
    curl = make_target("c/curl").model_copy(update={"id": CURL, "kind": Kind.CLIENT})
    with Store(path) as store:
        for name in names:
            store.begin(make_run(TRIALS, {CURL: curl}, id=name))
            for trial in TRIALS:
                store.add(name, trial)


def test_only_trials_that_count_have_figures(tmp_path: Path) -> None:
    make(tmp_path / "results.db", "a")
    servers, clients = stored(tmp_path / "results.db")
    p99s = [round(trial.latency_us_p99) if trial.latency_us_p99 else None for trial in servers.trials]
    assert p99s == [381, 750, None, None, 381, None, None]
    assert [trial.throughput_rps is not None for trial in servers.trials] == [True, True, True, False, True, False, False]
    assert [(trial.round, trial.attempt) for trial in servers.trials][3:5] == [(3, 0), (3, 1)]
    assert [trial.wall_s for trial in clients.trials] == [0.2]


def test_opening_an_older_store_adds_the_same_figures(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    make(path, "a")
    expected = stored(path)
    older = sqlite3.connect(path)
    words = "".join(f"ALTER TABLE run DROP COLUMN {name};" for name in ("name", "git_commit", "tags"))
    older.executescript(f"DROP TABLE profile; DROP TABLE figures; DROP INDEX run_by_words; {words} PRAGMA user_version = 2")
    older.close()
    assert stored(path) == expected, "a file that is only read"
    Store(path).close()
    assert stored(path) == expected


def test_an_unreadable_run_raises_instead_of_being_omitted(tmp_path: Path) -> None:
    make(tmp_path / "results.db", "a", "b")
    with Store(tmp_path / "results.db") as store:
        store._connection.execute("UPDATE run SET document = json_remove(document, '$.environment.kernel') WHERE id = 'a'")
        with pytest.raises(StoreError, match=f"a run of {CURL} was stored by another version"):
            store.figures(CURL, 10)


def test_the_newest_runs_are_sorted_by_start(tmp_path: Path) -> None:
    make(tmp_path / "results.db", "b", "c", "a")
    with Store(tmp_path / "results.db") as store:
        assert [run.id for run in store.figures(CURL, 2)] == ["c", "a"]
        assert browse.target_ids(store) == ["c/epoll/level", CURL]
        store.delete(["c"])
        assert [run.id for run in store.figures(CURL, 2)] == ["b", "a"]
        assert store._connection.execute("SELECT count(*) FROM figures WHERE run_id = 'c'").fetchone() == (0,)
