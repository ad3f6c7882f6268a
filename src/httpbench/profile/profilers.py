"""The profilers that can be used on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.profile.command import PySpy, ShellCommand
from httpbench.profile.perf import Perf, usable_perf


@dataclass(frozen=True, slots=True)
class Profilers:
    """The profilers that a run may use: the user's command, or else perf and the samplers of languages."""

    command: ShellCommand | None = None
    """Command of the user's that replaces all other profilers."""
    perf: Perf | None = None
    """perf, unless a command replaces it."""
    py_spy: PySpy | str | None = None
    """py-spy for programs in Python, or why perf samples them, too."""

    @classmethod
    def found(cls, command: str | None) -> Profilers:
        """Return the profilers on this machine, or only the user's command.

        Raises :class:`~httpbench.errors.RequirementError` or :class:`~httpbench.errors.ProfileError` if nothing can be profiled.
        """
        return cls(command=ShellCommand(command)) if command is not None else cls(perf=usable_perf(), py_spy=PySpy.found())
