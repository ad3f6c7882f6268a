"""The wheel of this tree, which takes a minute or two to build. Tests in different runs of pytest share it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from httpbench.paths import root

SHARED = root() / "target" / "test-wheel"


def wheel(scratch: Path) -> Path:
    """Return the wheel that another test shared since the last change of a file in this tree. If there is none, build and share it."""
    shared = max(SHARED.glob("*.whl"), key=_changed, default=None)
    if shared is None or _changed(shared) < max(map(_changed, _sources())):
        begun_ns = time.time_ns()
        subprocess.run(["make", "--silent", "wheel", f"DIST={scratch}"], cwd=root(), check=True)
        (built,) = scratch.glob("*.whl")
        shared = share(built, begun_ns)
    return shared


def share(built: Path, begun_ns: int) -> Path:
    """Copy a wheel to the shared folder, and return the copy. It contains no changes after ``begun_ns``, the start of its build."""
    SHARED.mkdir(parents=True, exist_ok=True)
    copy, unfinished = SHARED / built.name, SHARED / f"{os.getpid()}"
    shutil.copy(built, unfinished)
    os.utime(unfinished, ns=(begun_ns, begun_ns))
    unfinished.rename(copy)
    return copy


def _sources() -> list[Path]:
    """Return the files in this tree that git doesn't ignore."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(argv, cwd=root(), capture_output=True, text=True, check=True).stdout
    return [path for name in names.split("\0") if name and (path := root() / name).is_file()]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns
