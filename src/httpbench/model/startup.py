"""Measurements of how a server starts."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Startup(Frozen):
    """How long a server took to start, and how much memory and disk space it used."""

    ready_s: float
    """Time from the execution of the program to the end of its first correct response, in seconds. In a container, it begins with the
    execution of the engine's client."""
    first_us: float
    """Service time of the request that got the first correct response, in µs."""
    steady_s: float | None = None
    """Time from the beginning of the load until throughput was within 5% of its final level, in seconds, rounded up to a tenth of a second.
    Null: noise hides it, or throughput was still changing at the end of the load."""
    rss_bytes_ready: int | None = None
    """Resident memory after the first response, summed over all processes, in bytes. Null: not measured."""
    pss_bytes_ready: int | None = None
    """Memory after the first response, with shared pages split among the processes, in bytes. Null: the kernel does not report it."""
    rss_bytes_rest: int | None = None
    """Resident memory after the load and the rest that follows it, summed over all processes, in bytes. Null: not measured."""
    pss_bytes_rest: int | None = None
    """Memory after the load and the rest, with shared pages split among the processes, in bytes. Null: the kernel does not report it."""
    installed_bytes: int | None = None
    """Size of the container's image or of the files that the build created, without its caches, in bytes. Null: nothing was built."""
