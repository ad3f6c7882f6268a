"""An on-disk cache of program versions, valid for an hour.

Some toolchains take half a second of CPU time to print their version, and listing all targets would pay that each time. An entry is valid
while the program's file is unchanged, but for at most an hour: a wrapper can lead to another version without changing itself. A run never
uses the cache, because its recorded environment must be accurate.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.host.tools import requirements

VALID_S = 3600


@contextmanager
def remembering(file: Path) -> Iterator[None]:
    """Use the versions in the file instead of running programs, and save new ones to it after the block. An unreadable file is replaced."""
    kept = _read(file)
    for key, (version, _) in kept.items():
        requirements.versions.setdefault(key, version)
    yield
    now = time.time()
    known = {key: (version, now) for key, version in requirements.versions.items()}
    _write(file, {**known, **kept})


def _read(file: Path) -> dict[requirements.VersionCall, tuple[str, float]]:
    """Return each version with the time it was read, for unchanged programs. Expired entries are left out."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
        return {
            (path, tuple(command)): (version, read_at)
            for path, command, identity, version, read_at in entries
            if 0 <= time.time() - read_at < VALID_S and identity == _identity(path)
        }
    except (OSError, ValueError, TypeError):
        return {}


def _write(file: Path, versions: dict[requirements.VersionCall, tuple[str, float]]) -> None:
    entries = [(path, command, _identity(path), version, read_at) for (path, command), (version, read_at) in versions.items()]
    draft = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(entries), encoding="utf-8")
        draft.replace(file)
    except OSError:
        return  # only a convenience: without it the next list takes a second longer


def _identity(path: str) -> list[int]:
    """Return values that change when the program is replaced."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino]
