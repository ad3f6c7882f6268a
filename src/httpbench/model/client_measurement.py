"""What was measured of a client: its time, and the work that the reference server has counted."""

from __future__ import annotations

from httpbench.model.frozen import Frozen, Name


class Timing(Frozen):
    """A process from its start until it was reaped."""

    wall_s: float
    """Wall time from the start of the process until it was reaped, in seconds."""
    user_s: float
    """CPU time in user mode, in seconds."""
    system_s: float
    """CPU time in the kernel, in seconds."""
    rss_bytes_peak: int | None = None
    """Peak resident memory, in bytes. Null: not reported, or not above what a process has before it becomes the program."""

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


class WorkDone(Frozen):
    """What the reference server counted while a client ran: proof that it did the same work as the others."""

    requests: int
    """Requests received."""
    connections: int
    """Connections accepted."""
    in_flight_max: int
    """Highest number of requests that waited for their response at the same moment."""
    pipelined: int
    """Requests that came before the response to the previous one on their connection was sent."""
    wrong_requests: int
    """Requests with another method or path, or with a body, and what is not HTTP at all."""
    body_bytes_sent: int
    """Bytes of all bodies sent."""
    bytes_sent: int
    """Bytes sent: heads and bodies."""
    first_request: str = ""
    """The head of the first request, as it came; empty: none came."""


class ClientMeasurement(Frozen):
    """A client that was timed as a whole process."""

    timer: Name
    """Name of the timer."""
    timer_version: str
    """Version of the timer."""
    requests: int
    """Number of requests that the client was told to make."""
    whole: Timing
    """The whole process."""
    startup: Timing
    """The same program, told to make no request."""
    done: WorkDone
    """What the reference server counted in the timed run."""
    done_held: WorkDone
    """What it counted in an earlier, untimed run with delayed responses, so that a client that does not wait is detected."""

    @property
    def requests_rps(self) -> float | None:
        """With start-up taken off; ``None`` where that took as long as all."""
        left_s = self.whole.wall_s - self.startup.wall_s
        return self.requests / left_s if left_s > 0 else None

    @property
    def cpu_us_per_request(self) -> float | None:
        """Processor time of a request, with start-up taken off; ``None`` where that took as much as all."""
        left_s = self.whole.cpu_s - self.startup.cpu_s
        return left_s * 1e6 / self.requests if left_s > 0 else None
