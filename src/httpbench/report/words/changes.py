"""Changes from one run to another and differences between their environments: sentences, notes and table cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from httpbench.analysis.changes import Alone, Cell, Changes, Side
from httpbench.analysis.environments import Mismatch
from httpbench.report.words.loads import load_text, place
from httpbench.report.words.numbers import commit_text, minute, plural, three_digits
from httpbench.report.words.reasons import joined, sentence
from httpbench.stats.unpaired import Change

TITLES = {
    "rps": "Requests/s",
    "cpu": "CPU/request",
    "memory": "Memory",
    "time": "Time",
    "ready": "Ready",
    "first": "First",
    "to-steady": "To steady",
    "memory-ready": "Memory ready",
    "memory-rest": "Memory after",
    "size": "Size",
}
"""Titles of the metrics whose titles differ from their names."""

TIE = "= marks no significant difference"

NOT_PAIRED = "Rounds of two runs are not interleaved"

BOTH_IN_ONE_RUN = "`httpbench run BASE HEAD` measures both in one run."

SUBJECTS = {
    "hostname": "host name",
    "cpu_model": "processor",
    "cpus_online": "CPUs online",
    "cpus_allowed": "CPUs allowed",
    "smt": "SMT",
    "os": "operating system",
    "container": "container engine",
    "cpu_quota_cores": "CPU quota",
    "memory_limit_bytes": "memory limit",
    "httpbench_version": "httpbench",
    "load_host": "load host",
    "has_backend": "host of the backend",
    "target_cores": "cores of targets",
    "workers": "workers of targets",
}
"""Names that reports show for properties of the environment, if these names differ from the field names."""

NONE = {"load_host": "the target's machine", "target_cores": "one per core", "workers": "one per core"}
"""Text for a missing or zero property for which "none" would be wrong."""


# --- environments ---------------------------------------------------------------------------------------------------------------


def mismatch_text(found: Mismatch) -> str:
    """Describe one mismatch: ``kernel (6.1 → 6.9)``."""
    if found.is_knob:
        return f"knob {found.subject} ({found.base or 'absent'} → {found.head or 'absent'})"
    subject = SUBJECTS.get(found.subject, found.subject)
    match found.subject:
        case "mitigations" if isinstance(found.base, dict) and isinstance(found.head, dict):
            before, after = found.base, found.head
            values = ", ".join(sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key)))
        case "memory_bytes" if isinstance(found.base, int) and isinstance(found.head, int):
            subject, values = "memory", f"{found.base / 1e9:.1f} → {found.head / 1e9:.1f} GB"
        case "has_backend":
            values = " → ".join("load host" if there else "the target's machine" for there in (found.base, found.head))
        case name if name in NONE:
            values = f"{found.base or NONE[name]} → {found.head or NONE[name]}"
        case _:
            values = f"{_value(found.base)} → {_value(found.head)}"
    return f"{'load host: ' if found.of_load_host else ''}{subject} ({values})"


def mismatches_text(found: Iterable[Mismatch]) -> str:
    """Describe all mismatches on one line."""
    return "; ".join(map(mismatch_text, found))


def version_text(found: Mismatch) -> str:
    """Describe a changed version: ``go 1.26 → 1.27``."""
    return f"{found.subject} {_value(found.base)} → {_value(found.head)}"


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


# --- above the table ------------------------------------------------------------------------------------------------------------


def heading(found: Changes) -> str:
    """Return a heading that names both runs."""
    return f"Changes from {found.base.name or found.base.run} to {found.head.name or found.head.run}"


def banner(found: Changes) -> Iterator[str]:
    """Yield a warning if the environments don't match."""
    if found.environment:
        yield f"DIFFERENT ENVIRONMENTS, which may cause differences: {mismatches_text(found.environment)}"


def origins(found: Changes) -> list[str]:
    """Return a line about the origin of base and a line about the origin of head."""
    return [_origin("base", found.base), _origin("head", found.head)]


def _origin(name: str, side: Side) -> str:
    commit = f"commit {commit_text(side.git_commit)}" if side.git_commit else None
    return " · ".join(filter(None, (f"{name}: run {side.run}", side.name, commit, f"{minute(side.started_at)} UTC")))


# --- the table ------------------------------------------------------------------------------------------------------------------


def table(found: Changes) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows, with the values of both runs."""
    header = ["Target", "Load", *map(figure_title, found.figures), "Verdict"]
    rows = [
        [cell.target, load_text(cell), *(change_text(name, cell.figures.get(name)) for name in found.figures), verdict_text(cell)]
        for cell in found.cells
    ]
    return header, rows


def figure_title(name: str) -> str:
    """Return the title of a metric."""
    return TITLES.get(name, name.replace("ttfb-", "TTFB "))


def change_text(name: str, change: Change | None) -> str:
    """Format a change: ``401,300 → 389,210 ×0.970 (0.961 … 0.979)``, followed by ``=`` if it isn't significant."""
    if change is None:
        return ""
    values = f"{value_text(name, change.base)} → {value_text(name, change.head)}"
    if change.interval is None:
        return f"{values} ×{change.ratio:.3f}"
    low, high = change.interval.low, change.interval.high
    return f"{values} ×{change.ratio:.3f} ({low:.3f} … {high:.3f})" + ("" if change.differs else " =")


def value_text(name: str, value: float) -> str:
    """Format the value of a metric with its unit."""
    if name == "rps":
        return f"{value:,.0f}"
    if name == "cpu":
        return f"{three_digits(value)} µs"
    if name in ("memory", "memory-ready", "memory-rest", "size"):
        return f"{value / 1e6:,.1f} MB"
    if name == "ready":
        return f"{three_digits(value * 1000)} ms"
    return f"{three_digits(value)} s" if name in ("time", "to-steady") else f"{three_digits(value / 1000)} ms"


def verdict_text(cell: Cell) -> str:
    """Return the verdicts of both runs, or a single one if they are the same."""
    return cell.verdict_head.value if cell.verdict_base is cell.verdict_head else f"{cell.verdict_base} → {cell.verdict_head}"


# --- below the table ------------------------------------------------------------------------------------------------------------


def verdict_changes(found: Changes) -> Iterator[str]:
    """Describe each change of a verdict."""
    for cell in found.cells:
        if cell.verdict_base is not cell.verdict_head:
            reasons = f": {joined(cell.reasons_head)}" if cell.reasons_head else ""
            yield f"verdict of {place(cell)}, changed from {cell.verdict_base} to {cell.verdict_head}{reasons}"


def lost_text(cell: Cell) -> str | None:
    """Say which run lost rounds of a target, and why, or return ``None`` if neither did."""
    if cell.lost_head is not None:
        return f"in head {sentence(cell.lost_head)}"
    return f"in base {sentence(cell.lost_base)}" if cell.lost_base is not None else None


def significant(found: Changes) -> str:
    """Say how many changes are significant."""
    changed = [change for cell in found.cells for change in cell.figures.values() if change.differs]
    every = sum(len(cell.figures) for cell in found.cells)
    return f"{len(changed)} of {every} figures changed significantly" if every else "Nothing can be compared"


def not_compared(found: Changes) -> list[str]:
    """List the targets and loads that are in only one of the runs, and those of which a run lost too many rounds."""
    lost = [f"Not compared: {place(cell)}: {reason}" for cell in found.cells if not cell.figures and (reason := lost_text(cell))]
    return [*map(_alone, found.not_compared), *lost]


def notes(found: Changes) -> Sequence[str]:
    """Return all notes that appear below the table."""
    lines = not_compared(found)
    if found.toolchains:
        lines.append(f"Versions: {'; '.join(map(version_text, found.toolchains))}")
    if weak := [cell.target for cell in found.cells if cell.is_bound and cell.figures]:
        lines.append(f"Limited by something other than the target, which may be faster than measured: {', '.join(dict.fromkeys(weak))}")
    if not found.cells:
        naming = "To compare servers with different names, measure each with the same `--name`." if found.lacks_common_name else ""
        return [*lines, " ".join(filter(None, ("The runs share no target with the same load.", naming)))]
    family = f"; the intervals of a column hold jointly for all {len(found.cells)} rows" if len(found.cells) > 1 else ""
    return [
        *lines,
        f"Ratios are head / base with 95% intervals{family}. {TIE}.",
        f"{NOT_PAIRED}, so an interval covers only the noise within each run. {BOTH_IN_ONE_RUN}",
    ]


def caveat() -> str:
    """Return the most important caveat for any comparison of two runs, on one line."""
    return f"{TIE}. {NOT_PAIRED}: {BOTH_IN_ONE_RUN}"


def _alone(alone: Alone) -> str:
    """Describe loads that only one run has: ``Only in base: c/a (plaintext, 64 connections); head has it with another load``."""
    loads = f", {alone.loads} loads" if alone.loads > 1 else ""
    line = f"Only in {alone.side}: {alone.target} ({alone.workload}, {plural(alone.connections, 'connection')}{loads})"
    if alone.elsewhere is None:
        return line
    lacks = {"limits": "other limits", "load": "another load" if alone.loads == 1 else "other loads"}[alone.elsewhere]
    return f"{line}; {'head' if alone.side == 'base' else 'base'} has it with {lacks}"
