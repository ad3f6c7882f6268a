"""The size of what a target's build installs."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from httpbench.isolate.image import size_of
from httpbench.model import Target
from httpbench.run.builds.image import image_of

CACHE_TAG = "CACHEDIR.TAG"
"""File that marks a folder as a cache, such as cargo's folder ``target`` (https://bford.info/cachedir/)."""
CACHES = (".zig-cache", ".dub", "obj")
"""Folders for intermediate files of build tools that don't mark them as caches."""


def installed_bytes(target: Target, folder: Path) -> int | None:
    """Return the size of a target's image, or of the files in the folder of its build.

    Files in caches of build tools count only if the manifest names them as artifacts. Returns ``None`` if nothing was built, because the
    target's program then comes from the system or the user.
    """
    if target.isolation is not None:
        return size_of(target.isolation.engine, image_of(target))
    return _built_bytes(folder, target.build.artifacts) if target.build.commands else None


@lru_cache(256)
def _built_bytes(folder: Path, artifacts: tuple[str, ...]) -> int:
    """Return the total size of the files. A file with several names counts once, and a symbolic link has its own size."""
    sizes: dict[tuple[int, int], int] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in CACHES and not (Path(place) / name / CACHE_TAG).exists()]
        for path in (Path(place) / name for name in files):
            _add(sizes, path)
    for name in artifacts:
        _add(sizes, folder / name)
    return sum(sizes.values())


def _add(sizes: dict[tuple[int, int], int], path: Path) -> None:
    found = path.lstat()
    sizes[found.st_dev, found.st_ino] = found.st_size
