"""Tests that runs are deleted, and tests of the sizes of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import StoreError
from httpbench.model import RunStatus
from httpbench.store import Store
from tests.factories import make_distribution, make_histogram, make_measurement, make_plan, make_run, make_trial


def fill(store: Store, *names: str) -> None:
    histogram = make_histogram(range(1_000, 2_000_000, 100))
    for name in names:
        trials = [
            make_trial(make_plan(number=number), measurement=make_measurement(service_time_us=make_distribution(histogram=histogram)))
            for number in range(20)
        ]
        store.begin(make_run(trials, id=name))
        for trial in trials:
            store.add(name, trial)


def test_deleting_a_run_deletes_its_trials_and_frees_space(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        fill(store, "a", "b", "c")
        before = store._connection.execute("PRAGMA page_count").fetchone()[0]
        assert all(line.size_bytes > 10_000 for line in store.runs())
        store.delete(["a", "c"])
        assert [line.id for line in store.runs()] == ["b"]
        assert len(store.run("b")[1]) == 20
        for table in ("trial", "histogram"):
            assert store._connection.execute(f"SELECT DISTINCT run_id FROM {table}").fetchall() == [("b",)]
        assert store._connection.execute("PRAGMA page_count").fetchone()[0] < before
        assert (tmp_path / "results.db-wal").stat().st_size == 0
        fill(store, "d")
        assert store.run("latest")[0].id == "d"


def test_a_running_run_cannot_be_deleted(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        fill(store, "a")
        store.begin(make_run([make_trial()], id="b", status=RunStatus.RUNNING))
        with pytest.raises(StoreError, match="run b is still running"):
            store.delete(["a", "b"])
        assert [line.id for line in store.runs()] == ["b", "a"]


def test_damage_that_only_shows_when_the_file_shrinks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        fill(store, "a", "b")
        (page_bytes,) = store._connection.execute("PRAGMA page_size").fetchone()
    damaged = bytearray(path.read_bytes())
    damaged[-page_bytes:] = b"\xff" * page_bytes  # a page of the run that stays
    path.write_bytes(damaged)
    with Store(path) as store, pytest.raises(StoreError, match=r"the file is damaged: "):
        store.delete(["a"])
