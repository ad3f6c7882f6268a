"""File systems that are full or read-only, for tests. Only root can mount them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a new file system of this size."""
    with _mounted(place, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        yield place


@contextmanager
def read_only(place: Path) -> Iterator[Path]:
    """Make the folder read-only, even for root."""
    with _mounted(place, "--bind", str(place)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        yield place


@contextmanager
def _mounted(place: Path, *words: str) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *words, str(place)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
