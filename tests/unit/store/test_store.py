"""Tests of the results database."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from httpbench.errors import SelectionError, StoreError
from httpbench.model import Profile, ProfiledSlice, RunStatus
from httpbench.store import Store
from httpbench.store.schema import MIGRATIONS
from tests.factories import make_distribution, make_disturbed, make_histogram, make_measurement, make_plan, make_run, make_trial


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    """Make a folder or file read-only: for root with a bind mount onto itself, for other users with its permissions."""
    if os.geteuid() == 0:
        subprocess.run(["mount", "--bind", str(place), str(place)], check=True)
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
            yield
        finally:
            subprocess.run(["umount", str(place)], check=True)
        return
    inside = list(place.iterdir()) if place.is_dir() else []
    for path in (*inside, place):
        path.chmod(0o555)
    try:
        yield
    finally:
        place.chmod(0o755)


def test_profiles_are_read_back_unchanged(tmp_path: Path) -> None:
    trial = make_trial()
    parts = tuple(ProfiledSlice(requests=100, cpu_s=0.5, stacks={"main;burn": number}) for number in (10, 12))
    profile = Profile(
        target=trial.plan.target,
        scaling=trial.plan.scaling,
        workload=trial.plan.workload,
        load=trial.plan.load,
        profiler="perf (cpu-clock)",
        frequency_hz=997,
        throughput_rps=1000,
        slices=parts,
    )
    run = make_run([trial])
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        without = store.runs()[0].size_bytes
        store.add_profiles(run.id, (profile,))
        assert store.runs()[0].size_bytes > without
        assert store.run(run.id)[0].profiles == (profile,)
        again = run.model_copy(update={"id": "20260102T030405-beef", "profiles": (profile, profile)})
        store.put(again, [])
        assert store.run(again.id)[0].profiles == again.profiles
        store.finish(run.id, RunStatus.FINISHED, "2026-01-02T03:04:05Z")
        store.delete([run.id])
        assert store.select("SELECT run_id FROM profile") == [(again.id,), (again.id,)]


@pytest.mark.parametrize("document", [b"", b"no zlib", zlib.compress(b"{}"), zlib.compress(b"{}")[:-1]])
def test_a_damaged_profile_is_an_error(tmp_path: Path, document: bytes) -> None:
    run = make_run([make_trial()])
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
    with closing(sqlite3.connect(tmp_path / "results.db")) as connection, connection:
        connection.execute("INSERT INTO profile VALUES (?, 0, ?)", (run.id, document))
    with Store(tmp_path / "results.db") as store, pytest.raises(StoreError, match="cannot read it"):
        store.run(run.id)


def test_stored_trials_are_read_back_unchanged(tmp_path: Path) -> None:
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


def test_a_run_without_its_process_is_interrupted(tmp_path: Path) -> None:
    run = make_run([make_trial()], status=RunStatus.RUNNING)
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        assert store.runs()[0].status is RunStatus.RUNNING
        ended = subprocess.Popen(["true"])
        ended.wait()
        store._connection.execute("UPDATE run SET pid = ?", (ended.pid,))
        assert store.runs()[0].status is RunStatus.INTERRUPTED


def test_missing_runs_are_reported(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(SelectionError, match="no run in"):
            store.run("latest")
        with pytest.raises(SelectionError, match='no run "2026"'):
            store.run("2026")
        for suffix in ("a", "b"):
            store.begin(make_run([make_trial()]).model_copy(update={"id": f"2026{suffix}"}))
        with pytest.raises(SelectionError, match="matches several runs: 2026a, 2026b"):
            store.run("2026")


def test_a_full_disk_is_reported_and_loses_nothing_stored(tmp_path: Path) -> None:
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


def test_a_file_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "results.db")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer httpbench"):
        Store(tmp_path / "results.db")


def test_an_unwritable_place_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Not a directory|File exists"):
        Store(tmp_path / "file" / "results.db")
    (tmp_path / "not.db").write_text("this is no database, but long enough to be taken for one " * 40)
    with pytest.raises(StoreError, match="not a database"):
        Store(tmp_path / "not.db")


def test_reading_creates_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "deep" / "results.db", reading=True) as store:
        assert store.runs() == []
        with pytest.raises(SelectionError, match="no run in"):
            store.run("latest")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_file_can_be_read(tmp_path: Path) -> None:
    medium = tmp_path / "medium"
    medium.mkdir()
    run = make_run([make_trial()])
    with Store(medium / "results.db") as store:
        store.begin(run)
        store.add(run.id, make_trial())
    with read_only(medium):
        with Store(medium / "results.db", reading=True) as store:
            assert len(store.run("latest")[1]) == 1
        with pytest.raises(StoreError, match=r"readonly|read-only|unable to open"):
            Store(medium / "results.db")


def test_a_read_only_file_is_reported_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    Store(path).close()
    with read_only(path), pytest.raises(StoreError, match="readonly"):
        Store(path)


def test_a_database_of_another_program_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE people (name)")
    theirs.close()
    before = path.read_bytes()
    for reading in (False, True):
        with pytest.raises(StoreError, match=r"theirs\.db: not a results database of httpbench"):
            Store(path, reading=reading)
    assert path.read_bytes() == before


def test_a_run_in_an_unknown_format_is_reported(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        store.begin(make_run([make_trial()]))
        store._connection.execute("UPDATE run SET document = json_set(document, '$.colour', 'red')")
        with pytest.raises(StoreError, match=r"results\.db: run .* was stored by another version of httpbench"):
            store.run("latest")
        assert [line.trials_planned for line in store.runs()] == [1]


def test_a_run_line_summarizes_a_run(tmp_path: Path) -> None:
    run = make_run([make_trial(), make_trial(make_plan(number=1))]).model_copy(update={"command": ("httpbench", "bench", "a b")})
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        store.add(run.id, make_trial())
        (line,) = store.runs()
    assert (line.id, line.targets, line.trials_done, line.trials_planned) == (run.id, tuple(run.targets), 1, 2)
    assert line.command == "httpbench bench 'a b'"


def test_repeats_do_not_count_as_planned_trials(tmp_path: Path) -> None:
    first = make_disturbed(make_plan())
    repeat = make_trial(make_plan(number=2, attempt=1))
    run = make_run([first, make_trial(make_plan(number=1))], retries=2)
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        for trial in (first, repeat):
            store.add(run.id, trial)
        (line,) = store.runs()
        assert (line.trials_done, line.trials_planned) == (1, 2)
        assert store.run("latest")[1] == [first, repeat], "all attempts are stored"


def test_hints_match_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("httpbench.store.copies.BUSY_LIMIT_S", 0.1)
    path = tmp_path / "results.db"
    with Store(path) as store:
        store._connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="database is locked") as caught:
            Store(path)
    assert "another program has locked it" in str(caught.value.hint)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 4000)
    with pytest.raises(StoreError, match="malformed") as caught:
        Store(path)
    assert ".recover" in str(caught.value.hint)


def test_a_new_file_can_be_opened_concurrently(tmp_path: Path) -> None:
    for attempt in range(5):
        path = tmp_path / f"{attempt}.db"
        barrier = threading.Barrier(8)

        def open_it(path: Path = path, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            Store(path).close()

        with ThreadPoolExecutor(max_workers=8) as pool:
            for opened in [pool.submit(open_it) for _ in range(8)]:
                opened.result(timeout=30)


def test_an_update_reads_the_status_and_only_new_trials(tmp_path: Path) -> None:
    trials = [make_trial(make_plan(number=number)) for number in range(4)]
    with Store(tmp_path / "results.db") as store:
        store.begin(make_run(trials, status=RunStatus.RUNNING))
        for number in (3, 0):
            store.add("20261121T080000-c0de", trials[number])
        run, known = store.run("latest")
        for number in (2, 1):
            store.add(run.id, trials[number])
        store.finish(run.id, RunStatus.FINISHED, "2026-01-02T03:04:05Z")
        updated, found = store.updated(run, known)
        assert (updated, found) == store.run("latest")
        assert [trial.plan.number for trial in found] == [0, 1, 2, 3]
        assert (found[0], found[3]) == tuple(known)
        assert found[0] is known[0]
        store.delete([run.id])
        with pytest.raises(SelectionError, match="no run"):
            store.updated(run, known)
