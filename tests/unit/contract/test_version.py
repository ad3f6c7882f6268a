"""Tests that the version of the contract changes with the contract."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from httpbench import contract

SOURCES = Path(contract.__file__).parents[1]
FILES = sorted([*SOURCES.glob("contract/[!_]*.py"), *SOURCES.glob("run/*/verify.py"), SOURCES / "run" / "load" / "contract_load.py"])
DIGESTS = {1: "afbb0513ccd5"}


def test_a_changed_contract_has_a_new_version() -> None:
    """If this test fails, raise ``VERSION`` unless every target that has passed still passes. Then record the digest here."""
    digest = hashlib.sha256()
    for path in FILES:
        digest.update(ast.dump(_Code().visit(ast.parse(path.read_text(encoding="utf-8")))).encode())
    assert digest.hexdigest()[:12] == DIGESTS[contract.VERSION]


class _Code(ast.NodeTransformer):
    """Remove what can't change a verification: imports and docstrings."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else self.generic_visit(node)
