"""Tests of temporary folders: those of killed processes are removed, and all others stay."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from httpbench.host import scratch
from httpbench.host.scratch import scratch_folder, sweep


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an own folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_removed() -> None:
    with scratch_folder("database-") as folder:
        assert folder.name.startswith("httpbench-database-") and scratch.OURS.fullmatch(folder.name)
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "file").touch()
    assert not folder.exists()


def test_folders_of_killed_processes_are_removed(temporary: Path) -> None:
    script = "import os; from httpbench.host.scratch import ScratchFolder; print(ScratchFolder().path, flush=True); os.kill(os.getpid(), 9)"
    env = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60, env=env)
    left = Path(done.stdout.strip())
    assert left.is_dir() and left.parent == temporary
    assert sweep() == [left] and not left.exists()


def test_a_folder_may_be_swept_before_it_is_locked(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock
    swept: list[Path] = []

    def sweep_first(descriptor: int, operation: int) -> None:
        if not swept and not operation & fcntl.LOCK_NB:
            swept.extend(sweep())
        flock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", sweep_first)
    with scratch_folder() as folder:
        assert len(swept) == 1 and swept[0] != folder and list(temporary.iterdir()) == [folder]
        assert sweep() == []


def test_everything_else_stays(temporary: Path) -> None:
    (temporary / "elsewhere").mkdir()
    link, file, named, short = (temporary / f"httpbench-{name}" for name in ("aaaaaaaa", "bbbbbbbb", "my-own-results", "ccc"))
    link.symlink_to(temporary / "elsewhere")
    file.touch()
    named.mkdir()
    short.mkdir()
    with scratch_folder() as used:
        assert sweep() == []
        assert used.is_dir()
    assert all(path.exists() for path in (link, file, named, short))


def test_folders_of_other_users_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = temporary / "httpbench-dddddddd"
    others.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert sweep() == [] and others.is_dir()
