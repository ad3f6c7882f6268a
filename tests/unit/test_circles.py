"""Tests that no two files import each other, not even for types or inside functions."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"


def imports_of(file: Path) -> set[str]:
    """Return all modules that a file imports, including imports inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def test_no_two_files_import_each_other() -> None:
    files = [file for file in (SOURCES / "httpbench").rglob("*.py") if file.name != "__init__.py"]
    imports = {".".join(file.relative_to(SOURCES).with_suffix("").parts): imports_of(file) for file in files}
    assert len(imports) > 50
    pairs = [(one, other) for one, found in imports.items() for other in found & imports.keys() if one < other and one in imports[other]]
    assert pairs == []
