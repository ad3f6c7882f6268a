"""Adapters for timers, which run a program once and report the times of the whole process.

Like the adapters of load generators, they start no processes. They return a command line, and parse the report that the timer writes.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import LoadError
from httpbench.load import programs
from httpbench.load.adapters import ReportPart, parsed
from httpbench.load.tools import Tool
from httpbench.model import Requirement, Timing

PROGRAM = "httpbench-timer"


@dataclass(frozen=True, slots=True)
class Timed:
    """The result of timing a program that has ended."""

    code: int
    """Exit code of the program, or the negative number of the signal that ended it."""
    timing: Timing

    def __str__(self) -> str:
        return f"killed by signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


class Timer(Tool):
    """A program that times other programs."""

    meaning: str
    """One sentence that defines the timer's times. Reports show it next to the times."""

    @abstractmethod
    def argv(self, command: Sequence[str], report: Path, output: Path) -> tuple[str, ...]:
        """Return the command line that runs ``command`` once.

        The timer writes its report to the file ``report`` and the command's output to the file ``output``.
        """

    @abstractmethod
    def read(self, report: str) -> Timed:
        """Parse the times in a report. Raises ``LoadError`` if that fails."""


class _Report(ReportPart):
    code: int
    wall_s: float
    user_s: float
    system_s: float
    rss_bytes_peak: int
    rss_bytes_floor: int


class NativeTimer(Timer):
    """The adapter for the native timer, ``httpbench-timer``."""

    name = "native"
    requirement = Requirement(program=PROGRAM, install="cargo build --release --package httpbench-timer")
    meaning = "from just before the process is created until it is reaped; CPU time and peak memory as the kernel counted them."

    def locate(self) -> str | None:
        return programs.locate(PROGRAM)

    def program(self) -> str:
        return programs.require(PROGRAM)

    def argv(self, command: Sequence[str], report: Path, output: Path) -> tuple[str, ...]:
        return (self.program(), str(report), str(output), *command)

    def read(self, report: str) -> Timed:
        told = parsed(_Report, report, f"{PROGRAM}'s report")
        peak = told.rss_bytes_peak if told.rss_bytes_peak > told.rss_bytes_floor else None
        return Timed(told.code, Timing(wall_s=told.wall_s, user_s=told.user_s, system_s=told.system_s, rss_bytes_peak=peak))


class _HyperfineResult(ReportPart):
    mean: float
    user: float
    system: float
    exit_codes: tuple[int | None]
    memory_usage_byte: tuple[int] | None = None


class _HyperfineReport(ReportPart):
    results: tuple[_HyperfineResult]


class Hyperfine(Timer):
    """The adapter for hyperfine.

    Each invocation times only one run, so that targets can alternate and the reference server can count the requests of each run.
    """

    name = "hyperfine"
    requirement = Requirement(
        program="hyperfine", version="1.13", apt=("hyperfine",), install="https://github.com/sharkdp/hyperfine#installation"
    )
    meaning = "one run (-N --runs 1) for each round, without a shell; peak memory only if its version reports it."

    def argv(self, command: Sequence[str], report: Path, output: Path) -> tuple[str, ...]:
        options = ("-N", "--runs", "1", "--warmup", "0", "--ignore-failure", "--style", "none")
        return (self.program(), *options, "--output", str(output), "--export-json", str(report), shlex.join(command))

    def read(self, report: str) -> Timed:
        (told,) = parsed(_HyperfineReport, report, "hyperfine's report").results
        code = told.exit_codes[0]
        peak = told.memory_usage_byte[0] if told.memory_usage_byte else None
        if code is None:  # the program was killed; hyperfine doesn't report the signal
            raise LoadError("was killed by a signal")
        return Timed(code, Timing(wall_s=told.mean, user_s=told.user, system_s=told.system, rss_bytes_peak=peak))
