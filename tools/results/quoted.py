"""Tables of a Markdown page that compare published results with our own.

    <!-- results: http-servers scaling=single connections=64 -->
    | Target | Published requests/s | Here | Rank here |
    | --- | --: | --: | --: |
    | `c/epoll/level` | 237,939 | | |
    <!-- end of results -->

The last two columns and the lines below the table are generated. Everything else is hand-written. The first column contains the id of the
target, and the second the published result. Results in words are in order: the first is the best.

A summary at the top of the page has a row for each section with such tables:

    <!-- summary of results -->
    <!-- end of summary -->
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from httpbench.analysis.compared import ahead, ranking
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.errors import UsageError
from httpbench.model import Run, Trial
from httpbench.report.markdown.parts import escape
from httpbench.report.words.columns import LOWER_BOUND
from httpbench.report.words.numbers import four_digits, percentage, rank_text
from httpbench.report.words.tables import bound_mark
from httpbench.stats.figures import THROUGHPUT
from httpbench.stats.overhead import share_of
from tools.results.folder import ANALYSIS
from tools.results.machine import machine_title

BLOCK = re.compile(r"^<!-- results: (?P<suite>\S+)(?P<choice>[^>]*) -->\n(?P<body>.*?)^<!-- end of results -->$", re.DOTALL | re.MULTILINE)
SUMMARY = re.compile(r"^(<!-- summary of results -->)\n.*?^(<!-- end of summary -->)$", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"^## (?P<title>[^\n]+)\n(?P<body>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
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
    """Update the blocks and the summary of a page with the newest results. ``place`` is the folder of the page.

    Raises :class:`UsageError` for an invalid block.
    """

    def filled(match: re.Match[str]) -> str:
        first = match[0].partition("\n")[0]
        quoted = _quoted(match["suite"], match["choice"].split(), found)
        return "\n".join([first, *_block(_lines(match), quoted, place), "<!-- end of results -->"])

    def summarized(match: re.Match[str]) -> str:
        return "\n".join([match[1], *_summary(page, found), match[2]])

    return SUMMARY.sub(summarized, BLOCK.sub(filled, page))


def _lines(block: re.Match[str]) -> list[str]:
    return [line for line in block["body"].splitlines() if line.startswith("|")]


def _summary(page: str, found: Results) -> Iterator[str]:
    """Yield a table that shows for each section of the page how much was reproduced."""
    yield "| comparison | reproduced | pairs of targets in the published order | in the reverse order | not told apart |"
    yield "| --- | --- | --: | --: | --: |"
    for section in SECTION.finditer(page):
        blocks = list(BLOCK.finditer(section["body"]))
        tables = [(block, _quoted(block["suite"], block["choice"].split(), found)) for block in blocks]
        orders = [_order(quoted, _published(_lines(block))) for block, quoted in tables if quoted is not None]
        total = Order(*(sum(counts) for counts in zip(*map(astuple, orders), strict=True))) if orders else None
        counts = [NOT_MEASURED, "", "", ""] if total is None else [total.word, *map(str, astuple(total))]
        if blocks:
            yield f"| [{section['title']}](#{section['title'].lower().replace(' ', '-')}) | {' | '.join(counts)} |"


@dataclass(frozen=True, slots=True)
class Order:
    """How many pairs of targets are in the published order here."""

    same: int
    reverse: int
    undecided: int
    """Number of pairs that aren't significantly different."""

    @property
    def word(self) -> str:
        """How much of the published order was reproduced, in one word."""
        if self.same and not (self.reverse or self.undecided):
            return "reproduced"
        return "partly" if self.same > self.reverse else "not"


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
    for cells in map(_split, lines[2:]):
        yield f"| {' | '.join([*cells[:-OURS], *_cells(quoted, cells[0].strip('`'))])} |"
    yield ""
    if quoted is None:
        yield "Not measured here yet."
    else:
        analysis = Path(os.path.relpath(quoted.folder / ANALYSIS, place)).as_posix()
        where = f"Here: {quoted.run.started_at[:10]}, {escape(machine_title(quoted.run.environment))} ([analysis]({analysis}))."
        order = _order(quoted, _published(lines))
        pairs = order.same + order.reverse + order.undecided
        counts = (
            f"{order.same} are in the published order, {order.reverse} in the reverse order, and {order.undecided} couldn't be told apart."
        )
        yield f"{where} Pairs of targets with a rank here: {pairs}. Of these, {counts}" if pairs else where


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _published(lines: Sequence[str]) -> dict[str, float]:
    """Return the published result of each target. Results in words become negative numbers, so that the first is the best."""
    cells = [(name.strip("`"), text) for name, text, *_ in map(_split, lines[2:])]
    words = list(dict.fromkeys(text for _, text in cells if _number(text) is None))
    return {name: -float(words.index(text)) if (value := _number(text)) is None else value for name, text in cells}


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
        return four_digits(client.mean_s * 1000, 1)
    baseline = next((other for other in quoted.group.rows if other.target.id == quoted.run.baseline), None)
    if baseline is not None:
        share = share_of(row.trials, baseline.trials, THROUGHPUT.of)
        return bound_mark(row, baseline) + percentage(share[0]) if share else "no figure"
    estimate = row.summary.throughput_rps
    if estimate is None:
        return "no figure"
    bound = LOWER_BOUND if row.is_lower_bound else ""
    return bound + four_digits(estimate.median, 0) + (f" ± {percentage(estimate.margin)}" if estimate.margin is not None else "")


def _order(quoted: Quoted, published: Mapping[str, float]) -> Order:
    """Count the pairs of ranked targets that are in the published order, are in the reverse order, or can't be told apart."""
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
    return Order(same, reverse, undecided)
