"""Functions that every trial uses: create empty folders, keep the harness on its own cores, and turn an error into a failed trial."""

from __future__ import annotations

import os
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
"""Kind of reason for each exception class. A class that isn't listed has the kind of its base class."""


def failed(planned: TrialPlan, started_at: str, error: HttpbenchError | OSError) -> Trial:
    """Return a trial without results, with the error as its reason.

    Even if the machine runs out of disk space, memory or processes, only this trial fails.
    """
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename else ""
        error = LoadError(f"the trial could not be run: {error.strerror or error}{place}")
    kind = next(KINDS_OF_ERROR[each] for each in type(error).__mro__ if each in KINDS_OF_ERROR)
    explains_itself = isinstance(error, (LimitError, LostHostError))
    reason = Reason.of(kind, message=error.message, hint=None if explains_itself else error.hint)
    log_tail = None if explains_itself else error.log_tail
    observed = Observed(incidents=(reason,))
    return judged(Trial(plan=planned, started_at=started_at, verdict=UNJUDGED, observed=observed, log_tail=log_tail))


def folders_in(scratch: Path, *names: str) -> list[Path]:
    """Create empty folders with these names, and return their paths."""
    folders = [scratch / name for name in names]
    for folder in folders:
        folder.mkdir()
    return folders


@contextmanager
def kept_to(cpus: Sequence[int]) -> Iterator[None]:
    """Run the harness, and threads that it starts during the block, only on ``cpus``, so that they don't use the measured cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
