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
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "httpbench-"
OURS = re.compile(rf"{PREFIX}(?:[a-z]+-)?[a-z0-9_]{{8}}")
"""Pattern of names that ``mkdtemp`` makes from the prefix."""
YOUNG_S = 1.0
"""Age up to which a folder counts as in use, in seconds, because its process may not have locked it yet."""


class ScratchFolder:
    """An empty folder that only this user can read. ``close`` removes it."""

    def __init__(self, kind: str = "", parent: str | None = None):
        """Create the folder in ``parent``, by default the system's folder for temporary files. ``kind`` is part of its name."""
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX + kind, dir=parent))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove the folder and its files."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


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
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or time.time() - found.st_mtime < YOUNG_S:
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
