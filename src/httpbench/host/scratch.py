"""Temporary folders, which are removed even if their process is killed: the next command removes folders that no process uses.

A process holds a lock on each folder that it uses. The kernel releases the lock when the process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "httpbench-"
OURS = re.compile(rf"{PREFIX}(?:[a-z]+-)?[a-z0-9_]{{8}}")
"""Pattern of names that ``mkdtemp`` makes from the prefix."""


class ScratchFolder:
    """An empty folder that only this user can read. ``close`` removes it."""

    def __init__(self, kind: str = "", parent: str | None = None):
        """Create the folder in ``parent``, by default the system's folder for temporary files. ``kind`` is part of its name."""
        while (made := _made(PREFIX + kind, parent)) is None:
            pass  # another process swept the folder before this one locked it
        self.path, self._lock = made

    def close(self) -> None:
        """Remove the folder and its files."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _made(prefix: str, parent: str | None) -> tuple[Path, int] | None:
    """Create and lock a folder, and return it with the descriptor of the lock. Return ``None`` if it is gone by the time it is locked."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_EX)
    if path.exists():
        return path, lock
    os.close(lock)
    return None


@contextmanager
def scratch_folder(kind: str = "") -> Iterator[Path]:
    """Create an empty folder that is removed when the block ends."""
    folder = ScratchFolder(kind)
    try:
        yield folder.path
    finally:
        folder.close()


def sweep(parent: Path | None = None) -> list[Path]:
    """Remove the folders of this user's processes that were killed, and return their paths.

    ``parent`` is by default the system's folder for temporary files. Links, and folders of other users, stay.
    """
    removed = []
    with contextlib.suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            if OURS.fullmatch(entry.name) and _is_abandoned(entry):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed.append(Path(entry.path))
    return removed


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    try:
        found = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its process is running
    finally:
        os.close(lock)
    return True
