"""JSON Schema of the JSON export, generated from its models, for readers in other languages.

``python -m httpbench.report.data.schema FILE`` writes it; a test fails when the one in ``docs/schemas`` is not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from httpbench.report.data.json import Document


def schema_text() -> str:
    """The schema, as it is committed."""
    schema = Document.model_json_schema(by_alias=True, mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
