"""Judges a trial of a server or a proxy: the verdict on its measurement, and what was seen around it."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.isolate import Stopped
from httpbench.model import Reason, ReasonKind, Verdict, VerdictKind
from httpbench.run.load.generator import UnderLoad
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.evidence import ERROR_SHARE_LIMIT, Evidence
from httpbench.stats.verdict import judge


def verdict_of(
    inputs: TrialInputs,
    under_load: UnderLoad,
    polling_threads: float | None,
    problems: Sequence[str],
    stopped: Stopped,
    response_bytes: int | None = None,
    target_cpus: float | None = None,
) -> Verdict:
    """What limited the trial, and everything unusual about it.

    ``polling_threads``: busy without requests. ``problems``: of the response after the load. ``response_bytes``: the size of each
    correct response; ``None``: they may differ. ``target_cpus``: the CPU limit of the target's container; ``None``: none.
    """
    kind, reasons = VerdictKind.INVALID, list[Reason]()
    if evidence := _evidence(inputs, under_load, polling_threads, response_bytes, target_cpus):
        judged = judge(evidence, accepts_disturbed=inputs.accepts_disturbed)
        kind, reasons = judged.kind, list(judged.reasons)
    if under_load.death:
        kind = VerdictKind.INVALID
        reasons.insert(0, Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death=under_load.death))
    elif (killed := _out_of_memory(under_load)) is not None:
        kind = VerdictKind.INVALID
        reasons.insert(0, killed)
    if problems:
        kind = VerdictKind.INVALID
        reasons.append(Reason.of(ReasonKind.WRONG_AFTER_LOAD, problems=list(problems)))
    if stopped.problem:
        reasons.append(stopped.problem)  # the figures are valid all the same
    if stopped.log_bytes_dropped:
        reasons.append(Reason.of(ReasonKind.FILLED_LOG, dropped_bytes=stopped.log_bytes_dropped))
    return Verdict(kind=kind, reasons=tuple(reasons), is_accepted=kind is VerdictKind.DISTURBED and inputs.accepts_disturbed)


def _out_of_memory(under_load: UnderLoad) -> Reason | None:
    """What the kernel killed inside a container that went on running."""
    kills = under_load.target_usage.oom_kills if under_load.target_usage else None
    return Reason.of(ReasonKind.OUT_OF_MEMORY, kills=kills) if kills else None


def _evidence(
    inputs: TrialInputs, under_load: UnderLoad, polling_threads: float | None, response_bytes: int | None, target_cpus: float | None
) -> Evidence | None:
    if under_load.measurement is None:
        return None
    allowed = inputs.failed_share_max
    return Evidence(
        measurement=under_load.measurement,
        load=inputs.plan.load,
        cores=inputs.plan.cores,
        target_usage=under_load.target_usage,
        target_polling_threads=polling_threads,
        generator_usage=under_load.generator_usage,
        backend_usage=under_load.backend_usage,
        database_usage=under_load.database_usage,
        occupancy=under_load.occupancy,
        others=under_load.others,
        network=under_load.network,
        load_host=under_load.load_host,
        target_cpus=target_cpus,
        scaling=inputs.plan.scaling,
        workload=inputs.workload,
        response_bytes=response_bytes if inputs.load_generator.counts_headers else None,
        error_share_limit=ERROR_SHARE_LIMIT if allowed is None else allowed,
        wrong_share_limit=allowed or 0.0,
    )
