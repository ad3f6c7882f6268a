"""Tests of the site: every page is in its navigation, and broken links and requests to other hosts are found. mkdocs isn't required."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.site import ROOT, problems, schemas_page, stage, with_known_links


def test_the_navigation_has_every_page_of_the_docs() -> None:
    named = set(re.findall(r"(?:- |: )(\S+\.md)$", (ROOT / "tools" / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")} <= named
    assert not [name for name in named - {"docs/schemas/README.md"} if not (ROOT / name).exists()]


def test_links_to_files_outside_of_the_site_become_text(tmp_path: Path) -> None:
    (tmp_path / "there.md").touch()
    text = "[a](there.md#x), [b](../src/file.py), [c](https://example.org/), [d](#here), ![e](none.svg), [f](.)"
    assert with_known_links(text, tmp_path) == "[a](there.md#x), b, [c](https://example.org/), [d](#here), ![e](none.svg), f"


def test_the_schemas_have_a_page() -> None:
    page = schemas_page(ROOT / "docs" / "schemas")
    assert "[target.schema.json](target.schema.json)" in page
    assert re.search(r"\| framework +\| Framework or library", page)


def test_staged_pages_keep_their_places(tmp_path: Path) -> None:
    stage(tmp_path)
    for path in ("README.md", "docs/tutorial.md", "docs/schemas/README.md", "results/README.md", "crates/loadgen/README.md"):
        assert (tmp_path / path).is_file()
    assert not list(tmp_path.rglob("*.py"))


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="https://example.org/">x</a> <img src="data:,">', []),
        ('<a href="other.html#x">x</a> <a href="#y">y</a>', []),
        ('<a href="none.html">x</a>', ["page.html links to none.html, which is missing"]),
        ('<script src="https://example.org/x.js"></script>', ["page.html loads https://example.org/x.js"]),
        ('<link rel="preconnect" href="//example.org">', ["page.html loads //example.org"]),
        ('<link rel="canonical" href="https://example.org/">', []),
    ],
)
def test_broken_links_and_requests_to_other_hosts_are_found(html: str, found: list[str], tmp_path: Path) -> None:
    (tmp_path / "other.html").touch()
    (tmp_path / "page.html").write_text(html)
    assert list(problems(tmp_path)) == found
