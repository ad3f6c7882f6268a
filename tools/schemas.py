"""JSON Schemas in ``docs/schemas`` for JSON output and for the TOML files that users write. Editors can check TOML files with them.

``python -m tools.schemas`` writes the schemas, and a test fails if they are outdated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel

from httpbench.analysis.bisection import Bisection
from httpbench.catalog import root
from httpbench.model import Suite, TargetFile, Workload
from httpbench.report.data.json import schema_text

FILES: dict[str, type[BaseModel]] = {"target": TargetFile, "workload": Workload, "suite": Suite, "bisection": Bisection}


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each schema."""
    for name, model in FILES.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
        yield name, json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    yield "httpbench-1", schema_text()


if __name__ == "__main__":
    for name, text in schemas():
        (root() / "docs/schemas" / f"{name}.schema.json").write_text(text, encoding="utf-8")
