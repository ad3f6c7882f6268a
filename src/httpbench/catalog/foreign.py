"""What the catalogues of other projects have in common: files that are read as they are, and rows for those that are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from httpbench.errors import CatalogError
from httpbench.model import Entry
from httpbench.printable import one_line

Raw = Mapping[str, Any]
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


def no_clone(folder: Path, contains: str, catalogue: str, repository: str) -> CatalogError:
    """A folder that does not have the layout of a catalogue."""
    wrong = f"contains no {contains}" if folder.is_dir() else "is not a folder"
    return CatalogError([f"{folder}: {wrong}; {catalogue}:DIR requires a clone of github.com/{repository}"])
