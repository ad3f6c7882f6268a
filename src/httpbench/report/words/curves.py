"""A search for the highest rate as text: a curve drawn with characters, a table of rates, and the result in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

from httpbench.model import FIRST_BYTE, Arrivals, Figure, Run, RunStatus, Search, Trial, VerdictKind
from httpbench.report.words.loads import scaling_words
from httpbench.report.words.numbers import column_name, figure_name, four_digits, percentage, plural, three_digits
from httpbench.report.words.reasons import joined, sentence
from httpbench.report.words.tables import TextTable
from httpbench.report.words.targets import label
from httpbench.stats.level import DISTURBED_MAX, RatePoint, Saturation, bracket, held_in_most
from httpbench.stats.overload import Overload

ROWS = 14
AXIS_COLUMNS = 11
COLUMNS_MAX, COLUMNS_MIN = 87, 30
SHOWN: tuple[Figure, ...] = ("mean", "p50", "p90", "p99", "p99_9", "max")
"""Metrics that tables always contain. Others are included if the service level bounds them or the user names them."""
NAMES = ("rps", "held", *map(column_name, get_args(Figure)), "note")
"""Column names that ``--columns`` accepts."""
WHY_NOT = "Why not"
"""Title of the last column, which contains words."""
HELD, MISSED, MEDIAN, LIMIT = "●", "✗", "·", "─"


def title(run: Run, trials: Sequence[Trial]) -> str:
    """Return the target and its load: ``c/nginx · plaintext · target on one core · 64 connections``."""
    plan = trials[0].plan
    shared = " · shared cores" if plan.cores.shared else ""
    name = label(run.targets[plan.target])
    scaling = scaling_words(plan.scaling, plan.cores.physical(plan.cores.target), plan.workers)
    return f"{name} · {plan.workload} · {scaling} · {plural(plan.load.connections, 'connection')}{shared}"


def method(search: Search, trials: Sequence[Trial]) -> str:
    """Say how the search measured: arrivals, trials, warm-up and load generator."""
    plan = trials[0].plan
    made = f"{len(trials)} trials in total, up to {search.trials_per_rate} of {search.duration_s:g} s at each rate below"
    spacing = "Poisson arrivals" if plan.load.arrivals is Arrivals.POISSON else "evenly spaced"
    return f"open loop, {spacing} · {made} · warm-up {plan.load.warmup_s:g} s · load generator {plan.load_generator}"


def sentences(search: Search, found: Saturation, trials: Sequence[Trial], status: RunStatus = RunStatus.FINISHED) -> list[str]:
    """State the result and any caveats. If the search is still running, state what it has found so far."""
    lines = [_so_far(search, trials) if status is RunStatus.RUNNING else _result(search, found, trials)]
    if found.closed_loop_rps is not None:
        caveat = ", too low because other programs disturbed it" if found.closed_loop_disturbed else ""
        lines.append(f"closed loop, for comparison: {found.closed_loop_rps:,.0f} requests/s{caveat}")
    if found.inversions:
        rates = ", ".join(f"{rate:,g}" for rate in found.inversions)
        lines.append(f"ignored: the SLO also held at {rates} requests/s, above a rate that failed")
    if found.rate_low_rps and found.rate_high_rps and (found.rate_low_rps, found.rate_high_rps) != (found.rate_rps, found.rate_failed_rps):
        stop = f", so the search stopped at a width of {found.attainable_width:.1%}" if found.attainable_width else ""
        lines.append(f"trials disagree between {found.rate_low_rps:,g} and {found.rate_high_rps:,g} requests/s{stop}")
    if found.overload is not None:
        lines.append(_overload(found.overload))
    elif search.overload is not None and found.rate_rps is not None and status is not RunStatus.RUNNING:
        lines.append("beyond this rate: unknown, because every trial failed or was disturbed")
    if found.disturbed:
        lines.append(f"{found.disturbed} of {len(trials)} trials were disturbed and do not count: {joined(found.disturbed_by[-1])}")
    if found.too_disturbed:
        lines.append(f"the search ended because {DISTURBED_MAX} trials in a row were disturbed; repeat it on a quiet machine")
    return lines


def figures(search: Search, names: Sequence[str] = ()) -> list[Figure]:
    """Return the metrics of the table. ``names`` are the columns that the user named."""
    wanted = {*SHOWN, *(bound.figure for bound in search.level.bounds)}
    return [figure for figure in get_args(Figure) if figure in wanted or column_name(figure) in names]


def table(found: Saturation, figures: Sequence[Figure]) -> TextTable:
    """Return a table of these metrics, with a row for each rate at which a trial counts, in ascending order of the rate."""
    columns = [("Requests/s", ""), ("Held", ""), *((figure_name(figure), "ms") for figure in figures), (WHY_NOT, "")]
    return TextTable(columns, [_row(point, figures) for point in found.curve])


def median_beside(figure: Figure) -> Figure:
    """Return the median that a chart shows beside a metric."""
    return "ttfb_p50" if figure.startswith(FIRST_BYTE) else "p50"


def curve(search: Search, found: Saturation, width: int) -> list[str]:
    """Draw two latencies against the rate: the metric of the service level's first bound, and the median.

    The latency axis is logarithmic.
    """
    bound = search.level.bounds[0]
    points = [(point, value) for point in found.curve if (value := point.times_us.get(bound.figure)) is not None]
    if len(points) < 2:
        return []
    median = median_beside(bound.figure)
    medians = [(point.rate_rps, point.times_us[median]) for point, _ in points if median in point.times_us]
    times = [bound.limit_us, *(value for _, value in points), *(value for _, value in medians)]
    low, high = math.log(min(times)), math.log(max(*times, min(times) * 1.01))
    slowest, fastest = points[0][0].rate_rps, points[-1][0].rate_rps
    columns = min(max(width - AXIS_COLUMNS - 2, COLUMNS_MIN), COLUMNS_MAX)
    canvas = [[" "] * columns for _ in range(ROWS)]

    def row(time_us: float) -> list[str]:
        return canvas[ROWS - 1 - round((math.log(time_us) - low) / (high - low) * (ROWS - 1))]

    def column(rate_rps: float) -> int:
        return round((rate_rps - slowest) / (fastest - slowest) * (columns - 1))

    row(bound.limit_us)[:] = [LIMIT] * columns
    for rate_rps, value in medians:
        row(value)[column(rate_rps)] = MEDIAN
    for point, value in points:
        row(value)[column(point.rate_rps)] = HELD if held_in_most(point) else MISSED
    labels = {index: _ms(math.exp(high - index / (ROWS - 1) * (high - low))) for index in (*range(0, ROWS, 3), ROWS - 1)}
    name, margin = figure_name(bound.figure), " " * AXIS_COLUMNS
    first, last = f"{slowest:,g}", f"{fastest:,g} requests/s"
    key = (
        f"{HELD} {name}, SLO held   {MISSED} {name}, SLO failed   {MEDIAN} {figure_name(median)}   {LIMIT} SLO {name} {_ms(bound.limit_us)}"
    )
    return [
        *(f"{labels.get(index, ''):>{AXIS_COLUMNS}} │{''.join(cells).rstrip()}" for index, cells in enumerate(canvas)),
        f"{margin} └{'─' * columns}",
        f"{margin}  {first}{last:>{columns - len(first)}}",
        f"{margin}  {key}",
    ]


def _so_far(search: Search, trials: Sequence[Trial]) -> str:
    known = bracket(search, trials)
    held = f"holds at {known.lower:,g} requests/s" if known.lower is not None else ""
    failed = f"fails at {known.upper:,g} requests/s" if known.upper is not None else ""
    return f"{_slo(search)}, so far: {' and '.join(filter(None, (held, failed))) or 'no rate is decided'}; the search is still running"


def _slo(search: Search) -> str:
    bounds = [f"{figure_name(bound.figure)} < {_ms(bound.limit_us)}" for bound in search.level.bounds]
    return f"SLO ({', '.join(bounds)}, at most {search.level.failed_share_max * 100:g}% failed)"


def _result(search: Search, found: Saturation, trials: Sequence[Trial]) -> str:
    slo = _slo(search)
    if found.rate_rps is None and found.too_disturbed:
        return f"{slo}: the highest rate is unknown"
    if found.rate_rps is None:
        return f"{slo} held at no rate{_nowhere(found, trials)}"
    holds = _trials(found, found.rate_rps, held=True)
    if found.rate_failed_rps is None:
        return f"{slo} holds up to at least {found.rate_rps:,g} requests/s ({holds}); the search ended before a rate failed"
    if found.generator_limited:
        return f"{slo} holds up to at least {found.rate_rps:,g} requests/s ({holds}); above that, the load generator was the limit"
    fails = _trials(found, found.rate_failed_rps, held=False)
    width = f"{slo} holds at {found.rate_rps:,g} requests/s ({holds}) and fails at {found.rate_failed_rps:,g} ({fails})"
    if found.is_narrow and not found.is_retested:
        return f"{width}; the search ended before both were retested"
    return width if found.is_narrow else f"{width}; the search ended before it was narrow enough"


def _overload(found: Overload) -> str:
    """Say what happened beyond the highest rate: goodput, latency, failures and recovery."""
    p99 = "" if found.p99_us is None else f", p99 {_ms(found.p99_us)}"
    failed = f", {percentage(found.failed_share)} failed" if found.failed_share else ""
    after = f"at {found.after_rps:,.0f} requests/s afterward, the target"
    if found.recovery_s is None:
        end = f"{after} did not recover within {found.watched_s:g} s"
    else:
        end = f"{after} recovered within {max(found.recovery_s, found.resolution_s):.2g} s"
    return f"overload of {found.offered_rps:,.0f} requests/s: {found.goodput_rps:,.0f} correct responses/s{p99}{failed}; {end}"


def _trials(found: Saturation, rate_rps: float, *, held: bool) -> str:
    """Say in how many trials at a rate the service level was met (``held``) or missed."""
    point = next(point for point in found.curve if point.rate_rps == rate_rps)
    return f"in {point.held if held else point.trials - point.held} of {point.trials} trials"


def _nowhere(found: Saturation, trials: Sequence[Trial]) -> str:
    if found.curve:
        return f" down to {found.curve[0].rate_rps:,g} requests/s"
    failed = [trial for trial in trials if trial.verdict.kind is VerdictKind.FAILED]
    return f": {joined(failed[-1].verdict.reasons)}" if failed else ": the search ended before any rate was decided"


def _row(point: RatePoint, figures: Sequence[Figure]) -> list[str]:
    times = [four_digits(point.times_us[figure] / 1000, 3) if figure in point.times_us else "" for figure in figures]
    busy = f"generator busy in {point.generator_busy} of {point.trials} trials" if point.generator_busy else ""
    words = "" if not point.misses else sentence(point.misses[0])
    return [f"{point.rate_rps:,g}", f"{point.held}/{point.trials}", *times, "; ".join(filter(None, (words, busy)))]


def _ms(value_us: float) -> str:
    return f"{three_digits(value_us / 1000)} ms" if value_us >= 10 else f"{value_us:.2g} µs"
