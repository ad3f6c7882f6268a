"""Files that a stranger plants in a folder to harm those who read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Plant = Callable[[Path], None]
HUGE_BYTES = 1 << 40


def linked(path: Path) -> None:
    """Make a link to a file outside the folder. Reading the link would leak that file."""
    path.symlink_to("/etc/passwd")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def huge(path: Path) -> None:
    """Make a file that takes no space, but can't be read into memory."""
    path.touch()
    os.truncate(path, HUGE_BYTES)


def folder(path: Path) -> None:
    path.mkdir()


PLANTED: dict[Plant, str] = {
    linked: "leads out of",
    device: "leads out of",
    pipe: "is not a regular file",
    huge: "is larger than",
    folder: "is not a regular file",
}
"""Each kind, and what its error says."""
