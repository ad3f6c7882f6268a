"""Run one trial of a server: start it, wait for its first correct response, and run the steps that servers and proxies share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from httpbench.load import Job, Native, timer
from httpbench.model import Reason, ReasonKind, Trial, Workload
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial.context import StartContext
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import TrialInputs, Upstream
from httpbench.run.trial.start import start
from httpbench.run.trial.startup import FirstRequest
from httpbench.run.trial.steps import measure
from httpbench.run.trial.verdict import with_incident


def measure_server(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """Run a trial of a server. ``scratch`` must be an empty folder."""
    folders_in(scratch, "target", "first", "generator", "database")
    observer.stage(Stage.START)
    inputs = replace(inputs, workload=inputs.workload.of(inputs.target))
    place = replace(inputs.place(scratch / "target"), first_request=_first_request(inputs, scratch / "first"))
    if inputs.backend is None:
        with start(inputs.target, inputs.plan.scaling, inputs.workload, place) as running:
            return measure(inputs, running, scratch / "generator", observer)
    return _beside_database(inputs, inputs.backend, place, scratch, observer)


def _first_request(inputs: TrialInputs, scratch: Path) -> FirstRequest | None:
    """Return the request that measures the start of the target, or ``None`` if start-up isn't measured."""
    if not inputs.plan.load.is_of_startup:
        return None
    native = inputs.load_generator
    assert isinstance(native, Native), "the command line refuses other load generators"
    return FirstRequest(native, timer("native").program(), Job("", inputs.workload, inputs.plan.load, inputs.generator_cpus, scratch))


def _beside_database(inputs: TrialInputs, placed: Upstream, place: StartContext, scratch: Path, observer: Observer) -> Trial:
    """Run a trial of a target with a database, and query the database's counters at the end."""
    from httpbench.run.database.running import started

    with started(placed, scratch / "database", port_is_fixed=inputs.target.entry is not None, run_id=inputs.run_id) as database:
        place = replace(place, database=database.reachable)
        with start(inputs.target, inputs.plan.scaling, inputs.workload, place) as running:
            trial = measure(inputs, running, scratch / "generator", observer, database=database)
        if (death := database.program.death()) is not None:
            return with_incident(trial, Reason.of(ReasonKind.DATABASE_DIED_UNDER_LOAD, death=death))
        trial = trial.model_copy(update={"database": database.record()})
    return _judged(trial, inputs.workload)


def _judged(trial: Trial, workload: Workload) -> Trial:
    """Make the trial invalid if the database did less work than the measuring generator's responses require."""
    if trial.measurement is None or trial.database is None:
        return trial
    from httpbench.databases import counting_problem

    problem = counting_problem(workload, trial.measurement.requests.ok_at_least, trial.database)
    return with_incident(trial, problem) if problem else trial
