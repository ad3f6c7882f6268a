"""Check whether a program or file that a target requires is on this machine, and find the command that installs it.

Results are cached for the life of the process, because some compilers take half a second to print their version. A program that is
installed later is found only after :func:`forget`.

When httpbench lists all targets, it also caches versions on disk. An entry is valid while the program's file is unchanged, but for at
most an hour, because a wrapper script can start another version without changing itself. A run never uses this cache, because its recorded
environment must be accurate.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from httpbench.host.commands import capture
from httpbench.model import Requirement
from httpbench.paths import write_unlinked

VERSION_LIMIT_S = 10.0
AT_ONCE = 8
VersionCall = tuple[str, tuple[str, ...]]
"""The path of a program, and the command that prints its version."""

versions: dict[VersionCall, str] = {}
"""Versions that programs have printed, cached for the life of this process."""

candidates: dict[str, str] = {}
"""Versions of the packages that apt would install, cached for the life of this process. Empty if apt doesn't know a package."""

VALID_S = 3600
"""Time for which a version in the cache on disk is valid, in seconds."""

PACKAGE_LISTS = Path("/var/lib/apt/lists")


@dataclass(frozen=True, slots=True)
class Met:
    """A requirement that is met."""

    version: str | None
    """Numbers joined by dots. ``None`` for a file, and for a program whose version is unknown and not required."""
    path: str


@dataclass(frozen=True, slots=True)
class Unmet:
    """A requirement that is missing or too old."""

    reason: str
    fix: str
    """The command that meets the requirement, or a web address if there is no command."""


def check(requirement: Requirement) -> Met | Unmet:
    """Check a requirement. Results are cached for each PATH."""
    return _check(requirement, os.environ.get("PATH", os.defpath))


def find(requirement: Requirement) -> Met | Unmet:
    """Find the required program or file, without running the program to check its version."""
    if where := _where(requirement):
        return Met(None, where)
    return Unmet(f"no file matches {requirement.file}" if requirement.file else "not found in PATH", _fix(requirement))


def check_all(requirements: Sequence[Requirement]) -> list[Met | Unmet]:
    """Check requirements in parallel. Results are in the given order."""
    from concurrent.futures import ThreadPoolExecutor

    if _has_package_lists():
        _ask_apt({package for requirement in requirements if not _where(requirement) for package in requirement.apt})
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        return list(pool.map(check, requirements))


def first_version(text: str) -> str | None:
    """Return the first dotted number in a text. If there is none, return the first number, such as ``25`` for Erlang/OTP."""
    match = re.search(r"(?<!\d)\d+(?:\.\d+)+", text) or re.search(r"\d+", text)
    return match.group() if match else None


def is_older(version: str, than: str) -> bool:
    """Return whether a version is older than another.

    The parts are compared as numbers, and missing parts count as zero: 1.30 isn't older than 1.30.0.
    """
    return _numbers(version) < _numbers(than)


def debian_packages(requirement: Requirement) -> tuple[str, ...]:
    """Return the Debian packages that meet a requirement, or none if they don't exist or are too old.

    If apt has never downloaded its package lists, return all packages that the requirement names.
    """
    if not requirement.apt or shutil.which("apt-cache") is None:
        return ()
    if not _has_package_lists():
        return requirement.apt
    candidates = _candidates(requirement.apt)
    # Packages such as default-jdk number their versions differently: default-jdk 1.17 installs Java 17.
    version = None if requirement.apt[0].startswith("default-") else requirement.version
    if not candidates or (version and is_older(_newest(candidates), version)):
        return ()
    return requirement.apt


def forget() -> None:
    """Clear the caches after something was installed."""
    _check.cache_clear()
    candidates.clear()
    versions.clear()


@contextmanager
def remembering(file: Path) -> Iterator[None]:
    """Until the block ends, use the versions stored in a file instead of running programs. Then add new versions to the file.

    An unreadable file is replaced.
    """
    kept = _kept(file)
    for key, (version, _) in kept.items():
        versions.setdefault(key, version)
    yield
    now = time.time()
    known = {key: (version, now) for key, version in versions.items()}
    _keep(file, {**known, **kept})


def _where(requirement: Requirement) -> str | None:
    """Return the path of the required program or file."""
    if requirement.file is not None:
        return next(map(str, sorted(Path("/").glob(requirement.file.lstrip("/")))), None)
    assert requirement.program is not None
    return shutil.which(requirement.program)


@cache
def _check(requirement: Requirement, _path: str) -> Met | Unmet:
    found = find(requirement)
    return _check_version(requirement, found.path) if isinstance(found, Met) and requirement.program else found


def _check_version(requirement: Requirement, where: str) -> Met | Unmet:
    command = requirement.version_command or (where, "--version")
    version, why = versions.get((where, command)), ""
    if version is None:
        printed = capture(command, VERSION_LIMIT_S)
        version = (first_version(printed.stdout) or first_version(printed.stderr)) if printed else None
        why = "printed no number" if printed else f"could not be run, or did not end within {VERSION_LIMIT_S:.0f} s"
    if version is not None:
        versions[where, command] = version
    if requirement.version is None:
        return Met(version, where)
    if version is None:
        return Unmet(f"its version is unknown: `{' '.join(command)}` {why}", _fix(requirement))
    if is_older(version, requirement.version):
        return Unmet(f"{where} is version {version}", _fix(requirement))
    return Met(version, where)


DIGITS_MAX = 18
"""Number of digits of a part of a version that count. Python refuses to convert thousands."""


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part[:DIGITS_MAX]) for part in re.findall(r"\d+", version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _fix(requirement: Requirement) -> str:
    """Return the command that meets a requirement.

    The command installs Debian's packages if they are new enough. Otherwise, it runs the language's own installer.
    """
    apt = _apt_get("install", *requirement.apt)
    if debian_packages(requirement):
        return apt if _has_package_lists() else f"{_apt_get('update')} && {apt}"
    if requirement.install:
        return requirement.install
    candidates = _candidates(requirement.apt)
    if not candidates:
        return apt
    return f"{apt}  # installs {_newest(candidates)}; {requirement.version} or newer is required, from a newer release of the system"


def _apt_get(*words: str) -> str:
    return " ".join([*([] if os.geteuid() == 0 else ["sudo"]), "apt-get", *words])


def _has_package_lists() -> bool:
    return any(PACKAGE_LISTS.glob("*_Packages*"))


def _newest(versions: Sequence[str]) -> str:
    return max(versions, key=_numbers)


def _candidates(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the versions that apt would install, without epoch and Debian revision. Unknown packages are skipped."""
    _ask_apt(packages)
    return tuple(version for package in packages if (version := candidates[package]))


def _ask_apt(packages: Iterable[str]) -> None:
    """Look up packages in one call, because apt-cache takes half a second to start."""
    asked = sorted(package for package in packages if package not in candidates)
    if not asked:
        return
    printed = capture(("apt-cache", "policy", "--", *asked))
    pattern = r"^([^\s:]++).*:\n(?:  .*\n)?  Candidate: (?:\d+:)?(\d[\d.]*)"  # the line between them has the installed version
    found = dict(re.findall(pattern, printed.stdout if printed else "", re.MULTILINE))
    candidates.update({package: found.get(package, "").rstrip(".") for package in asked})


def _kept(file: Path) -> dict[VersionCall, tuple[str, float]]:
    """Return the versions in the file, each with the time at which it was determined.

    Expired entries and those of programs that have changed are left out.
    """
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
        return {
            (path, tuple(command)): (version, read_at)
            for path, command, identity, version, read_at in entries
            if 0 <= time.time() - read_at < VALID_S and identity == _identity(path)
        }
    except (OSError, ValueError, TypeError):
        return {}


def _keep(file: Path, versions: dict[VersionCall, tuple[str, float]]) -> None:
    entries = [(path, command, _identity(path), version, read_at) for (path, command), (version, read_at) in versions.items()]
    draft = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_unlinked(draft, json.dumps(entries))
        draft.replace(file)
    except OSError:
        return  # without the cache, the next listing only takes a second longer


def _identity(path: str) -> list[int]:
    """Return properties of a program's file that change when the file is replaced."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino]
