"""Marks in the user's state folder: each names a container that may exist, and who started it.

A mark is written before its container starts and deleted when the container is gone. So one that is found, and whose harness is gone,
means that a container may have been left behind. Without such a mark no engine is asked.
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
    """Before a container starts. Where it cannot be written, the label of the container alone says whose it is."""
    with contextlib.suppress(OSError, UsageError):
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{engine} {owner_label()}")


def unmark(name: str) -> None:
    """After the container is removed."""
    with contextlib.suppress(OSError, UsageError):
        (_folder() / name).unlink(missing_ok=True)


def engines_left() -> list[Engine]:
    """The engines in which a harness that is gone may have left a container, each once."""
    return list(dict.fromkeys(engine for _, engine in _left()))


def forget(engine: Engine) -> None:
    """Deletes the marks of harnesses that are gone, once their containers are removed."""
    for path, own in _left():
        if own is engine:
            unmark(path.name)


def _left() -> Iterator[tuple[Path, Engine]]:
    """The marks of harnesses that are gone."""
    try:
        paths = sorted(_folder().iterdir())
    except (OSError, UsageError):
        return
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # another harness deletes it, or it is not a mark
            engine, _, label = path.read_text().partition(" ")
            if is_gone(label):
                yield path, Engine(engine)


def _folder() -> Path:
    return user_folder("XDG_STATE_HOME", ".local/state") / "containers"
