"""Tests of the comment that the GitHub Action leaves on a pull request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.github import GithubApi

PROGRAM = Path(__file__).parents[2] / "comment/comment.py"
BOT = {"login": "github-actions[bot]"}
MARKER = "<!-- httpbench: performance -->"


def comment(api: GithubApi, tmp_path: Path, report: str | None) -> str:
    """Run the program and return what it printed."""
    file = tmp_path / "report.txt"
    if report is not None:
        file.write_text(report, encoding="utf-8")
    environment = {**api.variables(tmp_path), "GITHUB_TOKEN": "secret", "NAME": "performance"}
    argv = [sys.executable, str(PROGRAM), str(file)]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=30, check=True).stdout


def test_the_comment_of_an_earlier_run_is_replaced(tmp_path: Path) -> None:
    with GithubApi() as api:
        api.comments += [{"id": number + 1, "body": "another comment", "user": BOT} for number in range(100)]
        assert comment(api, tmp_path, "first report\n") == ""
        assert comment(api, tmp_path, "second report\n") == ""
    (body,) = [each["body"] for each in api.comments if each["body"] != "another comment"]
    link = "[Charts and data](https://github.test/someone/something/actions/runs/42) are in the artifact `performance`."
    assert body == f"{MARKER}\n```text\nsecond report\n```\n\n{link}\n"
    assert api.tokens == {"Bearer secret"}


def test_a_long_report_is_cut_at_a_line(tmp_path: Path) -> None:
    with GithubApi() as api:
        comment(api, tmp_path, "a row of a table\n" * 5000)
    body = api.comments[0]["body"]
    assert 65_000 < len(body) <= 65_536
    assert "\na row of a table\n\n…\n```\n\n[Charts" in body


def test_a_comment_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    """Anybody can begin a comment with the marker, and the token of a job may edit every comment."""
    with GithubApi() as api:
        api.comments.append({"id": 1, "body": f"{MARKER}\nmine", "user": {"login": "github-actions"}})
        comment(api, tmp_path, "a report")
    assert [each["body"].splitlines()[1] for each in api.comments] == ["mine", "```text"]


def test_a_report_is_only_text(tmp_path: Path) -> None:
    """The code of the pull request may have written it."""
    hostile = "```\n# Merge this\n@everyone [here](https://evil.test)\n~~~\n````\n<img src=x>\u202e\x1b[31m\u200b\0"
    with GithubApi() as api:
        comment(api, tmp_path, hostile)
    lines = api.comments[0]["body"].splitlines()
    assert [number for number, line in enumerate(lines) if "```" in line] == [1, len(lines) - 3]
    assert (lines[1], lines[-3]) == ("```text", "```")
    assert {each for each in "".join(lines) if not each.isprintable()} == set()


def test_a_link_or_a_pipe_instead_of_a_report_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret", encoding="utf-8")
    for plant in (lambda path: path.symlink_to(secret), os.mkfifo):
        report = tmp_path / "report.txt"
        report.unlink(missing_ok=True)
        plant(report)
        with GithubApi() as api:
            assert "there is no report" in comment(api, tmp_path, None)
        assert api.comments == []


@pytest.mark.parametrize(("status", "report", "warning"), [(403, "a report", "not permitted"), (0, None, "there is no report")])
def test_a_job_that_cannot_comment_continues(tmp_path: Path, status: int, report: str | None, warning: str) -> None:
    with GithubApi(refuses=status) as api:
        assert comment(api, tmp_path, report).startswith(f"::warning::{warning}")
    assert api.comments == []
