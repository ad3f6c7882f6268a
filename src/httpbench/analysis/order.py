"""The order of tables, and of the rows in each: sort keys."""

from __future__ import annotations

from httpbench.analysis.rows import Row
from httpbench.model import Load, Scaling

GroupKey = tuple[Scaling, str, str, Load]
"""What the rows of a table have in common: scaling, workload, load generator and load."""


def table_place(key: GroupKey) -> tuple[object, ...]:
    """By workload, then by the size of the load: the trials of a run are shuffled."""
    scaling, workload, generator, load = key
    return (workload, list(Scaling).index(scaling), generator, load.connections, load.pipeline, load.rate_rps or 0, str(load))


def row_place(row: Row) -> tuple[bool, float, str]:
    """Most requests per second first, of clients the shortest time; then rows without figures, by id."""
    client, throughput = row.summary.client, row.summary.throughput_rps
    if client is not None:
        return (False, client.mean_s, row.target.id)
    return (throughput is None, -throughput.median if throughput else 0, row.target.id)


def proxy_place(row: Row) -> tuple[object, ...]:
    """The baseline first. With a rate, which all proxies serve alike, by p99."""
    times = row.latency
    p99_us = times.p99.median if times and times.p99 and row.summary.load.rate_rps else 0.0
    return (row.target.is_declared, not row.counts, p99_us, *row_place(row))
