"""The target.toml files and the ids of their targets: all that completion requires, without the models that check them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).parent
SERVER = "server"


def root() -> Path:
    """The folder that holds ``targets/``, ``workloads/`` and ``suites/``: in a checkout, or inside the package once it is installed."""
    installed = PACKAGE / "data"
    return installed if installed.is_dir() else PACKAGE.parent.parent


def is_built_in(folder: str | Path) -> bool:
    """Whether a target's folder belongs to httpbench, rather than to a folder given with ``--targets``."""
    return Path(folder).resolve().is_relative_to((root() / "targets").resolve())


def manifests(folder: Path) -> list[Path]:
    """The target.toml files at any depth. Paths are absolute: a folder that is named twice, or within another, is read once."""
    return sorted(path.absolute() for path in folder.rglob("target.toml"))


def target_id(kind: str, language: str, framework: str, variant: str | None) -> str:
    """``c/epoll/level``; for a client or proxy, with the kind before it: ``proxy:c/haproxy``."""
    prefix = "" if kind == SERVER else f"{kind}:"
    return prefix + "/".join(filter(None, (language, framework, variant)))


def ids(extra_targets: Sequence[Path] = ()) -> list[str]:
    """Of the built-in targets and of those in the user's folders. Files with errors are skipped: the verbs report them."""
    folders = (root() / "targets", *map(Path, extra_targets))
    return list(dict.fromkeys(name for folder in folders for path in manifests(folder) for name in _ids_in(path)))


def _ids_in(path: Path) -> Iterator[str]:
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        for variant in manifest["variant"]:
            yield target_id(manifest["kind"], manifest["language"], manifest["framework"], variant.get("name"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
