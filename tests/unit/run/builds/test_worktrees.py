"""Tests of builds of commits in worktrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import BuildError, HttpbenchError
from httpbench.host import Repository
from httpbench.run import Worktrees
from tests.planted import git

COUNT = "echo built >> times; cp file server"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Create a repository whose second commit is reverted by the third."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for text in ("one", "two", "one"):
        (folder / "sub" / "file").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", text)
    return Repository.around(folder)


def test_commits_with_the_same_files_share_a_build(repository: Repository) -> None:
    worktrees = Worktrees(repository, COUNT, Path("sub"))
    built = [worktrees.built(repository.commit(name)) for name in ("HEAD~2", "HEAD~1", "HEAD", "HEAD~1")]
    assert built[0] == built[2] and built[1] == built[3] and built[0] != built[1]
    assert len({len(str(folder)) for folder in built}) == 1
    assert [(folder / "server").read_text() for folder in built[:2]] == ["one", "two"]
    assert all((folder / "times").read_text() == "built\n" for folder in built)
    other = Worktrees(repository, f"{COUNT}; true", Path("sub")).built(repository.commit("HEAD"))
    assert other != built[0], "another command is another build"


def test_a_failed_build_is_removed_and_tried_again(repository: Repository, tmp_path: Path) -> None:
    worktrees = Worktrees(repository, f"echo reason; test -e {tmp_path}/fixed", Path())
    for _ in range(2):
        with pytest.raises(BuildError, match="its build failed, exit code 1") as caught:
            worktrees.built(repository.commit("HEAD"))
        assert caught.value.log_tail == "reason"
        assert not [entry for entry in worktrees.folder.iterdir() if entry.is_dir()]
    (tmp_path / "fixed").touch()
    assert worktrees.built(repository.commit("HEAD")).is_dir()


def test_an_unfinished_build_is_made_again(repository: Repository) -> None:
    worktrees = Worktrees(repository, COUNT, Path("sub"))
    folder = worktrees.built(repository.commit("HEAD"))
    folder.parent.with_suffix(".built").unlink()
    assert (worktrees.built(repository.commit("HEAD")) / "times").read_text() == "built\n"


def test_a_commit_without_the_folder_of_the_commands_cannot_be_built(repository: Repository) -> None:
    with pytest.raises(BuildError, match="it has no folder later"):
        Worktrees(repository, None, Path("later")).built(repository.commit("HEAD"))


def test_one_search_at_a_time(repository: Repository) -> None:
    worktrees = Worktrees(repository, None, Path())
    with worktrees.locked(), pytest.raises(HttpbenchError, match="another httpbench bisect is running"), worktrees.locked():
        pass
    with worktrees.locked():
        pass
