"""Build commits of a git repository, each in a worktree of its own below httpbench's cache folder.

A worktree is named after the hash of the commit's files and of the build command, so that commits with the same files share a build, and a
later search finds it again. All paths have the same length, because the length of a program's path can change its speed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from httpbench.errors import BuildError, HttpbenchError
from httpbench.host import Repository, inherited
from httpbench.isolate import Command
from httpbench.model import Commit
from httpbench.paths import open_unlinked
from httpbench.run.builds.build import cache_folder, run_logged

LIMIT_S = 1800.0
KEY_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Worktrees:
    """Builds the commits of a repository."""

    repository: Repository
    command: str | None
    """Build command, which a shell runs in ``subfolder``. ``None``: nothing to build."""
    subfolder: Path
    """Folder in the repository in which commands run, relative to its root."""

    @property
    def folder(self) -> Path:
        """The folder of this repository's worktrees."""
        return cache_folder() / "bisect" / _hash(str(self.repository.common))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Allow one search at a time. Raises :class:`HttpbenchError` if another process searches in this repository."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(open_unlinked(self.folder / "lock", os.O_WRONLY | os.O_CREAT), "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HttpbenchError(f"another httpbench bisect is running in {self.repository.root}", hint="wait for its end") from None
            yield

    def built(self, commit: Commit) -> Path:
        """Check out and build a commit unless it is built already. Return the folder in which its server runs.

        Raises :class:`BuildError` if that fails. A failed build is tried again the next time.
        """
        recipe = _hash(f"{self.subfolder}\n{self.command}")
        worktree = self.folder / f"{commit.tree[:KEY_DIGITS]}-{recipe}"
        receipt, place = worktree.with_suffix(".built"), worktree / self.subfolder
        if receipt.exists() and worktree.exists():
            return place
        with self._fresh(commit, worktree):
            if not place.is_dir():
                raise BuildError(f"it has no folder {self.subfolder}")
            if self.command is not None:
                self._build(self.command, place, worktree.with_suffix(".log"))
            receipt.touch()
        return place

    @contextmanager
    def _fresh(self, commit: Commit, worktree: Path) -> Iterator[None]:
        """Check out a commit into a new worktree, which is removed if the block fails."""
        self._remove(worktree)
        worktree.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.repository.check_out(commit, worktree)
            yield
        except BaseException:
            self._remove(worktree)
            raise

    def _remove(self, worktree: Path) -> None:
        worktree.with_suffix(".built").unlink(missing_ok=True)
        self.repository.remove(worktree)
        shutil.rmtree(worktree, ignore_errors=True)  # git no longer knows it, or it was checked out only in part

    def _build(self, command: str, place: Path, log: Path) -> None:
        log.unlink(missing_ok=True)
        argv = ("/bin/sh", "-c", command)
        run_logged(Command(argv, place, inherited.for_builds()), log, time.monotonic() + LIMIT_S, LIMIT_S, Event(), "its build")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
