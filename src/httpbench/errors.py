"""The exceptions that httpbench raises for expected errors.

An error's message is one sentence: what happened and where. ``hint`` is the fix, and ``log_tail`` contains the last lines of a log that
explains the error. ``cli/exit_codes.py`` maps exceptions to exit codes.
"""

from __future__ import annotations


class HttpbenchError(Exception):
    """The base class of all exceptions in this module."""

    def __init__(self, message: str, *, hint: str | None = None, log_tail: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log_tail = log_tail


class UsageError(HttpbenchError):
    """The user's options, configuration or input can't be used."""


class CatalogError(UsageError):
    """One or more files of the catalog are invalid. ``problems`` contains one sentence per problem."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


class SelectionError(UsageError):
    """The user's selection matches no target, or a name in it is unknown or doesn't fit."""


class BuildError(HttpbenchError):
    """The build of a target failed."""


class RequirementError(HttpbenchError):
    """A required program is missing or too old."""


class StartError(HttpbenchError):
    """A target did not start, or never responded correctly."""


class TargetDiedError(HttpbenchError):
    """A target exited during the measurement."""


class StopError(HttpbenchError):
    """A target or one of its child processes could not be stopped."""


class FreezeError(HttpbenchError):
    """A target could not be frozen or thawed."""


class ContainerError(HttpbenchError):
    """A command of a container engine failed."""


class LimitError(HttpbenchError):
    """A limit of a container is not in force."""


class LoadError(HttpbenchError):
    """A load generator failed, or its output is unreadable."""


class ProfileError(HttpbenchError):
    """A profiler failed, or may not sample programs."""


class LostHostError(LoadError):
    """A load host was lost, was late or failed."""


class CoresInUseError(HttpbenchError):
    """Another run is measuring on the same cores."""


class StoreError(HttpbenchError):
    """Results could not be written or read."""


class TuneError(HttpbenchError):
    """A setting of this machine could not be changed or restored."""
