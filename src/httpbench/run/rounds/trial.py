"""Run one trial of any kind of target, and turn an error into a failed trial.

The steps of each kind are in ``server/trial.py``, ``client/trial.py`` and ``proxy/trial.py``. Servers and proxies share the steps in
``run/trial/steps.py``: warm up, measure, check, probe, stop, judge.
"""

from __future__ import annotations

import time

from httpbench.errors import HttpbenchError
from httpbench.host.scratch import scratch_folder
from httpbench.model import Trial
from httpbench.run.kinds import KINDS
from httpbench.run.observer import Observer
from httpbench.run.trial.frame import failed, kept_to
from httpbench.run.trial.inputs import TrialInputs


def make_trial(inputs: TrialInputs, observer: Observer) -> Trial:
    """Run a trial. After an error, return a failed trial with the reason. Only an interruption is raised."""
    begin = time.monotonic()
    try:
        with scratch_folder() as scratch, kept_to(inputs.plan.cores.harness):
            trial = KINDS[inputs.target.kind].trial(inputs, scratch, observer)
    except (HttpbenchError, OSError) as error:
        return failed(inputs.plan, inputs.started_at, error)
    load, settled_s = inputs.plan.load, trial.settling.duration_s if trial.settling else 0.0
    measured_s = trial.client.whole.wall_s if trial.client else settled_s + load.warmup_s + load.duration_s + (load.rest_s or 0.0)
    return trial.model_copy(update={"overhead_s": max(time.monotonic() - begin - measured_s, 0.0)})
