"""Connections to results files, and the copy through which a file in an earlier format is read."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from httpbench.host.scratch import ScratchFolder
from httpbench.store.schema import migrate

BUSY_LIMIT_S = 10.0
VALUE_BYTES_MAX = 64 << 20
"""Maximum size of a document or histogram, in bytes. The plan of a run with 100,000 trials takes about 50 MB."""

FileState = tuple[int, int, int, int]
"""Device, inode, size, and time of the last change."""


def connected(address: str) -> sqlite3.Connection:
    """Open a database without trusting its schema, because another person may have created the file.

    Views and triggers in the file can't call functions with side effects, and a single value can't fill the memory.
    """
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_LIMIT_S, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
    return connection


class Copy:
    """A copy of a file, in the current format. It is made again when the file changes. Threads may share an instance.

    The copy is a temporary file, so that a large one doesn't use memory. Call :meth:`close` to delete it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[Path, FileState | None, FileState | None] | None = None
        self._folder: ScratchFolder | None = None

    def connected(self, path: Path, original: sqlite3.Connection) -> sqlite3.Connection:
        """Open the copy of the file at ``path``. ``original`` is a connection to that file."""
        with self._lock:
            # If the file changes while it is being copied, its state differs next time. The state is therefore determined first.
            state = (path, _state(path), _state(path.with_name(f"{path.name}-wal")))
            if self._folder is None or state != self._state:
                self._delete()  # before a new copy takes space; open connections can still read the deleted file
                folder = ScratchFolder()
                _make(original, _file(folder))
                self._state, self._folder = state, folder
            return connected(f"{_file(self._folder).as_uri()}?mode=ro&immutable=1")

    def close(self) -> None:
        """Delete the copy."""
        with self._lock:
            self._delete()

    def _delete(self) -> None:
        if self._folder is not None:
            self._folder.close()
        self._state, self._folder = None, None


def temporary_copy(original: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a file, in the current format. SQLite keeps it in a temporary file and deletes it with the connection."""
    copy = connected("")
    original.backup(copy)
    migrate(copy)
    return copy


def _make(original: sqlite3.Connection, file: Path) -> None:
    with closing(connected(file.as_uri())) as copy:
        original.backup(copy)
        copy.execute("PRAGMA journal_mode = OFF")
        copy.execute("PRAGMA synchronous = OFF")
        migrate(copy)


def _file(folder: ScratchFolder) -> Path:
    return folder.path / "copy.db"


def _state(path: Path) -> FileState | None:
    """Return the state of a file, or ``None`` if it is missing or empty. Reading creates an empty log."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else None
