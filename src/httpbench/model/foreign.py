"""Read JSON of strangers in memory proportional to its size."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

BYTES_PER_OBJECT, BYTES_PER_VALUE = 30, 8
"""Minimum mean size of objects and arrays, and of values, in a large document, in bytes. In httpbench's own documents, they are at least
61 and 16: plans consist of many short values. An empty object has 3 bytes, and becomes a model that takes 1 kB."""

SMALL = 100_000
"""Number of objects, or of values, that any document may have."""

Model = TypeVar("Model", bound=BaseModel)


def parsed(model: type[Model], text: object) -> Model:
    """Parse a document. ``text`` should be text or bytes, but a cell of a stranger's store can have any type.

    Raises :class:`ValueError` if it doesn't fit the model, or if it has far more objects than usual for its size.
    """
    content = text.encode() if isinstance(text, str) else text
    if not isinstance(content, bytes):
        raise ValueError(f"it is of type {type(text).__name__}")
    objects, values = content.count(b"{") + content.count(b"["), content.count(b",")
    if objects > SMALL + len(content) // BYTES_PER_OBJECT or values > SMALL + len(content) // BYTES_PER_VALUE:
        raise ValueError(f"it has {objects:,} objects and {values:,} values, which is far more than usual for its size")
    # Given text, pydantic would copy the object around a missing key once for each missing key.
    return model.model_validate(from_json(content))
