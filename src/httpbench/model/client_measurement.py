"""Measurements of a client: the time it took, and the work that the reference server counted."""

from __future__ import annotations

from httpbench.model.frozen import Frozen, Name


class Timing(Frozen):
    """The time and memory that a process used from its start until the timer reaped it."""

    wall_s: float
    """Wall time from the start of the process until it was reaped, in seconds."""
    user_s: float
    """CPU time in user mode, in seconds."""
    system_s: float
    """CPU time in the kernel, in seconds."""
    rss_bytes_peak: int | None = None
    """Peak resident memory, in bytes. Null: not reported, or not above the peak of the timer, which the kernel includes."""

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


class WorkDone(Frozen):
    """The reference server's counts while a client ran, which show that all clients did the same work."""

    requests: int
    """Number of requests received."""
    connections: int
    """Number of connections accepted."""
    in_flight_max: int
    """Maximum number of requests in flight."""
    pipelined: int
    """Number of requests that arrived before the server had sent the previous response on their connection."""
    wrong_requests: int
    """Number of requests with a wrong method, path or body, including input that isn't HTTP."""
    body_bytes_sent: int
    """Total size of the bodies sent, in bytes."""
    bytes_sent: int
    """Total size of the responses sent, including headers, in bytes."""
    first_request: str = ""
    """Head of the first request, as received. Empty: no request arrived."""


class ClientMeasurement(Frozen):
    """The measurement of a client, timed as a whole process."""

    timer: Name
    """Name of the timer."""
    timer_version: str
    """Version of the timer."""
    requests: int
    """Number of requests that the client had to make."""
    whole: Timing
    """Time and memory of the whole process."""
    startup: Timing
    """Time and memory of the same program when it sends no requests."""
    done: WorkDone
    """Counts of the reference server during the timed execution."""
    done_held: WorkDone
    """Counts of the reference server during an untimed execution with delayed responses. They reveal a client that doesn't wait for
    responses."""

    @property
    def requests_rps(self) -> float | None:
        """Requests per second, excluding start-up; ``None`` if start-up took at least as long as the whole process."""
        left_s = self.whole.wall_s - self.startup.wall_s
        return self.requests / left_s if left_s > 0 else None

    @property
    def cpu_us_per_request(self) -> float | None:
        """CPU time per request, excluding start-up, in µs; ``None`` if start-up used at least as much CPU time as the whole process."""
        left_s = self.whole.cpu_s - self.startup.cpu_s
        return left_s * 1e6 / self.requests if left_s > 0 and self.requests else None
