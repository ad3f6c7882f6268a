"""The committed schemas match the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.catalog import root
from httpbench.catalog.schemas import SCHEMAS, text_of


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_current(name: str) -> None:
    committed = Path(root(), "docs", "schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == text_of(name), "run: python -m httpbench.catalog.schemas docs/schemas"
