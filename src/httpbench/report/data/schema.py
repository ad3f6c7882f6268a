"""JSON Schema of the JSON export, generated from its models.

``python -m httpbench.report.data.schema FILE`` writes it. A test fails if the schema in ``docs/schemas`` is outdated.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from httpbench.report.data.json import Document


def schema_text() -> str:
    """Return the text of the schema file."""
    schema = Document.model_json_schema(by_alias=True, mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
