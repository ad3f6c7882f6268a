"""Tests that docs/architecture.md names every package, and only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "httpbench"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`([\w./-]+(?:/|\.(?:py|toml)))`", PAGE)))
INSIDE_ITS_LAYER = {"verbs/", "options/", "terminal/", "words/"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in INSIDE_ITS_LAYER])
def test_a_named_file_exists(name: str) -> None:
    assert (ROOT / name).exists() or (SOURCES / name).exists()


def test_every_package_and_module_is_named() -> None:
    packages = {f"{path.parent.name}/" for path in SOURCES.glob("*/__init__.py")}
    modules = {path.name for path in SOURCES.glob("*.py") if not path.name.startswith("__")}
    assert packages | modules <= set(NAMES)
    assert len(modules) <= 5
