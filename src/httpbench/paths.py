"""Locations of files: the user's own folders, and the target.toml files of a catalog, which may be untrusted.

To stay fast, shell completion reads the ids of targets with this module alone. It doesn't load the models that validate target.toml files.
The module also opens locks and marks in folders where other users may have planted links.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from httpbench.errors import UsageError

PACKAGE = Path(__file__).parent
SERVER = "server"

SMALL_BYTES_MAX = 1 << 20
"""Maximum size of a manifest, configuration or Dockerfile, in bytes. All built-in files are smaller than 8 kB."""

KEY_PARTS_MAX = 32
"""Maximum number of parts of a key in TOML. The time that Python takes grows with the square of this number."""

MANY_KEY_PARTS = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{KEY_PARTS_MAX}}}""")
"""Pattern that matches a key with more parts."""

ID = re.compile(r"([a-z]+:)?[a-z0-9][a-z0-9_.+/@-]*")
"""Pattern that matches a target's id. The model of a target has the same one."""
ID_MAX = 400

ID_PART_MAX = 100
"""Maximum number of characters in a part of an id. The model of a target has the same limit."""


def root() -> Path:
    """Return the folder that contains ``targets/``, ``workloads/`` and ``suites/``, either in a checkout or in the installed package."""
    installed = PACKAGE / "data"
    return installed if installed.is_dir() else PACKAGE.parent.parent


def is_built_in(folder: str | Path) -> bool:
    """Return whether a target's folder is part of httpbench. Other targets come from folders that the user names with ``--targets``."""
    return Path(folder).resolve().is_relative_to((root() / "targets").resolve())


def inside(path: Path, folder: Path) -> Path:
    """Resolve all links in a path.

    Raises :class:`OSError` with a clear ``strerror`` if the path leads out of ``folder`` or doesn't exist.
    """
    try:
        real = path.resolve(strict=True)
    except RuntimeError:  # until Python 3.12
        raise OSError(errno.ELOOP, "it is a link to itself") from None
    except ValueError:  # NUL or a lone surrogate
        raise OSError(errno.EINVAL, "no file can have this name") from None
    except OSError as error:
        raise OSError(error.errno, "it is a link to itself" if error.errno == errno.ELOOP else str(error.strerror)) from None
    if not real.is_relative_to(folder.resolve()):
        raise OSError(errno.EPERM, f"it leads out of {folder}")
    return real


def read_small(path: Path, folder: Path) -> str:
    """Return the text of a small file from a stranger, without a byte order mark.

    Raises :class:`UnicodeDecodeError` if the text isn't UTF-8, and :class:`OSError` like :func:`read_foreign`.
    """
    return read_foreign(path, folder).decode("utf-8-sig")


def read_foreign(path: Path, folder: Path | None, bytes_max: int = SMALL_BYTES_MAX) -> bytes:
    """Return the content of a regular file that may come from a stranger.

    ``folder`` came with the file, and must contain it after all links are resolved. ``None``: the user named the file, which may be a link
    to any place. Raises :class:`OSError` with a clear ``strerror`` if the file is elsewhere, isn't regular, or has more than ``bytes_max``
    bytes.
    """
    real = inside(path, folder) if folder else path
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if folder else 0))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            limit = min(bytes_max, max(found.st_size, SMALL_BYTES_MAX))  # reading takes as much memory as the limit
            content = file.read(limit + 1) if found.st_size <= bytes_max else None
    finally:
        os.close(descriptor)
    if content is None or len(content) > limit:  # it may have grown
        raise OSError(errno.EFBIG, f"it is larger than {bytes_max >> 20} MiB")
    return content


def open_unlinked(path: Path, flags: int, mode: int = 0o600, *, of_any_user: bool = False) -> int:
    """Open a regular file that has no other name, and return its descriptor. ``O_TRUNC`` takes effect only after the checks.

    Another user may have planted a link in a shared folder, so that httpbench would change a file elsewhere. Raises :class:`OSError` with a
    clear ``strerror`` if the file is a link, is not a regular file, or, unless ``of_any_user``, belongs to neither this user nor root.
    """
    try:
        descriptor = os.open(path, flags & ~os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    except OSError as error:
        reason = "it is a symbolic link" if error.errno == errno.ELOOP else str(error.strerror)
        raise OSError(error.errno, reason, str(path)) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if found.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has other hard links", str(path))
        if not of_any_user and found.st_uid not in (os.geteuid(), 0):
            raise OSError(errno.EPERM, "it belongs to another user", str(path))
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_unlinked(path: Path) -> str:
    """Return the text of a file as :func:`open_unlinked` opens it."""
    with os.fdopen(open_unlinked(path, os.O_RDONLY), encoding="utf-8") as file:
        return file.read()


def write_unlinked(path: Path, text: str) -> None:
    """Write the text to a file as :func:`open_unlinked` opens it. Others may read a new file, but not write to it."""
    with os.fdopen(open_unlinked(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "w", encoding="utf-8") as file:
        file.write(text)


def below(folder: Path, ignored: Collection[str] = (), unreadable: tuple[type[OSError], ...] = (OSError,)) -> Iterator[os.DirEntry[str]]:
    """Yield everything at any depth of a folder, except what has a name in ``ignored``. Links to folders aren't followed.

    Folders that can't be read with an error in ``unreadable`` count as empty. Recursion, as in ``rglob``, would end with an error in a
    thousand nested folders.
    """
    folders = [str(folder)]
    while folders:
        with suppress(*unreadable), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name not in ignored:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)


def manifests(folder: Path) -> list[Path]:
    """Return the target.toml files at any depth of a folder. The paths are absolute so that callers can detect duplicates."""
    return sorted(Path(entry.path) for entry in below(folder.absolute()) if entry.name == "target.toml")


def found_inside(folder: Path, pattern: str) -> list[Path]:
    """Return the files and folders in a clone that match, sorted, without folders outside of the clone and their files.

    Links can lead there. A link that is a file stays, so that its error can be reported.
    """
    clone = folder.resolve()
    return sorted(path for path in folder.glob(pattern) if (path if path.is_dir() else path.parent).resolve().is_relative_to(clone))


def foreign_catalogue(given: Path) -> tuple[str, Path] | None:
    """Split ``LAYOUT:DIR`` into the layout and the folder. Return ``None`` for a plain folder with target.toml files."""
    layout, colon, folder = str(given).partition(":")
    if not colon or not re.fullmatch(r"[a-z][a-z-]*", layout) or given.exists():
        return None
    return layout, Path(folder).expanduser()


def parsed_toml(text: str) -> dict[str, Any]:
    """Parse a TOML file of a stranger. Raise ``ValueError`` if it isn't TOML, or if a key has so many parts that parsing takes minutes."""
    if found := MANY_KEY_PARTS.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key with more than {KEY_PARTS_MAX} parts (at line {line})")
    return tomllib.loads(text)


def target_id(kind: str, language: str, framework: str, variant: str | None) -> str:
    """Return an id such as ``c/epoll/level``, prefixed with the kind for clients and proxies: ``proxy:c/haproxy``."""
    prefix = "" if kind == SERVER else f"{kind}:"
    return prefix + "/".join(filter(None, (language, framework, variant)))


def ids(extra_targets: Sequence[Path] = ()) -> list[str]:
    """Return the ids of all targets, without the built-in ones if ``extra_targets`` contains a catalog of another project.

    Invalid files and ids are skipped, because other commands report them. A shell inserts the ids into its command line.
    """
    others = [foreign for given in extra_targets if (foreign := foreign_catalogue(Path(given)))]
    mine = [Path(given) for given in extra_targets if foreign_catalogue(Path(given)) is None]
    folders = mine if others else [root() / "targets", *mine]
    found = [name for folder in folders for name in _readable(_ids_in, manifests(folder))]
    found += [name for layout, folder in others for name in _ids_of_layout(layout, folder)]
    return [name for name in dict.fromkeys(found) if len(name) <= ID_MAX and ID.fullmatch(name)]


def id_part(text: str) -> str:
    """Convert a name to a part of an id: lowercase, shortened, and without invalid characters. For example, ``C#`` becomes ``csharp``."""
    part = text[:ID_PART_MAX].lower().replace("#", "sharp")
    return re.sub(r"^[^a-z0-9]+|[^a-z0-9_.+-]", "-", part).lstrip("-")[:ID_PART_MAX] or "unnamed"


def engine_of(dockerfile: Path) -> str:
    """Return the engine from a file name ``.Dockerfile.ENGINE`` of the project web-frameworks."""
    return id_part(dockerfile.name.removeprefix(".Dockerfile."))


def _ids_of_layout(layout: str, folder: Path) -> Iterator[str]:
    """Yield the ids of the targets in another project's catalog."""
    match layout:
        case "techempower":
            yield from _readable(_ids_of_framework, found_inside(folder, "frameworks/*/*"))
        case "httparena":
            yield from _readable(_id_of_meta, found_inside(folder, "frameworks/*/meta.json"))
        case "web-frameworks":
            for path in found_inside(folder, "*/*/.Dockerfile.*"):
                yield target_id(SERVER, id_part(path.parents[1].name), id_part(path.parent.name), engine_of(path))


def _readable(read: Callable[[Path], Iterator[str]], paths: Iterable[Path]) -> Iterator[str]:
    """Yield the ids that ``read`` finds in each file. If a file is invalid, continue with the next file."""
    for path in paths:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield from read(path)


def _id_of_meta(path: Path) -> Iterator[str]:
    """Yield the id of the framework that a ``meta.json`` of HttpArena describes."""
    yield target_id(SERVER, id_part(json.loads(read_small(path, path.parent))["language"]), id_part(path.parent.name), None)


def _ids_of_framework(folder: Path) -> Iterator[str]:
    """Yield the ids of the tests in a framework's configuration, in TechEmpower's layout."""
    if (path := folder / "benchmark_config.json").is_file():
        tests = [name for part in json.loads(read_small(path, folder))["tests"] for name in part]
    else:
        tests = [name for name in parsed_toml(read_small(folder / "config.toml", folder)) if name != "framework"]
    for name in tests:
        variant = None if name in ("default", "main") else id_part(name)
        yield target_id(SERVER, id_part(folder.parent.name), id_part(folder.name), variant)


def _ids_in(path: Path) -> Iterator[str]:
    """Yield the ids of the variants in a target.toml."""
    manifest = parsed_toml(read_small(path, path.parent))
    for variant in manifest["variant"]:
        yield target_id(manifest["kind"], manifest["language"], manifest["framework"], variant.get("name"))


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder for httpbench inside :func:`base_folder`. Raises :class:`UsageError` if the user has no home folder."""
    return base_folder(variable, below_home) / "httpbench"


def base_folder(variable: str, below_home: str) -> Path:
    """Return the folder that an XDG variable contains or, if the variable isn't set, ``below_home`` in the user's home folder.

    Relative paths in the variable are ignored. Raises :class:`UsageError` if the home folder is needed but the user has none.
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
    """Return the path of ``httpbench.db`` in the user's data folder."""
    return user_folder("XDG_DATA_HOME", ".local/share") / "httpbench.db"
