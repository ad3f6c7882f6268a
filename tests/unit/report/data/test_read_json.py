"""Tests that runs are read back from their JSON exports."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from httpbench.errors import UsageError
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from tests.factories import make_mixed_run


def test_reading_an_export_restores_the_run(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    Path(tmp_path, "run.json").write_text(render_json(run, trials))
    again, read = read_export(Path(tmp_path, "run.json"))
    bare = {"probed"}  # exported only once for each target
    assert [trial.model_dump(exclude=bare) for trial in read] == [trial.model_dump(exclude=bare) for trial in trials]
    assert (again.id, again.environment, again.workloads) == (run.id, run.environment, run.workloads)
    assert render_json(again, read) == render_json(run, trials)


def test_an_export_may_be_compressed(tmp_path: Path) -> None:
    text = render_json(*make_mixed_run())
    path = tmp_path / "run.json.zst"
    path.write_bytes(zstandard.compress(text.encode()))
    assert render_json(*read_export(path)) == text
    path.write_bytes(zstandard.compress(text.encode())[:10] + b"damaged")
    with pytest.raises(UsageError, match=r"run.json.zst cannot be read: "):
        read_export(path)


@pytest.mark.parametrize(("text", "place"), [("{}", "run"), ("no", "the file"), ('{"schema": "httpbench/9"}', "schema")])
def test_other_files_are_rejected_with_a_reason(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"is not a JSON export of a run that this version can read: {place}"):
        read_export(path)
