"""What each load host gets of a load.

Connections are divided here. The rate is not: each agent is told the rate of the whole and which part of its schedule is its own, so the
parts make exactly the schedule of one load generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Division:
    """The part of one load host."""

    part: str
    """``3/8``: the third of eight."""
    connections: int
    threads: int


def divided(connections: int, threads: int | None, cpus: Sequence[int]) -> list[Division]:
    """The part of each load host, in their order. Shares of the connections differ by one at most, and sum up to ``connections``.

    ``threads``: of each load generator; ``None``: one for each of its CPUs. ``cpus``: the number of CPUs of each load host.
    Raises :class:`UsageError` if there are fewer connections than load hosts.
    """
    hosts = len(cpus)
    if connections < hosts:
        raise UsageError(f"{hosts} load hosts require at least {hosts} connections", hint=f"use -c {hosts} or more")
    shares = [connections // hosts + (number < connections % hosts) for number in range(hosts)]
    return [
        Division(f"{number + 1}/{hosts}", share, min(threads or count, share))
        for number, (share, count) in enumerate(zip(shares, cpus, strict=True))
    ]
