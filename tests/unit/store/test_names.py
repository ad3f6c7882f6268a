"""Tests of the words that select a run, such as its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import SelectionError
from httpbench.store import Store
from tests.factories import make_environment, make_rounds, make_run

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Create five runs, one per minute."""
    made = Store(tmp_path / "results.db")
    for minute, (name, commit) in enumerate(
        [("main", COMMIT), (None, "f" * 40), ("main", COMMIT), ("pr", f"{COMMIT}+changes"), (None, None)]
    ):
        started_at = f"2026-11-21T08:0{minute}:00.000Z"
        environment = make_environment(git_commit=commit)
        trials = make_rounds("c/a", (1, 2, 3))
        made.begin(make_run(trials, id=f"20261121T080{minute}00-c0de", started_at=started_at, name=name, environment=environment))
    return made


@pytest.mark.parametrize(
    ("word", "minute"),
    [
        ("latest", 4),
        ("latest~0", 4),
        ("latest~1", 3),
        ("latest~4", 0),
        ("20261121T080100", 1),
        ("main", 2),
        ("pr", 3),
        (COMMIT, 2),
        (COMMIT[:7], 2),
        ("fffffff", 1),
    ],
)
def test_a_word_selects_one_run(store: Store, word: str, minute: int) -> None:
    run, _ = store.run(word)
    assert run.id == f"20261121T080{minute}00-c0de"


@pytest.mark.parametrize("word", ["latest~5", "latest~", "mai", COMMIT[:6], f"{COMMIT}+changes", "", "HEAD"])
def test_an_unknown_word_raises(store: Store, word: str) -> None:
    with pytest.raises(SelectionError):
        store.run(word)


def test_latest_ignores_clock_changes(store: Store) -> None:
    store.begin(make_run(make_rounds("c/a", (1,)), id="19700101T000000-c0de", started_at="1970-01-01T00:00:00.000Z", name="main"))
    assert store.run("latest")[0].id == store.run("main")[0].id == store.runs()[0].id == "19700101T000000-c0de"


def test_runs_are_listed_with_their_names(store: Store) -> None:
    assert [line.name for line in store.runs()] == [None, "pr", "main", None, "main"]
