"""JSON Schema of the JSON export, generated from its models, for readers in other languages."""

from __future__ import annotations

import json

from httpbench.report.data.json import Document


def schema_text() -> str:
    """Return the schema in the form that is committed in ``docs/schemas``."""
    schema = Document.model_json_schema(by_alias=True, mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"
