"""What a trial's watchers saw, and what the trial is judged by besides its plan."""

from __future__ import annotations

from typing import Literal

from httpbench.model.frozen import Frozen
from httpbench.model.reason import Reason
from httpbench.model.strangers import Others
from httpbench.model.usage import CoreOccupancy, LoadHostUse, Network, Usage


class Observed(Frozen):
    """Everything that was seen of a trial besides what the load generator or the timer measured."""

    target_usage: Usage | None = None
    """CPU and memory of the target. Null: not watched."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that ran or were ready to run while it got no requests, the least of several looks; from 0.5 on
    it polls. Null: not watched."""
    generator_usage: Usage | None = None
    """CPU and memory of the load generator. Null: not watched."""
    backend_usage: Usage | None = None
    """CPU and memory of the server behind a proxy. Null: no proxy, or not watched."""
    database_usage: Usage | None = None
    """CPU and memory of the target's database. Null: none, or not watched."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Use of the CPUs of target and load generator, and of their SMT siblings."""
    others: Others | None = None
    """What else ran on the machine. Null: not watched."""
    network: Network | None = None
    """Counters of the kernel's network stack. Null: not read."""
    load_host: LoadHostUse | None = None
    """What was seen of the load host. Null: the load generator ran on the target's machine, or nothing was measured."""
    incidents: tuple[Reason, ...] = ()
    """Events that bear on the verdict, such as the target's death or a wrong response after the load. Trials that versions before this
    field stored have none."""


class Criteria(Frozen):
    """What a trial is judged by besides its plan."""

    failed_share_max: float | None = None
    """Share of failed requests that the service level allows, 0 to 1. Null: as few as any valid trial may have."""
    response_bytes_min: int | None = None
    """Least size of a correct response, in bytes. Null: sizes are not compared."""
    response_part: Literal["bodies", "responses"] = "bodies"
    """What ``response_bytes_min`` counts: bodies alone, or responses with their headers."""
    accepts_disturbed: bool = False
    """Whether the trial counts even if other programs disturbed it."""
