"""The tables of a run. The cells are grouped so that the rows of each group can be compared, and groups and rows are sorted.

The rows of a group share workload, load, scaling and load generator. Rows are never ranked across groups.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from httpbench.analysis.rows import Group, LoadOrigin, Row
from httpbench.model import Arrivals, Load, Measurement, Probed, Run, Scaling, Table, Trial, TrialPlan
from httpbench.stats.summary import Summary, cells, last_attempts, summarize

GroupKey = tuple[Scaling, str, str, Load]
"""The properties that all rows of a table share: scaling, workload, load generator and load."""

SIZE_TOLERANCE = 0.10
"""Maximum relative difference between the response size of a row and the median of its group. Rows with a larger difference are marked."""


class Summarize(Protocol):
    """A function that summarizes the trials of a cell, like :func:`summarize`."""

    def __call__(self, trials: Sequence[Trial], *, invalid: bool = False) -> Summary: ...


def groups(run: Run, trials: Sequence[Trial], summary_of: Summarize = summarize) -> list[Group]:
    """Return the tables of a run, in order.

    If the run isn't complete, ``trials`` contains fewer trials than planned. ``summary_of`` may return stored summaries.
    """
    found: dict[GroupKey, list[list[Trial]]] = {}
    for cell in cells(trials):
        found.setdefault(_key(run, cell[0].plan), []).append(cell)
    probed = {trial.plan.target: trial.probed for trial in trials if trial.probed is not None}
    several = len({generator for _, _, generator, _ in found}) > 1
    return [_group(run, key, found[key], probed, summary_of, several_generators=several) for key in sorted(found, key=_table_place)]


def tables(run: Run, plans: Iterable[TrialPlan]) -> list[list[TrialPlan]]:
    """Return the plans of each table, in the order of :func:`groups`."""
    found: dict[GroupKey, list[TrialPlan]] = {}
    for plan in plans:
        found.setdefault(_key(run, plan), []).append(plan)
    return [found[key] for key in sorted(found, key=_table_place)]


def _key(run: Run, plan: TrialPlan) -> GroupKey:
    _, scaling, workload, generator, load = plan.cell
    if load.share_of_peak is not None:
        load = load.model_copy(update={"rate_rps": None, "peak_of": None})
    # Multi-core and prefork proxies get the same cores and share one baseline, so they share a table.
    own = Scaling.MULTI if run.table is Table.TCP_PROXIES and scaling is Scaling.PREFORK else scaling
    return (own, workload, generator, load)


def over_connections(found: Sequence[Group]) -> list[list[Group]]:
    """Return the sets of two or more tables of closed loops that differ only in the number of connections, which rises in each set.

    Loads of servers that just started are left out, because they have no warm-up.
    """
    alike: dict[tuple[object, ...], list[Group]] = {}
    for group in found:
        if group.load.rate_rps is None and group.client_work is None and not group.load.is_of_startup:
            others = group.load.model_copy(update={"connections": 1})
            alike.setdefault((group.scaling, group.workload, group.load_generator, others), []).append(group)
    return [sorted(several, key=lambda group: group.load.connections) for several in alike.values() if len(several) > 1]


def _group(
    run: Run,
    key: GroupKey,
    found: Sequence[Sequence[Trial]],
    probed: Mapping[str, Probed],
    summary_of: Summarize,
    *,
    several_generators: bool,
) -> Group:
    scaling, workload, generator, _ = key
    trials = last_attempts(trial for cell in found for trial in cell)
    measurements = [trial.measurement for trial in trials if trial.measurement is not None]
    versions = [measurement.generator_version for measurement in measurements]
    versions += [trial.client.timer_version for trial in trials if trial.client is not None]
    baselines = [cell for cell in found if cell[0].plan.load.peak_of not in (None, cell[0].plan.target)]
    own_baselines = {row.summary.load.peak_of or "": row for row in _rows(run, baselines, probed, summary_of)}
    rest = [cell for cell in found if cell not in baselines]
    rows = tuple(sorted(_rows(run, rest, probed, summary_of), key=_proxy_place if run.table is Table.TCP_PROXIES else _row_place))
    return Group(
        scaling=scaling,
        workload=workload,
        load=max((cell[0].plan.load for cell in found), key=lambda load: load.rate_rps or 0.0),
        load_generator=generator,
        several_generators=several_generators,
        generator_version=versions[0] if versions else None,
        cores_shared=any(row.shares_cores for row in rows),
        backend_shared=any(trial.plan.cores.backend_shared for trial in trials),
        database_shared=any(trial.plan.cores.database_shared for trial in trials),
        target_cores=max(trial.plan.cores.physical(trial.plan.cores.target) for trial in trials),
        workers=next((trial.plan.workers for trial in trials if trial.plan.workers), None),
        scale=run.scale,
        rounds=max(len(last_attempts(cell)) for cell in found),
        generator_notes=tuple(note for measurement in measurements for note in measurement.notes),
        rows=rows,
        load_origin=_load_origin(run, measurements),
        client_work=run.workloads[workload].client if workload in run.workloads else None,
        slices=next((trial.plan.slices for trial in trials if trial.plan.slices), None),
        proxy_baseline=run.baseline if run.table is Table.TCP_PROXIES else None,
        own_baselines=own_baselines,
    )


def _load_origin(run: Run, measurements: Sequence[Measurement]) -> LoadOrigin | None:
    there = run.load_host
    if there is not None:
        return LoadOrigin(1, name=there.name, cores=there.cores, has_backend=bool(there.backend_cpus))
    count = max((len(measurement.load_hosts) for measurement in measurements), default=0)
    if count == 0:
        return None
    lags = [(share.lag_us_p99, share.name) for each in measurements for share in each.load_hosts if share.lag_us_p99 is not None]
    lag_us, slowest = max(lags, default=(0.0, None))
    return LoadOrigin(count, slowest=slowest, lag_us=lag_us)


def _rows(run: Run, found: Sequence[Sequence[Trial]], probed: Mapping[str, Probed], summary_of: Summarize) -> Iterable[Row]:
    sizes = [_response_bytes(cell) for cell in found]
    known = [size for size in sizes if size is not None]
    usual = statistics.median_low(known) if known else 0
    for attempts, size in zip(found, sizes, strict=True):
        cell = last_attempts(attempts)
        last = {trial.plan.number for trial in cell}
        summary = summary_of(cell)
        profile = run.profile_of(summary.target, summary.scaling, summary.workload, summary.load)
        odd = size is not None and abs(size - usual) > SIZE_TOLERANCE * usual
        yield Row(
            target=run.targets[summary.target],
            summary=summary,
            trials=tuple(cell),
            repeated=tuple(trial for trial in attempts if trial.plan.number not in last),
            response_bytes=size,
            odd_size=odd,
            log_tail=_log_tail(cell),
            probed=probed.get(summary.target),
            measured=None if summary.rounds_counting else summary_of(cell, invalid=True),
            kernel=profile.counts if profile else None,
        )


def _response_bytes(cell: Sequence[Trial]) -> int | None:
    """Return the size of the first sampled response. All responses of a target are equal except for their dates."""
    return next((trial.response.size_bytes for trial in cell if trial.response is not None), None)


def _log_tail(cell: Sequence[Trial]) -> str | None:
    return next((trial.log_tail for trial in reversed(cell) if trial.log_tail and not trial.verdict.counts), None)


def _table_place(key: GroupKey) -> tuple[object, ...]:
    """Return the sort key of a table. Workload, scaling and load generator come before the size of the load.

    The tables at shares of the peak follow the table of the closed loop that measures the peak.
    """
    scaling, workload, generator, load = key
    share = load.share_of_peak or 0.0
    closed = load if load.share_of_peak is None else load.model_copy(update={"share_of_peak": None, "arrivals": Arrivals.CONSTANT})
    return (workload, list(Scaling).index(scaling), generator, load.connections, load.pipeline, load.rate_rps or 0, str(closed), share)


def _row_place(row: Row) -> tuple[bool, float, str]:
    """Return the sort key of a row: throughput, the time of a client or start, or the number of failed requests if a backend fails.

    Rows without results come last, sorted by id.
    """
    client, ready, throughput, failover = row.summary.client, row.summary.ready_s, row.summary.throughput_rps, row.summary.failover
    if failover is not None:
        return (False, failover.failed.median, row.target.id)
    if client is not None:
        return (False, client.median_s, row.target.id)
    if ready is not None:
        return (False, ready.median, row.target.id)
    return (throughput is None, -throughput.median if throughput else 0, row.target.id)


def _proxy_place(row: Row) -> tuple[object, ...]:
    """Return the sort key of a row in a table of proxies. The baseline comes first.

    If the load has a rate, proxies are sorted by p99, because all of them serve the same rate.
    """
    times = row.latency
    p99_us = times.p99.median if times and times.p99 and row.summary.load.rate_rps else 0.0
    return (row.target.is_declared, not row.counts, p99_us, *_row_place(row))
