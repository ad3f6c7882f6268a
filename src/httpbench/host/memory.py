"""What programs said of their versions, kept on disk for a while.

Some toolchains take half a second of processor time to say their version, which a list of all rows would pay each time. A program whose
file has not changed is believed for an hour, not longer: a wrapper may lead to another version without changing itself. A run never
asks here, because its environment must be a true one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.host import requirements

BELIEVED_S = 3600


@contextmanager
def remembering(file: Path) -> Iterator[None]:
    """Within, versions that the file remembers are not asked for; at the end it holds those that were. A bad file is replaced."""
    kept = _read(file)
    for key, (version, _) in kept.items():
        requirements.versions.setdefault(key, version)
    yield
    now = time.time()
    asked = {key: (version, now) for key, version in requirements.versions.items()}
    _write(file, {**asked, **kept})


def _read(file: Path) -> dict[requirements.Asked, tuple[str, float]]:
    """Versions with the time when they were said; of programs that are as they were, and not for too long."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
        return {
            (path, tuple(command)): (version, asked_at)
            for path, command, identity, version, asked_at in entries
            if 0 <= time.time() - asked_at < BELIEVED_S and identity == _identity(path)
        }
    except (OSError, ValueError, TypeError):
        return {}


def _write(file: Path, versions: dict[requirements.Asked, tuple[str, float]]) -> None:
    entries = [(path, command, _identity(path), version, asked_at) for (path, command), (version, asked_at) in versions.items()]
    draft = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(entries), encoding="utf-8")
        draft.replace(file)
    except OSError:
        return  # a convenience: without it the next list takes a second longer


def _identity(path: str) -> list[int]:
    """What changes when a program is replaced."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino]
