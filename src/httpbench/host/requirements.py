"""Is a program or file that a target needs on this machine, and if not, which command brings it?

Answers are kept for the life of the process, as asking costs a start of the program: some compilers take half a second to say their
version. A program that is installed while we run is therefore not seen by that run, unless it calls :func:`forget`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from httpbench.host.commands import ask
from httpbench.model import Requirement

VERSION_LIMIT_S = 10.0
AT_ONCE = 8
Asked = tuple[str, tuple[str, ...]]
"""The path of a program, and the command that says its version."""

versions: dict[Asked, str] = {}
"""What programs said, in the life of this process."""

PACKAGE_LISTS = Path("/var/lib/apt/lists")


@dataclass(frozen=True, slots=True)
class Met:
    """It is there."""

    version: str | None
    """Numbers joined by dots; ``None`` for files, and for programs that do not say and need not."""
    path: str


@dataclass(frozen=True, slots=True)
class Unmet:
    """It is missing or too old."""

    reason: str
    mend: str
    """A command to be run, or an address, where there is no command."""


def check(requirement: Requirement) -> Met | Unmet:
    """Looks a requirement up. Asked again with the same PATH, it answers from memory."""
    return _check(requirement, os.environ.get("PATH", os.defpath))


def find(requirement: Requirement) -> Met | Unmet:
    """Looks whether it is there at all, and runs nothing to learn its version."""
    return _found(requirement, os.environ.get("PATH", os.defpath))


def check_all(requirements: Sequence[Requirement]) -> list[Met | Unmet]:
    """Like :func:`check` for each, side by side; in the order given."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        return list(pool.map(check, requirements))


def first_version(text: str) -> str | None:
    """The first dotted number in a text; the first number where none has a dot, as ``25`` for Erlang/OTP."""
    match = re.search(r"\d+(?:\.\d+)+", text) or re.search(r"\d+", text)
    return match.group() if match else None


def is_older(version: str, than: str) -> bool:
    """Compares numerically, part by part; missing parts are zero: 1.30 is not older than 1.30.0."""
    return _numbers(version) < _numbers(than)


def debian_packages(requirement: Requirement) -> tuple[str, ...]:
    """The packages that would meet it; none where Debian's are missing or too old. Before the first update of apt's lists, nobody knows."""
    if not requirement.apt or shutil.which("apt-cache") is None:
        return ()
    if not _has_package_lists():
        return requirement.apt
    candidates = _candidates(requirement.apt)
    if not candidates or (requirement.version and is_older(_newest(candidates), requirement.version)):
        return ()
    return requirement.apt


def forget() -> None:
    """Lets everything be asked anew, after something was installed."""
    _check.cache_clear()
    _candidates.cache_clear()
    versions.clear()


@cache
def _check(requirement: Requirement, path: str) -> Met | Unmet:
    found = _found(requirement, path)
    return _check_version(requirement, found.path) if isinstance(found, Met) and requirement.program else found


def _found(requirement: Requirement, path: str) -> Met | Unmet:
    if requirement.file is not None:
        found = sorted(Path("/").glob(requirement.file.lstrip("/")))
        return Met(None, str(found[0])) if found else Unmet(f"no file matches {requirement.file}", _mend(requirement))
    assert requirement.program is not None
    where = shutil.which(requirement.program, path=path)
    return Met(None, where) if where else Unmet("not found in PATH", _mend(requirement))


def _check_version(requirement: Requirement, where: str) -> Met | Unmet:
    command = requirement.version_command or (where, "--version")
    version, silence = versions.get((where, command)), ""
    if version is None:
        said = ask(command, VERSION_LIMIT_S)
        version = (first_version(said.stdout) or first_version(said.stderr)) if said else None
        silence = "said no number" if said else f"could not be run, or did not end within {VERSION_LIMIT_S:.0f} s"
    if version is not None:
        versions[where, command] = version
    if requirement.version is None:
        return Met(version, where)
    if version is None:
        return Unmet(f"its version is unknown: `{' '.join(command)}` {silence}", _mend(requirement))
    if is_older(version, requirement.version):
        return Unmet(f"{where} is version {version}", _mend(requirement))
    return Met(version, where)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _mend(requirement: Requirement) -> str:
    """Debian's package where it is new enough, else the language's own way."""
    apt = _apt_get("install", *requirement.apt)
    if debian_packages(requirement):
        return apt if _has_package_lists() else f"{_apt_get('update')} && {apt}"
    if requirement.install:
        return requirement.install
    candidates = _candidates(requirement.apt)
    if not candidates:
        return apt
    return f"{apt}  # brings {_newest(candidates)}; {requirement.version} or newer is needed, from a newer release of the system"


def _apt_get(*words: str) -> str:
    return " ".join([*([] if os.geteuid() == 0 else ["sudo"]), "apt-get", *words])


def _has_package_lists() -> bool:
    return any(PACKAGE_LISTS.glob("*_Packages*"))


def _newest(versions: Sequence[str]) -> str:
    return max(versions, key=_numbers)


@cache
def _candidates(packages: tuple[str, ...]) -> tuple[str, ...]:
    """The versions that apt would install, without epoch and Debian revision. Packages that it does not know are left out."""
    said = ask(("apt-cache", "policy", "--", *packages))
    found = re.findall(r"^  Candidate: (?:\d+:)?(\d[\d.]*)", said.stdout if said else "", re.MULTILINE)
    return tuple(version.rstrip(".") for version in found)
