"""Tests of the copy through which the dashboard reads a file in an earlier format."""

from __future__ import annotations

import sqlite3
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from httpbench.errors import StoreError
from httpbench.store import Copy, Store
from httpbench.store.schema import migrate
from httpbench.web import addresses
from httpbench.web.site import Site
from tests.dashboards import add_run, make_rounds_of, make_small_store, serving
from tests.factories import make_plan, make_run, make_trial

EARLIER = """
    DROP INDEX run_by_words;
    ALTER TABLE run DROP COLUMN name;
    ALTER TABLE run DROP COLUMN git_commit;
    ALTER TABLE run DROP COLUMN tags;
    DROP TABLE profile;
    PRAGMA user_version = 3;
"""


def age(db: Path, *, journal: str = "WAL") -> Path:
    """Bring a file into an earlier format."""
    with closing(sqlite3.connect(db)) as connection:
        connection.executescript(EARLIER)
        connection.execute(f"PRAGMA journal_mode = {journal}")
    return db


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each migration of a copy."""
    found: list[str] = []

    def count(connection: sqlite3.Connection) -> None:
        found.append("copy")
        migrate(connection)

    monkeypatch.setattr("httpbench.store.copies.migrate", count)
    return found


def ids(db: Path, copy: Copy) -> Sequence[str]:
    with Store(db, reading=True, copy=copy) as store:
        return [line.id for line in store.runs()]


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_the_pages_of_a_dashboard_share_one_copy(tmp_path: Path, copied: list[str], journal: str) -> None:
    db = age(make_small_store(tmp_path / "results.db"), journal=journal)
    before = db.read_bytes()
    site = Site(db)
    pages = [site.page(path).content for path in ("", "targets.html", "runs/r1.html", "compare/r1/r2.html", addresses.target("c/a"))]
    assert "3 runs" in pages[0]
    assert site.state("r3") is not None
    assert copied == ["copy"]
    assert db.read_bytes() == before


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_copy_is_made_again_when_the_file_changes(tmp_path: Path, copied: list[str], journal: str) -> None:
    db, copy = age(make_small_store(tmp_path / "results.db"), journal=journal), Copy()
    assert ids(db, copy) == ids(db, copy) == ["r3", "r2", "r1"]
    with closing(sqlite3.connect(db)) as writer:  # the last connection moves a log into the file when it closes
        writer.execute("UPDATE run SET id = 'r9' WHERE id = 'r3'")
        writer.commit()
        assert ids(db, copy) == ids(db, copy) == ["r9", "r2", "r1"]
    assert ids(db, copy) == ids(db, copy) == ["r9", "r2", "r1"]
    assert 2 <= len(copied) <= 3


def test_a_copy_is_made_again_when_another_file_takes_the_place(tmp_path: Path, copied: list[str]) -> None:
    db, copy = age(make_small_store(tmp_path / "results.db"), journal="DELETE"), Copy()
    assert len(ids(db, copy)) == 3
    other = tmp_path / "other.db"
    add_run(other, make_run(make_rounds_of("c/a"), id="other"), [])
    age(other, journal="DELETE").replace(db)
    assert ids(db, copy) == ["other"]
    assert copied == ["copy", "copy"]


def test_an_open_store_keeps_its_copy_when_a_new_one_is_made(tmp_path: Path) -> None:
    db, copy = age(make_small_store(tmp_path / "results.db"), journal="DELETE"), Copy()
    with Store(db, reading=True, copy=copy) as store:
        with closing(sqlite3.connect(db)) as writer:
            writer.execute("DELETE FROM run WHERE id = 'r3'")
            writer.commit()
        assert len(ids(db, copy)) == 2
        assert len(store.runs()) == 3


def test_a_copy_is_private_and_on_disk_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    db, copy = age(make_small_store(tmp_path / "results.db")), Copy()
    assert len(ids(db, copy)) == 3
    (folder,) = scratch.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in folder.iterdir()] == ["copy.db"]
    with Store(db, reading=True, copy=copy) as store, pytest.raises(StoreError, match=r"readonly|read-only"):
        store.add("r1", make_trial(make_plan(number=100)))
    copy.close()
    assert list(scratch.iterdir()) == []


def test_a_file_in_the_current_format_is_read_without_a_copy(tmp_path: Path, copied: list[str]) -> None:
    assert len(ids(make_small_store(tmp_path / "results.db"), Copy())) == 3
    assert copied == []


def test_a_store_without_a_shared_copy_reads_an_earlier_format(tmp_path: Path) -> None:
    db = age(make_small_store(tmp_path / "results.db"))
    with Store(db, reading=True) as store:
        assert [line.id for line in store.runs()] == ["r3", "r2", "r1"]


def test_a_dashboard_that_ends_deletes_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    db = age(make_small_store(tmp_path / "results.db"))
    with serving(db) as (process, address):
        assert urllib.request.urlopen(address, timeout=30).status == 200
        assert any(scratch.glob("httpbench-*/copy.db"))
        process.terminate()
        process.wait(timeout=30)
    assert not any(scratch.glob("httpbench-*"))
