"""Requirements of targets and load generators that this machine lacks, and where to get them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from httpbench import host
from httpbench.model import Requirement


@dataclass(frozen=True, slots=True)
class Missing:
    """A requirement that isn't met."""

    requirement: Requirement
    reason: str
    fix: str
    """A command, or an address if there is no command."""
    packages: tuple[str, ...]
    """Debian packages that provide it. Empty if there are none, or if they are too old."""
    required_by: tuple[str, ...]

    @property
    def text(self) -> str:
        """A sentence such as ``dart ≥ 3.4, for dart/http-server (not found in PATH): https://dart.dev/get-dart``."""
        return f"{self.requirement.label}, for {', '.join(self.required_by)} ({self.reason}): {self.fix}"


def missing_of(requirements: Mapping[str, Sequence[Requirement]]) -> list[Missing]:
    """Return the unmet requirements of all names, each requirement once."""
    required_by: dict[Requirement, list[str]] = {}
    for name, required in requirements.items():
        for requirement in required:
            required_by.setdefault(requirement, []).append(name)
    found = []
    for requirement, checked in zip(required_by, host.check_all(list(required_by)), strict=True):
        if isinstance(checked, host.Unmet):
            packages = host.debian_packages(requirement)
            found.append(Missing(requirement, checked.reason, checked.fix, packages, tuple(required_by[requirement])))
    return found


def packages_of(missing: Iterable[Missing]) -> list[str]:
    """Return all packages to install, each once, sorted."""
    return sorted({package for one in missing for package in one.packages})
