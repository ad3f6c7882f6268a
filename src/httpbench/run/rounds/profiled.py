"""Profile the targets of a run in a last round, which counts for nothing else."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from httpbench.errors import UsageError
from httpbench.model import Profile, Trial, TrialPlan, VerdictKind
from httpbench.profile import with_maps
from httpbench.run.observer import Observer
from httpbench.run.plan.slices import alternating, why_no_slices
from httpbench.run.plan.spec import RunSpec
from httpbench.run.proxy.trial import BASELINE
from httpbench.run.slices.recorder import COUNTED, Recorder
from httpbench.run.slices.round import make_round
from httpbench.run.trial.frame import failed
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.level import saturation

SLICES = 8
"""Number of profiled slices of a target, from which intervals are made."""
SLICE_S_MIN, SLICE_S_MAX = 0.25, 1.0


def refuse_unprofiled(spec: RunSpec) -> None:
    """Raise :class:`UsageError` if a target of the run can't be profiled."""
    for planned in spec.plan.trials:
        if planned.target != BASELINE.id and (reason := why_no_slices(spec, [planned])):
            raise UsageError(f"{planned.target} cannot be profiled: {reason}", hint="remove --profile and --profiler")


def profile(
    spec: RunSpec,
    made: Sequence[Trial],
    inputs_of: Callable[[TrialPlan], TrialInputs],
    keep: Callable[[Profile], object],
    observer: Observer,
) -> None:
    """Profile each cell that did its work, or the highest rate of a search. Warn of the targets for which this fails.

    Args:
        spec: The run.
        made: Trials of the run.
        inputs_of: Function that returns the inputs of a trial.
        keep: Callback that is called with each profile.
        observer: Observer of the round.
    """
    trials = _planned(spec, made)
    if not trials:
        observer.warning(f"nothing was profiled, because no {'rate holds' if spec.search else 'trial is valid'}")
    for table in alternating(spec, trials):
        for planned in table:
            observer.profiling(planned)
        _profile_in_turns(spec, table, inputs_of, keep, observer)


def profiled_cells(spec: RunSpec) -> list[TrialPlan]:
    """Return the trials of the profiled round if all cells do their work. Not for searches, whose rate is known only later."""
    cells = {planned.cell: planned for planned in spec.plan.trials if planned.target != BASELINE.id}
    return list(map(_in_slices, cells.values()))


def _planned(spec: RunSpec, made: Sequence[Trial]) -> list[TrialPlan]:
    """Return the trials of the profiled round: of all cells that did their work or, after a search, of the highest rate."""
    first = max((trial.plan.number for trial in made), default=0) + 1
    responded = {trial.plan.cell: trial.plan for trial in made if _is_valid(trial)}
    if spec.search:
        rate_rps = saturation(spec.search, made).rate_rps
        found = [_in_slices(planned) for planned in responded.values() if rate_rps is not None and planned.load.rate_rps == rate_rps][-1:]
    else:
        found = [_in_slices(planned) for planned in responded.values() if planned.target != BASELINE.id]
    return [planned.model_copy(update={"number": number}) for number, planned in enumerate(found, first)]


def _is_valid(trial: Trial) -> bool:
    """Return whether the target did its work, even if other programs disturbed it."""
    return trial.verdict.kind not in (VerdictKind.FAILED, VerdictKind.INVALID)


def _in_slices(planned: TrialPlan) -> TrialPlan:
    slice_s = min(max(planned.load.duration_s / SLICES, SLICE_S_MIN), SLICE_S_MAX)
    slices = COUNTED + SLICES
    return planned.model_copy(update={"slices": slices, "load": planned.load.model_copy(update={"duration_s": slices * slice_s})})


def _profile_in_turns(
    spec: RunSpec,
    table: Sequence[TrialPlan],
    inputs_of: Callable[[TrialPlan], TrialInputs],
    keep: Callable[[Profile], object],
    observer: Observer,
) -> None:
    assert spec.profilers is not None, "the caller profiles only if the user wants it"
    recorders = {planned.number: Recorder(spec.profilers, observer.warning) for planned in table}

    def inputs(planned: TrialPlan) -> TrialInputs:
        usual = inputs_of(planned)
        target = usual.target.model_copy(update={"env": with_maps(usual.target.env)})
        return replace(usual, target=target, probes=False, accepts_disturbed=True)

    def ended(trial: Trial) -> None:
        found = recorders[trial.plan.number].profile
        if found is not None and _is_valid(trial):
            keep(found)
        else:
            observer.not_profiled(trial)

    def unprofiled(one: TrialInputs) -> Trial:
        return failed(one.plan, one.started_at, UsageError("its responses take too long for slices"))

    ready = list(table)
    while ready:
        group = [functools.partial(inputs, planned) for planned in ready]
        made = make_round(group, observer, lambda planned: None, ended, unprofiled, lambda planned: recorders[planned.number])
        ready = ready[made:]
