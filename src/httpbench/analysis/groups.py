"""The tables of a run: its cells in groups that may be compared with each other.

Rows of a group share workload, load, scaling and load generator, so their figures stand side by side; nothing is ranked across
groups.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from httpbench.analysis.order import GroupKey, proxy_place, row_place, table_place
from httpbench.analysis.rows import Group, Row
from httpbench.model import Measurement, Probed, Run, Scaling, Table, Trial
from httpbench.stats.attempts import last_attempts
from httpbench.stats.summary import cells, summarise

SIZE_TOLERANCE = 0.10
"""A response's size is marked when it is further from the group's median: then the network moved something else than for the others."""


def groups(run: Run, trials: Sequence[Trial]) -> list[Group]:
    """The tables of a run, in order. ``trials`` may be fewer than planned."""
    found: dict[GroupKey, list[list[Trial]]] = {}
    for cell in cells(trials):
        _, scaling, workload, generator, load = cell[0].plan.cell
        # Proxies are given the same cores however they fill them, and one baseline is measured for both ways.
        own = Scaling.MULTI if run.table is Table.TCP_PROXIES and scaling is Scaling.PREFORK else scaling
        found.setdefault((own, workload, generator, load), []).append(cell)
    probed = {trial.plan.target: trial.probed for trial in trials if trial.probed is not None}
    several = len({generator for _, _, generator, _ in found}) > 1
    return [_group(run, key, found[key], probed, several_generators=several) for key in sorted(found, key=table_place)]


def _group(run: Run, key: GroupKey, found: Sequence[Sequence[Trial]], probed: Mapping[str, Probed], *, several_generators: bool) -> Group:
    scaling, workload, generator, load = key
    trials = last_attempts(trial for cell in found for trial in cell)
    measurements = [trial.measurement for trial in trials if trial.measurement is not None]
    versions = [measurement.generator_version for measurement in measurements]
    versions += [trial.client.timer_version for trial in trials if trial.client is not None]
    return Group(
        scaling=scaling,
        workload=workload,
        load=load,
        load_generator=generator,
        several_generators=several_generators,
        generator_version=versions[0] if versions else None,
        cores_shared=any(trial.plan.cores.shared for trial in trials),
        backend_shared=any(trial.plan.cores.backend_shared for trial in trials),
        database_shared=any(trial.plan.cores.database_shared for trial in trials),
        target_cores=max(trial.plan.cores.physical(trial.plan.cores.target) for trial in trials),
        workers=next((trial.plan.workers for trial in trials if trial.plan.workers), None),
        scale=run.scale,
        rounds=max(len(last_attempts(cell)) for cell in found),
        generator_notes=tuple(note for measurement in measurements for note in measurement.notes),
        rows=tuple(sorted(_rows(run, found, probed), key=proxy_place if run.table is Table.TCP_PROXIES else row_place)),
        load_host=_load_host(run, measurements),
        backend_there=bool(run.load_host and run.load_host.backend_cpus),
        client_work=run.workloads[workload].client if workload in run.workloads else None,
    )


def _load_host(run: Run, measurements: Sequence[Measurement]) -> str | None:
    """``load1 with 4 cores``, or ``3 load hosts (slowest: load2, lag p99 0.20 ms)``."""
    there = run.load_host
    if there is not None:
        backend = f", backend on {there.name}" if there.backend_cpus else ""
        return f"{there.name} with {there.cores} core{'' if there.cores == 1 else 's'}{backend}"
    count = max((len(measurement.load_hosts) for measurement in measurements), default=0)
    if count == 0:
        return None
    lags = [(share.lag_us_p99, share.name) for each in measurements for share in each.load_hosts if share.lag_us_p99 is not None]
    lag_us, slowest = max(lags, default=(0.0, None))
    lag = f" (slowest: {slowest}, lag p99 {lag_us / 1000:.2f} ms)" if slowest else ""
    return f"{count} load host{'' if count == 1 else 's'}{lag}"


def _rows(run: Run, found: Sequence[Sequence[Trial]], probed: Mapping[str, Probed]) -> Iterable[Row]:
    sizes = [_response_bytes(cell) for cell in found]
    known = [size for size in sizes if size is not None]
    usual = statistics.median_low(known) if known else 0
    for attempts, size in zip(found, sizes, strict=True):
        cell = last_attempts(attempts)
        last = {trial.plan.number for trial in cell}
        summary = summarise(cell)
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
            measured=None if summary.rounds_counting else summarise(cell, invalid=True),
        )


def _response_bytes(cell: Sequence[Trial]) -> int | None:
    """Of the first round that sampled one: the responses of a target differ by their date alone."""
    return next((trial.response.size_bytes for trial in cell if trial.response is not None), None)


def _log_tail(cell: Sequence[Trial]) -> str | None:
    return next((trial.log_tail for trial in reversed(cell) if trial.log_tail and not trial.verdict.counts), None)
