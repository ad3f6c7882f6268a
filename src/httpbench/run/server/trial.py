"""One trial of a server: start, wait for the first correct response, and the steps that servers and proxies share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from httpbench.model import Trial
from httpbench.run.inputs import TrialInputs
from httpbench.run.measure.trial_sequence import measure
from httpbench.run.observer import Observer, Stage
from httpbench.run.start import Place, start


def measure_server(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """A trial of a server. ``scratch``: an empty folder."""
    for name in ("target", "generator"):
        (scratch / name).mkdir()
    observer.stage(Stage.START)
    own, plan = scratch / "target", inputs.plan
    place = Place(
        inputs.folder,
        own,
        inputs.cores,
        inputs.port,
        inputs.start_limit_s,
        workers=plan.workers,
        run_id=inputs.run_id,
        address=inputs.address,
    )
    inputs = replace(inputs, workload=inputs.workload.of(inputs.target))
    with start(inputs.target, inputs.plan.scaling, inputs.workload, place) as running:
        return measure(inputs, running, scratch / "generator", observer)
