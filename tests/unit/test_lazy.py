"""Tests of packages that import their exports when they are first used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import httpbench

SOURCES = Path(httpbench.__file__).parent
LAZY = sorted(path.parent for path in SOURCES.rglob("__init__.py") if "exports(__name__)" in path.read_text(encoding="utf-8"))


def test_the_packages_that_a_verb_imports_first_are_lazy() -> None:
    assert {"catalog", "host", "load", "model", "report", "run"} <= {path.name for path in LAZY}


@pytest.mark.parametrize("folder", LAZY, ids=lambda path: path.name)
def test_no_export_has_the_name_of_a_submodule(folder: Path) -> None:
    """Importing the submodule would replace the export."""
    package = import_module("httpbench." + ".".join(folder.relative_to(SOURCES).parts))
    block = next(node for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body if isinstance(node, ast.If))
    names = {alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names and not names & {path.stem for path in folder.iterdir()}
    assert all(hasattr(package, name) for name in names)


def test_an_unknown_name_raises_an_attribute_error() -> None:
    package = import_module("httpbench.model")
    assert not hasattr(package, "Typo")
    with pytest.raises(ImportError, match="Typo"):
        exec("from httpbench.model import Typo")


def test_a_name_is_imported_when_it_is_first_used() -> None:
    script = (
        "import sys, httpbench.model; assert 'httpbench.model.load' not in sys.modules; "
        "httpbench.model.Load; assert 'httpbench.model.load' in sys.modules; assert 'Load' in vars(httpbench.model)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
