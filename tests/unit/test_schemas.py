"""Tests that published JSON schemas describe every property."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from httpbench.catalog import root

SCHEMAS = sorted([*Path(root(), "docs", "schemas").glob("*.json"), *Path(root(), "crates").glob("*/schema/*.json")])


def undescribed(schema: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each property without a description."""
    if isinstance(schema, list):
        for at, part in enumerate(schema):
            yield from undescribed(part, f"{path}/{at}")
    if isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items():
            if not part.get("description"):
                yield f"{path}/properties/{name}"
        for key, part in schema.items():
            yield from undescribed(part, f"{path}/{key}")


def test_every_schema_is_found() -> None:
    assert len(SCHEMAS) == 6


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.name)
def test_every_property_is_described(file: Path) -> None:
    assert list(undescribed(json.loads(file.read_text(encoding="utf-8")))) == []


def test_a_property_without_a_description_is_listed() -> None:
    schema = {"properties": {"a": {"description": "A.", "properties": {"b": {"type": "null"}}}}}
    assert list(undescribed(schema)) == ["/properties/a/properties/b"]
