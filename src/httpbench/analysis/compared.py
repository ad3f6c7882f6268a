"""Comparisons within one run: each row against the baseline, the ranks of all rows, the overhead of proxies, and the composite score.

All pairs of rows of a table are tested together for each metric. Each metric is a separate family for Holm's correction, because higher
throughput and a lower p99 are different claims.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from httpbench.analysis.beyond import NOWHERE, Beyond, beyond
from httpbench.analysis.rows import BOUNDS, Group, Row
from httpbench.model import Reason, ReasonKind, Trial, VerdictKind
from httpbench.stats.composite import TESTS_MIN, WEIGHTS, Composite, composite
from httpbench.stats.figures import CPU, FIRST, MEMORY_READY, P99, READY, READY_SPEED, SPEED, THROUGHPUT, TO_STEADY, WALL, Figure
from httpbench.stats.gates import lost_rounds
from httpbench.stats.interval import LEFT_OUT, ROUNDS_MIN
from httpbench.stats.overhead import Difference, overhead
from httpbench.stats.paired import Comparison, Rounds
from httpbench.stats.ranks import AllPairs, RankRange, pooled
from httpbench.stats.stalls import hidden_stalls
from httpbench.stats.summary import cells, last_attempts, overall

LOST = (VerdictKind.FAILED, VerdictKind.INVALID)
"""Verdicts of rounds that don't count because of the target itself."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One row compared with the baseline."""

    row: Row
    baseline: Row
    figures: dict[str, Comparison | None]
    """Comparisons by metric, starting with the headline. A comparison is ``None`` if one of the rows lost too many rounds or no round has
    the metric for both rows. It is also ``None`` for a proxy that :func:`unexplained` lists."""

    def beyond(self, figure: str) -> Beyond:
        """Return the directions in which the true ratio of a metric may lie beyond its interval."""
        found = self.figures[figure]
        return NOWHERE if found is None else beyond(figure, self.row, self.baseline, found.interval)

    @property
    def stalling(self) -> Row | None:
        """The row with the lower p99, if this p99 hides stalls of a closed loop. ``None``: no hidden stalls."""
        found = self.figures.get(P99.name)
        lower = None if found is None else self.row if found.ratio < 1 else self.baseline
        return lower if lower and hidden_stalls(lower.trials) else None

    def holds(self, figure: str) -> bool:
        """Return whether the difference in a metric is significant and can't be due to a lower bound or to hidden stalls."""
        found = self.figures[figure]
        if found is None or not found.differs:
            return False
        return not (self.beyond(figure).higher if found.ratio < 1 else self.beyond(figure).lower)


def figures(group: Group) -> tuple[Figure, ...]:
    """Return the metrics that a table compares. With a rate, these are the p99 and CPU time, because the rate fixes throughput."""
    if group.client_work is not None:
        return (WALL, CPU)
    if group.load.is_of_startup:
        return (READY, FIRST, TO_STEADY, MEMORY_READY)
    return (THROUGHPUT, P99) if group.load.rate_rps is None else (P99, CPU)


def against(group: Group, baseline: str | None) -> list[Compared]:
    """Compare every other row with the baseline, in table order.

    The list is empty if the table lacks the baseline, if a backend fails, because counts of failed requests have no ratios, or if each
    target has its own rate.
    """
    theirs = group.row(baseline)
    if theirs is None or group.load.fault is not None or group.load.share_of_peak is not None:
        return []
    return _compared(group, figures(group), [(row, theirs) for row in group.rows if row is not theirs])


def ahead(group: Group, leader: Row, others: Sequence[Row]) -> list[Compared]:
    """Compare one row with each of the other rows by the table's headline metric.

    This is throughput, p99 at a rate, the speed of clients, or the speed of starts.
    """
    return _compared(group, [_headline(group)], [(leader, other) for other in others])


def _compared(group: Group, compared: Sequence[Figure], pairs: Sequence[tuple[Row, Row]]) -> list[Compared]:
    columns = {figure.name: comparisons(group, figure, pairs) for figure in compared}
    return [Compared(row, other, {name: column[index] for name, column in columns.items()}) for index, (row, other) in enumerate(pairs)]


def ranking(group: Group) -> dict[str, RankRange]:
    """Return the range of ranks of each target by throughput, or by time for clients and starts, in table order.

    Rows that aren't compared have no rank, and neither has the baseline of proxies. The targets of a table with a rate aren't ranked.
    """
    if group.load.rate_rps is not None and not group.load.is_of_startup:
        return {}
    rows, tested = _tested(group, _headline(group))
    ranked, bounds = _ranked(group, rows)
    return dict(zip((rows[index].target.id for index in ranked), tested.ranges(ranked, bounds), strict=True))


def is_undecided(places: Mapping[str, RankRange]) -> bool:
    """Return whether the ranking is undecided, because every target could have every rank."""
    return all(rank == RankRange(1, len(places)) for rank in places.values())


def rounds_to_tell(group: Group) -> int | None:
    """Return how many rounds would give two rows different ranks, or ``None`` if the number isn't practical."""
    rows, tested = _tested(group, _headline(group))
    return tested.rounds_to_rank(*_ranked(group, rows))


def all_bounds(group: Group) -> bool:
    """Return whether all ranked rows are only lower bounds, so that no number of rounds can tell them apart."""
    rows, _ = _tested(group, _headline(group))
    ranked, bounds = _ranked(group, rows)
    return set(ranked) <= set(bounds)


def lost_too_many(trials: Sequence[Trial]) -> Reason | None:
    """Return why a row lost rounds if it lost more than a comparison tolerates, else ``None``. ``trials`` contains its last attempts.

    Such a row isn't compared, because its remaining rounds may be the ones in which it happened to do well. A disturbed round is lost only
    if the target was measured alone, and if the user didn't accept disturbed rounds. With slices, a disturbance costs every target the same
    slices.
    """
    uncounted = [trial for trial in trials if not trial.verdict.counts and trial.plan.slices is None]
    disturbed = [trial for trial in uncounted if trial.verdict.kind is VerdictKind.DISTURBED]
    lost = sum(trial.verdict.kind in LOST for trial in trials) + len(disturbed)
    if lost * LEFT_OUT <= len(trials):
        return None
    return lost_rounds(trials) or Reason.of(ReasonKind.ROUNDS_DISTURBED, found=len(disturbed), rounds=len(trials))


def unexplained(group: Group) -> list[Row]:
    """Return the proxies that were faster than the backend alone, unless the backend counted the requests that it handled.

    These proxies aren't compared, because they may have answered requests from memory.
    """
    pairs = [(row, group.baseline_of(row.target.id, group.proxy_baseline)) for row in group.rows if not _is_proven(row)]
    return [
        row
        for row, theirs in pairs
        if theirs is not None and row is not theirs and not theirs.is_lower_bound and _is_faster(group, row, theirs)
    ]


def flaky(group: Group) -> list[Row]:
    """Return the rows that aren't ranked because including them would exclude too many rounds of the other rows."""
    rows, _ = _tested(group, _headline(group))
    return [row for row in _eligible(group) if row not in rows]


def differences(group: Group, baseline: str | None) -> dict[str, dict[str, Difference]]:
    """Return the differences from the baseline, by target and metric. The result is empty if the table lacks the baseline."""
    left_out = unexplained(group)
    pairs = [(row, group.baseline_of(row.target.id, baseline)) for row in group.rows if row not in left_out]
    return {row.target.id: overhead(row.trials, theirs.trials) for row, theirs in pairs if theirs is not None and row is not theirs}


def composite_of(trials: Sequence[Trial]) -> Composite | None:
    """Return the composite scores of a run, or ``None`` if the run has too few of TechEmpower's tests or too few targets.

    As in TechEmpower's ranking, each target is scored at the load at which it performs best.
    """
    if len(WEIGHTS.keys() & {trial.plan.workload for trial in trials}) < TESTS_MIN:
        return None
    figures: dict[str, dict[str, Rounds]] = {}
    best: dict[tuple[str, str], list[Trial]] = {}
    for cell in map(last_attempts, cells(trials)):
        plan = cell[0].plan
        if plan.workload not in WEIGHTS or plan.load.rate_rps is not None:
            continue
        of_target, rounds = figures.setdefault(plan.target, {}), THROUGHPUT.rounds(cell)
        if rounds and not lost_too_many(cell) and _median(rounds) >= _median(of_target.get(plan.workload, {})):
            of_target[plan.workload] = rounds
            best[plan.target, plan.workload] = cell
    return composite(
        figures,
        {target for (target, _), cell in best.items() if overall(cell).kind in BOUNDS},
        shared=any(trial.plan.cores.shared for cell in best.values() for trial in cell),
    )


def _headline(group: Group) -> Figure:
    if group.load.is_of_startup:
        return READY_SPEED
    return SPEED if group.client_work is not None else figures(group)[0]


def _tested(group: Group, figure: Figure) -> tuple[list[Row], AllPairs]:
    """Test all pairs of comparable rows by one metric. Ranks and comparisons share this test, so they can't contradict each other."""
    rows = _eligible(group)
    rounds = [figure.rounds(row.trials) for row in rows]
    kept = pooled(rounds)
    tested = [rows[index] for index in kept]
    resolution = max((figure.resolution_of(row.trials) for row in tested), default=figure.resolution)
    return tested, AllPairs([rounds[index] for index in kept], resolution, [figure.slices(row.trials) for row in tested])


def _ranked(group: Group, rows: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Return the indexes of the rows that get ranks, and of the rows that are only lower bounds."""
    ranked = [index for index, row in enumerate(rows) if row.target.id != group.proxy_baseline]
    return ranked, [index for index, row in enumerate(rows) if row.is_lower_bound]


def _eligible(group: Group) -> list[Row]:
    left_out = unexplained(group)
    return [
        row for row in group.rows if row.summary.rounds_counting >= ROUNDS_MIN and not lost_too_many(row.trials) and row not in left_out
    ]


def _is_proven(row: Row) -> bool:
    """Return whether the backend counted a proxy's requests in every valid round. A round with too low a count is already invalid."""
    return all(trial.observed.backend_requests is not None for trial in row.trials if trial.verdict.counts)


def _is_faster(group: Group, proxy: Row, baseline: Row) -> bool:
    """Return whether a proxy was significantly faster than its baseline.

    This means that it served more requests than the baseline or, at a rate, had a lower p50. It requires at least three rounds.
    """
    if group.load.rate_rps is None:
        found = THROUGHPUT.compare(proxy.trials, baseline.trials)
        return found is not None and found.interval is not None and found.interval.low > 1
    added = overhead(proxy.trials, baseline.trials).get("p50")
    return added is not None and added.us_interval is not None and added.us_interval.high < 0


def comparisons(group: Group, figure: Figure, pairs: Sequence[tuple[Row, Row]]) -> list[Comparison | None]:
    """Compare pairs of rows by one metric. :attr:`Compared.figures` explains when a comparison is ``None``."""
    rows, tested = _tested(group, figure)
    places = {row.target.id: index for index, row in enumerate(rows)}
    left_out = unexplained(group)

    def compared(ours: Row, theirs: Row) -> Comparison | None:
        if lost_too_many(ours.trials) or lost_too_many(theirs.trials) or ours in left_out:
            return None
        if ours.target.id in places and theirs.target.id in places:
            return tested.comparison(places[ours.target.id], places[theirs.target.id])
        found = figure.compare(ours.trials, theirs.trials)
        if found is None or found.p is None:
            return found
        return found.model_copy(update={"p_adjusted": min(found.p * math.comb(len(group.rows), 2), 1.0)})

    return [compared(ours, theirs) for ours, theirs in pairs]


def _median(rounds: Rounds) -> float:
    return statistics.median(rounds.values()) if rounds else 0.0
