"""Tests of where ``make install`` puts the compiled programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ("httpbench-loadgen", "httpbench-reference", "httpbench-timer")


def test_the_programs_are_linked_next_to_the_command(tmp_path: Path) -> None:
    """``activate`` puts this folder in PATH, and the documentation calls the programs without a folder."""
    (tmp_path / "bin").mkdir()
    for _ in range(2):
        subprocess.run(["make", "--silent", "link", f"VENV={tmp_path}"], cwd=ROOT, check=True, timeout=60)
    links = {path.name: path.readlink() for path in (tmp_path / "bin").iterdir()}
    assert links == {name: ROOT / "target" / "release" / name for name in PROGRAMS}


def test_installing_includes_the_links() -> None:
    recipe = subprocess.run(["make", "--dry-run", "install"], cwd=ROOT, check=True, timeout=60, capture_output=True, text=True).stdout
    assert "ln -sf" in recipe
