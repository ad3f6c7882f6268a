"""Everything that httpbench raises on purpose.

HttpbenchError
├── UsageError           the user's request is impossible
│   ├── CatalogError     a target.toml, workload or suite is invalid (all errors of a file)
│   └── SelectionError   no target matches, or a name is unknown
├── BuildError           the build of a target failed
├── RequirementError     a required program is missing or too old
├── StartError           a target did not start, or never responded correctly
├── TargetDiedError      a target ended during the measurement
├── StopError            a target or one of its children could not be ended
├── FreezeError          a target could not be frozen or thawed
├── ContainerError       a command of a container engine failed
├── LimitError           a limit of a container is not in force
├── LoadError            a load generator failed, or its output is unreadable
│   └── LostHostError    a load host was lost, was late or did not do its part
├── CoresInUseError      another run measures on the same cores
├── StoreError           results could not be written or read
└── TuneError            a knob of this machine could not be set or restored

An error's message is one sentence: what happened and where. ``hint`` is the fix, and ``log_tail`` contains the last lines of the log that
explains it. ``cli/exit_codes.py`` has the exit code of each.
"""

from __future__ import annotations


class HttpbenchError(Exception):
    """The base class of everything that httpbench raises on purpose."""

    def __init__(self, message: str, *, hint: str | None = None, log_tail: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log_tail = log_tail


class UsageError(HttpbenchError):
    pass


class CatalogError(UsageError):
    """One or more files of the catalog are invalid. ``problems`` has one sentence for each problem."""

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


class FreezeError(HttpbenchError):
    pass


class ContainerError(HttpbenchError):
    pass


class LimitError(HttpbenchError):
    pass


class LoadError(HttpbenchError):
    pass


class LostHostError(LoadError):
    pass


class CoresInUseError(HttpbenchError):
    pass


class StoreError(HttpbenchError):
    pass


class TuneError(HttpbenchError):
    pass
