"""The rows of every table: one for each cell of a run, in groups that may be compared with each other.

Rows of a group share workload, load, scaling and load generator, so their figures stand side by side; nothing is ranked across
groups. Within one, rows with figures come first, most requests per second on top (of clients the shortest time),
then rows without, by id.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from httpbench.load import GENERATORS
from httpbench.model import ClientWork, Load, Probed, Run, Scaling, Table, Target, Trial, VerdictKind
from httpbench.stats.summary import Latency, Summary, cells, summarise

SIZE_TOLERANCE = 0.10
"""A response's size is marked when it is further from the group's median: then the network moved something else than for the others."""


@dataclass(frozen=True, slots=True)
class Row:
    """One target under one load."""

    target: Target
    summary: Summary
    trials: tuple[Trial, ...]
    """Its rounds."""
    response_bytes: int | None
    """Size of the sampled response, header block and body."""
    odd_size: bool
    """That size is far from those of the group's other rows."""
    log_tail: str | None
    """Of the last round that does not count."""
    probed: Probed | None
    """Of the run's first trial of the target that was probed."""

    @property
    def counts(self) -> bool:
        """Whether the row has figures to show."""
        return self.summary.rounds_counting > 0

    @property
    def counts_partly(self) -> bool:
        """Some of its rounds do not count, and its figures are of the others."""
        return 0 < self.summary.rounds_counting < self.summary.rounds

    @property
    def is_lower_bound(self) -> bool:
        """The generator or the backend was the limit, so the target can do more than its figures say, and its place may be too low."""
        limits = (VerdictKind.GENERATOR, VerdictKind.BACKEND) if self.target.is_declared else (VerdictKind.GENERATOR,)
        return self.counts and self.summary.verdict.kind in limits

    @property
    def latency(self) -> Latency | None:
        """Response time where the load has a rate and the generator knows it, service time otherwise."""
        return self.summary.response_time_us or self.summary.service_time_us


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that may be compared."""

    scaling: Scaling
    workload: str
    load: Load
    load_generator: str
    generator_version: str | None
    """``None`` where no trial got as far as to tell."""
    cores_shared: bool
    backend_shared: bool
    """The backend of proxies and the load generator had a core in common."""
    scale: float
    rounds: int
    generator_notes: tuple[str, ...]
    """What the generator's figures leave out."""
    rows: tuple[Row, ...]
    client_work: ClientWork | None = None
    """What clients were told to do; ``None``: they are no clients."""

    @property
    def latency_meaning(self) -> str | None:
        """One sentence; ``None`` for a generator that this version does not know."""
        generator = GENERATORS.get(self.load_generator)
        return generator.latency_meaning if generator else None


def groups(run: Run, trials: Sequence[Trial]) -> list[Group]:
    """The tables of a run. ``trials`` may be fewer than planned. Plans are shuffled, so the order is that of the loads' size."""
    found: dict[_GroupKey, list[list[Trial]]] = {}
    for cell in cells(trials):
        _, scaling, workload, generator, load = cell[0].plan.cell
        # Proxies are given the same cores however they fill them, and one baseline is measured for both ways.
        own = Scaling.MULTI if run.table is Table.TCP_PROXIES and scaling is Scaling.PREFORK else scaling
        found.setdefault((own, workload, generator, load), []).append(cell)
    probed = {trial.plan.target: trial.probed for trial in trials if trial.probed is not None}
    return [_group(run, key, found[key], probed) for key in sorted(found, key=_place)]


_GroupKey = tuple[Scaling, str, str, Load]


def _place(key: _GroupKey) -> tuple[object, ...]:
    scaling, workload, generator, load = key
    return (workload, list(Scaling).index(scaling), generator, load.connections, load.pipeline, load.rate_rps or 0, str(load))


def _group(run: Run, key: _GroupKey, found: Sequence[Sequence[Trial]], probed: Mapping[str, Probed]) -> Group:
    scaling, workload, generator, load = key
    trials = [trial for cell in found for trial in cell]
    measurements = [trial.measurement for trial in trials if trial.measurement is not None]
    versions = [measurement.generator_version for measurement in measurements]
    versions += [trial.client.timer_version for trial in trials if trial.client is not None]
    return Group(
        scaling=scaling,
        workload=workload,
        load=load,
        load_generator=generator,
        generator_version=versions[0] if versions else None,
        cores_shared=any(trial.plan.cores.shared for trial in trials),
        backend_shared=any(trial.plan.cores.backend_shared for trial in trials),
        scale=run.scale,
        rounds=max(len(cell) for cell in found),
        generator_notes=tuple(dict.fromkeys(note for measurement in measurements for note in measurement.notes)),
        rows=tuple(sorted(_rows(run, found, probed), key=_rank_of_proxy if run.table is Table.TCP_PROXIES else _rank)),
        client_work=run.workloads[workload].client if workload in run.workloads else None,
    )


def _rows(run: Run, found: Sequence[Sequence[Trial]], probed: Mapping[str, Probed]) -> Iterable[Row]:
    sizes = [_response_bytes(cell) for cell in found]
    known = [size for size in sizes if size is not None]
    usual = statistics.median_low(known) if known else 0
    for cell, size in zip(found, sizes, strict=True):
        summary = summarise(cell)
        odd = size is not None and abs(size - usual) > SIZE_TOLERANCE * usual
        yield Row(run.targets[summary.target], summary, tuple(cell), size, odd, _log_tail(cell), probed.get(summary.target))


def _rank(row: Row) -> tuple[bool, float, str]:
    client, throughput = row.summary.client, row.summary.throughput_rps
    if client is not None:
        return (False, client.mean_s, row.target.id)
    return (throughput is None, -throughput.median if throughput else 0, row.target.id)


def _rank_of_proxy(row: Row) -> tuple[object, ...]:
    """The baseline first; at a rate, which all answer alike, by the tail of their latencies."""
    times = row.latency
    tail_us = times.p99.median if times and times.p99 and row.summary.load.rate_rps else 0.0
    return (row.target.is_declared, not row.counts, tail_us, *_rank(row))


def _response_bytes(cell: Sequence[Trial]) -> int | None:
    """Of the first round that sampled one: the responses of a target differ by their date alone."""
    return next((trial.response.size_bytes for trial in cell if trial.response is not None), None)


def _log_tail(cell: Sequence[Trial]) -> str | None:
    return next((trial.log_tail for trial in reversed(cell) if trial.log_tail and not trial.verdict.counts), None)
