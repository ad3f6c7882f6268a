"""The frame of every trial: an empty folder, the harness on its own cores, and a reason if it fails.

What happens within the frame depends on the kind of target: ``server/trial.py``, ``client/trial.py`` and ``proxy/trial.py``. Servers
and proxies share ``measure/trial_sequence.py``: warm up, measure, check, probe, stop, judge.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from httpbench.errors import (
    BuildError,
    ContainerError,
    CoresInUseError,
    HttpbenchError,
    LimitError,
    LoadError,
    LostHostError,
    RequirementError,
    StartError,
    StopError,
    StoreError,
    TargetDiedError,
    UsageError,
)
from httpbench.model import Observed, Reason, ReasonKind, Trial, TrialPlan
from httpbench.run.kinds import KINDS
from httpbench.run.observer import Observer
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.verdict import UNJUDGED, judged

KINDS_OF_ERROR: dict[type[HttpbenchError], ReasonKind] = {
    BuildError: ReasonKind.NOT_BUILT,
    ContainerError: ReasonKind.CONTAINER_FAILED,
    CoresInUseError: ReasonKind.CORES_IN_USE,
    HttpbenchError: ReasonKind.FAILED,
    LimitError: ReasonKind.LIMIT_NOT_IN_FORCE,
    LoadError: ReasonKind.LOAD_FAILED,
    LostHostError: ReasonKind.LOAD_HOST_LOST,
    RequirementError: ReasonKind.REQUIREMENT_MISSING,
    StartError: ReasonKind.NOT_STARTED,
    StopError: ReasonKind.NOT_STOPPED,
    StoreError: ReasonKind.NOT_STORED,
    TargetDiedError: ReasonKind.TARGET_DIED,
    UsageError: ReasonKind.USAGE,
}
"""Kind of reason for each exception class; a class that is not listed has that of its base class."""


def make_trial(inputs: TrialInputs, observer: Observer) -> Trial:
    """Makes a trial. What goes wrong becomes a failed trial with its reason; only an interruption is raised."""
    begin = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="httpbench-", ignore_cleanup_errors=True) as scratch, _kept_to(inputs.plan.cores.harness):
            trial = KINDS[inputs.target.kind].trial(inputs, Path(scratch), observer)
    except (LimitError, LostHostError) as error:
        return _without_results(inputs.plan, inputs.started_at, _reason(error))
    except HttpbenchError as error:
        return failed(inputs.plan, inputs.started_at, error)
    except OSError as error:
        # A lack of space, memory or processes fails this trial; the others go on.
        place = f": {error.filename}" if error.filename else ""
        return failed(inputs.plan, inputs.started_at, LoadError(f"the trial could not be made: {error.strerror or error}{place}"))
    load, settled_s = inputs.plan.load, trial.settling.duration_s if trial.settling else 0.0
    measured_s = trial.client.whole.wall_s if trial.client else settled_s + load.warmup_s + load.duration_s
    return trial.model_copy(update={"overhead_s": max(time.monotonic() - begin - measured_s, 0.0)})


def failed(planned: TrialPlan, started_at: str, error: HttpbenchError) -> Trial:
    """A trial without figures, and why."""
    return _without_results(planned, started_at, _reason(error, error.hint)).model_copy(update={"log_tail": error.log_tail})


def _without_results(planned: TrialPlan, started_at: str, reason: Reason) -> Trial:
    return judged(Trial(plan=planned, started_at=started_at, verdict=UNJUDGED, observed=Observed(incidents=(reason,))))


def _reason(error: HttpbenchError, hint: str | None = None) -> Reason:
    kind = next(KINDS_OF_ERROR[each] for each in type(error).__mro__ if each in KINDS_OF_ERROR)
    return Reason.of(kind, message=error.message, hint=hint)


@contextmanager
def _kept_to(cpus: Sequence[int]) -> Iterator[None]:
    """Keeps the harness, and the threads that it starts meanwhile, off the measured cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
