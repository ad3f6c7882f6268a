"""A trial: its plan, measurements and verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import model_validator

from httpbench.model.client_measurement import ClientMeasurement
from httpbench.model.container import ContainerRun
from httpbench.model.entry import Database
from httpbench.model.failover import Failover
from httpbench.model.frozen import Frozen, Time
from httpbench.model.measurement import Measurement
from httpbench.model.observed import Criteria, Observed
from httpbench.model.plan import TrialPlan
from httpbench.model.probe import Probed
from httpbench.model.response import SampledResponse
from httpbench.model.startup import Startup
from httpbench.model.verdict import Verdict


class Settling(Frozen):
    """The part of a warm-up in which httpbench waits for steady throughput."""

    window_s: float
    """Duration of each window, in seconds."""
    throughput_rps: tuple[float, ...]
    """Throughput of each window, in requests/s."""
    is_steady: bool
    """Whether throughput was shown to be steady. Otherwise, the time limit ended the warm-up."""

    @property
    def duration_s(self) -> float:
        return self.window_s * len(self.throughput_rps)

    @property
    def responses(self) -> int:
        """Lower bound on the number of correct responses in this part. Windows can last slightly longer than ``window_s``."""
        return int(sum(self.throughput_rps) * self.window_s)


class Learned(Frozen):
    """The correct response, learned from the first three responses of a trial.

    The status and the body of each response under load must match it. The media type is compared with sampled responses only.
    """

    status: int
    """Status code."""
    content_type: str | None = None
    """Media type, without its parameters. Null: not sent."""
    body_bytes: int | None = None
    """Size of the body, in bytes. Null: bodies differed, so they aren't checked."""
    body_sha256: str | None = None
    """SHA-256 of the body. Null: bodies differed, so they aren't checked."""


class LearnedRequests(Frozen):
    """The correct responses to several different requests, learned as for one request."""

    count: int
    """Number of different requests in the workload."""
    learned: int
    """Number of requests whose correct response was learned."""
    bodies: int
    """Number of these whose body was the same each time."""
    common: Learned | None = None
    """What the learned responses have in common. All requests of the workload must get such a response. Null: each request has its own
    correct response."""


class DatabaseRun(Frozen):
    """The database of one trial, and its work from the start of the measuring load generator to the target's end.

    PostgreSQL counts the work on the tables that the workload requires, and MariaDB counts the work on all tables.
    """

    system: Database
    """Database system."""
    version: str
    """Version of the database server."""
    rows_read: int | None = None
    """Number of rows read by key. Null: not counted."""
    rows_scanned: int | None = None
    """Number of rows read in table scans. Null: not counted."""
    rows_written: int | None = None
    """Number of rows changed. Null: not counted."""
    selects: int | None = None
    """Number of ``SELECT`` statements. Null: not counted."""


class Commands(Frozen):
    """The command lines of a trial, with all ports, workers and files filled in. Values of ``--env`` and of secret headers are redacted."""

    target: tuple[str, ...] = ()
    """Command line of the target, or the command line that started its container. Empty: the harness didn't start the target."""
    copies: int = 1
    """Number of processes started with this command. Only the scaling ``prefork`` starts more than one."""
    load: tuple[str, ...] = ()
    """Command line of the load generator, or of the timer for clients. Its temporary files no longer exist."""


class Trial(Frozen):
    """A finished trial, as stored."""

    plan: TrialPlan
    """Plan of the trial."""
    started_at: Time
    """Time when the trial started, in UTC and ISO 8601 format."""
    verdict: Verdict
    """Verdict: what limited the trial, or why it doesn't count."""
    measurement: Measurement | None = None
    """Measurements made by the load generator. Null: nothing was measured, or the target is a client."""
    client: ClientMeasurement | None = None
    """Measurements made by the timer. Null: nothing was measured, or the target isn't a client."""
    startup: Startup | None = None
    """How the server started. Null: start-up wasn't measured."""
    failover: Failover | None = None
    """How the proxy handled the failure of one of its two backends. Null: no backend failed."""
    observed: Observed = Observed()
    """Observations of the programs, the machine and the network."""
    criteria: Criteria = Criteria()
    """Criteria for judging the trial, in addition to its plan."""
    database: DatabaseRun | None = None
    """Database that the target used, with its counters. Null: none."""
    settling: Settling | None = None
    """Part of the warm-up in which httpbench waited for steady throughput. Null: the warm-up had a fixed length."""
    response: SampledResponse | None = None
    """A response of the target. Null: none was kept."""
    learned: Learned | None = None
    """Correct response, learned from the target. Null: the workload defines it."""
    learned_requests: LearnedRequests | None = None
    """Correct responses, learned from the target, if the workload has several requests. Null: it has one, or nothing was learned."""
    accept_queue: int | None = None
    """Length of the accept queue of the target's listening socket. Null: unknown."""
    probed: Probed | None = None
    """Results of a probe. Null: not probed, or not the first trial of the target."""
    overhead_s: float | None = None
    """Wall time of the trial in seconds, without builds, warm-up and measurement. Null: unknown."""
    log_tail: str | None = None
    """Last lines of output of the program that failed. Null: none."""
    container: ContainerRun | None = None
    """Container of the target. Null: the target ran as a process, or its container didn't start."""
    commands: Commands | None = None
    """Command lines of the trial. Null: the trial failed before they ran, or an earlier version stored the trial."""

    @model_validator(mode="before")
    @classmethod
    def _lift_observed(cls, value: Any) -> Any:
        """Convert a trial of an earlier version, which has the fields of ``observed`` at the top level."""
        if not isinstance(value, Mapping):
            return value
        seen = {name: value[name] for name in Observed.model_fields if name in value}
        if not seen:
            return value
        rest = {name: each for name, each in value.items() if name not in seen}
        return {**rest, "observed": {**dict(rest.get("observed", {})), **seen}}

    @property
    def responses(self) -> int:
        """Lower bound of the number of correct responses, including those during the warm-up."""
        measured = self.measurement.requests.ok_at_least if self.measurement else 0
        if self.plan.slices:  # with slices, `measured` already includes the whole warm-up
            return measured
        return measured + (self.settling.responses if self.settling else 0)
