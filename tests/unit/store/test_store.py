"""The results file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from httpbench.errors import SelectionError, StoreError
from httpbench.model import RunStatus
from httpbench.store import Store, default_path
from httpbench.store.schema import MIGRATIONS
from tests.factories import make_distribution, make_histogram, make_measurement, make_plan, make_run, make_trial


def test_what_is_stored_comes_back_whole(tmp_path: Path) -> None:
    trial = make_trial(measurement=make_measurement(service_time_us=make_distribution(histogram=make_histogram([1_000, 2_000]))))
    run = make_run([trial])
    assert trial.measurement
    assert trial.measurement.service_time_us
    assert trial.measurement.service_time_us.histogram
    with Store(tmp_path / "deep" / "results.db") as store:
        store.begin(run)
        store.add(run.id, trial)
        store.finish(run.id, RunStatus.FINISHED, "2026-01-02T03:04:05Z")
    with Store(tmp_path / "deep" / "results.db") as store:
        found, trials = store.run("latest")
        assert (found.status, found.finished_at) == (RunStatus.FINISHED, "2026-01-02T03:04:05Z")
        assert found.plan == run.plan
        assert trials == [trial]
        assert store.run(run.id[:-1])[0].id == run.id


def test_a_run_whose_process_is_gone_was_interrupted(tmp_path: Path) -> None:
    run = make_run([make_trial()], status=RunStatus.RUNNING)
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        assert store.runs()[0].status is RunStatus.RUNNING
        ended = subprocess.Popen(["true"])
        ended.wait()
        store._connection.execute("UPDATE run SET pid = ?", (ended.pid,))
        assert store.runs()[0].status is RunStatus.INTERRUPTED
        # The number of a process that is gone may have been given to another one.
        store._connection.execute("UPDATE run SET pid = ?, pid_started = 1", (os.getpid(),))
        assert store.runs()[0].status is RunStatus.INTERRUPTED


def test_runs_that_are_not_there_are_said(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(SelectionError, match="there is no run in"):
            store.run("latest")
        with pytest.raises(SelectionError, match="there is no run «2026»"):
            store.run("2026")
        for suffix in ("a", "b"):
            store.begin(make_run([make_trial()]).model_copy(update={"id": f"2026{suffix}"}))
        with pytest.raises(SelectionError, match="beginning of several runs: 2026a, 2026b"):
            store.run("2026")


def test_a_full_disk_is_said_and_loses_nothing_stored(tmp_path: Path) -> None:
    run = make_run([make_trial()])
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        store.add(run.id, make_trial(make_plan(number=0)))
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="database or disk is full"):
            for number in range(1, 200):
                store.add(run.id, make_trial(make_plan(number=number)))
        store._connection.execute("PRAGMA max_page_count = 1000000")
        stored = store.runs()[0].trials_done
        assert stored >= 1
        store.add(run.id, make_trial(make_plan(number=500)))
        assert store.runs()[0].trials_done == stored + 1


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "results.db")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer httpbench"):
        Store(tmp_path / "results.db")


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Not a directory|File exists"):
        Store(tmp_path / "file" / "results.db")
    (tmp_path / "not.db").write_text("this is no database, but long enough to be taken for one " * 40)
    with pytest.raises(StoreError, match="not a database"):
        Store(tmp_path / "not.db")


def test_the_default_place_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert default_path() == Path("/somewhere/httpbench/httpbench.db")
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert default_path() == Path.home() / ".local/share/httpbench/httpbench.db"
