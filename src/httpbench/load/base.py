"""What the adapter of a load generator does: refuse a load or give its command line, and read the output.

Adapters start no process. They turn a ``Job`` into an argv and a finished process's ``Output`` into a ``Measurement``, which
makes them testable with recorded outputs, and lets the caller decide where and on which cores the generator runs. The price: output is
parsed only after the generator has ended, so a generator that was killed has no measurement.
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
    """The whole URL, with the workload's path."""
    workload: Workload
    load: Load
    cpus: tuple[int, ...]
    """Logical CPUs that the generator may use; empty: not restricted."""
    scratch: Path
    """An existing folder for scripts, body files and outputs, which lasts until ``measurement`` has returned."""
    interval_s: float | None = None
    """Length of the reported intervals; ``None``: what fits the load. Only of our own generator."""

    @property
    def threads(self) -> int:
        """The load's threads, or one for each of the generator's CPUs; never more than connections."""
        return min(self.load.threads or max(len(self.cpus), 1), self.load.connections)

    @property
    def status(self) -> int:
        """The expected status; 200 if any success is correct."""
        return self.workload.expect.status or 200

    def write(self, name: str, text: str) -> Path:
        """Put a file into ``scratch``; its absolute path. Files avoid the limits and the quoting of command lines."""
        path = (self.scratch / name).absolute()
        path.write_bytes(text.encode())
        return path


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A whole response that came during the load."""

    workload: Workload
    """Of a mix, the workload of its request."""
    head: str
    body: str
    """Without its transfer coding."""
    truncated: bool
    """Whether the body was longer than what is kept."""


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
    """The output of a generator's process."""

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
    """It warms up in the measuring process, on the same connections; otherwise ``argv(job, warmup=True)`` is run before."""
    slack_s: float = 15.0
    """For connecting, reporting and ending, beyond the load's own time."""
    counts_headers: bool = False
    """Whether its count of received bytes is of whole responses."""
    mixes: bool = False
    """Whether it sends requests of several kinds in one load."""
    latency_meaning: str
    """One sentence, shown beside its latencies."""

    @abstractmethod
    def refuses(self, job: Job) -> str | None:
        """Why the generator cannot do this job, in one sentence; ``None`` if it can."""

    @abstractmethod
    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        """Return the command line; may write files to ``job.scratch``. ``warmup``: the separate run before the measured one."""

    def progress(self, line: str) -> Progress | None:
        """Return the progress that a line of standard error reports, or ``None`` if it reports none. Most generators never do."""
        return None

    @abstractmethod
    def measurement(self, job: Job, output: Output) -> Measurement:
        """Return the result of the measured run. Raises ``LoadError`` if the run failed or its output cannot be read."""

    def kept_responses(self, job: Job, output: Output) -> tuple[KeptResponse, ...]:
        """Whole responses that came during the measured run. Most generators keep none."""
        return ()
