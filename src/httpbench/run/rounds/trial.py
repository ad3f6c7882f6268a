"""The frame of every trial: an empty folder, a harness that stays on its own cores, and a reason if the trial fails.

The inside depends on the kind of target: ``server/trial.py``, ``client/trial.py`` and ``proxy/trial.py``. Servers and proxies share
``run/trial/steps.py``: warm up, measure, check, probe, stop, judge.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from httpbench.errors import HttpbenchError, LimitError, LoadError, LostHostError
from httpbench.model import Trial, TrialPlan, Verdict, VerdictKind
from httpbench.run.kinds import KINDS
from httpbench.run.observer import Observer
from httpbench.run.trial.inputs import TrialInputs


def make_trial(inputs: TrialInputs, observer: Observer) -> Trial:
    """Make a trial. Errors become a failed trial with its reason; only an interruption is raised."""
    begin = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="httpbench-", ignore_cleanup_errors=True) as scratch, _kept_to(inputs.plan.cores.harness):
            trial = KINDS[inputs.target.kind].trial(inputs, Path(scratch), observer)
    except (LimitError, LostHostError) as error:
        verdict = Verdict(kind=VerdictKind.INVALID, reasons=(error.message,))
        return Trial(plan=inputs.plan, started_at=inputs.started_at, verdict=verdict)
    except HttpbenchError as error:
        return failed(inputs.plan, inputs.started_at, error)
    except OSError as error:
        # A lack of disk space, memory or processes fails only this trial.
        place = f": {error.filename}" if error.filename else ""
        return failed(inputs.plan, inputs.started_at, LoadError(f"the trial could not be made: {error.strerror or error}{place}"))
    load, settled_s = inputs.plan.load, trial.settling.duration_s if trial.settling else 0.0
    measured_s = trial.client.whole.wall_s if trial.client else settled_s + load.warmup_s + load.duration_s
    return trial.model_copy(update={"overhead_s": max(time.monotonic() - begin - measured_s, 0.0)})


def failed(planned: TrialPlan, started_at: str, error: HttpbenchError) -> Trial:
    """Return a trial without results, with the reason."""
    reason = f"{error.message}; {error.hint}" if error.hint else error.message
    verdict = Verdict(kind=VerdictKind.FAILED, reasons=(reason,))
    return Trial(plan=planned, started_at=started_at, verdict=verdict, log_tail=error.log_tail)


@contextmanager
def _kept_to(cpus: Sequence[int]) -> Iterator[None]:
    """Keep the harness, and threads that it starts during the block, off the measured cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
