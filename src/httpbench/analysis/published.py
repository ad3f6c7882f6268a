"""A comparison of published results with our own: each target's best throughput in both, and the rank correlation between them.

Machines, loads and load generators differ, so reports show both results relative to the fastest target of the same run.
"""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.analysis.changes import RunAndTrials
from httpbench.stats.rank_correlation import rank_correlation
from httpbench.stats.summary import cells, summarize


@dataclass(frozen=True, slots=True)
class PublishedPair:
    """The results of one target in both runs."""

    name: str
    """Name of the target in the published results."""
    theirs_rps: float
    ours_rps: float


@dataclass(frozen=True, slots=True)
class Beside:
    """The targets that both runs measured with one workload."""

    workload: str
    pairs: tuple[PublishedPair, ...]
    """The pairs, in descending order of published throughput."""

    @property
    def correlation(self) -> float | None:
        """Rank correlation between published results and our own. ``None``: too few targets, or all results of one side are equal."""
        return rank_correlation([pair.ours_rps for pair in self.pairs], [pair.theirs_rps for pair in self.pairs])

    @property
    def places(self) -> list[tuple[int, int]]:
        """Place of each target by throughput in the published results and in ours. Unlike ranks, places ignore noise."""
        theirs = sorted((pair.theirs_rps for pair in self.pairs), reverse=True)
        ours = sorted((pair.ours_rps for pair in self.pairs), reverse=True)
        return [(theirs.index(pair.theirs_rps) + 1, ours.index(pair.ours_rps) + 1) for pair in self.pairs]


def beside(theirs: RunAndTrials, ours: RunAndTrials) -> list[Beside]:
    """Match the targets of both runs by workload and published name, in the order of our workloads."""
    published, own = _best(theirs), _best(ours)
    found = []
    for workload in dict.fromkeys(workload for workload, _ in own):
        names = [name for of, name in own if of == workload and (of, name) in published]
        pairs = [PublishedPair(name, published[workload, name], own[workload, name]) for name in names]
        if pairs:
            found.append(Beside(workload, tuple(sorted(pairs, key=lambda pair: -pair.theirs_rps))))
    return found


def _best(measured: RunAndTrials) -> dict[tuple[str, str], float]:
    """Return each target's median throughput at the load at which it performs best, by workload and published name."""
    run, trials = measured
    best: dict[tuple[str, str], float] = {}
    for rounds in cells(trials):
        found = summarize(rounds)
        entry = run.targets[found.target].entry
        if found.throughput_rps is not None and found.load.rate_rps is None:
            key = (found.workload, entry.name if entry else found.target)
            best[key] = max(best.get(key, 0.0), found.throughput_rps.median)
    return best
