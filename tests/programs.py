"""Fake programs that tests put in PATH."""

from __future__ import annotations

from pathlib import Path


def program(folder: Path, name: str, script: str) -> str:
    """Write a shell script and return its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)
