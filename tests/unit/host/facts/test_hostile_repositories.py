"""Tests that a stranger's repository runs nothing when httpbench reads its commits. Each kind names a program that creates a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from httpbench.host import Repository, commits_between
from httpbench.host.facts.git import git_commit
from tests.hostile_repositories import KINDS, filter_with_an_odd_name, write_program
from tests.planted import git


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write_program(tmp_path)


@pytest.mark.parametrize("plant", KINDS, ids=lambda plant: plant.__name__)
def test_a_repository_runs_nothing(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    first = ""
    for text in ("one", "two"):
        (folder / "file").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", text)
        first = first or git(folder, "rev-parse", "HEAD")
    plant(folder, program)
    (tmp_path / "ran").unlink(missing_ok=True)
    monkeypatch.chdir(folder)

    found = git_commit(folder)
    between = commits_between(first, git(folder, "rev-parse", "HEAD"))
    commits_between(first, "1" * 40)
    repository = Repository.around(folder)
    repository.commits(repository.commit(first), repository.commit("HEAD"))
    assert not (tmp_path / "ran").exists()
    assert between
    assert found is not None or plant is filter_with_an_odd_name


def test_a_bare_repository_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare repository can be part of an archive, or of another repository."""
    own, bare = tmp_path / "own", tmp_path / "bare"
    git(tmp_path, "init", "--quiet", str(own))
    first, second = (_empty_commit(own) for _ in range(2))
    git(tmp_path, "clone", "--quiet", "--bare", str(own), str(bare))
    monkeypatch.chdir(own)
    assert commits_between(first, second)
    monkeypatch.chdir(bare)
    assert (commits_between(first, second), git_commit(bare)) == ([], None)


def _empty_commit(folder: Path) -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Nothing")
    return git(folder, "rev-parse", "HEAD")


def test_git_is_called_in_one_place() -> None:
    sources = Path(__file__).parents[4] / "src" / "httpbench"
    callers = [path for path in sources.rglob("*.py") if re.search(r"""(?<!AliasPath)[(\[]["']git["'],""", path.read_text())]
    assert [str(path.relative_to(sources)) for path in callers] == ["host/facts/git.py"]
