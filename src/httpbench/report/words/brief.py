"""The notes of a run in a few lines, for a reader who is in a hurry: what must not be overlooked. ``notes.py`` has all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial
from httpbench.report.words.disturbed import disturbed_note
from httpbench.report.words.notes import RowNote, row_notes, status
from httpbench.report.words.probes import probe_warning

LINES_MAX = 3
"""Below the last table. With the result, the rows that are not ranked and the place where a run is stored, these are six."""


def heading(run: Run) -> str:
    """When and where: ``run 20261121T080000-c0de · 2026-11-21 08:00 UTC · AMD EPYC 7B13, 8 CPUs``."""
    environment = run.environment
    count = len(environment.cpus_allowed)
    cpus = f"{environment.cpu_model}, {count} CPU{'' if count == 1 else 's'}"
    if run.published:
        cpus = f"published by {run.published}, measured on: {environment.cpu_model}"
    return f"run {run.id} · {run.started_at[:16].replace('T', ' ')} UTC · {cpus}"


def brief_notes(run: Run, trials: Sequence[Trial], found: Sequence[Group]) -> list[str]:
    """At most three lines: whether the run is whole, why rows have no figures, what was disturbed, what is no server."""
    rows = [row for group in found for row in group.rows]
    lines = [*status(run, trials), *filter(None, [disturbed_note(rows)]), *_without_figures(found), *_warnings(found)]
    if len(lines) <= LINES_MAX:
        return lines
    return [*lines[: LINES_MAX - 1], f"{len(lines) - LINES_MAX + 1} more notes: httpbench report {run.id} --explain"]


def _without_figures(found: Sequence[Group]) -> Iterator[str]:
    """Why, and the last line of the target's log: once for a target that has the same reason in several tables."""
    said = set()
    for group in found:
        without = {row.target.id for row in group.rows if not row.counts}
        for note in row_notes(group):
            line = _reason(note)
            if note.id in without and line not in said:
                said.add(line)
                yield line


def _reason(note: RowNote) -> str:
    parts = ["; ".join(note.reasons), f"hint: {note.next_step}" if note.next_step else "", f"log: {note.log[-1]}" if note.log else ""]
    return f"{note.id} {note.kind}: {' · '.join(filter(None, parts))}"


def _warnings(found: Sequence[Group]) -> Iterator[str]:
    """Targets that are canned, or that contradict their category."""
    probed = {row.target.id: (row.target, row.probed) for group in found for row in group.rows if row.probed is not None}
    warnings = [warning for target, seen in probed.values() if seen and (warning := probe_warning(target, seen))]
    if warnings:
        yield f"warning: {'; '.join(warnings)}"
