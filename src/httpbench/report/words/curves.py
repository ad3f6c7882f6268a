"""A search for the highest rate as text: the curve drawn with characters, the rates that count, and the result in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from httpbench.model import Arrivals, Figure, Run, Search, Trial, VerdictKind
from httpbench.report.words.loads import scaling_words
from httpbench.report.words.numbers import four_digits, plural, three_digits
from httpbench.report.words.reasons import joined, sentence
from httpbench.report.words.targets import label
from httpbench.stats.level import DISTURBED_MAX, RatePoint, Saturation, held_in_most

ROWS = 14
AXIS_COLUMNS = 11
COLUMNS_MAX, COLUMNS_MIN = 87, 30
SHOWN: tuple[Figure, ...] = ("mean", "p50", "p90", "p99", "p99_9", "max")
NAMES = ("rps", "held", *(figure.replace("_", ".") for figure in SHOWN), "note")
"""Names of the columns, for ``--columns``."""
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
    """Say how the search chose its rates."""
    plan = trials[0].plan
    made = f"{len(trials)} trials in total, up to {search.trials_per_rate} of {search.duration_s:g} s at each rate below"
    spacing = "Poisson arrivals" if plan.load.arrivals is Arrivals.POISSON else "evenly spaced"
    return f"open loop, {spacing} · {made} · warm-up {plan.load.warmup_s:g} s · load generator {plan.load_generator}"


def sentences(search: Search, found: Saturation, trials: Sequence[Trial]) -> list[str]:
    """State the result and any caveats."""
    lines = [_result(search, found, trials)]
    if found.closed_loop_rps is not None:
        lines.append(f"closed loop, for comparison: {found.closed_loop_rps:,.0f} requests/s")
    if found.inversions:
        rates = ", ".join(f"{rate:,g}" for rate in found.inversions)
        lines.append(f"ignored: the SLO also held at {rates} requests/s, above a rate that failed")
    if found.rate_low_rps and found.rate_high_rps and (found.rate_low_rps, found.rate_high_rps) != (found.rate_rps, found.rate_failed_rps):
        stop = f", so the search stopped at a width of {found.attainable_width:.1%}" if found.attainable_width else ""
        lines.append(f"trials disagree between {found.rate_low_rps:,g} and {found.rate_high_rps:,g} requests/s{stop}")
    if found.disturbed:
        lines.append(f"{found.disturbed} of {len(trials)} trials were disturbed and do not count: {joined(found.disturbed_by[-1])}")
    if found.too_disturbed:
        lines.append(f"the search ended because {DISTURBED_MAX} trials in a row were disturbed; repeat it on a quiet machine")
    return lines


def table(search: Search, found: Saturation) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows, one for each rate that counts, in ascending order."""
    header = ["Requests/s", "Held", *(f"{figure_name(figure)} (ms)" for figure in SHOWN), WHY_NOT]
    return header, [_row(point) for point in found.curve]


def curve(search: Search, found: Saturation, width: int) -> list[str]:
    """Draw the metric of the first bound and the median against the rate, with latency on a logarithmic scale."""
    bound = search.level.bounds[0]
    points = [(point, value) for point in found.curve if (value := point.times_us.get(bound.figure)) is not None]
    if len(points) < 2:
        return []
    values = [value for _, value in points] + [point.times_us["p50"] for point, _ in points if "p50" in point.times_us] + [bound.limit_us]
    canvas = _Canvas(
        columns=min(max(width - AXIS_COLUMNS - 2, COLUMNS_MIN), COLUMNS_MAX),
        rates=(points[0][0].rate_rps, points[-1][0].rate_rps),
        times=(min(values), max(values)),
    )
    canvas.line(bound.limit_us)
    for point, value in points:
        if "p50" in point.times_us:
            canvas.put(point.rate_rps, point.times_us["p50"], MEDIAN)
        canvas.put(point.rate_rps, value, HELD if held_in_most(point) else MISSED)
    name = figure_name(bound.figure)
    key = f"{HELD} {name}, SLO held   {MISSED} {name}, SLO failed   {MEDIAN} p50   {LIMIT} SLO {name} {_ms(bound.limit_us)}"
    return [*canvas.lines(), " " * (AXIS_COLUMNS + 2) + key]


class _Canvas:
    """A grid of characters that is addressed by rate and time."""

    def __init__(self, columns: int, rates: tuple[float, float], times: tuple[float, float]):
        self._columns = columns
        self._rates = rates
        self._times = (math.log(times[0]), math.log(max(times[1], times[0] * 1.01)))
        self._cells = [[" "] * columns for _ in range(ROWS)]

    def put(self, rate: float, time_us: float, mark: str) -> None:
        low, high = self._rates
        column = round((rate - low) / (high - low) * (self._columns - 1))
        self._cells[self._row(time_us)][column] = mark

    def line(self, time_us: float) -> None:
        self._cells[self._row(time_us)] = [LIMIT] * self._columns

    def lines(self) -> Iterator[str]:
        low, high = self._times
        for index, cells in enumerate(self._cells):
            is_labelled = index % 3 == 0 or index == ROWS - 1
            value = math.exp(high - index / (ROWS - 1) * (high - low))
            label = _ms(value) if is_labelled else ""
            yield f"{label:>{AXIS_COLUMNS}} │{''.join(cells).rstrip()}"
        yield f"{'':>{AXIS_COLUMNS}} └{'─' * self._columns}"
        first, last = (f"{rate:,g}" for rate in self._rates)
        yield f"{'':>{AXIS_COLUMNS}}  {first}{f'{last} requests/s':>{self._columns - len(first)}}"

    def _row(self, time_us: float) -> int:
        low, high = self._times
        return ROWS - 1 - round((math.log(time_us) - low) / (high - low) * (ROWS - 1))


def _result(search: Search, found: Saturation, trials: Sequence[Trial]) -> str:
    bounds = [f"{figure_name(bound.figure)} < {_ms(bound.limit_us)}" for bound in search.level.bounds]
    slo = f"SLO ({', '.join(bounds)}, at most {search.level.failed_share_max * 100:g}% failed)"
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


def _trials(found: Saturation, rate_rps: float, *, held: bool) -> str:
    """Return in how many trials the level held at a rate, or failed."""
    point = next(point for point in found.curve if point.rate_rps == rate_rps)
    return f"in {point.held if held else point.trials - point.held} of {point.trials} trials"


def _nowhere(found: Saturation, trials: Sequence[Trial]) -> str:
    if found.curve:
        return f" down to {found.curve[0].rate_rps:,g} requests/s"
    failed = [trial for trial in trials if trial.verdict.kind is VerdictKind.FAILED]
    return f": {joined(failed[-1].verdict.reasons)}" if failed else ": the search ended before any rate was decided"


def _row(point: RatePoint) -> list[str]:
    figures = [four_digits(point.times_us[figure] / 1000, 3) if figure in point.times_us else "" for figure in SHOWN]
    busy = f"generator busy in {point.generator_busy} of {point.trials} trials" if point.generator_busy else ""
    words = "" if not point.misses else sentence(point.misses[0])
    return [f"{point.rate_rps:,g}", f"{point.held}/{point.trials}", *figures, "; ".join(filter(None, (words, busy)))]


def figure_name(figure: Figure) -> str:
    """Return the displayed name of a metric: ``p99.9`` for ``p99_9``."""
    return figure.replace("_", ".")


def _ms(value_us: float) -> str:
    return f"{three_digits(value_us / 1000)} ms" if value_us >= 10 else f"{value_us:.2g} µs"
