"""What probes found, beside the figures: which targets are servers, and which are loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from httpbench.analysis.rows import Row
from httpbench.model import Label, Probed, Target
from httpbench.probe import MEANINGS, TRAITS, contradiction


def probe_legend(rows: Sequence[Row]) -> Iterator[str]:
    """What the labels in a table mean; which targets are canned, and why; which contradict their category."""
    probed = {row.target.id: row for row in rows if row.probed is not None and row.probed.label is not None}
    labels = {row.probed.label for row in probed.values() if row.probed}
    if labels:
        yield "Probe: " + "; ".join(f"{label} ({MEANINGS[label]})" for label in Label if label in labels)
    for name in sorted(probed):
        row = probed[name]
        if row.probed and (warning := probe_warning(row.target, row.probed)):
            yield f"warning: {warning}"


def probe_warning(target: Target, probed: Probed) -> str | None:
    """A target that is canned, or that contradicts its category; ``None``: neither. Elsewhere «micro» means a small framework."""
    name = target.id if target.is_declared else target.framework
    if probed.label is Label.CANNED:
        return f"{name} is canned: {'; '.join(probed.reasons)}"
    wrong = contradiction(target.category, probed.label) if target.entry is None else None
    return f"{name} is {wrong}" if wrong else None


def probe_lines(target: Target, probed: Probed) -> Iterator[str]:
    """Every observation, a line each, with what was sent and what was received."""
    yield f"{target.id}: {probed.label or 'unknown'}, {probed.response_bytes:,} bytes per response"
    if warning := probe_warning(target, probed):
        yield f"  warning: {warning}"
    for seen in probed.observations:
        yield f"  {MARKS[seen.holds]} {TRAITS[seen.trait]}: {seen.sent} → {seen.came}"


def probe_table(found: Iterable[tuple[Target, Probed]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows."""
    header = ("Target", "Category", "Probe", "Res", "Failed")
    return header, [
        (
            target.id,
            str(target.category or ""),
            str(probed.label or "unknown"),
            f"{probed.response_bytes:,}",
            ", ".join(TRAITS[seen.trait] for seen in probed.observations if seen.holds is False),
        )
        for target, probed in found
    ]


MARKS = {True: "✓", False: "✗", None: "?"}
