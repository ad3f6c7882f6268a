"""Tests that the static copy is complete, has no broken links, and needs no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.web.export import export, links
from tests.dashboards import make_small_store


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return make_small_store(tmp_path / "results.db")


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_every_page_is_a_file_and_every_link_works(db: Path, tmp_path: Path) -> None:
    wrote: list[str] = []
    count = export(db, tmp_path / "public", 100, wrote.append)
    found = files(tmp_path / "public")
    assert found == set(wrote)
    assert len(found) == count
    assert {"index.html", "targets.html", "runs/r3.html", "runs/r1/report.html", "runs/r1/table-1.svg", "compare/r1/r2.html"} <= found
    for path in found:
        if path.endswith(".html"):
            assert set(links((tmp_path / "public" / path).read_text(), path)) <= found


def test_a_static_copy_has_no_forms_and_no_scripts_but_that_of_the_explorer(db: Path, tmp_path: Path) -> None:
    export(db, tmp_path / "public", 100, lambda path: None)
    for path in (tmp_path / "public").rglob("*.html"):
        text = path.read_text()
        assert ("<script" in text) == (path.name == "explorer.html")
        assert ' action="' not in text
        assert 'http-equiv="refresh"' not in text


def test_only_the_newest_runs_are_copied(db: Path, tmp_path: Path) -> None:
    export(db, tmp_path / "public", 1, lambda path: None)
    found = files(tmp_path / "public")
    assert "runs/r3.html" in found
    assert not [path for path in found if "r1" in path or "r2" in path]


def test_a_folder_with_files_is_rejected(db: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not empty"):
        export(db, tmp_path, 1, lambda path: None)


def test_links_to_other_hosts_and_data_urls_are_ignored() -> None:
    page = '<a href="../a.html#x"><a href="#y"><a href="https://example.org/"><img src="data:,"><a href="b">'
    assert links(page, "runs/r.html") == ["a.html", "runs/b"]
