"""Tests that a run can be reported from its export instead of from the results database."""

from __future__ import annotations

from pathlib import Path

import zstandard
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.cli.options.output import source_of
from httpbench.cli.verbs.report import report
from httpbench.paths import default_database
from httpbench.report.data.json import render_json
from httpbench.report.markdown.run import render_markdown
from httpbench.store import Store
from tests.factories import make_failed, make_mixed_run, make_plan, make_rounds, make_run


def test_a_run_can_be_reported_from_its_export(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    export = tmp_path / "run.json.zst"
    export.write_bytes(zstandard.compress(render_json(run, trials).encode()))
    asked = [str(export), "--db", str(tmp_path / "none.db"), "--format", "markdown"]
    done = CliRunner().invoke(report, asked, catch_exceptions=False)
    assert done.exit_code == 0
    assert render_markdown(run, trials) in done.output
    assert not (tmp_path / "none.db").exists()


def test_a_run_is_named_with_its_database_unless_that_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "my run.json").touch()
    assert source_of("20261121T080000-c0de", default_database()) == "20261121T080000-c0de"
    assert source_of("20261121T080000-c0de", tmp_path / "my.db") == f"20261121T080000-c0de --db {tmp_path}/my.db"
    assert source_of(f"{tmp_path}/my run.json", tmp_path / "my.db") == f"'{tmp_path}/my run.json'"


def test_the_hint_below_a_report_works_when_pasted(tmp_path: Path) -> None:
    failed = [make_failed(make_plan(f"b/{number}"), f"ended {number}") for number in range(5)]
    trials = [*make_rounds("a/a", (1000, 1010, 1020)), *failed]
    trials = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": n})}) for n, trial in enumerate(trials)]
    run = make_run(trials)
    with Store(tmp_path / "my.db") as store:
        store.begin(run)
        for trial in trials:
            store.add(run.id, trial)
    shown = CliRunner().invoke(cli, ["report", "latest", "--db", str(tmp_path / "my.db")]).output
    hint = f"more notes: httpbench report {run.id} --db {tmp_path}/my.db --explain"
    assert hint in shown
    again = CliRunner().invoke(cli, hint.partition("httpbench ")[2].split())
    assert (again.exit_code, "ended 4" in again.output) == (0, True)
