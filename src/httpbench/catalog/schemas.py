"""JSON Schemas for the files that users write, generated from the models. Editors use them to complete and check TOML.

``python -m httpbench.catalog.schemas DIR`` writes them. A test fails if those in ``docs/schemas`` are out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from httpbench.model import Suite, TargetFile, Workload

SCHEMAS: dict[str, type[BaseModel]] = {"target": TargetFile, "workload": Workload, "suite": Suite}


def text_of(name: str) -> str:
    """Return the schema of one kind of file in its committed form."""
    schema = SCHEMAS[name].model_json_schema()
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    for name in SCHEMAS:
        (folder / f"{name}.schema.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
