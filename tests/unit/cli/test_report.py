"""Test of reporting a run from its export instead of the results database."""

from __future__ import annotations

from pathlib import Path

import zstandard
from click.testing import CliRunner

from httpbench.cli.verbs.report import report
from httpbench.report.data.json import render_json
from httpbench.report.markdown.run import render_markdown
from tests.factories import make_mixed_run


def test_a_run_can_be_reported_from_its_export(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    export = tmp_path / "run.json.zst"
    export.write_bytes(zstandard.compress(render_json(run, trials).encode()))
    asked = [str(export), "--db", str(tmp_path / "none.db"), "--format", "markdown"]
    done = CliRunner().invoke(report, asked, catch_exceptions=False)
    assert done.exit_code == 0
    assert render_markdown(run, trials) in done.output
    assert not (tmp_path / "none.db").exists()
