"""The facts behind verdicts: columns and legend of the table of trials, and the reference server's counts for clients."""

from __future__ import annotations

from collections.abc import Callable

from httpbench.analysis.evidence import TrialFacts
from httpbench.model import Trial, WorkDone
from httpbench.stats.facts import Facts
from httpbench.stats.validity import LITTLE_MAX, LITTLE_MIN
from httpbench.text import one_line

LEGEND = (
    "Target CPU, Generator CPU: mean CPU time in cores, of the physical cores that each could use. The target's includes interrupts on "
    "cores that it doesn't share. Target thread, Generator thread: CPU time of the busiest thread. Polling: threads of the target that "
    "were busy while it got no requests; at 0.50 or more, the target polls.",
    "Target waited, Waited: cores that the target or the generator was ready to use and did not get. Throttled: share of CPU quota periods "
    "in which the target was stopped. Others: use of these cores by other programs, except httpbench. Stolen: time that the hypervisor "
    "gave to other machines.",
    "Strangers: processes that used the most CPU time on any core, and might have run on these cores. Attempt: 2 or more is a repeat.",
    "Per core: share of the time in which each measured logical CPU was busy with any program or with interrupts.",
    "Achieved: correct responses per second / offered rate. Lag p99: 99% of requests were sent at most this much later than intended.",
    f"Little: throughput × mean service time / requests in flight; valid from {LITTLE_MIN} to {LITTLE_MAX} in a closed loop.",
    "Resent: TCP segments sent again / all sent. Timeouts: TCP retransmission timeouts. Refused: connections that a full accept queue "
    "rejected. Dropped: packets that a core dropped. All four count the whole machine.",
)

CLIENT_LEGEND = ("Counted by the reference server. held: an untimed run in which each response is delayed.",)

Column = tuple[str, Callable[[TrialFacts], str]]

COLUMNS: tuple[Column, ...] = (
    ("Target", lambda one: one.trial.plan.target),
    ("Round", lambda one: str(one.trial.plan.round + 1)),
    ("Attempt", lambda one: str(one.trial.plan.attempt + 1) if one.trial.plan.attempt else ""),
    ("Verdict", lambda one: str(one.trial.verdict.kind)),
    ("Target CPU", lambda one: _of(one.facts.target_cores, one.facts.target_capacity_cores)),
    ("CPU limit", lambda one: _number(one.trial.container.cpus if one.trial.container else None, 2)),
    ("Target thread", lambda one: _number(one.facts.target_thread_cores_max, 2)),
    ("Polling", lambda one: _number(one.facts.target_polling_threads, 2)),
    ("Target waited", lambda one: _number(one.facts.target_wait_cores, 2)),
    ("Throttled", lambda one: _share(one.facts.target_throttled_share)),
    ("Generator CPU", lambda one: _of(one.facts.generator_cores, one.facts.generator_capacity_cores)),
    ("Generator thread", lambda one: _number(one.facts.generator_thread_cores_max, 2)),
    ("Waited", lambda one: _number(one.facts.generator_wait_cores, 2)),
    ("Others", lambda one: _number(one.facts.others_cores, 2)),
    ("Strangers", lambda one: _strangers(one.trial)),
    ("Stolen", lambda one: _number(one.facts.stolen_cores, 2)),
    ("Per core", lambda one: " ".join(f"{core.cpu}:{core.busy + core.interrupts:.0%}" for core in one.trial.observed.occupancy)),
    ("Achieved", lambda one: _share(one.facts.achieved_share)),
    ("Lag p99 (ms)", lambda one: _number(one.facts.schedule_lag_us_p99, 3, 1000)),
    ("Little", lambda one: _number(one.facts.little_ratio, 3)),
    ("Failed", lambda one: _share(one.facts.failed_share)),
    ("Resent", lambda one: _resent(one.facts)),
    ("Timeouts", lambda one: _number(one.facts.network.retransmission_timeouts if one.facts.network else None, 0)),
    ("Refused", lambda one: _number(one.facts.network.listen_overflows if one.facts.network else None, 0)),
    ("Link", lambda one: _share(one.facts.network.fullest_link.share if one.facts.network and one.facts.network.fullest_link else None)),
    ("Dropped", lambda one: _number(one.facts.network.backlog_drops if one.facts.network else None, 0)),
)

NAMES = ("Target", "Round", "Attempt", "Verdict")
"""Columns that identify a trial."""

WORDS = ("Target", "Verdict", "Strangers", "Per core")
"""Left-aligned columns."""

CLIENT_COLUMNS: tuple[tuple[str, Callable[[WorkDone], int]], ...] = (
    ("Requests", lambda done: done.requests),
    ("Connections", lambda done: done.connections),
    ("In flight", lambda done: done.in_flight_max),
    ("Pipelined", lambda done: done.pipelined),
    ("Wrong", lambda done: done.wrong_requests),
    ("Body bytes", lambda done: done.body_bytes_sent),
)
"""Counts that the reference server keeps for a client."""

STRANGERS_SHOWN = 3


def client_lines(trial: Trial) -> list[tuple[str, list[str]]]:
    """Return the counts of a client's delayed run and of its timed run, each with a label."""
    assert trial.client is not None
    runs = (("held", trial.client.done_held), ("timed", trial.client.done))
    return [(name, [f"{figure(done):,}" for _, figure in CLIENT_COLUMNS]) for name, done in runs]


def _of(cores: float | None, capacity: int) -> str:
    return "" if cores is None else f"{cores:.2f}/{capacity}"


def _number(value: float | None, digits: int, unit: float = 1) -> str:
    return "" if value is None else f"{value / unit:,.{digits}f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"


def _strangers(trial: Trial) -> str:
    found = trial.observed.others.strangers if trial.observed.others else ()
    return ", ".join(f"{one_line(one.name)} {one.cores:.2f}" for one in found[:STRANGERS_SHOWN])


def _resent(known: Facts) -> str:
    network = known.network
    if network is None or network.segments_retransmitted is None:
        return ""
    return f"{network.segments_retransmitted:,}/{network.segments_sent:,}"
