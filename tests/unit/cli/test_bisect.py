"""Tests of searches that ``httpbench bisect`` refuses before it builds anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.errors import BuildError, UsageError
from httpbench.store import Store
from tests.histories import A, fall
from tests.planted import git

GATE = ("--fail-if", "rps<-3%")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for text in ("one", "two"):
        (folder / "file").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", text)
    return folder


def refusal(folder: Path, *words: str) -> UsageError:
    done = CliRunner().invoke(cli, ["bisect", *words, "--cwd", str(folder)])
    assert isinstance(done.exception, UsageError), done.output
    assert not (folder.parent / "cache").exists(), "nothing was built"
    return done.exception


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("HEAD~1", "HEAD", "./a {port}"), "bisect requires a gate"),
        (("HEAD~1", "HEAD", "./a {port}", "--fail-if", "rps<3%"), "rps<+3% is breached if nothing changes"),
        (("HEAD~1", "HEAD", "./a {port}", "--fail-if", "ready>5%"), "bisect doesn't measure ready, which ready>+5% bounds"),
        (("HEAD~1", "HEAD", "./a {port}", "--fail-if", "between-p99>5%"), "bisect doesn't measure between-p99"),
        (("HEAD~1", "HEAD", "./a", *GATE), '"./a" has no {port}'),
        (("HEAD~1", "./a {port}", *GATE), "bisect takes GOOD, BAD and a command, not 2 words"),
        (("HEAD~1", "HEAD", "./a", "{port}", *GATE), "bisect takes GOOD, BAD and a command, not 4 words"),
        (("HEAD~1", "HEAD", "./a {port}", *GATE, "--history", "server"), "--history names the commits"),
        (("./a {port}", "--fail-if", "cpu>5%", "--history", "server"), "histories have rps, p99, time, not cpu"),
        (("HEAD~9", "HEAD", "./a {port}", *GATE), "has no commit HEAD~9"),
        (("HEAD", "HEAD~1", "./a {port}", *GATE), "is not an ancestor of"),
        (("HEAD", "HEAD", "./a {port}", *GATE), "have the same files"),
        (("HEAD~1", "HEAD", "./a {port}", *GATE, "-c", "8,64"), "bisect measures one load, not 2"),
    ],
)
def test_a_search_that_cannot_work_is_refused(repository: Path, words: tuple[str, ...], sentence: str) -> None:
    error = refusal(repository, *words)
    assert sentence in error.message and "\n" not in error.message


def test_a_folder_outside_of_a_repository_is_refused(tmp_path: Path) -> None:
    assert "is not in the work tree of a git repository" in refusal(tmp_path, "a", "b", "./a {port}", *GATE).message


@pytest.mark.parametrize(
    ("figure", "message"), [("rps<-3%", "the good commit, cannot be measured: ./missing is missing"), ("rps>3%", None)]
)
def test_the_commits_come_from_the_last_change_in_a_history(
    repository: Path, monkeypatch: pytest.MonkeyPatch, figure: str, message: str | None
) -> None:
    good, bad = git(repository, "rev-parse", "HEAD~1"), git(repository, "rev-parse", "HEAD")
    db = repository.parent / "results.db"
    with Store(db) as store:
        fall(store, commits=(good, f"{bad}+changes"))
    words = ("./missing {port}", "--fail-if", figure, "--history", A, "--db", str(db), "--cwd", str(repository))
    done = CliRunner().invoke(cli, ["bisect", *words])
    if message is None:
        assert (done.exit_code, done.stderr.strip()) == (0, "rps of c/a hasn't changed for the worse: nothing to search")
        return
    assert isinstance(done.exception, BuildError)
    assert done.exception.message == f"{good[:12]}, {message}, or is not a program"
    assert f"1 commit after {good[:12]} up to {bad[:12]}" in done.stderr


def test_a_change_within_one_commit_cannot_be_searched(repository: Path) -> None:
    db = repository.parent / "results.db"
    with Store(db) as store:
        fall(store, commits=("aaaa", "aaaa"))
    error = refusal(repository, "./a {port}", *GATE, "--history", A, "--db", str(db))
    assert error.message == "the last change of c/a is not between two commits"
