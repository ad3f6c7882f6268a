"""What differs between the kinds of target. A plain table of functions: the sequencer and the command line ask it, and know no kind.

A kind that is not in the table cannot be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.host import Topology, partition, partition_for_proxy
from httpbench.load import Job, LoadGenerator
from httpbench.model import Cores, Kind, SampledResponse, Scaling, SuiteLoad, Table, Target, Trial, TrialPlan, Workload
from httpbench.run.observer import Observer
from httpbench.run.proxy_trial import BASELINE, run_proxy_trial
from httpbench.run.serve import HOST
from httpbench.run.trial import Backend, TrialJob, run_trial, too_many_connections
from httpbench.run.verify import Verified, sample, verify
from httpbench.run.verify_proxy import sample_proxy, verify_proxy

TRIAL_OVERHEAD_S = 0.6  # start, wait, probe and stop of a typical server


@dataclass(frozen=True, slots=True)
class OfKind:
    """How targets of one kind are handled."""

    workload: str
    """What is asked unless another one is named."""
    load: SuiteLoad
    """How, unless something else is said."""
    table: Table
    trial: Callable[[TrialJob, Observer], Trial]
    refuses: Callable[[LoadGenerator, TrialPlan, Workload], str | None]
    """What of a trial cannot be done at all, in a sentence; asked before anything is built."""
    need_programs: Callable[[LoadGenerator], object]
    """Raises :class:`~httpbench.errors.LoadError` where a program of ours, or the load generator, is not there."""
    trial_s: Callable[[TrialPlan], float]
    """How long a trial takes, about."""
    verify: Callable[[Target, Scaling, Workload, Path, Cores, Backend | None], Verified]
    sample: Callable[[Target, Scaling, Workload, Path, Cores, Backend | None], SampledResponse]
    """What ``responses`` shows. Raises :class:`~httpbench.errors.HttpbenchError`."""
    partition: Callable[[Topology, Scaling], Cores] = partition
    """Who runs where."""
    probes: bool = False
    """Whether ``bench`` looks at what they do beyond the load."""
    baseline: Target | None = None
    """Stands for «without»; measured in each round."""


def _server_refuses(generator: LoadGenerator, plan: TrialPlan, workload: Workload) -> str | None:
    job = Job(f"http://{HOST}/", workload, plan.load, plan.cores.generator, Path())
    return generator.refuses(job) or too_many_connections(plan.load)


def _server_trial_s(plan: TrialPlan) -> float:
    return plan.load.warmup_s + plan.load.duration_s + TRIAL_OVERHEAD_S


KINDS: Mapping[Kind, OfKind] = {
    Kind.SERVER: OfKind(
        workload="plaintext",
        load=SuiteLoad(),
        table=Table.HTTP_SERVERS,
        trial=run_trial,
        refuses=_server_refuses,
        need_programs=lambda generator: generator.program(),
        trial_s=_server_trial_s,
        verify=lambda target, scaling, workload, folder, cores, _: verify(target, scaling, workload, folder, cores),
        sample=lambda target, scaling, workload, folder, cores, _: sample(target, scaling, workload, folder, cores),
        probes=True,
    ),
    Kind.PROXY: OfKind(
        workload="proxy-10kb",
        load=SuiteLoad(connections=(100,)),
        table=Table.TCP_PROXIES,
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
