"""Marks are files in the user's state folder. Each mark names a container that may exist, and the harness that starts this container.

A mark is written before its container starts and deleted after the container is removed. A mark without a living harness means that a
container may have been left behind. If every mark has a living harness, httpbench doesn't need to query any engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from httpbench.errors import UsageError
from httpbench.isolate.labels import is_gone, owner_label
from httpbench.model import Engine
from httpbench.paths import user_folder


def mark(engine: Engine, name: str) -> None:
    """Record a container before it starts. If the mark can't be written, only the container's label identifies its harness."""
    with contextlib.suppress(OSError, UsageError):
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{engine} {owner_label()}")


def unmark(name: str) -> None:
    """Delete the mark of a container that was removed."""
    with contextlib.suppress(OSError, UsageError):
        (_folder() / name).unlink(missing_ok=True)


def engines_left() -> list[Engine]:
    """Return the engines in which a dead harness may have left containers, each once."""
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
            engine, _, label = path.read_text().partition(" ")
            if is_gone(label):
                yield path, Engine(engine)


def _folder() -> Path:
    return user_folder("XDG_STATE_HOME", ".local/state") / "containers"
