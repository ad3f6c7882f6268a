"""JSON Schemas in ``docs/schemas`` for JSON output and for the TOML files that users write. Editors can check TOML files with them.

``python -m tools.schemas`` writes the schemas, and a test fails if they are outdated.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import ModelSchema

from httpbench.analysis.bisection import Bisection
from httpbench.catalog import root
from httpbench.model import Suite, TargetFile, Workload
from httpbench.report.data.json import Document

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, tuple[type[BaseModel], Literal["validation", "serialization"]]] = {
    "target": (TargetFile, "validation"),
    "workload": (Workload, "validation"),
    "suite": (Suite, "validation"),
    "bisection": (Bisection, "validation"),
    "httpbench-1": (Document, "serialization"),
}


class DescribedSchema(GenerateJsonSchema):
    """JSON Schemas in which the docstring of each field is its description.

    pydantic has an option for this, but then it would parse the source of every model whenever httpbench starts.
    """

    def model_schema(self, schema: ModelSchema) -> dict[str, Any]:
        made = super().model_schema(schema)
        model = schema["cls"]
        described = {name: text for cls in reversed(model.__mro__) for name, text in docstrings(cls).items()}
        for name, field in model.model_fields.items():
            if name in described:
                made["properties"][field.alias or name].setdefault("description", described[name])
        return made


def docstrings(cls: type) -> dict[str, str]:
    """Return the docstrings of the fields of a model, without those that it inherits."""
    if not issubclass(cls, BaseModel) or cls is BaseModel:
        return {}
    (found,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(found, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(found.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each schema."""
    for name, (model, mode) in FILES.items():
        schema = {"$schema": DIALECT, **model.model_json_schema(mode=mode, schema_generator=DescribedSchema)}
        yield name, json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, text in schemas():
        (root() / "docs/schemas" / f"{name}.schema.json").write_text(text, encoding="utf-8")
