"""Helpers for the readers of other projects' catalogs.

Readers accept the files of these projects unmodified. Targets with invalid files are listed too, with their problems.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from httpbench.errors import CatalogError
from httpbench.model import Build, Entry, Kind, Scaling, Target, Tuning
from httpbench.paths import id_part, read_foreign, read_small, target_id
from httpbench.text import one_line

Raw = Mapping[str, Any]
BUILD_LIMIT_S = 3600.0
"""Time limit for building an image, as in TechEmpower's own runs."""

_FROM = re.compile(r"^[ \t]*FROM[ \t]+\S", re.MULTILINE | re.IGNORECASE)


def read_text(path: Path, folder: Path) -> str:
    """Return the text of a file in a target's folder. Raises :class:`CatalogError` if it can't be read."""
    try:
        return read_small(path, folder)
    except OSError as error:
        raise CatalogError([f"{path.name} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise CatalogError([f"{path.name} is not UTF-8"]) from None


def read_json(path: Path) -> Raw:
    """Return the object stored in a JSON file in a target's folder. Raises :class:`CatalogError` if it can't be read."""
    text = read_text(path, path.parent)
    try:
        data = json_data(text.encode())
    except (ValueError, RecursionError) as error:
        raise CatalogError([f"{path.name} is not JSON: {one_line(str(error))}"]) from None
    if not isinstance(data, dict):
        raise CatalogError([f"{path.name}: must be an object"])
    return data


def json_data(content: bytes) -> Any:
    """Parse JSON in UTF-8, with or without a byte order mark.

    Raises :class:`ValueError` or :class:`RecursionError` if it's invalid or contains half of a surrogate pair. Such a half has no encoding
    in UTF-8, so it can't be stored.
    """
    data = json.loads(content.decode("utf-8-sig"))
    if b"\\ud" in content or b"\\uD" in content:
        json.dumps(data, ensure_ascii=False).encode()
    return data


def file_problems(folder: Path, name: str) -> list[str]:
    """Return the problems with a file in a target's folder whose content doesn't matter."""
    if not os.path.lexists(folder / name):
        return [f"{name}: not in its folder"]
    try:
        read_foreign(folder / name, folder)
    except OSError as error:
        return [f"{name} cannot be read: {error.strerror}"]
    return []


def dockerfile_problems(folder: Path, name: str) -> list[str]:
    """Return the problems with a Dockerfile that can be found without docker."""
    if problems := file_problems(folder, name):
        return problems
    try:
        return [] if _FROM.search(read_text(folder / name, folder)) else [f"{name}: has no FROM"]
    except CatalogError as error:
        return error.problems


def wrong_entry(catalog: str, name: str, problems: list[str]) -> Entry:
    """Return the catalog entry of a target with an invalid configuration."""
    return Entry(catalogue=catalog, name=name, display_name=name, problems=tuple(map(one_line, problems)))


def foreign_target(entry: Entry, language: str, framework: str, variant: str | None = None, **known: Any) -> Target:
    """Return a server from another project's catalog. ``known`` contains further fields of :class:`Target`."""
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
    """Return the error for a folder that isn't a clone of the catalog's repository."""
    wrong = f"contains no {contains}" if folder.is_dir() else "is not a folder"
    return CatalogError([f"{folder}: {wrong}; {catalog}:DIR requires a clone of github.com/{repository}"])
