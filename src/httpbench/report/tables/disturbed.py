"""Notes on disturbed trials: how many were repeated, how many do not count, and who disturbed them. Each once, with a count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.model import Trial, VerdictKind
from httpbench.report.printable import printable
from httpbench.report.tables.rows import Row
from httpbench.stats.disturbance import disturbers

NAMED_MAX = 5


def disturbed_notes(rows: Sequence[Row]) -> Iterator[str]:
    """Sentences on the disturbed trials of these rows; none if there are none."""
    last = [trial for row in rows for trial in row.trials if trial.verdict.kind is VerdictKind.DISTURBED]
    for trials, words in (
        ([trial for row in rows for trial in row.repeated], "disturbed and repeated"),
        ([trial for trial in last if not trial.verdict.counts], "disturbed in the last attempt and {do} not count"),
        ([trial for trial in last if trial.verdict.counts], "disturbed and {do} count, as `--retries 0` says"),
    ):
        if trials:
            one = len(trials) == 1
            yield f"{len(trials)} {'trial was' if one else 'trials were'} {words.format(do='does' if one else 'do')}{_by(trials)}."
    if any(not row.counts and row.summary.verdict.kind is VerdictKind.DISTURBED for row in rows):
        yield "For undisturbed figures, run again on a quiet machine or with more `--retries`. `--retries 0` counts disturbed trials."


def _by(trials: Sequence[Trial]) -> str:
    """`` by: spin (pid 4711) 0.50 of a core in 3 trials``."""
    found = disturbers(trials)
    named = [
        f"{printable(each.name)}, up to {each.cores:.2f} of a core{_in(each.trials, len(trials))}"
        for each in found[: NAMED_MAX + (len(found) == NAMED_MAX + 1)]
    ]
    if len(found) > NAMED_MAX + 1:
        named.append(f"{len(found) - NAMED_MAX} more")
    return f", by {'; '.join(named)}" if named else ""


def _in(count: int, of: int) -> str:
    return "" if of == 1 else f" in {count}"
