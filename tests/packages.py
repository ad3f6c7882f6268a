"""The packages of this tree, which take minutes to build. ``make test-all`` builds them before it runs the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from httpbench.paths import root

FOLDER = root() / "target" / "dist"


def built() -> Path:
    """Return the folder with the packages of a release. Build them if a file in this tree has changed since the last build.

    The build begins with the source package, from which the others are made.
    """
    begun = max((_changed(path) for path in FOLDER.glob("httpbench-*.tar.gz")), default=0)
    if not any(FOLDER.glob("*.crate")) or begun < max(map(_changed, _sources())):
        subprocess.run(["make", "--silent", "dist", f"DIST={FOLDER}"], cwd=root(), check=True)
    return FOLDER


def wheel() -> Path:
    """Return the wheel that runs on this machine."""
    (found,) = built().glob("*.whl")
    return found


def _sources() -> list[Path]:
    """Return the files in this tree that git doesn't ignore."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(argv, cwd=root(), capture_output=True, text=True, check=True).stdout
    return [path for name in names.split("\0") if name and (path := root() / name).is_file()]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns
