"""Rows in autocannon's format. Each row has a table of latencies, a table of requests and bytes per second, and closing sentences.

autocannon shows a single run, so each row shows the round with the median throughput (the slower one if there are two middle rounds).
Values that the load generator doesn't report are shown as dashes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.errors import UsageError
from httpbench.model import Distribution, Measurement, OverSeconds, Run, Trial
from httpbench.quantiles import decoded, is_known, percentile_us, recorded
from httpbench.report.words.loads import title
from httpbench.report.words.reasons import joined
from httpbench.stats.per_second import per_second
from httpbench.stats.validity import failed_requests
from httpbench.text import one_line

UNKNOWN = "-"
LATENCY_HEAD = ("Stat", "2.5%", "50%", "97.5%", "99%", "Avg", "Stdev", "Max")
OVER_SECONDS = {"1%": "p1", "2.5%": "p2_5", "50%": "p50", "97.5%": "p97_5", "Avg": "mean", "Stdev": "stddev", "Min": "min"}
"""Column titles of the second table, each with the field that contains its value."""
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def render_autocannon(run: Run, trials: Sequence[Trial]) -> str:
    """Render a run. Raise :class:`UsageError` for a run of clients, because clients have no load generator."""
    found = groups(run, trials)
    if any(group.client_work for group in found):
        raise UsageError(f"run {run.id} has clients, and autocannon's format shows load on servers", hint="use --export-hyperfine")
    blocks = [_block(group, row) for group in found for row in group.rows]
    return "\n".join(blocks) if blocks else f"run {run.id} has no finished trial\n"


def result(measurement: Measurement) -> str:
    """Render one measurement as the tables and sentences that autocannon prints at the end of a run."""
    seconds = per_second(measurement)
    sampled = (
        f"Req/Bytes counts sampled once per second.\n# of samples: {seconds.seconds}"
        if seconds
        else f"{measurement.generator} reported no values per second."
    )
    requests_mean = measurement.requests.completed / measurement.duration_s
    bytes_mean = None if measurement.bytes_received is None else measurement.bytes_received / measurement.duration_s
    tables = [
        _table(LATENCY_HEAD, [("Latency", *_latencies(measurement.times_us))]),
        _table(
            ("Stat", *OVER_SECONDS),
            [
                ("Req/Sec", *_over_seconds(seconds.requests if seconds else None, requests_mean, _grouped)),
                ("Bytes/Sec", *_over_seconds(seconds.bytes_received if seconds else None, bytes_mean, _size)),
            ],
        ),
    ]
    return "\n".join(["", *tables, "", sampled, "", *_sentences(measurement), ""])


def _block(group: Group, row: Row) -> str:
    trial = _median_round(row.trials)
    rounds = f", round {trial.plan.round + 1} of {group.rounds}" if group.rounds > 1 else ""
    version = f" {group.generator_version}" if group.generator_version else ""
    heading = f"{row.target.id}: {title(group)} · {group.load_generator}{version}{rounds}\n"
    if trial.measurement is None or not trial.verdict.counts:
        return f"{heading}{trial.verdict.kind}: {one_line(joined(trial.verdict.reasons))}\n"
    return heading + result(trial.measurement)


def _median_round(trials: Sequence[Trial]) -> Trial:
    """Return the round with the median throughput, or the last round if no round counts."""
    counting = [trial for trial in trials if trial.measurement is not None and trial.verdict.counts]
    ascending = sorted(counting, key=lambda trial: trial.measurement.throughput_rps if trial.measurement else 0.0)
    return ascending[(len(ascending) - 1) // 2] if ascending else trials[-1]


def _latencies(times: Distribution | None) -> tuple[str, ...]:
    if times is None or times.count == 0:
        return (UNKNOWN,) * (len(LATENCY_HEAD) - 1)
    low, high = _kept_percentile(times, times.p2_5, 2.5), _kept_percentile(times, times.p97_5, 97.5)
    percentiles = [(low, 2.5), (times.p50, 50.0), (high, 97.5), (times.p99, 99.0)]
    return (
        *(_milliseconds(value, times, is_reported=is_known(percentile, times.count)) for value, percentile in percentiles),
        *(_milliseconds(value, times, is_reported=False) for value in (times.mean, times.stddev)),
        _milliseconds(times.max, times, is_reported=True),
    )


def _kept_percentile(times: Distribution, reported_us: float | None, percentile: float) -> float | None:
    """Return the percentile that the load generator reported. If it reported none, compute the percentile from the histogram."""
    if reported_us is not None or times.histogram is None:
        return reported_us
    return percentile_us(recorded(decoded(times.histogram)), percentile)


def _milliseconds(value_us: float | None, times: Distribution, *, is_reported: bool) -> str:
    """Format a time in milliseconds, rounded to the microsecond.

    A percentile that is missing although there are enough samples is below the resolution of the load generator. The text is then the
    resolution after a ``<``.
    """
    if value_us is not None:
        return f"{_plain(value_us / 1000, 3)} ms"
    return f"<{_plain(times.resolution_us / 1000, 3)} ms" if times.resolution_us and is_reported else UNKNOWN


def _over_seconds(reported: OverSeconds | None, mean: float | None, text: Callable[[float], str]) -> tuple[str, ...]:
    """Format the values of a table row. If the load generator doesn't report values per second, only the mean is known."""
    if reported is None:
        return tuple(text(mean) if title == "Avg" and mean is not None else UNKNOWN for title in OVER_SECONDS)
    return tuple(text(getattr(reported, name)) for name in OVER_SECONDS.values())


def _sentences(measurement: Measurement) -> list[str]:
    """Return the closing sentences. They contain the number of sent requests or, if it is unknown, the number of completed requests."""
    requests = measurement.requests.completed if measurement.requests.sent is None else measurement.requests.sent
    size = "an unknown number of bytes" if measurement.bytes_received is None else _size(measurement.bytes_received)
    sentences = [f"{_thousands(requests)} requests in {_plain(measurement.duration_s, 2)}s, {size} read"]
    if failed := failed_requests(measurement):
        sentences.append(f"{_thousands(failed)} errors ({_thousands(measurement.errors.get('timeout', 0))} timeouts)")
    return sentences


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    lines = ["│" + "│".join(f" {cell.ljust(width)} " for cell, width in zip(row, widths, strict=True)) + "│" for row in (head, *rows)]
    between = f"\n{rule('├', '┼', '┤')}\n"
    return "\n".join([rule("┌", "┬", "┐"), between.join(lines), rule("└", "┴", "┘")])


def _plain(value: float, digits: int) -> str:
    """Format a number without trailing zeros: ``21``, ``37.89``."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _grouped(value: float) -> str:
    """Format a number with thousands separators and up to two decimals: ``26,065.6``."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _thousands(count: int) -> str:
    """Format a count, in thousands if it is at least 1,000: ``999``, ``783k``."""
    return str(count) if count < 1000 else f"{math.floor(count / 1000 + 0.5)}k"


def _size(count: float) -> str:
    """Format a number of bytes in decimal units with three significant digits: ``4.04 MB``."""
    power = min(int(math.log10(count)) // 3, len(UNITS) - 1) if count >= 1 else 0
    return f"{_plain(float(f'{count / 1000**power:.3g}'), 2)} {UNITS[power]}"
