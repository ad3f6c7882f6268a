"""The interface of adapters for load generators. An adapter refuses a load or returns its command line, and parses the output.

Adapters start no processes. They turn a ``Job`` into a command line, and the ``Output`` of a finished process into a ``Measurement``. This
makes adapters testable with recorded outputs, and lets the caller decide on which host and which cores the generator runs. One drawback is
that a killed generator yields no measurement, because its output is parsed only after it has ended.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

from httpbench.load.tools import Tool
from httpbench.model import Load, Measurement, Trust, Workload

LOG_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class Job:
    """A load to generate."""

    url: str
    """The whole URL, including the workload's path."""
    workload: Workload
    load: Load
    cpus: tuple[int, ...]
    """Logical CPUs that the generator may use, or empty for any."""
    scratch: Path
    """Existing folder for scripts, body files and outputs. It must exist until ``measurement`` has returned."""
    interval_s: float | None = None
    """Length of reported intervals, in seconds, or ``None`` for a length that suits the load. Only the native generator uses this."""
    slow_s: float | None = None
    """Response time above which the intervals count responses as slow, in seconds, or ``None`` not to count them. Only the native generator
    uses this."""
    in_slices: bool = False
    """Whether the generator measures in slices, which orders on its standard input start. Only the native generator can do this."""
    fresh_rows: bool = False
    """Whether the database's tables stay as they were created, so that responses must contain their numbers."""
    trust: Trust = field(default_factory=Trust)
    """The certificates to accept from the server if the URL's scheme is ``https``."""
    unix_socket: str | None = None
    """Path of the Unix socket to connect to instead of the URL's host, or ``None``."""

    @property
    def threads(self) -> int:
        """Number of threads: the load's ``threads``, or one per CPU of the generator, but at most one per connection."""
        return min(self.load.threads or max(len(self.cpus), 1), self.load.connections)

    @property
    def status(self) -> int:
        """The expected status, or 200 if the workload accepts any success."""
        return self.workload.expect.status or 200

    def write(self, name: str, text: str) -> Path:
        """Write a file to ``scratch`` that only this user can read, and return its absolute path.

        Unlike command lines, files need no quoting, can be long, and may contain secrets.
        """
        path = (self.scratch / name).absolute()
        path.touch(mode=0o600)
        path.write_bytes(text.encode())
        return path


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A complete response that was received during the load."""

    workload: Workload
    """Workload of the request or, in a mix, of the part that the request belongs to."""
    head: str
    body: str
    """The body without transfer coding."""
    truncated: bool
    """Whether ``body`` is only the beginning of the response's body."""


class Phase(StrEnum):
    CONNECT = "connect"
    WARMUP = "warmup"
    MEASURE = "measure"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running generator."""

    phase: Phase
    elapsed_s: float
    """Time since the start of the phase, in seconds."""
    throughput_rps: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None


@dataclass(frozen=True, slots=True)
class SliceReport:
    """A generator's report on a slice or on a part of the warm-up. The generator sends it when the last response has arrived."""

    duration_s: float
    """Length of the window, in seconds."""
    completed: int
    """Number of correct responses within the window."""
    outside: int
    """Number of correct responses before and after the window."""
    throughput_rps: float
    drain_us: float
    """Time from the end of the window to the last response, in µs."""
    p50_us: float | None = None
    p99_us: float | None = None
    max_us: float | None = None
    start_ns: int | None = None
    """Start of the window on the monotonic clock of the generator's host."""

    @property
    def counted_share(self) -> float:
        """Share of the slice's responses that count because they arrived within the window, from 0 to 1."""
        everything = self.completed + self.outside
        return self.completed / everything if everything else 1.0

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Return the report on a slice whose load several generators shared. It lacks percentiles, which can't be computed from parts."""
        return cls(
            duration_s=parts[0].duration_s,
            completed=sum(part.completed for part in parts),
            outside=sum(part.outside for part in parts),
            throughput_rps=sum(part.throughput_rps for part in parts),
            drain_us=max(part.drain_us for part in parts),
            max_us=max((part.max_us for part in parts if part.max_us is not None), default=None),
        )


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a generator's process."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def ending(self) -> str:
        """A clause that describes how the process ended."""
        return f"was killed by signal {-self.exit_code}" if self.exit_code < 0 else f"ended with exit code {self.exit_code}"

    @property
    def tail(self) -> str:
        """The last lines of both streams, with standard error last. Error messages contain them."""
        lines = [line for stream in (self.stdout, self.stderr) for line in stream.strip().splitlines()]
        return "\n".join(lines[-LOG_TAIL_LINES:])


class LoadGenerator(Tool):
    """A program that generates a load."""

    warms_up_itself: bool
    """Whether the generator warms up in the process that measures, on the same connections.

    If not, the harness runs ``argv(job, warmup=True)`` first.
    """
    slack_s: float = 15.0
    """Time that the generator may take for connecting, reporting and ending, in seconds, in addition to the duration of the load."""
    counts_headers: bool = False
    """Whether the generator's count of received bytes includes headers."""
    speaks_tls_and_http2: bool = False
    """Whether the adapter supports HTTPS and HTTP/2."""
    connects_to_unix_sockets: bool = False
    """Whether the adapter supports servers on Unix sockets."""
    uses_source_addresses: bool = False
    """Whether the generator connects from further loopback addresses if one has too few ports."""
    times_first_byte: bool = False
    """Whether the generator reports times to the first byte."""
    reads_event_streams: bool = False
    """Whether the generator measures the events of event streams."""
    mixes: bool = False
    """Whether the generator can send several kinds of requests in one load."""
    latency_meaning: str
    """One sentence that defines the generator's latencies. Reports show it next to the latencies."""

    @abstractmethod
    def refuses(self, job: Job) -> str | None:
        """Return one sentence that explains why the generator can't do this job, or ``None`` if it can."""

    @abstractmethod
    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        """Return the command line that measures or, with ``warmup``, only warms up. This method can write files to ``job.scratch``."""

    def progress(self, line: str) -> Progress | None:
        """Return the progress that a line of standard error reports, or ``None``. Most generators never report progress."""
        return None

    @abstractmethod
    def measurement(self, job: Job, output: Output) -> Measurement:
        """Return the result of the measured run. Raises ``LoadError`` if the run failed or its output can't be parsed."""

    def kept_responses(self, job: Job, output: Output) -> tuple[KeptResponse, ...]:
        """Return the complete responses that the generator kept during the measured run. Most generators keep none."""
        return ()
