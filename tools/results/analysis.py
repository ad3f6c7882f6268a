"""The analysis page of one run: generated results and limits, followed by a hand-written part.

Only the part above :data:`MARK` is generated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Trial
from httpbench.report.markdown.parts import escape, fenced
from httpbench.report.words.claims import answer, unranked
from httpbench.report.words.loads import title
from httpbench.report.words.notes import disturbed_notes, row_notes
from httpbench.report.words.run import noise, status
from tools.results.machine import machine_title

MARK = "<!-- Below this line the page is written by hand. `make results` keeps it. -->"

NO_NOISE = "The noise floor of this machine is unknown."

FRAME = """\
Written for run {run}.

## What can be concluded

Not written yet.

## What cannot be concluded

Not written yet.
"""


def analysis_page(
    run: Run, trials: Sequence[Trial], suite: str, charts: Sequence[str] = (), skipped: Sequence[str] = (), before: str = ""
) -> str:
    """Return the text of the page.

    ``charts`` contains the file names of the chart for light and for dark pages, or is empty. ``skipped`` lists targets that were not
    measured, each with its reason. ``before`` is the text of the page that this one replaces.
    """
    kept = before.partition(MARK)[2].strip() or FRAME.format(run=run.id).strip()
    lines = [f"# {suite}", "", *_origin(run), *_picture(charts), *_shown(run, trials), *_not_measured(skipped), *_limits(run, trials)]
    if run.id not in kept:
        lines += ["**The text below was written for an earlier run.**", ""]
    return "\n".join([*lines, MARK, "", kept, ""])


def _origin(run: Run) -> Iterator[str]:
    yield f"Run {run.id}, {run.started_at[:10]}, on {escape(machine_title(run.environment))}."
    yield "[The report](report.html), [the tables](table.md), [the data](run.json.zst)."
    yield from ("", *fenced(f"$ {' '.join(run.command)}"), "")


def _picture(charts: Sequence[str]) -> Iterator[str]:
    if not charts:
        return
    light, dark = charts
    yield from picture(light, dark, "Chart of the first table")
    yield ""


def picture(light: str, dark: str, text: str) -> list[str]:
    """Return the lines of a picture that matches the reader's light or dark color scheme."""
    return [
        "<picture>",
        f'  <source media="(prefers-color-scheme: dark)" srcset="{dark}">',
        f'  <img alt="{text}" src="{light}">',
        "</picture>",
    ]


def _shown(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    yield from ("## What the run shows", "")
    yield from (f"- {escape(line)}" for line in status(run, trials))
    found = groups(run, trials)
    missing = [_missing(group) for group in found]
    nowhere = _without_figures(found, missing)
    for group, reasons in zip(found, missing, strict=True):
        own = {name: reason for name, reason in reasons.items() if name not in nowhere}
        yield from (f"### {escape(title(group))}", "")
        yield from (_item(line) for line in _of_table(run, group, own))
        yield ""
    if nowhere:
        yield from ("### Targets without figures", "", *(f"- {escape(f'{name}: {reason}')}" for name, reason in nowhere.items()), "")


def _item(line: str) -> str:
    """Format a list item, keeping its indentation."""
    text = line.lstrip()
    return f"{line[: len(line) - len(text)]}- {escape(text)}"


def _of_table(run: Run, group: Group, missing: Mapping[str, str]) -> Iterator[str]:
    """List the conclusions of a table, targets without a rank, limits, and reasons for missing results, which ``missing`` contains."""
    yield from answer(run, group)
    yield from filter(None, [unranked(group)])
    kinds = Counter(row.summary.verdict.kind for row in group.rows if row.counts)
    if kinds:
        yield "Verdicts of the targets with figures: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    yield from (f"{name} has no figures: {reasons}" for name, reasons in missing.items())


def _missing(group: Group) -> dict[str, str]:
    """Return why the targets without results have none, by target id."""
    without = {row.target.id for row in group.rows if not row.counts}
    return {note.id: "; ".join(note.reasons) for note in row_notes(group) if note.id in without}


def _without_figures(found: Sequence[Group], missing: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the targets that are in several tables and have no results in any of them, for one reason, with this reason."""
    tables = Counter(row.target.id for group in found for row in group.rows)
    reasons: dict[str, list[str]] = {}
    for name, reason in (pair for each in missing for pair in each.items()):
        reasons.setdefault(name, []).append(reason)
    return {name: each[0] for name, each in reasons.items() if 1 < len(each) == tables[name] and len(set(each)) == 1}


def _not_measured(skipped: Sequence[str]) -> Iterator[str]:
    if skipped:
        yield from ("### Targets of the suite that could not run", "", *(f"- {escape(line)}" for line in skipped), "")


def _limits(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    found = groups(run, trials)
    rows = [row for group in found for row in group.rows]
    has_servers = any(group.client_work is None for group in found)
    lines = [*_place(run, found), *_repetition(run, found, rows), *(list(noise(run, trials)) or [NO_NOISE] * has_servers)]
    yield from ("## What limits these figures", "", *(f"- {escape(line)}" for line in lines), "")


def _place(run: Run, found: Sequence[Group]) -> Iterator[str]:
    """Describe the machine and the network."""
    cores = max((group.target_cores for group in found), default=0)
    yield f"Targets had at most {_count(cores, 'core')}. How they scale beyond that was not measured."
    if any(group.cores_shared for group in found):
        yield 'In tables with "shared cores", target and load generator took CPU time from each other.'
    if any(group.backend_shared for group in found):
        yield "Backend and load generator shared cores, also in the baseline."
    if run.load_host is None:
        yield "The load came over loopback. No figure includes a network card or a network."
    if run.environment.virtualization:
        yield "The machine is virtual. Other guests of its host share caches and memory with it, which no figure shows."
    if run.environment.cpu_quota_cores is not None:
        yield f"Control groups limit httpbench to {run.environment.cpu_quota_cores:g} cores of CPU time."


def _repetition(run: Run, found: Sequence[Group], rows: Sequence[Row]) -> Iterator[str]:
    """Describe the rounds and the disturbances."""
    rounds = sorted({group.rounds for group in found})
    if rounds:
        yield f"Each figure comes from {' or '.join(map(str, rounds))} rounds on one day."
    if run.scale != 1:
        yield f"Rates and times of the suite were multiplied by {run.scale:g}."
    yield from disturbed_notes(rows)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
