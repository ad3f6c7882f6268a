"""Helpers for the readers of other projects' catalogs. A reader accepts unmodified files and lists targets with invalid files too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from httpbench.errors import CatalogError
from httpbench.model import Build, Entry, Kind, Scaling, Target, Tuning
from httpbench.paths import id_part, target_id
from httpbench.text import one_line

Raw = Mapping[str, Any]
BUILD_LIMIT_S = 3600.0
"""Time limit for building an image, as in TechEmpower's own runs."""

_FROM = re.compile(r"^\s*FROM\s+\S", re.MULTILINE | re.IGNORECASE)


def read_text(path: Path) -> str:
    """Return the text of a file without a byte order mark. Raises :class:`CatalogError` if it can't be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CatalogError([f"{path.name} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise CatalogError([f"{path.name} is not UTF-8"]) from None


def read_json(path: Path) -> Raw:
    """Return the object in a JSON file. Raises :class:`CatalogError` if it can't be read."""
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CatalogError([f"{path.name} is not JSON: {one_line(str(error))}"]) from None
    if not isinstance(data, dict):
        raise CatalogError([f"{path.name}: must be an object"])
    return data


def dockerfile_problems(path: Path) -> list[str]:
    """Return the problems of a Dockerfile that can be found without docker."""
    if not path.is_file():
        return [f"{path.name}: not in its folder"]
    try:
        return [] if _FROM.search(read_text(path)) else [f"{path.name}: has no FROM"]
    except CatalogError as error:
        return error.problems


def wrong_entry(catalog: str, name: str, problems: list[str]) -> Entry:
    """Return the catalog entry of a target with an invalid configuration."""
    return Entry(catalogue=catalog, name=name, display_name=name, problems=tuple(map(one_line, problems)))


def foreign_target(entry: Entry, language: str, framework: str, variant: str | None = None, **known: Any) -> Target:
    """Return a server of another catalog, with the names from that catalog. ``known`` contains further fields of :class:`Target`."""
    language, framework = id_part(language), id_part(framework)
    variant = None if variant is None else id_part(variant)
    unknown = {
        "category": None,
        "tuning": Tuning.DEFAULT,
        "upstream": None,
        "build": Build(timeout_s=BUILD_LIMIT_S),
        "run": (),
        "scaling": (Scaling.SINGLE, Scaling.MULTI),
    }
    return Target(
        id=target_id(Kind.SERVER, language, framework, variant),
        kind=Kind.SERVER,
        language=language,
        framework=framework,
        variant=variant,
        entry=entry,
        **(unknown | known),
    )


def no_clone(folder: Path, contains: str, catalog: str, repository: str) -> CatalogError:
    """Return the error for a folder that doesn't have the layout of a catalog."""
    wrong = f"contains no {contains}" if folder.is_dir() else "is not a folder"
    return CatalogError([f"{folder}: {wrong}; {catalog}:DIR requires a clone of github.com/{repository}"])
