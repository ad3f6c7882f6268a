"""Tests that runs are listed, deleted and imported."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from httpbench.catalog.published import READERS
from httpbench.cli.options.params import PUBLISHED_FORMS
from httpbench.cli.verbs.compare import compare
from httpbench.cli.verbs.report import report
from httpbench.cli.verbs.runs import runs
from httpbench.errors import HttpbenchError, UsageError
from httpbench.model import RunStatus
from httpbench.store import Store
from tests.factories import make_rounds, make_run
from tests.published import WRK_METRICS, arena_row, web_frameworks, write_arena, write_results


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Store runs of the last four days. One has a name and one is still running."""
    path = tmp_path / "results.db"
    with Store(path) as store:
        for age, name in enumerate(("d3", "d2", "d1", "d0")):
            started = (datetime.now(UTC) - timedelta(days=3 - age, hours=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            status = RunStatus.RUNNING if name == "d2" else RunStatus.FINISHED
            store.begin(make_run(make_rounds("c/a", (1,)), id=name, started_at=started, status=status))
        store.begin(make_run(make_rounds("c/a", (1,)), id="named", started_at="2000-01-01T00:00:00.000Z", name="main"))
    return path


def asked(db: Path, *words: str) -> str:
    done = CliRunner().invoke(runs, ["--db", str(db), *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def left(db: Path) -> list[str]:
    return [line["id"] for line in json.loads(asked(db, "--json"))]


def test_sizes_are_shown(db: Path) -> None:
    assert "Size" in asked(db)
    assert "0.0 MB" in asked(db)
    assert all(line["size_bytes"] > 500 for line in json.loads(asked(db, "--json")))


def test_delete_removes_the_given_runs(db: Path) -> None:
    assert asked(db, "--delete", "main", "--delete", "latest~1").splitlines() == ["deleted named (0.0 MB)", "deleted d0 (0.0 MB)"]
    assert left(db) == ["d1", "d2", "d3"]


@pytest.mark.parametrize(("keep", "kept"), [("2", ["named", "d0", "d2"]), ("2d", ["named", "d0", "d1", "d2"]), ("0", ["named", "d2"])])
def test_prune_keeps_a_number_or_age_of_runs_and_named_or_running_ones(db: Path, keep: str, kept: list[str]) -> None:
    asked(db, "--prune", keep)
    assert left(db) == kept


def test_nothing_to_delete_is_reported(db: Path) -> None:
    assert asked(db, "--prune", "8w") == "no runs to delete\n"


@pytest.mark.parametrize("words", [("--prune", "soon"), ("--prune", "-1")])
def test_an_invalid_count_or_age_is_an_error(db: Path, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(runs, ["--db", str(db), *words])
    assert done.exit_code == 2
    assert len(left(db)) == 5


def test_imported_results_can_be_reported_and_compared(tmp_path: Path, db: Path) -> None:
    file = write_results(tmp_path / "results.json")
    said = asked(db, "--import", f"techempower:{file}", "--name", "round-23")
    assert said.startswith("stored 17 results of 4 targets in ") and said.rstrip().endswith("as 20250208T073320-c1a3f8d0")
    assert "20250208T073320-c1a3f8d0" in left(db)

    def shown(verb: click.Command, *words: str) -> str:
        done = CliRunner().invoke(verb, [*words, "--db", str(db)], catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    table = shown(report, "round-23")
    assert "published by techempower, measured on: Three servers" in table and "unknown number of cores" in table
    assert "json: 4 targets in both runs; rank correlation 1.00" in shown(compare, "round-23", "round-23")
    with pytest.raises(UsageError, match="so it has no gates or exports"):
        shown(compare, "round-23", "main", "--fail-if", "rps<-3%")
    with pytest.raises(UsageError, match="is stored already"):
        asked(db, "--import", f"techempower:{file}")


def test_results_of_each_project_can_be_imported(tmp_path: Path, db: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(web_frameworks(WRK_METRICS)))
    clone = write_arena(tmp_path, baseline_512=[arena_row()])
    assert asked(db, "--import", f"web-frameworks:{file}").startswith("stored 2 results of 2 targets")
    assert asked(db, "--import", f"httparena:{clone}").startswith("stored 1 results of 1 targets")


def test_each_reader_of_published_results_has_a_form_on_the_command_line() -> None:
    assert PUBLISHED_FORMS.keys() == READERS.keys()


def test_an_import_requires_layout_and_file_and_excludes_other_options(db: Path) -> None:
    for words in (("--import", "results.json"), ("--import", "other:results.json"), ("--import", "techempower:")):
        done = CliRunner().invoke(runs, ["--db", str(db), *words])
        assert done.exit_code == 2 and "write techempower:FILE, web-frameworks:FILE or httparena:DIR" in " ".join(done.output.split())
    for more in (("--import", "techempower:x", "--json"), ("--import", "techempower:x", "--prune", "3d"), ("--name", "x")):
        with pytest.raises(UsageError):
            asked(db, *more)


def test_a_file_with_a_damaged_id_never_causes_a_traceback(db: Path, tmp_path: Path) -> None:
    """An id is stored in a table, in its document and in several indexes, so a damaged file may contain a run that it doesn't list."""
    whole, endings = db.read_bytes(), set()
    for found in re.finditer(b"named", whole):
        damaged = tmp_path / f"{found.start()}.db"
        damaged.write_bytes(whole[: found.start()] + b"nameX" + whole[found.end() :])
        done = CliRunner().invoke(runs, ["--db", str(damaged), "--delete", "named"])
        assert done.exception is None or isinstance(done.exception, HttpbenchError), done.exception
        endings.add(done.output)
    assert "deleted named\n" in endings
