from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import numpy
import pytest
import scipy

from httpbench.host import read_environment
from httpbench.host.facts.git import git_commit
from tests.unit.host.fake import quiet, write


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    return subprocess.run(("git", "-C", str(folder), *identity, *words), check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    write(folder, {"targets/target.toml": "x", "other/file": "y", ".gitignore": "/.venv/"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


def test_a_machine_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2})
    found = read_environment(tmp_path, {"go": "1.26"}, quiet(tmp_path))
    assert found.cpu_model == "Some Processor 9000"
    assert (found.cpus_online, found.cpus_allowed, found.smt) == (4, (1, 2), False)
    assert (found.governor, found.turbo, found.mitigations) == ("performance", False, {"spectre_v2": "Not affected"})
    assert (found.hostname, found.kernel, found.os) == ("quiet", "6.9.0", "Debian GNU/Linux 12")
    assert (found.memory_bytes, found.load_average_1m) == (16384 * 1024, 0.01)
    assert (found.virtualization, found.container) == (None, None)
    assert (found.cgroup_version, found.cpu_quota_cores, found.memory_limit_bytes) == (2, None, None)
    assert found.git_commit is None
    assert found.versions == {"go": "1.26", "numpy": numpy.__version__, "scipy": scipy.__version__}


def test_missing_facts_are_none(tmp_path: Path) -> None:
    found = read_environment(tmp_path, {}, tmp_path)
    assert (found.smt, found.governor, found.turbo, found.virtualization, found.cgroup_version) == (None,) * 5
    assert found.mitigations == {}
    assert found.cpu_model


def test_this_machine_can_be_described(tmp_path: Path) -> None:
    found = read_environment(tmp_path, {})
    assert found.kernel == os.uname().release
    assert found.memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] in (found.open_files_limit, resource.RLIM_INFINITY)
    assert set(found.cpus_allowed) == os.sched_getaffinity(0)


def test_a_folder_has_a_commit(repository: Path) -> None:
    assert git_commit(repository / "targets") == git(repository, "rev-parse", "HEAD")


def test_only_a_change_in_the_folder_itself_marks_the_commit(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    (repository / "other" / "file").write_text("changed")
    assert git_commit(repository / "targets") == head
    (repository / "targets" / "new").touch()
    assert git_commit(repository / "targets") == f"{head}+changes"


def test_ignored_folders_and_folders_without_commits_have_no_commit(repository: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert git_commit(outside) is None
    git(outside, "init", "--quiet")
    assert git_commit(outside) is None
    write(repository, {".venv/targets/target.toml": "x"})
    assert git_commit(repository / ".venv" / "targets") is None
