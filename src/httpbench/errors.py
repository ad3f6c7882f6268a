"""Everything that httpbench raises on purpose.

HttpbenchError
├── UsageError           what the user asked for cannot be done as asked        exit code 2
│   ├── CatalogError     a target.toml, workload or suite is wrong (all errors of a file)
│   └── SelectionError   no row matches, or a name is unknown
├── BuildError           a target's build failed
├── RequirementError     a program that is needed is missing or too old
├── StartError           a target could not be started or never answered rightly
├── TargetDiedError      a target ended while it was measured
├── StopError            a target or a child of it could not be ended
├── LoadError            a load generator failed, or said something unreadable
├── StoreError           results could not be written or read
└── TuneError            a knob of this machine could not be set or put back

An error's message is one sentence for a person: what happened and where. ``hint`` says what to do;
``log_tail`` holds the last lines of the log that explains it.
"""

from __future__ import annotations


class HttpbenchError(Exception):
    """The root: catches all that httpbench raises on purpose, and nothing else."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None, log_tail: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log_tail = log_tail


class UsageError(HttpbenchError):
    exit_code = 2


class CatalogError(UsageError):
    """One or more files of the catalog are wrong; ``problems`` has one sentence for each."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


class SelectionError(UsageError):
    pass


class BuildError(HttpbenchError):
    pass


class RequirementError(HttpbenchError):
    pass


class StartError(HttpbenchError):
    pass


class TargetDiedError(HttpbenchError):
    pass


class StopError(HttpbenchError):
    pass


class LoadError(HttpbenchError):
    pass


class StoreError(HttpbenchError):
    pass


class TuneError(HttpbenchError):
    pass
