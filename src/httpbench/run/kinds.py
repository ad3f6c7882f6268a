"""What differs between the kinds of target. A plain table of functions: the sequencer and the command line ask it, and know no kind.

A kind that is not in the table cannot be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench import load, programs
from httpbench.host import Topology, partition, partition_for_proxy
from httpbench.load import Job, Tool
from httpbench.model import (
    STEADY_S_MIN,
    Cores,
    Kind,
    SampledRequest,
    SampledResponse,
    Scaling,
    SuiteLoad,
    Table,
    Target,
    Trial,
    TrialPlan,
    Workload,
)
from httpbench.run.client import reference
from httpbench.run.client.trial import HELD_REQUESTS, HELD_S, run_client_trial
from httpbench.run.client.verify import sample_client, verify_client
from httpbench.run.observer import Observer
from httpbench.run.proxy.trial import BASELINE, run_proxy_trial
from httpbench.run.proxy.verify import sample_proxy, verify_proxy
from httpbench.run.server.verify import sample, verify
from httpbench.run.start import HOST
from httpbench.run.trial import Backend, TrialJob, run_trial, too_many_connections
from httpbench.run.verified import Verified

WARMUP_UNTIL_STEADY = {"warmup_s": 1.0, "warmup_max_s": 10.0}
"""What holds for servers where nothing else is said."""

TRIAL_OVERHEAD_S = 0.6  # start, wait, probe and stop of a typical server
CLIENT_TRIAL_S = HELD_S * HELD_REQUESTS + 0.8  # the proof; starts and ends of two servers and three clients; a typical client's work


@dataclass(frozen=True, slots=True)
class OfKind:
    """How targets of one kind are handled."""

    workload: str
    """What is asked unless another one is named."""
    load: SuiteLoad
    """How, unless something else is said."""
    table: Table
    trial: Callable[[TrialJob, Observer], Trial]
    generator: Callable[[str], Tool]
    """The load generator, or the timer, of a name. Raises :class:`~httpbench.errors.SelectionError`."""
    refuses: Callable[[str, TrialPlan, Workload], str | None]
    """What of a trial cannot be done at all, in a sentence; asked before anything is built."""
    need_programs: Callable[[Tool], object]
    """Raises :class:`~httpbench.errors.LoadError` where a program of ours, or the load generator, is not there."""
    trial_s: Callable[[TrialPlan], float]
    """How long a trial takes, about."""
    verify: Callable[[Target, Scaling, Workload, Path, Cores, Backend | None], Verified]
    sample: Callable[[Target, Scaling, Workload, Path, Cores, Backend | None], SampledResponse | SampledRequest]
    """What ``responses`` shows. Raises :class:`~httpbench.errors.HttpbenchError`."""
    partition: Callable[[Topology, Scaling], Cores] = partition
    """Who runs where."""
    probes: bool = False
    """Whether ``bench`` looks at what they do beyond the load."""
    baseline: Target | None = None
    """Stands for «without»; measured in each round."""


def _server_refuses(generator: str, plan: TrialPlan, workload: Workload) -> str | None:
    job = Job(f"http://{HOST}/", workload, plan.load, plan.cores.generator, Path())
    return load.get(generator).refuses(job) or too_many_connections(plan.load)


def _server_trial_s(plan: TrialPlan) -> float:
    settling_s = STEADY_S_MIN if plan.load.warmup_max_s else 0.0
    return settling_s + plan.load.warmup_s + plan.load.duration_s + TRIAL_OVERHEAD_S


def _client_refuses(timer: str, plan: TrialPlan, workload: Workload) -> str | None:
    asked = plan.load
    if asked.connections != 1 or asked.pipeline != 1 or asked.rate_rps is not None or not asked.keepalive:
        return "a client makes its requests one after the other, as the workload says: no other number of connections, no rate"
    return None


def _client_trial_s(plan: TrialPlan) -> float:
    return CLIENT_TRIAL_S


def _need_client_programs(timer: Tool) -> None:
    programs.need(reference.PROGRAM)
    timer.program()


KINDS: Mapping[Kind, OfKind] = {
    Kind.SERVER: OfKind(
        workload="plaintext",
        load=SuiteLoad.model_validate(WARMUP_UNTIL_STEADY),
        table=Table.HTTP_SERVERS,
        generator=load.get,
        trial=run_trial,
        refuses=_server_refuses,
        need_programs=lambda generator: generator.program(),
        trial_s=_server_trial_s,
        verify=lambda target, scaling, workload, folder, cores, _: verify(target, scaling, workload, folder, cores),
        sample=lambda target, scaling, workload, folder, cores, _: sample(target, scaling, workload, folder, cores),
        probes=True,
    ),
    Kind.CLIENT: OfKind(
        workload="client-small-1000",
        load=SuiteLoad(connections=(1,), duration_s=60, warmup_s=0),
        table=Table.HTTP_CLIENTS,
        generator=load.timer,
        trial=run_client_trial,
        refuses=_client_refuses,
        need_programs=_need_client_programs,
        trial_s=_client_trial_s,
        verify=lambda target, scaling, workload, folder, cores, _: verify_client(target, scaling, workload, folder, cores),
        sample=lambda target, scaling, workload, folder, cores, _: sample_client(target, scaling, workload, folder, cores),
    ),
    Kind.PROXY: OfKind(
        workload="proxy-10kb",
        load=SuiteLoad.model_validate({"connections": (100,), **WARMUP_UNTIL_STEADY}),
        table=Table.TCP_PROXIES,
        generator=load.get,
        trial=run_proxy_trial,
        refuses=_server_refuses,
        need_programs=lambda generator: generator.program(),
        trial_s=lambda plan: _server_trial_s(plan) + TRIAL_OVERHEAD_S,
        verify=verify_proxy,
        sample=sample_proxy,
        partition=partition_for_proxy,
        baseline=BASELINE,
    ),
}


def estimate_s(trials: Sequence[TrialPlan], targets: Mapping[str, Target]) -> float:
    """How long trials will take, about; builds aside."""
    return sum(KINDS[targets[trial.target].kind].trial_s(trial) for trial in trials)
