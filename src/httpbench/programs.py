"""Finds our programs that are not Python."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from httpbench.errors import RequirementError

OVERRIDE = "HTTPBENCH_PROGRAMS"
"""Names the folder that is searched first: to measure with another build of a program."""


def locate(name: str) -> str | None:
    """A program in the folder named by ``OVERRIDE``, beside the command, built in a checkout, or in PATH; otherwise ``None``."""
    folders = (os.environ.get(OVERRIDE), Path(sys.executable).parent, Path(__file__).resolve().parents[2] / "target" / "release")
    places = (Path(folder) / name for folder in folders if folder)
    found = next((str(path) for path in places if path.is_file()), None)
    return found or shutil.which(name)


def need(name: str) -> str:
    """Like :func:`locate`. Raises :class:`RequirementError` if the program is missing."""
    path = locate(name)
    if path is None:
        raise RequirementError(f"{name}, a part of httpbench, is not built", hint=f"cargo build --release --locked --package {name}")
    return path
