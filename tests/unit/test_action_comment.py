"""Tests of the comment that the GitHub Action leaves on a pull request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.github import GithubApi

PROGRAM = Path(__file__).parents[2] / "action/comment.py"
MARKER = "<!-- httpbench: performance -->"


def comment(api: GithubApi, tmp_path: Path, report: str | None) -> str:
    """Run the program and return what it printed."""
    file = tmp_path / "report.md"
    if report is not None:
        file.write_text(report, encoding="utf-8")
    environment = {**api.variables(tmp_path), "GITHUB_TOKEN": "secret", "NAME": "performance"}
    argv = [sys.executable, str(PROGRAM), str(file)]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=30, check=True).stdout


def test_the_comment_of_an_earlier_run_is_replaced(tmp_path: Path) -> None:
    with GithubApi() as api:
        api.comments += [{"id": number + 1, "body": "another comment"} for number in range(100)]
        assert comment(api, tmp_path, "first report\n") == ""
        assert comment(api, tmp_path, "second report\n") == ""
    (body,) = [each["body"] for each in api.comments if each["body"] != "another comment"]
    link = "[Charts and data](https://github.test/someone/something/actions/runs/42) are in the artifact `performance`."
    assert body == f"{MARKER}\nsecond report\n\n{link}\n"
    assert api.tokens == {"Bearer secret"}


def test_a_long_report_is_cut_at_a_line(tmp_path: Path) -> None:
    with GithubApi() as api:
        comment(api, tmp_path, "| a row of a table |\n" * 5000)
    body = api.comments[0]["body"]
    assert 65_000 < len(body) <= 65_536
    assert "| a row of a table |\n\n…\n\n[Charts" in body


@pytest.mark.parametrize(("status", "report", "warning"), [(403, "a report", "not permitted"), (0, None, "there is no report")])
def test_a_job_that_cannot_comment_continues(tmp_path: Path, status: int, report: str | None, warning: str) -> None:
    with GithubApi(refuses=status) as api:
        assert comment(api, tmp_path, report).startswith(f"::warning::{warning}")
    assert api.comments == []
