"""Tests of the list of commits between two runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from httpbench.host import commits_between
from httpbench.host.facts.git import COMMITS_MAX


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.test")
    return subprocess.run(("git", "-C", str(folder), *identity, *words), check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def commits(tmp_path: Path) -> list[str]:
    """Create a repository in ``tmp_path`` and return the ids of its commits, three more than a list shows."""
    git(tmp_path, "init", "--quiet")
    found = []
    for number in range(COMMITS_MAX + 3):
        git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", f"Change {number}")
        found.append(git(tmp_path, "rev-parse", "HEAD"))
    return found


def test_commits_come_newest_first_with_their_subjects(tmp_path: Path, commits: list[str]) -> None:
    found = commits_between(tmp_path, commits[0], f"{commits[2]}+changes")
    assert [line.partition(" ")[2] for line in found] == ["Change 2", "Change 1"]
    assert commits[2].startswith(found[0].partition(" ")[0])


def test_a_long_list_is_cut_and_ends_with_a_hint(tmp_path: Path, commits: list[str]) -> None:
    found = commits_between(tmp_path, commits[0], commits[-1])
    assert len(found) == COMMITS_MAX + 1
    assert found[-1] == f"… and more: git log {commits[0][:12]}..{commits[-1][:12]}"


def test_missing_folders_and_commits_give_an_empty_list(tmp_path: Path, commits: list[str]) -> None:
    assert commits_between(tmp_path / "gone", commits[0], commits[1]) == []
    assert commits_between(tmp_path, commits[0], "0" * 40) == []
    assert commits_between(tmp_path, commits[0], f"{commits[0]}+changes") == []
    assert commits_between(tmp_path, "--output=/tmp/x", commits[0]) == []
