"""Locations of files: the user's own folders, and the target.toml files of a catalog.

Shell completion reads the ids of targets with this module alone, without loading the models that validate target.toml files.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from httpbench.errors import UsageError

PACKAGE = Path(__file__).parent
SERVER = "server"


def root() -> Path:
    """Return the folder that contains ``targets/``, ``workloads/`` and ``suites/``, either in a checkout or in the installed package."""
    installed = PACKAGE / "data"
    return installed if installed.is_dir() else PACKAGE.parent.parent


def is_built_in(folder: str | Path) -> bool:
    """Return whether a target's folder belongs to httpbench, rather than to a folder given with ``--targets``."""
    return Path(folder).resolve().is_relative_to((root() / "targets").resolve())


def manifests(folder: Path) -> list[Path]:
    """Return the target.toml files at any depth of a folder. The paths are absolute so that callers can detect duplicates."""
    return sorted(path.absolute() for path in folder.rglob("target.toml"))


def foreign_catalogue(given: Path) -> tuple[str, Path] | None:
    """Split ``LAYOUT:DIR`` into the layout and the folder. Return ``None`` for a plain folder, which contains target.toml files."""
    layout, colon, folder = str(given).partition(":")
    if not colon or not re.fullmatch(r"[a-z][a-z-]*", layout) or given.exists():
        return None
    return layout, Path(folder).expanduser()


def target_id(kind: str, language: str, framework: str, variant: str | None) -> str:
    """Return an id such as ``c/epoll/level``, prefixed with the kind for clients and proxies: ``proxy:c/haproxy``."""
    prefix = "" if kind == SERVER else f"{kind}:"
    return prefix + "/".join(filter(None, (language, framework, variant)))


def ids(extra_targets: Sequence[Path] = ()) -> list[str]:
    """Return the ids of all targets. Built-in targets are left out if ``extra_targets`` contains a catalog of another project.

    Invalid files are skipped, because other commands report them.
    """
    others = [foreign for given in extra_targets if (foreign := foreign_catalogue(Path(given)))]
    mine = [Path(given) for given in extra_targets if foreign_catalogue(Path(given)) is None]
    folders = mine if others else [root() / "targets", *mine]
    found = [name for folder in folders for name in _readable(_ids_in, manifests(folder))]
    found += [name for layout, folder in others for name in _ids_of_layout(layout, folder)]
    return list(dict.fromkeys(found))


def id_part(text: str) -> str:
    """Convert a name to a part of an id: lower case, without characters that ids can't contain. C# becomes ``csharp``."""
    return re.sub(r"^[^a-z0-9]+|[^a-z0-9_.+-]", "-", text.lower().replace("#", "sharp")).lstrip("-") or "unnamed"


def engine_of(dockerfile: Path) -> str:
    """Return the engine in the file name ``.Dockerfile.ENGINE``, which the project web-frameworks uses."""
    return id_part(dockerfile.name.removeprefix(".Dockerfile."))


def _ids_of_layout(layout: str, folder: Path) -> Iterator[str]:
    """Yield the ids of the targets in another project's catalog."""
    match layout:
        case "techempower":
            yield from _readable(_ids_of_framework, sorted(folder.glob("frameworks/*/*")))
        case "httparena":
            yield from _readable(_id_of_meta, sorted(folder.glob("frameworks/*/meta.json")))
        case "web-frameworks":
            for path in sorted(folder.glob("*/*/.Dockerfile.*")):
                yield target_id(SERVER, id_part(path.parents[1].name), id_part(path.parent.name), engine_of(path))


def _readable(read: Callable[[Path], Iterator[str]], paths: Iterable[Path]) -> Iterator[str]:
    """Yield the ids that ``read`` finds in each file. If a file is invalid, continue with the next file."""
    for path in paths:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            yield from read(path)


def _id_of_meta(path: Path) -> Iterator[str]:
    """Yield the id of the framework that a ``meta.json`` of HttpArena describes."""
    yield target_id(SERVER, id_part(json.loads(path.read_text(encoding="utf-8-sig"))["language"]), id_part(path.parent.name), None)


def _ids_of_framework(folder: Path) -> Iterator[str]:
    """Yield the ids of the tests in a framework's configuration, in TechEmpower's layout."""
    if (path := folder / "benchmark_config.json").is_file():
        tests = [name for part in json.loads(path.read_text(encoding="utf-8-sig"))["tests"] for name in part]
    else:
        tests = [name for name in tomllib.loads((folder / "config.toml").read_text(encoding="utf-8")) if name != "framework"]
    for name in tests:
        variant = None if name in ("default", "main") else id_part(name)
        yield target_id(SERVER, id_part(folder.parent.name), id_part(folder.name), variant)


def _ids_in(path: Path) -> Iterator[str]:
    """Yield the ids of the variants in a target.toml."""
    manifest = tomllib.loads(path.read_text(encoding="utf-8"))
    for variant in manifest["variant"]:
        yield target_id(manifest["kind"], manifest["language"], manifest["framework"], variant.get("name"))


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder for httpbench inside :func:`base_folder`. Raises :class:`UsageError` if the user has no home folder."""
    return base_folder(variable, below_home) / "httpbench"


def base_folder(variable: str, below_home: str) -> Path:
    """Return the folder that an XDG variable names, or else ``below_home`` in the user's home.

    Raises :class:`UsageError` if the variable names no folder and the user has no home folder.
    """
    named = os.environ.get(variable)
    if named and Path(named).is_absolute():  # the XDG specification says to ignore relative paths
        return Path(named)
    try:
        home = None if os.environ.get("HOME") == "" else Path.home()
    except RuntimeError:
        home = None
    if home is None:
        raise UsageError("this user has no home folder", hint=f"set HOME or {variable}")
    return home / below_home


def default_database() -> Path:
    """Return ``httpbench.db`` in the user's data folder."""
    return user_folder("XDG_DATA_HOME", ".local/share") / "httpbench.db"
