"""Collect the incidents and criteria that determine the verdict on a server or proxy in addition to the measurements."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.isolate import Stopped
from httpbench.model import Criteria, Reason, ReasonKind, Trial
from httpbench.run.load.generator import UnderLoad
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.validity import response_size
from httpbench.stats.verdict import judged


def incidents_of(under_load: UnderLoad, problems: Sequence[str], stopped: Stopped) -> tuple[Reason, ...]:
    """Return everything that went wrong outside the measurement. ``problems`` describes the response after the load."""
    incidents = []
    if under_load.death:
        incidents.append(Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death=under_load.death))
    if problems:
        incidents.append(Reason.of(ReasonKind.WRONG_AFTER_LOAD, problems=list(problems)))
    if stopped.problem:
        incidents.append(stopped.problem)  # doesn't make the results invalid
    if stopped.log_bytes_dropped:
        incidents.append(Reason.of(ReasonKind.FILLED_LOG, dropped_bytes=stopped.log_bytes_dropped))
    return tuple(incidents)


def criteria_of(inputs: TrialInputs, response_bytes: int | None = None) -> Criteria:
    """Return the criteria for judging the trial. ``response_bytes`` is the size of each correct response, or ``None`` if sizes differ."""
    # HTTP/2 compresses headers, so whole responses are smaller under load than a single response before it.
    is_whole = inputs.load_generator.counts_headers and not inputs.plan.load.http2
    size, part = response_size(inputs.workload, response_bytes if is_whole else None)
    return Criteria(
        failed_share_max=inputs.failed_share_max,
        response_bytes_min=size,
        response_part=part,
        accepts_disturbed=inputs.accepts_disturbed,
    )


def with_incident(trial: Trial, incident: Reason, *, last: bool = False) -> Trial:
    """Return the trial with another incident and a new verdict. With ``last``, the incident is appended instead of prepended."""
    incidents = trial.observed.incidents
    observed = trial.observed.model_copy(update={"incidents": (*incidents, incident) if last else (incident, *incidents)})
    return judged(trial.model_copy(update={"observed": observed}))
