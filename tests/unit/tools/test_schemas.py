"""Tests that the committed schemas match the models."""

from __future__ import annotations

import pytest

from httpbench.catalog import root
from tools.schemas import schemas


@pytest.mark.parametrize(("name", "text"), list(schemas()), ids=[name for name, _ in schemas()])
def test_schemas_are_current(name: str, text: str) -> None:
    committed = (root() / "docs/schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == text, "run: python -m tools.schemas"
