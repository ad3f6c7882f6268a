"""Tests of the list of commits between two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.host import commits_between
from httpbench.host.facts.git import COMMITS_MAX
from tests.planted import git


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Create a repository in the working directory and return the ids of its commits, three more than a list shows."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "--quiet")
    found = []
    for number in range(COMMITS_MAX + 3):
        git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", f"Change {number}")
        found.append(git(tmp_path, "rev-parse", "HEAD"))
    return found


def test_commits_come_newest_first_with_their_subjects(commits: list[str]) -> None:
    found = commits_between(commits[0], f"{commits[2]}+changes")
    assert [line.partition(" ")[2] for line in found] == ["Change 2", "Change 1"]
    assert commits[2].startswith(found[0].partition(" ")[0])


def test_a_long_list_is_cut_and_ends_with_a_hint(commits: list[str]) -> None:
    found = commits_between(commits[0], commits[-1])
    assert len(found) == COMMITS_MAX + 1
    assert found[-1] == f"… and more: git log {commits[0][:12]}..{commits[-1][:12]}"


def test_missing_repositories_and_commits_give_an_empty_list(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, commits: list[str]
) -> None:
    assert commits_between(commits[0], "0" * 40) == []
    assert commits_between(commits[0], f"{commits[0]}+changes") == []
    assert commits_between("--output=/tmp/x", commits[0]) == []
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert commits_between(commits[0], commits[1]) == []
