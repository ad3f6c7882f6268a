"""Tests that files of strangers are read only by functions that refuse links out of their folder, pipes, devices and endless files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench import catalog
from httpbench.catalog.httparena_results import read_results
from httpbench.catalog.imported import read_published_json
from httpbench.cli.verbs.explore import explore
from httpbench.errors import CatalogError, HttpbenchError, UsageError
from httpbench.paths import PACKAGE, read_foreign
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from tests.factories import make_mixed_run
from tests.hostile_files import PLANTED, Plant, device, huge, pipe
from tests.published import arena_row, write_arena

WAYS = {"open", "read_text", "read_bytes", "fdopen"}
READERS = ("catalog", "report/data", "analysis", "cli/verbs/explore.py", "cli/verbs/runs.py")
"""Packages and modules that read catalogs, published results and exports."""
ALLOWED = {"catalog/new_target.py": "copies our own templates"}


def ways_in(source: str) -> Iterator[str]:
    """Yield each call in a module that opens a file."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="open")):
                yield "open"
            case ast.Call(func=ast.Attribute(attr=name)) if name in WAYS:
                yield name


def modules() -> Iterator[Path]:
    for name in READERS:
        path = PACKAGE / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def test_only_the_functions_in_paths_open_files_of_strangers() -> None:
    found = {str(path.relative_to(PACKAGE)): sorted({*ways_in(path.read_text())}) for path in modules()}
    assert {name for name, ways in found.items() if ways} == set(ALLOWED)


each_kind = pytest.mark.parametrize("plant", PLANTED)
pytestmark = pytest.mark.timeout(20)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder that a stranger made."""
    made = tmp_path / "theirs" / "results"
    made.mkdir(parents=True)
    return made


def test_the_user_may_name_a_link_to_any_place(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("content")
    (place / "link").symlink_to(tmp_path / "elsewhere")
    assert read_foreign(place / "link", None) == b"content"


@pytest.mark.parametrize("plant", [device, pipe, huge])
def test_a_file_that_the_user_names_must_be_regular_and_small_enough(place: Path, plant: Plant) -> None:
    plant(place / "run.json")
    for read, error in ((read_export, UsageError), (read_published_json, CatalogError)):
        with pytest.raises(error, match=r"not a regular file|larger than \d+ MiB"):
            read(place / "run.json")


@each_kind
@pytest.mark.parametrize("name", ["baseline-512", "frameworks", "current"])
def test_published_results_have_one_sentence(tmp_path: Path, plant: Plant, name: str) -> None:
    clone = write_arena(tmp_path, baseline_512=[arena_row()])
    path = clone / "site" / "data" / f"{name}.json"
    path.unlink()
    plant(path)
    with pytest.raises(CatalogError, match=rf"^[^\n]*{PLANTED[plant]}[^\n]*$"):
        read_results(clone, catalog.load().workloads, ("httpbench",), None)


@each_kind
@pytest.mark.parametrize("name", ["run.json.zst", "skipped.txt"])
def test_folders_of_results_have_one_sentence(place: Path, plant: Plant, name: str) -> None:
    (place / "run.json.zst").write_text(render_json(*make_mixed_run()))
    (place / name).unlink(missing_ok=True)
    plant(place / name)
    page = place.parent / "explorer.html"
    done = CliRunner().invoke(explore, [str(place.parent), "-o", str(page)])
    assert isinstance(done.exception, HttpbenchError), done.output
    assert name in done.exception.message and PLANTED[plant] in done.exception.message and "\n" not in done.exception.message
    assert not page.exists()
