"""A table of the functions and defaults for each kind of target: servers, clients and proxies.

``rounds/rounds.py`` and ``rounds/trial.py`` contain nothing specific to a kind. A kind that isn't in the table can't be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench import load
from httpbench.host import Topology, partition, partition_for_proxy
from httpbench.lazy import LazyMapping
from httpbench.load import Tool, programs
from httpbench.model import (
    STEADY_S_MIN,
    Cores,
    Kind,
    Scaling,
    SuiteLoad,
    Table,
    Target,
    Trial,
    TrialPlan,
    Workload,
)
from httpbench.run.observer import Observer
from httpbench.run.plan.refusals import client_refusal, server_refusal

if TYPE_CHECKING:
    from httpbench.run.trial.inputs import TrialInputs

WARMUP_UNTIL_STEADY = {"warmup_s": 1.0, "warmup_max_s": 10.0}
"""Default warm-up for servers and proxies."""

TRIAL_OVERHEAD_S = 0.6  # time to start, wait for, probe and stop a typical server
SLICE_OVERHEAD_S = 0.03  # time for the lead-in, reading meters, thawing and freezing
FIRST_TRIAL_S = 1.0  # additional time of a server's first trial, for the probe and for loading libraries


@dataclass(frozen=True, slots=True)
class OfKind:
    """The functions and defaults for targets of one kind."""

    workload: str
    """The default workload."""
    load: SuiteLoad
    """The default load."""
    table: Table
    trial: Callable[[TrialInputs, Path, Observer], Trial]
    """Function that runs a trial in an empty folder."""
    generator: Callable[[str], Tool]
    """Function that returns the load generator or timer with the given name. Raises :class:`~httpbench.errors.SelectionError`."""
    refuses: Callable[[Tool, TrialPlan, Workload, Target], str | None]
    """Function that returns why a trial is impossible, or ``None`` if it is possible."""
    require_programs: Callable[[Tool], object]
    """Function that raises :class:`~httpbench.errors.LoadError` if the load generator or one of httpbench's programs is missing."""
    trial_s: Callable[[TrialPlan], float]
    """Function that estimates how long a trial takes, in seconds."""
    partition: Callable[[Topology, Scaling, int | None], Cores] = partition
    """Function that divides the cores among the programs. Its last argument overrides the target's number of cores."""
    probes: bool = False
    """Whether ``bench`` probes the targets."""
    baseline: Target | None = None
    """Additional target that is measured in each round for comparison, or ``None``."""


def _server_trial_s(planned: TrialPlan) -> float:
    load = planned.load
    settling_s = STEADY_S_MIN if load.warmup_max_s else 0.0
    if planned.slices:
        return (settling_s or load.warmup_s) + load.duration_s + SLICE_OVERHEAD_S * planned.slices + TRIAL_OVERHEAD_S
    return settling_s + load.warmup_s + load.duration_s + (load.rest_s or 0.0) + TRIAL_OVERHEAD_S


def _server() -> OfKind:
    from httpbench.run.server.trial import measure_server

    return OfKind(
        workload="plaintext",
        load=SuiteLoad.model_validate(WARMUP_UNTIL_STEADY),
        table=Table.HTTP_SERVERS,
        generator=load.get,
        trial=measure_server,
        refuses=server_refusal,
        require_programs=lambda generator: generator.program(),
        trial_s=lambda planned: _server_trial_s(planned) + (FIRST_TRIAL_S if planned.round == 0 and planned.attempt == 0 else 0.0),
        probes=True,
    )


def _client() -> OfKind:
    from httpbench.run.client import reference
    from httpbench.run.client.trial import HELD_REQUESTS, HELD_S, measure_client

    trial_s = HELD_S * HELD_REQUESTS + 0.8  # includes starting and stopping two servers and three clients, and a typical client's work

    def require_programs(timer: Tool) -> None:
        programs.require(reference.PROGRAM)
        timer.program()

    return OfKind(
        workload="client-small-1000",
        load=SuiteLoad(connections=(1,), duration_s=60, warmup_s=0),
        table=Table.HTTP_CLIENTS,
        generator=load.timer,
        trial=measure_client,
        refuses=client_refusal,
        require_programs=require_programs,
        trial_s=lambda planned: trial_s,
    )


def _proxy() -> OfKind:
    from httpbench.run.proxy.trial import BASELINE, measure_proxy

    return OfKind(
        workload="proxy-10kb",
        load=SuiteLoad.model_validate({"connections": (100,), **WARMUP_UNTIL_STEADY}),
        table=Table.TCP_PROXIES,
        generator=load.get,
        trial=measure_proxy,
        refuses=server_refusal,
        require_programs=lambda generator: generator.program(),
        trial_s=lambda planned: _server_trial_s(planned) + (0.0 if planned.slices else TRIAL_OVERHEAD_S),
        partition=partition_for_proxy,
        baseline=BASELINE,
    )


KINDS: Mapping[Kind, OfKind] = LazyMapping({Kind.SERVER: _server, Kind.CLIENT: _client, Kind.PROXY: _proxy})


def estimate_s(trials: Sequence[TrialPlan], targets: Mapping[str, Target]) -> float:
    """Estimate the total duration of trials, without builds, in seconds."""
    return sum(KINDS[targets[trial.target].kind].trial_s(trial) for trial in trials)


def estimate_left_s(done: Sequence[TrialPlan], ahead: Sequence[TrialPlan], targets: Mapping[str, Target], spent_s: float) -> float:
    """Estimate the rest of a run, in seconds, from the time that its finished trials took.

    Long warm-ups and repeats of disturbed slices make trials slower than planned, usually in each round.
    """
    slowness = spent_s / estimate_s(done, targets) if done else 1.0
    return slowness * estimate_s(ahead, targets)


def longest_warmup_s(planned: TrialPlan) -> float:
    """Return the maximum time by which a warm-up until steady throughput can exceed the assumption of :func:`estimate_s`, in seconds."""
    load = planned.load
    return 0.0 if load.warmup_max_s is None else load.warmup_max_s - load.warmup_s - STEADY_S_MIN
