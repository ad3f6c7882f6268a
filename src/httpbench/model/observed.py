"""Observations of a trial, and the criteria for judging it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from httpbench.model.frozen import Frozen
from httpbench.model.usage import CoreOccupancy, LoadHostUse, Network, Others, Usage
from httpbench.model.verdict import REASONS_MAX, Reason


class Observed(Frozen):
    """Everything observed in a trial except the measurements of the load generator or timer."""

    target_usage: Usage | None = None
    """CPU and memory usage of the target. Null: not measured."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that were busy (running or ready to run) without any requests, in the least busy of several short
    periods. A target with a value of 0.5 or more counts as polling. Null: not measured."""
    generator_usage: Usage | None = None
    """CPU and memory usage of the load generator. Null: not measured."""
    backend_usage: Usage | None = None
    """CPU and memory usage of the server behind a proxy. Null: no proxy, or not measured."""
    backend_requests: int | None = None
    """Number of requests that a proxy's backend handled from its start to the end of the trial. Null: the backend doesn't count them."""
    backend_connections: int | None = None
    """Number of connections that a proxy's backend accepted in this time. Null: the backend doesn't count them."""
    database_usage: Usage | None = None
    """CPU and memory usage of the target's database. Null: no database, or not measured."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Usage of the logical CPUs of the target and the load generator, and of the SMT siblings of these CPUs."""
    others: Others | None = None
    """Other programs on the machine. Null: not measured."""
    network: Network | None = None
    """Counters of the kernel's network stack. Null: not read."""
    load_host: LoadHostUse | None = None
    """Observations of the load host. Null: the load generator ran on the target's machine, or there were no measurements."""
    slices_dropped: int = 0
    """Number of slices that were dropped and repeated because other programs disturbed them. Earlier versions also dropped the slices of
    other targets."""
    incidents: tuple[Reason, ...] = Field(default=(), max_length=REASONS_MAX)
    """Events that affect the verdict, such as the target's death or a wrong response after the load. Empty: none, or stored by an earlier
    version."""


class Criteria(Frozen):
    """The criteria for judging a trial, in addition to its plan."""

    failed_share_max: float | None = None
    """Maximum share of failed requests that the service level allows, 0 to 1. Null: no service level, so the default applies."""
    response_bytes_min: int | None = None
    """Minimum size of a correct response, in bytes. Null: sizes aren't compared."""
    response_part: Literal["bodies", "responses"] = "bodies"
    """Part of a response that ``response_bytes_min`` applies to: only the body, or the whole response with headers."""
    accepts_disturbed: bool = False
    """Whether the trial counts even if other programs disturbed it."""
