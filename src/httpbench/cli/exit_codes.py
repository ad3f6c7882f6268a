"""The exit codes of ``httpbench``."""

from __future__ import annotations

from enum import IntEnum

from httpbench.errors import HttpbenchError, UsageError


class ExitCode(IntEnum):
    """An exit code and its meaning. ``docs/cli.md`` documents the same list."""

    meaning: str

    OK = 0, "Done. No trial failed or is invalid, each target has an undisturbed round, and no gate was breached."
    FAILED = 1, "A trial failed or is invalid, all rounds of a target were disturbed, a gate could not be judged, or something is missing."
    USAGE = 2, "Wrong usage or configuration. Nothing was measured."
    BREACHED = 3, "A gate was breached."
    INTERRUPTED = 130, "Interrupted. Finished trials are stored and shown."

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


def of_error(error: HttpbenchError) -> ExitCode:
    """Return the exit code for an error."""
    return ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.FAILED
