"""What rows and load generators need and this machine does not have: what Debian's packages bring, and what a person has to get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from httpbench import host
from httpbench.model import Requirement


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is not here."""

    requirement: Requirement
    reason: str
    mend: str
    """A command, or an address where there is none."""
    packages: tuple[str, ...]
    """Debian packages that would bring it; empty where there are none, or too old ones."""
    needed_by: tuple[str, ...]

    @property
    def text(self) -> str:
        """In words: ``dart ≥ 3.4, for dart/http-server (not found in PATH): https://dart.dev/get-dart``."""
        return f"{self.requirement.label}, for {', '.join(self.needed_by)} ({self.reason}): {self.mend}"


def lacking(needs: Mapping[str, Sequence[Requirement]]) -> list[Lack]:
    """What is not here of what each name needs; the same thing once."""
    needed_by: dict[Requirement, list[str]] = {}
    for name, requirements in needs.items():
        for requirement in requirements:
            needed_by.setdefault(requirement, []).append(name)
    lacks = []
    for requirement, found in zip(needed_by, host.check_all(list(needed_by)), strict=True):
        if isinstance(found, host.Unmet):
            packages = host.debian_packages(requirement)
            lacks.append(Lack(requirement, found.reason, found.mend, packages, tuple(needed_by[requirement])))
    return lacks


def packages_of(lacks: Iterable[Lack]) -> list[str]:
    """All packages that would help, each once, by name."""
    return sorted({package for lack in lacks for package in lack.packages})
