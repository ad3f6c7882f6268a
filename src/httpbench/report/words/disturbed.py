"""Notes on disturbed trials: how many were repeated, how many do not count, and who disturbed them. Each once, with a count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.rows import Row
from httpbench.model import Trial, VerdictKind
from httpbench.stats.disturbance import disturbers
from httpbench.text import one_line

NAMED_MAX = 5


def disturbed_notes(rows: Sequence[Row]) -> Iterator[str]:
    """Sentences on the disturbed trials of these rows; none if there are none."""
    last = [trial for row in rows for trial in row.trials if trial.verdict.kind is VerdictKind.DISTURBED]
    repeated = [trial for row in rows for trial in row.repeated]
    lost, accepted = ([trial for trial in last if trial.verdict.counts is counts] for counts in (False, True))
    if repeated:
        yield f"{_were(repeated)} disturbed and repeated{_by(repeated)}."
    if lost:
        yield f"{_were(lost)} disturbed in the last attempt and {'does' if len(lost) == 1 else 'do'} not count{_by(lost)}."
    if accepted:
        yield f"{_were(accepted)} disturbed and {'counts' if len(accepted) == 1 else 'count'} all the same (`--retries 0`){_by(accepted)}."
    if any(not row.counts and row.summary.verdict.kind is VerdictKind.DISTURBED for row in rows):
        yield "For undisturbed figures, run again on a quiet machine or with more `--retries`. `--retries 0` counts disturbed trials."


def disturbed_note(rows: Sequence[Row]) -> str | None:
    """All disturbed trials of these rows in one clause; ``None`` if there are none."""
    lost = [trial for row in rows for trial in row.trials if trial.verdict.kind is VerdictKind.DISTURBED and not trial.verdict.counts]
    repeated = [trial for row in rows for trial in row.repeated]
    if not repeated and not lost:
        return None
    parts = [f"{_were(repeated)} disturbed and repeated"] if repeated else []
    parts += [f"{_were(lost)} disturbed in the last attempt and not counted"] if lost else []
    names = [one_line(each.name) for each in disturbers([*repeated, *lost])]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return ", ".join([*parts, *(f"by {name}{more}" for name in names[:1])])


def _were(trials: Sequence[Trial]) -> str:
    return "1 trial was" if len(trials) == 1 else f"{len(trials)} trials were"


def _by(trials: Sequence[Trial]) -> str:
    """``, by spin (pid 4711), up to 0.50 of a core in 3; 2 more``."""
    found = disturbers(trials)
    counted = "" if len(trials) == 1 else " in {}"
    named = [f"{one_line(each.name)}, up to {each.cores:.2f} of a core{counted.format(each.trials)}" for each in found[:NAMED_MAX]]
    if len(found) > NAMED_MAX:
        named.append(f"{len(found) - NAMED_MAX} more")
    return f", by {'; '.join(named)}" if named else ""
