"""What the catalogues of other projects have in common: files that are read as they are, and rows for those that are wrong."""

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
"""Longest time to build an image, as in TechEmpower's own runs."""

_FROM = re.compile(r"^\s*FROM\s+\S", re.MULTILINE | re.IGNORECASE)


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark. Raises :class:`CatalogError` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CatalogError([f"{path.name} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise CatalogError([f"{path.name} is not UTF-8"]) from None


def read_json(path: Path) -> Raw:
    """The object in a file. Raises :class:`CatalogError` if it cannot be read."""
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CatalogError([f"{path.name} is not JSON: {one_line(str(error))}"]) from None
    if not isinstance(data, dict):
        raise CatalogError([f"{path.name}: must be an object"])
    return data


def dockerfile_problems(path: Path) -> list[str]:
    """What is wrong with a Dockerfile, before docker reads it."""
    if not path.is_file():
        return [f"{path.name}: not in its folder"]
    try:
        return [] if _FROM.search(read_text(path)) else [f"{path.name}: has no FROM"]
    except CatalogError as error:
        return error.problems


def wrong_entry(catalogue: str, name: str, problems: list[str]) -> Entry:
    """What a catalogue says of a target whose configuration is wrong."""
    return Entry(catalogue=catalogue, name=name, display_name=name, problems=tuple(map(one_line, problems)))


def foreign_target(entry: Entry, language: str, framework: str, variant: str | None = None, **known: Any) -> Target:
    """A server of another catalogue, by that catalogue's names. ``known`` are the other fields of :class:`Target` that it tells."""
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


def no_clone(folder: Path, contains: str, catalogue: str, repository: str) -> CatalogError:
    """A folder that does not have the layout of a catalogue."""
    wrong = f"contains no {contains}" if folder.is_dir() else "is not a folder"
    return CatalogError([f"{folder}: {wrong}; {catalogue}:DIR requires a clone of github.com/{repository}"])
