"""JSON Schemas of the files that users write, generated from the models: for editors that complete and check TOML.

``python -m httpbench.catalog.schemas DIR`` writes them; a test fails when those in ``docs/schemas`` are not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from httpbench.model import Suite, TargetFile, Workload

SCHEMAS: dict[str, type[BaseModel]] = {"target": TargetFile, "workload": Workload, "suite": Suite}


def text_of(name: str) -> str:
    """The schema of one kind of file, as it is committed."""
    schema = SCHEMAS[name].model_json_schema()
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    for name in SCHEMAS:
        (folder / f"{name}.schema.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
