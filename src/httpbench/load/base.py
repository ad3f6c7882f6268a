"""What every load generator's adapter answers: can it make this load, with what command line, and what did its output say.

Adapters start no process. They turn a ``Job`` into an argv and a finished process's ``Output`` into a ``Measurement``, which keeps
them testable against recorded outputs, and lets the caller decide where and on which cores the generator runs. The price is that
whatever a generator prints is parsed after the fact: a generator that was killed has no measurement.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from httpbench.load.tool import Tool
from httpbench.model import Load, Measurement, Workload

LOG_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class Job:
    """One load to be made."""

    url: str
    """The whole URL that is asked, the workload's path included."""
    workload: Workload
    load: Load
    cpus: tuple[int, ...]
    """Logical CPUs that the generator may use; empty: not restricted."""
    scratch: Path
    """An existing folder for scripts, body files and outputs, which lasts until ``measurement`` has returned."""
    interval_s: float | None = None
    """Length of the intervals that are told; ``None``: what suits the load. Only of our own generator."""

    @property
    def threads(self) -> int:
        """Threads asked for, or one for each of the generator's CPUs; never more than there are connections."""
        return min(self.load.threads or max(len(self.cpus), 1), self.load.connections)

    @property
    def status(self) -> int:
        """The expected status; where any success will do, the usual one."""
        return self.workload.expect.status or 200

    def write(self, name: str, text: str) -> Path:
        """Puts a file into ``scratch``; its absolute path. Files spare us the limits and the quoting of command lines."""
        path = (self.scratch / name).absolute()
        path.write_bytes(text.encode())
        return path


class Phase(StrEnum):
    CONNECT = "connect"
    WARMUP = "warmup"
    MEASURE = "measure"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running generator is."""

    phase: Phase
    elapsed_s: float
    """Within the phase."""
    throughput_rps: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a generator's process left behind."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def ending(self) -> str:
        """How the process ended, in words."""
        return f"was killed by signal {-self.exit_code}" if self.exit_code < 0 else f"ended with exit code {self.exit_code}"

    @property
    def tail(self) -> str:
        """The last lines of both streams, standard error last: what explains a failure."""
        lines = [line for stream in (self.stdout, self.stderr) for line in stream.strip().splitlines()]
        return "\n".join(lines[-LOG_TAIL_LINES:])


class LoadGenerator(Tool):
    """A program that makes a load."""

    warms_up_itself: bool
    """Warm-up happens in the measuring process, on the same connections; otherwise ``argv(job, warmup=True)`` is run before."""
    latency_meaning: str
    """One sentence, shown beside its latencies."""

    @abstractmethod
    def refuses(self, job: Job) -> str | None:
        """One sentence: what of this job the generator cannot do; ``None`` where it can do all."""

    @abstractmethod
    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        """The command line; may write files to ``job.scratch``. ``warmup``: the separate run before the measured one."""

    def progress(self, line: str) -> Progress | None:
        """What a line of standard error says of the progress; ``None`` where it says nothing, as most generators never do."""
        return None

    @abstractmethod
    def measurement(self, job: Job, output: Output) -> Measurement:
        """What the measured run said. Raises ``LoadError`` where it failed or cannot be read."""
