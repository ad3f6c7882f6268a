"""The history of a target: each of its metrics over many runs, and the runs at which a metric changed.

Runs belong to the same series only if their environments match by the rules of ``httpbench compare``. The values come from summaries of
trials in the store, so that reading a hundred thousand trials takes less than a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from httpbench.analysis.environments import Mismatch, differences, load_hosts, resources
from httpbench.errors import StoreError
from httpbench.model import Environment, Load, Scaling, TrialPlan, VerdictKind, Workload
from httpbench.stats.change_points import RUNS_MAX, change_points
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.summary import NOT_THE_TARGETS_ALONE, Estimate
from httpbench.stats.unpaired import change
from httpbench.store import RunFigures, Store, TrialFigures

FIGURES: Mapping[str, Callable[[TrialFigures], float | None]] = {
    "rps": lambda trial: trial.throughput_rps,
    "p99": lambda trial: trial.latency_us_p99,
    "time": lambda trial: trial.wall_s,
}
"""Functions that return a metric of a trial, by name of the metric."""

_OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
_WORKLOADS = TypeAdapter(dict[str, Workload])

CommitsBetween = Callable[[str, str], Sequence[str]]
"""Function that lists the commits after one commit, up to and including another commit.

The list has one line per commit, newest first. It is empty if the commits are unknown.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a series."""

    run: str
    """Id of the run."""
    name: str | None
    started_at: str
    """Start time (UTC, ISO 8601)."""
    git_commit: str | None
    """Commit of the folder with the targets, followed by ``+changes`` if the folder had uncommitted changes."""
    estimate: Estimate
    """Estimate from the rounds that count."""
    verdict: VerdictKind
    """``generator`` or ``both`` if any round has that verdict, otherwise the most common verdict."""


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A change from one level to the next."""

    index: int
    """Index of the first point after the change."""
    ratio: float
    """Level after the change divided by the level before the change."""
    interval: ConfidenceInterval | None
    """95% confidence interval of the ratio."""
    commit_before: str | None
    """Commit of the last run before the change."""
    commit_after: str | None
    """Commit of the first run after the change."""
    commits: tuple[str, ...] = ()
    """Commits after ``commit_before`` up to ``commit_after``, one line each, newest first. Empty: the commits are unknown, or the commit
    didn't change."""


@dataclass(frozen=True, slots=True)
class HistoryLevel:
    """The points between two changes."""

    first: int
    """Index of the first point."""
    last: int
    """Index of the last point."""
    value: float
    """Geometric mean of the medians of the points."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one cell over runs in matching environments, oldest first."""

    target: str
    workload: str
    scaling: Scaling
    load: Load
    load_generator: str
    figure: str
    """``rps`` (requests/s, closed loops only), ``p99`` (µs) or, for clients, ``time`` (s)."""
    environment: Environment
    """Environment of the newest run."""
    differs: tuple[Mismatch, ...]
    """Differences from the environment of this cell's newest series. Empty: this is the newest series."""
    points: tuple[Point, ...]
    """The runs of the series. There is at least one."""
    changes: tuple[LevelChange, ...]

    @property
    def cell(self) -> tuple[str, str, Scaling, Load, str]:
        """Key that all series of one target under one load share."""
        return (self.target, self.workload, self.scaling, self.load, self.load_generator)

    @property
    def levels(self) -> tuple[HistoryLevel, ...]:
        """The levels before, between and after the changes."""
        bounds = [0, *(found.index for found in self.changes), len(self.points)]
        return tuple(
            HistoryLevel(first, end - 1, math.exp(sum(math.log(point.estimate.median) for point in self.points[first:end]) / (end - first)))
            for first, end in pairwise(bounds)
        )


def last_change(found: Sequence[Series], figure: str) -> LevelChange | None:
    """Return the newest change of a metric that has not been followed by another one, or ``None``.

    Only series that match the environment of the newest one count. If several cells changed, the change with the newest run is returned.
    """
    changes = [
        (series.points[each.index].started_at, each)
        for series in found
        if series.figure == figure and not series.differs
        for each in series.changes[-1:]
    ]
    return max(changes, key=lambda dated: dated[0])[1] if changes else None


def histories(store: Store, target: str, commits_between: CommitsBetween | None = None) -> list[Series]:
    """Return the series of every metric of a target over the newest runs. For each cell, the newest environment comes first.

    ``commits_between`` is called once for each change between two commits. Without this argument, the changes don't list commits. The
    function itself reads only the store, so the caller decides whether git is run.
    """
    found: dict[tuple[object, ...], list[list[_Measured]]] = {}
    try:
        measured_cells = list(_measured(store.figures(target, RUNS_MAX)))
    except ValueError:
        raise StoreError(f"{store.path}: a run of {target} was stored by another version of httpbench") from None
    for measured in measured_cells:
        alike = found.setdefault(measured.key, [])
        group = next((group for group in alike if not _differences(group[0], measured)), None)
        if group is None:
            alike.append([measured])
        else:
            group.append(measured)
    return [
        series
        for key in sorted(found, key=lambda key: _place(found[key][0][0]))
        for figure in FIGURES
        for group in found[key]
        if (series := _series(found[key][0][0], group, figure, commits_between))
    ]


@dataclass(frozen=True, slots=True)
class _Measured:
    """One cell of one run."""

    run: RunFigures
    plan: TrialPlan
    workload: Workload | None
    trials: Sequence[TrialFigures]
    """Last attempts of the rounds that count."""

    @property
    def key(self) -> tuple[object, ...]:
        """Key of this cell's series, except for the environment. It includes the workload's definition, which can change between runs."""
        limits = self.run.target.isolation
        return (*self.plan.cell, self.workload.model_dump_json() if self.workload else None, limits and (limits.cpus, limits.memory_bytes))


def _measured(runs: Sequence[RunFigures]) -> Iterator[_Measured]:
    """Yield the cells of all runs, starting with the newest run."""
    plan_of, workloads_of = cache(_plan), cache(_workloads)
    for run in reversed(runs):
        cells: dict[str, dict[int, TrialFigures]] = {}
        for trial in run.trials:
            rounds = cells.setdefault(trial.cell, {})
            if trial.round not in rounds or trial.attempt > rounds[trial.round].attempt:
                rounds[trial.round] = trial
        for text, rounds in cells.items():
            counting = [trial for trial in rounds.values() if trial.throughput_rps is not None or trial.wall_s is not None]
            if counting:
                plan = plan_of(text)
                if plan.load.share_of_peak is not None:
                    continue  # the rate differs between runs
                yield _Measured(run, plan, workloads_of(run.workloads).get(plan.workload), counting)


def _plan(text: str) -> TrialPlan:
    return TrialPlan.model_validate({**_OBJECT.validate_json(text), "number": 0, "round": 0})


def _workloads(text: str) -> dict[str, Workload]:
    return _WORKLOADS.validate_json(text)


def _differences(base: _Measured, head: _Measured) -> list[Mismatch]:
    return [
        *differences(base.run.environment, head.run.environment),
        *load_hosts(base.run.load_host, head.run.load_host),
        *resources(base.plan, head.plan),
    ]


def _place(measured: _Measured) -> tuple[object, ...]:
    load = measured.plan.load
    return (measured.plan.workload, measured.plan.scaling, measured.plan.load_generator, load.connections, load.rate_rps or math.inf)


def _series(newest: _Measured, group: Sequence[_Measured], figure: str, commits_between: CommitsBetween | None) -> Series | None:
    """Return the series of a metric, or ``None`` if no run has it."""
    plan = newest.plan
    measured = [each for each in reversed(group) if _values(each, figure)]
    if not measured:
        return None
    points = tuple(_point(each, _values(each, figure)) for each in measured)
    return Series(
        target=plan.target,
        workload=plan.workload,
        scaling=plan.scaling,
        load=plan.load,
        load_generator=plan.load_generator,
        figure=figure,
        environment=group[0].run.environment,
        differs=tuple(_differences(group[0], newest)),
        points=points,
        changes=tuple(_changes(points, commits_between)),
    )


def _values(measured: _Measured, figure: str) -> list[float]:
    """Return the values of all rounds. For a load with a rate, ``rps`` has no values, because the rate fixes throughput."""
    if figure == "rps" and measured.plan.load.rate_rps is not None:
        return []
    return [value for trial in measured.trials if (value := FIGURES[figure](trial)) is not None and value > 0]


def _point(measured: _Measured, values: Sequence[float]) -> Point:
    run, estimate = measured.run, Estimate.of(values)
    assert estimate is not None, "a point has values"
    verdicts = [trial.verdict for trial in measured.trials]
    return Point(
        run=run.id,
        name=run.name,
        started_at=run.started_at,
        git_commit=run.environment.git_commit,
        estimate=estimate,
        verdict=next((kind for kind in NOT_THE_TARGETS_ALONE if kind in verdicts), max(verdicts, key=verdicts.count)),
    )


def _changes(points: Sequence[Point], commits_between: CommitsBetween | None) -> Iterator[LevelChange]:
    values = [point.estimate.median for point in points]
    indices = change_points(values)
    bounds = [0, *indices, len(values)]
    for place, index in enumerate(indices, 1):
        found = change(values[bounds[place - 1] : index], values[index : bounds[place + 1]])
        assert found is not None, "values are above zero"
        before, after = points[index - 1].git_commit, points[index].git_commit
        commits: Iterable[str] = ()
        if commits_between and before and after and before != after:
            commits = commits_between(before, after)
        yield LevelChange(index, found.ratio, found.interval, before, after, tuple(commits))
