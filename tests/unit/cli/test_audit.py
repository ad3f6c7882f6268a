"""Tests of ``httpbench audit``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench.cli.verbs.audit import audit
from httpbench.cli.verbs.runs import runs
from httpbench.errors import SelectionError
from tests.published import arena_row, write_arena


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Import a table of HttpArena whose only row counts failed responses."""
    path, row = tmp_path / "results.db", arena_row(rps=294_864, status_2xx=11_817, status_5xx=1_462_503, avg_latency="", p99_latency="")
    clone = write_arena(tmp_path, baseline_512=[row])
    done = CliRunner().invoke(runs, ["--db", str(path), "--import", f"httparena:{clone}", "--name", "arena"], catch_exceptions=False)
    assert done.exit_code == 0
    return path


def test_published_results_are_audited(db: Path) -> None:
    done = CliRunner().invoke(audit, ["arena", "--db", str(db)], catch_exceptions=False)
    assert done.exit_code == 0 and "Failed responses counted as throughput: 1 of 1 row in 1 table" in done.output


def test_findings_are_exported(db: Path, tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    words = ["--db", str(db), "--export-json", "-", "--export-html", str(page)]
    done = CliRunner().invoke(audit, words, catch_exceptions=False)
    assert [finding["rule"] for finding in json.loads(done.stdout)["findings"]] == ["errors_counted"]
    assert "Failed responses counted as throughput" in page.read_text()


def test_an_unknown_run_is_an_error(db: Path) -> None:
    with pytest.raises(SelectionError, match="no run"):
        CliRunner().invoke(audit, ["other", "--db", str(db)], catch_exceptions=False)
