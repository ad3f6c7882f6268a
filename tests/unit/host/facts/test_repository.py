"""Tests of the commits and worktrees of a git repository."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from httpbench.errors import BuildError, UsageError
from httpbench.host import Repository
from tests.planted import git


def commit(folder: Path, text: str, *words: str) -> str:
    (folder / "file").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", f"Write {text}", *words)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "repository"
    found.mkdir()
    git(found, "init", "--quiet", "--initial-branch", "main")
    return found


def searched(folder: Path, good: str, bad: str) -> list[str]:
    repository = Repository.around(folder)
    return [found.id for found in repository.commits(repository.commit(good), repository.commit(bad))]


def test_a_commit_has_its_author_date_and_subject(folder: Path) -> None:
    name = commit(folder, "a", "--author", "Grace <grace@example.test>", "--date", "2026-01-02T03:04:05+01:00")
    found = Repository.around(folder).commit("HEAD")
    assert (found.id, found.subject, found.author) == (name, "Write a", "Grace <grace@example.test>")
    assert found.date == "2026-01-02T03:04:05+01:00"


@pytest.mark.parametrize("written", ["253402300800 +0000", "1700000000 +051812", "1700000000 -9999", "99999999999999999 +0000", "x +0000"])
def test_a_commit_with_an_odd_date_has_an_unknown_date(folder: Path, written: str) -> None:
    commit(folder, "a")
    head, _, message = git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    (folder / "odd").write_text(re.sub(r"(?m)^(author .*>) .*$", rf"\1 {written}", head) + f"\n\n{message}\n")
    odd = git(folder, "hash-object", "-t", "commit", "-w", "--literally", "odd")
    found = Repository.around(folder).commit(odd)
    assert found.id == odd
    assert found.date is None or datetime.fromisoformat(found.date).tzinfo


def test_commits_come_oldest_first_without_the_good_one(folder: Path) -> None:
    names = [commit(folder, text) for text in "abcd"]
    assert searched(folder, names[0], "HEAD") == names[1:]
    (folder / "sub").mkdir()
    assert searched(folder / "sub", "HEAD~1", "main") == names[3:]


def test_a_commit_with_the_same_files_as_its_predecessor_is_left_out(folder: Path) -> None:
    names = [commit(folder, text) for text in "abbc"]
    assert searched(folder, names[0], "HEAD") == [names[1], names[3]]


def test_a_merged_branch_is_one_commit(folder: Path) -> None:
    """Commits on the main branch that lack the good commit are left out, too."""
    base = commit(folder, "a")
    git(folder, "switch", "--quiet", "--create", "side")
    good, later = commit(folder, "b"), commit(folder, "c")
    git(folder, "switch", "--quiet", "main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "On main")
    git(folder, "merge", "--quiet", "--no-edit", "side")
    merge, last = git(folder, "rev-parse", "HEAD"), commit(folder, "d")
    assert searched(folder, base, "HEAD") == [merge, last]
    assert searched(folder, good, "HEAD") == [merge, last]
    assert later not in searched(folder, base, "HEAD")


def test_what_cannot_be_searched_is_refused_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    first, second = commit(folder, "a"), commit(folder, "b")
    git(folder, "switch", "--quiet", "--create", "side", first)
    commit(folder, "c")
    for good, bad, sentence, hint in (
        ("main", first, "is not an ancestor of", "in the order GOOD BAD"),
        ("main", "side", "is not an ancestor of", "git merge-base"),
        ("main", second, "have the same files", "two different commits"),
        ("gone", "main", "has no commit gone", "git log"),
        ("--all", "main", "has no commit --all", "git log"),
    ):
        with pytest.raises(UsageError) as caught:
            searched(folder, good, bad)
        assert sentence in caught.value.message and hint in str(caught.value.hint)
    with pytest.raises(UsageError, match="is not in the work tree of a git repository"):
        Repository.around(tmp_path)


def test_a_shallow_clone_needs_its_history(folder: Path, tmp_path: Path) -> None:
    for text in "abc":
        commit(folder, text)
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-single-branch", folder.as_uri(), "shallow")
    git(tmp_path / "shallow", "fetch", "--quiet", "--depth", "1", "origin", git(folder, "rev-parse", "HEAD~2"))
    with pytest.raises(UsageError, match="is not an ancestor of") as caught:
        searched(tmp_path / "shallow", "FETCH_HEAD", "HEAD")
    assert "git fetch --unshallow" in str(caught.value.hint)


def test_a_worktree_is_created_without_hooks_and_removed(folder: Path, tmp_path: Path) -> None:
    commit(folder, "a")
    commit(folder, "b")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    (folder / "file").write_text("not committed")
    repository, worktree = Repository.around(folder), tmp_path / "worktree"
    repository.check_out(repository.commit("HEAD~1"), worktree)
    assert (worktree / "file").read_text() == "a"
    assert not (tmp_path / "ran").exists()
    with pytest.raises(BuildError, match="cannot be checked out"):
        repository.check_out(repository.commit("HEAD"), worktree)
    repository.remove(worktree)
    assert not worktree.exists()
    assert (folder / "file").read_text() == "not committed"
