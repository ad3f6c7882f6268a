"""Find httpbench's compiled programs, or explain how to build a missing program."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from httpbench.errors import RequirementError

OVERRIDE = "HTTPBENCH_PROGRAMS"
"""Environment variable that names a folder to search first. Set it to measure with another build of a program."""


def locate(name: str) -> str | None:
    """Find a program in the folder that ``OVERRIDE`` names, in the build of this checkout, in Python's folder or in ``PATH``.

    The checkout comes before Python's folder, because several checkouts can share one virtual environment. Returns the program's path, or
    ``None``.
    """
    folders = (os.environ.get(OVERRIDE), Path(__file__).resolve().parents[3] / "target" / "release", Path(sys.executable).parent)
    places = (Path(folder) / name for folder in folders if folder)
    found = next((str(path) for path in places if path.is_file()), None)
    return found or shutil.which(name)


def require(name: str) -> str:
    """Return the path that :func:`locate` finds. Raises :class:`RequirementError` if the program is missing."""
    path = locate(name)
    if path is None:
        raise RequirementError(f"{name} is not built", hint=f"cargo build --release --locked --package {name}")
    return path
