"""Tables of a Markdown page that compare published results with our own.

    <!-- results: http-servers scaling=single connections=64 -->
    | Target | Published requests/s | Here | Rank here |
    | --- | --: | --: | --: |
    | `c/epoll/level` | 237,939 | | |
    <!-- end of results -->

The last two columns and the lines below the table are generated. Everything else is hand-written. The first column contains the id of the
target.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.analysis.compared import ahead, ranking
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.errors import UsageError
from httpbench.model import Run, Trial
from httpbench.report.markdown.parts import escape
from httpbench.report.words.columns import LOWER_BOUND
from httpbench.report.words.numbers import four_digits, percentage, rank_text
from httpbench.stats.figures import THROUGHPUT
from httpbench.stats.overhead import share_of
from tools.results.folder import ANALYSIS
from tools.results.machine import machine_title

BLOCK = re.compile(r"^<!-- results: (?P<suite>\S+)(?P<choice>[^>]*) -->\n(?P<body>.*?)^<!-- end of results -->$", re.DOTALL | re.MULTILINE)
OURS = 2
"""Number of generated columns, which are the last columns of a table."""

NOT_MEASURED = "not measured"

Results = Mapping[Path, tuple[Run, Sequence[Trial]]]
"""Runs and their trials, by folder."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """The table of a run from which a block quotes results."""

    folder: Path
    run: Run
    group: Group

    def row(self, name: str) -> Row | None:
        """Return the row of a target, even if it ran in a container: ``node/express`` also matches ``node/express@docker``."""
        return next((row for row in self.group.rows if row.target.id.partition("@")[0] == name), None)


def with_results(page: str, place: Path, found: Results) -> str:
    """Update the blocks of a page with the newest results. ``place`` is the folder of the page.

    Raises :class:`UsageError` for an invalid block.
    """

    def filled(match: re.Match[str]) -> str:
        first = match[0].partition("\n")[0]
        lines = [line for line in match["body"].splitlines() if line.startswith("|")]
        quoted = _quoted(match["suite"], match["choice"].split(), found)
        return "\n".join([first, *_block(lines, quoted, place), "<!-- end of results -->"])

    return BLOCK.sub(filled, page)


def _quoted(suite: str, choice: Sequence[str], found: Results) -> Quoted | None:
    """Return the table that a block selects, from the newest run that contains it."""
    runs = sorted((folder for folder in found if folder.name == suite), key=lambda folder: found[folder][0].started_at, reverse=True)
    for folder in runs:
        run, trials = found[folder]
        group = next((group for group in groups(run, trials) if all(_is(group, word) for word in choice)), None)
        if group is not None:
            return Quoted(folder, run, group)
    return None


def _is(group: Group, word: str) -> bool:
    """Return whether a table matches a condition such as ``connections=64`` or ``rate=none``."""
    name, _, value = word.partition("=")
    known = {
        "connections": group.load.connections,
        "generator": group.load_generator,
        "rate": "none" if group.load.rate_rps is None else f"{group.load.rate_rps:g}",
        "scaling": group.scaling,
        "workload": group.workload,
    }
    if name not in known:
        raise UsageError(f'"{word}" matches no table of results', hint=f"use {', '.join(known)}")
    return str(known[name]) == value


def _block(lines: Sequence[str], quoted: Quoted | None, place: Path) -> Iterator[str]:
    """Yield the table with its generated columns, and then a line that compares the order of the targets."""
    yield from lines[:2]
    published: dict[str, float] = {}
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = cells[0].strip("`")
        if (value := _number(cells[1])) is not None:
            published[name] = value
        own = _cells(quoted, name)
        yield f"| {' | '.join([*cells[:-OURS], *own])} |"
    yield ""
    if quoted is None:
        yield "Not measured here yet."
    else:
        analysis = Path(os.path.relpath(quoted.folder / ANALYSIS, place)).as_posix()
        where = f"Here: {quoted.run.started_at[:10]}, {escape(machine_title(quoted.run.environment))} ([analysis]({analysis}))."
        yield " ".join([where, *_order(quoted, published)])


def _number(text: str) -> float | None:
    """Parse a number, or return ``None`` for words."""
    plain = text.replace(",", "")
    return float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None


def _cells(quoted: Quoted | None, name: str) -> tuple[str, str]:
    """Return our result for a target, and its rank."""
    row = quoted.row(name) if quoted else None
    if quoted is None or row is None:
        return (NOT_MEASURED, "")
    rank = ranking(quoted.group).get(row.target.id)
    return (_figure(quoted, row), rank_text(rank) if rank else str(row.summary.verdict.kind))


def _figure(quoted: Quoted, row: Row) -> str:
    """Return a client's mean time, a proxy's share of the baseline, or a server's throughput."""
    if (client := row.summary.client) is not None:
        sigma = f" ± {four_digits(client.stddev_s * 1000, 1)}" if client.stddev_s is not None else ""
        return f"{four_digits(client.mean_s * 1000, 1)}{sigma}"
    baseline = next((other for other in quoted.group.rows if other.target.id == quoted.run.baseline), None)
    if baseline is not None:
        share = share_of(row.trials, baseline.trials, THROUGHPUT.of)
        return (LOWER_BOUND if row.is_lower_bound else "") + percentage(share[0]) if share else "no figure"
    estimate = row.summary.throughput_rps
    if estimate is None:
        return "no figure"
    bound = LOWER_BOUND if row.is_lower_bound else ""
    return (
        bound
        + four_digits(estimate.median, 0)
        + (f" ± {percentage(estimate.interval.half_width)}" if estimate.interval is not None else "")
    )


def _order(quoted: Quoted, published: Mapping[str, float]) -> Iterator[str]:
    """Report how many pairs of targets are in the published order, are in the reverse order, or can't be told apart."""
    less_is_better = quoted.group.client_work is not None
    places = ranking(quoted.group)
    rows = [(row, value) for name, value in published.items() if (row := quoted.row(name)) and row.target.id in places]
    rows.sort(key=lambda pair: pair[1], reverse=not less_is_better)
    same = reverse = undecided = 0
    for index, (better, value) in enumerate(rows):
        others = [row for row, other in rows[index + 1 :] if other != value]
        for compared in ahead(quoted.group, better, others):
            ((figure, comparison),) = compared.figures.items()
            if comparison is None or not compared.holds(figure):
                undecided += 1
            elif comparison.ratio > 1:
                same += 1
            else:
                reverse += 1
    if pairs := same + reverse + undecided:
        yield (
            f"Pairs of targets with a rank here: {pairs}. Of these, {same} are in the published order, {reverse} in the reverse order, "
            f"and {undecided} couldn't be told apart."
        )
