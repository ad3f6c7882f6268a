"""A new target of the user's own: a folder with a ``target.toml`` and one file of code, made from a template."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

from httpbench.errors import UsageError
from httpbench.paths import target_id

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGES = tuple(sorted(folder.name for folder in TEMPLATES.iterdir()))
"""Languages with a template."""

PLACEHOLDER = "NAME"
VALID = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,99}")


class NewTarget(NamedTuple):
    """A target that was created."""

    id: str
    files: tuple[Path, ...]


def create(folder: Path, name: str, language: str) -> NewTarget:
    """Create a folder with a target from the template of a language (one of :data:`LANGUAGES`).

    Raises:
        UsageError: The name is not valid in an id, or the folder exists already or can't be created.
    """
    if not VALID.fullmatch(name):
        raise UsageError(f"{name!r} can't be part of an id", hint="use lowercase letters, digits, and . _ + -, such as my-server")
    try:
        folder.mkdir(parents=True)
        files = []
        for source in sorted((TEMPLATES / language).glob("*.*")):  # pip adds __pycache__
            files.append(folder / source.name)
            files[-1].write_text(source.read_text(encoding="utf-8").replace(PLACEHOLDER, name), encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{folder} exists already", hint="choose another name, or another folder with --dir") from None
    except OSError as error:
        raise UsageError(f"cannot create {error.filename}: {error.strerror}") from None
    manifest = tomllib.loads((folder / "target.toml").read_text(encoding="utf-8"))
    return NewTarget(target_id(manifest["kind"], manifest["language"], name, None), tuple(files))
