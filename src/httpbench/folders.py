"""The folders for a user's own files (XDG Base Directory Specification)."""

from __future__ import annotations

import os
from pathlib import Path

from httpbench.errors import UsageError


def user_folder(variable: str, below_home: str) -> Path:
    """Our folder, in the one of :func:`base_folder`. Raises :class:`UsageError` as that does."""
    return base_folder(variable, below_home) / "httpbench"


def base_folder(variable: str, below_home: str) -> Path:
    """The folder that an XDG variable names, or else the one in the user's home. Raises :class:`UsageError` without either."""
    named = os.environ.get(variable)
    if named and Path(named).is_absolute():  # the specification ignores relative paths
        return Path(named)
    try:
        home = None if os.environ.get("HOME") == "" else Path.home()
    except RuntimeError:
        home = None
    if home is None:
        raise UsageError("this user has no home folder", hint=f"set HOME or {variable}")
    return home / below_home


def default_database() -> Path:
    """``httpbench.db`` in the user's data folder."""
    return user_folder("XDG_DATA_HOME", ".local/share") / "httpbench.db"
