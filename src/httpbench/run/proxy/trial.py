"""Run one trial of a proxy: start the backend and then the proxy, load the proxy, and stop both. For the baseline, the backend runs alone.

The baseline is measured like a proxy: in each round, under each load and on the same cores. Each proxy is compared with the baseline of the
same round, because a disturbance during that round probably affects both trials. If the load uses TLS or HTTP/2, so does the backend of the
baseline. The backend behind a proxy always serves plain HTTP/1.1.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from httpbench import http
from httpbench.model import Build, Kind, Scaling, Target, Trial, TrialPlan, Tuning
from httpbench.run.observer import Observer, Stage
from httpbench.run.proxy.backend import in_front_of, started_backend, with_backend
from httpbench.run.proxy.failover import measure_failover
from httpbench.run.proxy.handled import handled_by
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.start import start, transport_of
from httpbench.run.trial.steps import measure
from httpbench.stats.verdict import judged

BASELINE = Target(
    id="baseline",
    kind=Kind.PROXY,
    language="none",
    framework="baseline",
    category=None,
    tuning=Tuning.DEFAULT,
    upstream=None,
    notes="The backend itself, without a proxy.",
    build=Build(),
    run=(),
    scaling=(Scaling.SINGLE, Scaling.MULTI),
    folder="/",
)
"""Target that replaces the proxy, so that the load goes directly to the backend."""


def measure_proxy(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """Run a trial of a proxy or of the baseline. ``scratch`` must be an empty folder."""
    assert inputs.backend is not None, "a proxy is measured in front of a backend"
    if inputs.plan.load.fault is not None:
        return measure_failover(inputs, scratch, observer)
    folders_in(scratch, "backend", "target", "generator")
    observer.stage(Stage.START)
    is_baseline = inputs.target.id == BASELINE.id
    transport = baseline_transport(inputs) if is_baseline else http.PLAIN
    with started_backend(inputs.backend, inputs.workload, scratch / "backend", inputs.start_limit_s, inputs.address, transport) as backend:
        if is_baseline:
            return as_baseline(measure(direct(inputs), backend, scratch / "generator", observer), inputs.plan)
        with start(inputs.target, inputs.plan.scaling, inputs.workload, in_front_of(backend, inputs, scratch / "target")) as running:
            trial = measure(inputs, running, scratch / "generator", observer, backend)
        death = backend.death()
        handled = None if death else handled_by(backend, inputs.backend.target.counter)
        if not death:
            backend.stop()
    return with_backend(trial, inputs.target.mode, handled, death)


def baseline_transport(inputs: TrialInputs) -> http.Transport:
    """Return how the requests of the load reach the directly loaded backend."""
    assert inputs.backend is not None, "a proxy is measured in front of a backend"
    return transport_of(inputs.backend.target, inputs.plan.load)


def direct(inputs: TrialInputs) -> TrialInputs:
    """Convert the inputs of the baseline's trial into inputs of a trial in which the backend is loaded directly."""
    cores = inputs.plan.cores
    own = cores.model_copy(update={"target": cores.backend, "backend": (), "shared": cores.backend_shared})
    return replace(inputs, plan=inputs.plan.model_copy(update={"cores": own, "scaling": Scaling.MULTI}))


def as_baseline(trial: Trial, planned: TrialPlan) -> Trial:
    """Convert the trial of the directly loaded backend into the baseline's trial, where CPU time and memory are the backend's usage."""
    observed = trial.observed.model_copy(update={"target_usage": None, "backend_usage": trial.observed.target_usage})
    return judged(trial.model_copy(update={"plan": planned, "observed": observed}))
