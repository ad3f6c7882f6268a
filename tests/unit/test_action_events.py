"""Tests that the actions refuse events that would run a pull request's code beside secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.github import ActionJob, GithubApi

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", [".", "comment"])
@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run", "issue_comment"])
def test_the_first_step_refuses(folder: str, event: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with GithubApi() as api:
        job = ActionJob(ROOT / folder, tmp_path, api.variables(tmp_path), tmp_path, None, event)
        required = {"server": f"touch {tmp_path}/started", "build": f"touch {tmp_path}/built"} if folder == "." else {}
        assert job.run(required) == 2
    assert "run on pull_request" in capfd.readouterr().out
    assert [path.name for path in tmp_path.iterdir() if path.name in ("started", "built", "httpbench")] == []
    assert api.comments == []
