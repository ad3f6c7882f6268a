"""One trial: its plan, what was measured, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import model_validator

from httpbench.model.client_measurement import ClientMeasurement
from httpbench.model.container import ContainerRun
from httpbench.model.entry import Database
from httpbench.model.frozen import Frozen
from httpbench.model.measurement import Measurement
from httpbench.model.observed import Criteria, Observed
from httpbench.model.plan import TrialPlan
from httpbench.model.probe import Probed
from httpbench.model.response import SampledResponse
from httpbench.model.strangers import Others
from httpbench.model.usage import CoreOccupancy, Network, Usage
from httpbench.model.verdict import Verdict


class Settling(Frozen):
    """The part of a warm-up that lasts until throughput is steady."""

    window_s: float
    """Length of each window, in seconds."""
    throughput_rps: tuple[float, ...]
    """Throughput of each window, in requests/s."""
    is_steady: bool
    """Whether throughput was shown to be steady; otherwise the time for it was over."""

    @property
    def duration_s(self) -> float:
        return self.window_s * len(self.throughput_rps)


class Learned(Frozen):
    """The correct response that a trial learned from the first three: each response under load must match it."""

    status: int
    """Status code."""
    content_type: str | None = None
    """Media type, without its parameters. Null: none was sent."""
    body_bytes: int | None = None
    """Size of the body, in bytes. Null: the bodies differed, so bodies are not checked."""
    body_sha256: str | None = None
    """SHA-256 of the body. Null: the bodies differed, so bodies are not checked."""


class DatabaseRun(Frozen):
    """A database as it ran in one trial, and what it counted itself from the start of the target to its end."""

    system: Database
    """Database system."""
    version: str
    """Version of the server."""
    rows_read: int | None = None
    """Rows that it found by their key. Null: not counted."""
    rows_scanned: int | None = None
    """Rows that it read in scans of tables. Null: not counted."""
    rows_written: int | None = None
    """Rows that it changed in its tables. Null: not counted."""


class Commands(Frozen):
    """The command lines of a trial, with all that was filled in: ports, workers, files. Those of ``--env`` and of secret headers are
    redacted."""

    target: tuple[str, ...] = ()
    """Of the target: of a container, that which starts it. Empty: the harness did not start it."""
    copies: int = 1
    """Number of processes that this command started: several with the scaling ``prefork``."""
    load: tuple[str, ...] = ()
    """Of the load generator; for clients of the timer. Files that it names were temporary."""


class Trial(Frozen):
    """A finished trial, as it is stored."""

    plan: TrialPlan
    """What was planned."""
    started_at: str
    """Start: UTC, ISO 8601."""
    verdict: Verdict
    """What limited the trial, or why it does not count."""
    measurement: Measurement | None = None
    """What the load generator measured. Null: nothing, or the target is a client."""
    client: ClientMeasurement | None = None
    """What the timer measured. Null: nothing, or the target is no client."""
    observed: Observed = Observed()
    """What was seen of the programs, the machine and the network."""
    criteria: Criteria = Criteria()
    """What the trial is judged by besides its plan."""
    database: DatabaseRun | None = None
    """The database that the target asked, and what it counted. Null: none."""
    settling: Settling | None = None
    """The part of the warm-up that lasts until throughput is steady. Null: the warm-up had a fixed length."""
    response: SampledResponse | None = None
    """A response of the target. Null: none was kept."""
    learned: Learned | None = None
    """The correct response, learned from the target. Null: the workload states it."""
    accept_queue: int | None = None
    """Connections that the target's listening socket queues until they are accepted. Null: unknown."""
    probed: Probed | None = None
    """What a probe found; only in the first trial of each target that got as far."""
    overhead_s: float | None = None
    """Wall time beyond warm-up and measurement, builds aside, in seconds. Null: unknown."""
    log_tail: str | None = None
    """Last lines of the output of the program that failed. Null: none."""
    container: ContainerRun | None = None
    """The container that the target ran in. Null: it ran as a process, or its container did not start."""
    commands: Commands | None = None
    """The command lines that made the trial. Null: it failed before they ran, or an earlier version stored it."""

    @model_validator(mode="before")
    @classmethod
    def _lift_observed(cls, value: Any) -> Any:
        """Read trials of earlier versions, whose fields include those of ``observed``."""
        if not isinstance(value, Mapping):
            return value
        seen = {name: value[name] for name in Observed.model_fields if name in value}
        if not seen:
            return value
        rest = {name: each for name, each in value.items() if name not in seen}
        return {**rest, "observed": {**dict(rest.get("observed", {})), **seen}}

    @property
    def target_usage(self) -> Usage | None:
        return self.observed.target_usage

    @property
    def generator_usage(self) -> Usage | None:
        return self.observed.generator_usage

    @property
    def backend_usage(self) -> Usage | None:
        return self.observed.backend_usage

    @property
    def database_usage(self) -> Usage | None:
        return self.observed.database_usage

    @property
    def occupancy(self) -> tuple[CoreOccupancy, ...]:
        return self.observed.occupancy

    @property
    def others(self) -> Others | None:
        return self.observed.others

    @property
    def network(self) -> Network | None:
        return self.observed.network
