"""Tests that a stranger's repository runs nothing when httpbench reads its commits. Each kind names a program that creates a file."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from httpbench.host import Repository, commits_between
from httpbench.host.facts.git import git_commit
from tests.planted import git


def _fsmonitor(folder: Path, program: Path) -> None:
    git(folder, "config", "core.fsmonitor", str(program))


def _signature(folder: Path, program: Path) -> None:
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", str(program))
    raw = git(folder, "cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (folder / "signed").write_text(f"{head}\n{signature}\n\n{message}\n")
    git(folder, "update-ref", "HEAD", git(folder, "hash-object", "-t", "commit", "-w", "signed"))
    (folder / "signed").unlink()


def _hooks(folder: Path, program: Path) -> None:
    hooks = folder / "planted-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).symlink_to(program)
    git(folder, "config", "core.hooksPath", str(hooks))


def _filter(folder: Path, program: Path, name: str = "planted", kind: str = "clean") -> None:
    git(folder, "config", f"filter.{name}.{kind}", str(program))
    git(folder, "config", f"filter.{name}.required", "true")
    (folder / ".git" / "info" / "attributes").write_text(f"* filter={name}\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def _filter_process(folder: Path, program: Path) -> None:
    _filter(folder, program, kind="process")


def _filter_with_an_odd_name(folder: Path, program: Path) -> None:
    _filter(folder, program, name="a=b.c")


def _included(folder: Path, program: Path) -> None:
    (folder / ".git" / "more").write_text(f'[core]\n\tfsmonitor = {program}\n[filter "x"]\n\tclean = {program}\n')
    git(folder, "config", "include.path", "more")
    (folder / ".gitattributes").write_text("* filter=x\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def _textconv(folder: Path, program: Path) -> None:
    for key in ("diff.planted.textconv", "diff.planted.command", "diff.external", "core.pager", "core.editor", "core.askPass"):
        git(folder, "config", key, str(program))
    git(folder, "config", "log.diffMerges", "on")
    (folder / ".gitattributes").write_text("* diff=planted\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def _submodule(folder: Path, program: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    git(inner, "commit", "--quiet", "--allow-empty", "--message", "Inner")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{git(inner, 'rev-parse', 'HEAD')},inner")
    git(folder, "commit", "--quiet", "--message", "Add a submodule")
    (inner / "untracked").write_text("x")
    _fsmonitor(inner, program)


def _promisor(folder: Path, program: Path) -> None:
    """Plant a remote repository, from which a missing commit would be fetched."""
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.partialClone", "origin")
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.url", f"ext::{program} %S")
    git(folder, "config", "remote.origin.uploadpack", str(program))
    git(folder, "config", "protocol.ext.allow", "always")
    git(folder, "config", "core.sshCommand", str(program))
    (folder / ".git" / "refs" / "heads" / "gone").write_text("1" * 40 + "\n")


KINDS = [
    _fsmonitor,
    _signature,
    _hooks,
    _filter,
    _filter_process,
    _filter_with_an_odd_name,
    _included,
    _textconv,
    _submodule,
    _promisor,
]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Create a program that leaves the file ``ran`` beside itself."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\ncat\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("plant", KINDS, ids=lambda plant: plant.__name__.strip("_"))
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
    assert found is not None or plant is _filter_with_an_odd_name


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
