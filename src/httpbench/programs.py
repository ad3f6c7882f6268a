"""The programs of ours that are not Python: where they lie, and what to do when one is not there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from httpbench.errors import RequirementError


def locate(name: str) -> str | None:
    """Beside the command, built in a checkout, or in PATH; ``None`` where it is in none of them."""
    places = (Path(sys.executable).parent / name, Path(__file__).resolve().parents[2] / "target" / "release" / name)
    found = next((str(path) for path in places if path.is_file()), None)
    return found or shutil.which(name)


def need(name: str) -> str:
    """Like :func:`locate`. Raises :class:`RequirementError` where it is not there."""
    path = locate(name)
    if path is None:
        raise RequirementError(f"{name}, a part of httpbench, is not there", hint=f"cargo build --release --locked --package {name}")
    return path
