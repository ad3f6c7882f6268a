"""Tests of the file permissions of the results database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from httpbench.store import Store
from httpbench.store.schema import MIGRATIONS
from tests.factories import make_environment, make_run, make_trial

COMMIT = "0123456789abcdef"


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


def test_only_the_owner_can_read_the_store_files(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        store.begin(make_run([make_trial()]))
        assert modes(tmp_path) == {"results.db": 0o600, "results.db-wal": 0o600, "results.db-shm": 0o600}


def make_old(path: Path) -> None:
    """Create a world-readable file in the first format, with two runs."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in MIGRATIONS[0].split(";"):
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 1")
    for name, minute in (("b", 2), ("a", 1)):
        started_at = f"2026-11-21T08:0{minute}:00.000Z"
        run = make_run([make_trial()], id=name, started_at=started_at, name="main", environment=make_environment(git_commit=COMMIT))
        connection.execute(
            "INSERT INTO run VALUES (?, ?, ?, 'finished', 1, 1.0, ?)", (name, run.started_at, run.finished_at, run.model_dump_json())
        )
    connection.close()
    path.chmod(0o644)


def test_an_older_store_becomes_private_and_keeps_its_order(tmp_path: Path) -> None:
    make_old(tmp_path / "results.db")
    with Store(tmp_path / "results.db") as store:
        assert [line.id for line in store.runs()] == ["a", "b"]
        assert store.select("SELECT name, git_commit, tags FROM run WHERE id = 'a'") == [("main", COMMIT, "[]")]
        assert modes(tmp_path)["results.db"] == 0o600
    (tmp_path / "results.db").chmod(0o640)  # the user's own choice
    Store(tmp_path / "results.db").close()
    assert modes(tmp_path)["results.db"] == 0o640


def test_reading_an_older_store_does_not_change_it(tmp_path: Path) -> None:
    make_old(tmp_path / "results.db")
    before = (tmp_path / "results.db").read_bytes()
    with Store(tmp_path / "results.db", reading=True) as store:
        assert store.run("latest")[0].id == "a"
    assert (tmp_path / "results.db").read_bytes() == before


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("reading", [False, True])
def test_a_strangers_schema_is_not_trusted(tmp_path: Path, *, is_old: bool, reading: bool) -> None:
    path = tmp_path / "results.db"
    if is_old:
        make_old(path)
    else:
        Store(path).close()
    with Store(path, reading=reading) as store:
        assert store._connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
