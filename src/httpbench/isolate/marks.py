"""Marks of containers. Each mark is a file in the user's state folder that names a container that may exist, and its harness.

httpbench writes a mark before it starts the container, and deletes the mark after it has removed the container. A mark without a living
harness means that a container may have been left behind. If every mark has a living harness, httpbench doesn't need to query any engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from httpbench.errors import UsageError
from httpbench.isolate.labels import is_gone, owner_label
from httpbench.model import Engine
from httpbench.paths import read_unlinked, user_folder, write_unlinked


def mark(engine: Engine, name: str) -> None:
    """Record a container before it starts. If the mark can't be written, only the container's label identifies its harness."""
    with contextlib.suppress(OSError, UsageError):
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        write_unlinked(folder / name, f"{engine} {owner_label()}")


def unmark(name: str) -> None:
    """Delete the mark of a container that was removed."""
    with contextlib.suppress(OSError, UsageError):
        (_folder() / name).unlink(missing_ok=True)


def engines_left() -> list[Engine]:
    """Return the engines in which a dead harness may have left containers, without duplicates."""
    return list(dict.fromkeys(engine for _, engine in _left()))


def forget(engine: Engine) -> None:
    """Delete an engine's marks of dead harnesses. Call this after removing their containers."""
    for path, own in _left():
        if own is engine:
            unmark(path.name)


def _left() -> Iterator[tuple[Path, Engine]]:
    """Yield each mark of a dead harness, with the engine of its container."""
    try:
        paths = sorted(_folder().iterdir())
    except (OSError, UsageError):
        return
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # another harness has deleted the mark, or the file isn't a mark
            engine, _, label = read_unlinked(path).partition(" ")
            if is_gone(label):
                yield path, Engine(engine)


def _folder() -> Path:
    return user_folder("XDG_STATE_HOME", ".local/state") / "containers"
