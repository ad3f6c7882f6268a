"""Read a TOML file into a model, and report all problems in the file at once.

pydantic does the validation. This module translates pydantic's errors into sentences that name the key in the file. If a word is
invalid, the sentence lists the allowed words and suggests a similar one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from httpbench.errors import CatalogError
from httpbench.paths import parsed_toml, read_small
from httpbench.text import one_line

TOML_TYPES = {
    "tuple_type": "an array: [ … ]",
    "dict_type": "a table",
    "model_type": "a table",
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
"""Names of TOML types for error messages, by the error type that pydantic reports for a value of the wrong type."""

SHOWN_MAX = 80
"""Maximum number of characters that an error message quotes from an invalid value."""

PROBLEMS_MAX = 20
"""Maximum number of problems that are described. Each unknown key is compared with all allowed ones."""

Model = TypeVar("Model", bound=BaseModel)
Location = Sequence[str | int]


def read(path: Path, model: type[Model]) -> Model:
    """Return the file as a model. Raises :class:`CatalogError` with one sentence per problem."""
    try:
        data = parsed_toml(read_small(path, path.parent))
    except OSError as error:
        raise CatalogError([f"{path}: cannot read the file: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise CatalogError([f"{path}: not UTF-8"]) from None
    except (ValueError, RecursionError) as error:
        raise CatalogError([f"{path}: not TOML: {error}"]) from None
    try:
        return _validated(path, data, model)
    except RecursionError:  # from a message that quotes a value
        raise CatalogError([f"{path}: nested too deeply"]) from None


def _validated(path: Path, data: dict[str, Any], model: type[Model]) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise CatalogError([f"{path}: {sentence}" for sentence in sentences(model, error)]) from None


def sentences(model: type[BaseModel], error: ValidationError) -> list[str]:
    """Return one sentence for each problem that pydantic found in the values for a model.

    If there are more than :data:`PROBLEMS_MAX`, the last sentence is the number of the others.
    """
    # If an element is invalid, pydantic also reports the whole list as too short, which is redundant.
    problems = [dict(problem) for problem in error.errors(include_url=False) if not (problem["type"] == "too_short" and problem["input"])]
    described = [one_line(_sentence(model, problem)) for problem in problems[:PROBLEMS_MAX]]
    others = len(problems) - len(described)
    return [*described, f"{others:,} more problem{'s' if others > 1 else ''}"] if others else described


def did_you_mean(word: str, allowed: Sequence[str]) -> str:
    """Return `` (did you mean "level"?)`` if the word is close to an allowed word, else an empty string."""
    close = difflib.get_close_matches(word, allowed, n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _sentence(model: type[BaseModel], problem: dict[str, Any]) -> str:
    location: Location = problem["loc"]
    key = _key(location)
    match problem["type"]:
        case "extra_forbidden":
            allowed = sorted(_model_at(model, location[:-1]).model_fields)
            return f"{key}: unknown key; allowed here: {', '.join(allowed)}{did_you_mean(str(location[-1]), allowed)}"
        case "missing":
            return f"{key}: missing"
        case "too_short":
            return f"{key}: must not be empty"
        case "enum":
            allowed = re.findall(r"'(.*?)'", problem["ctx"]["expected"])
            given = _shown(problem["input"])
            return f'{key}: "{given}" is not allowed; use one of {", ".join(allowed)}{did_you_mean(given, allowed)}'
        case "value_error":
            return f"{key}: {problem['ctx']['error']}" if key else str(problem["ctx"]["error"])
        case "string_pattern_mismatch":
            return f'{key}: "{_shown(problem["input"])}" does not match {problem["ctx"]["pattern"]}'
        case kind if kind in TOML_TYPES:
            return f'{key}: must be {TOML_TYPES[kind]}, not "{_shown(problem["input"])}"'
        case _:
            message = problem["msg"].removeprefix("Input ")
            return f'{key}: {message[0].lower()}{message[1:]}, not "{_shown(problem["input"])}"'


def _shown(value: object) -> str:
    try:
        text = str(value)
    except ValueError:  # Python limits the number of digits that it converts
        text = "a number with thousands of digits"
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"


def _key(location: Location) -> str:
    """Format a location as a key: ``variant[0].scaling``."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _model_at(model: type[BaseModel], location: Location) -> type[BaseModel]:
    """Return the model at a location within another model. Indices of lists are skipped."""
    for part in location:
        if isinstance(part, str):
            model = _first_model(model.model_fields[part].annotation)
    return model


def _first_model(annotation: Any) -> type[BaseModel]:
    """Return the model within ``tuple[Model, ...]``, ``Model | None`` and similar types."""
    return next(kind for kind in _leaves(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel))


def _leaves(annotation: Any) -> list[Any]:
    inner = get_args(annotation)
    return [leaf for part in inner for leaf in _leaves(part)] if inner else [annotation]
