"""The figures behind each verdict as tables: a line for each trial, a table for each load. Columns without content are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.console import Group as Stack
from rich.table import Table
from rich.text import Text

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial, WorkDone
from httpbench.report.words import notes
from httpbench.stats.facts import Facts, facts
from httpbench.stats.validity import LITTLE_MAX, LITTLE_MIN
from httpbench.text import one_line

LEGEND = (
    "Target CPU, Generator CPU: mean CPU time in cores, of the physical cores that each could fill; the target's includes interrupts on "
    "cores that are its own. Target thread, Generator thread: CPU time of the fullest thread. Polling: threads of the "
    "target that were busy while it got no requests; from 0.50 on it polls.",
    "Target waited, Waited: cores that the target or the generator was ready to use and did not get. Throttled: periods of a CPU quota in "
    "which it stopped the target. Others: what other programs used of these cores, without httpbench. Stolen: what the hypervisor gave to "
    "other machines.",
    "Strangers: processes that used most CPU time, on any core, and may have run on these. Attempt: 2 or more is a repeat.",
    "Per core: share of the time in which each measured logical CPU was not idle, with any program or with interrupts.",
    "Achieved: correct responses per second / offered rate. Lag p99: 99% of requests were sent at most this much later than intended.",
    f"Little: throughput × mean service time / requests in flight; valid from {LITTLE_MIN} to {LITTLE_MAX} in a closed loop.",
    "Resent: TCP segments sent again / all sent. Timeouts: TCP's retransmission timeouts. Refused: connections that a full accept queue "
    "rejected. Dropped: packets that a core dropped. All four count the whole machine.",
)

CLIENT_LEGEND = ("Counted by the reference server. held: an untimed run in which each response is delayed.",)


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial of which something is known."""

    trial: Trial
    facts: Facts


Column = tuple[str, Callable[[Measured], str]]

COLUMNS: tuple[Column, ...] = (
    ("Target", lambda one: one.trial.plan.target),
    ("Round", lambda one: str(one.trial.plan.round + 1)),
    ("Attempt", lambda one: str(one.trial.plan.attempt + 1) if one.trial.plan.attempt else ""),
    ("Verdict", lambda one: str(one.trial.verdict.kind)),
    ("Target CPU", lambda one: _of(one.facts.target_cores, one.facts.target_capacity_cores)),
    ("CPU limit", lambda one: _number(one.trial.container.cpus if one.trial.container else None, 2)),
    ("Target thread", lambda one: _number(one.facts.target_thread_cores_max, 2)),
    ("Polling", lambda one: _number(one.facts.target_polling_threads, 2)),
    ("Target waited", lambda one: _number(one.facts.target_wait_cores, 2)),
    ("Throttled", lambda one: _share(one.facts.target_throttled_share)),
    ("Generator CPU", lambda one: _of(one.facts.generator_cores, one.facts.generator_capacity_cores)),
    ("Generator thread", lambda one: _number(one.facts.generator_thread_cores_max, 2)),
    ("Waited", lambda one: _number(one.facts.generator_wait_cores, 2)),
    ("Others", lambda one: _number(one.facts.others_cores, 2)),
    ("Strangers", lambda one: _strangers(one.trial)),
    ("Stolen", lambda one: _number(one.facts.stolen_cores, 2)),
    ("Per core", lambda one: " ".join(f"{core.cpu}:{core.busy + core.interrupts:.0%}" for core in one.trial.occupancy)),
    ("Achieved", lambda one: _share(one.facts.achieved_share)),
    ("Lag p99 (ms)", lambda one: _number(one.facts.schedule_lag_us_p99, 3, 1000)),
    ("Little", lambda one: _number(one.facts.little_ratio, 3)),
    ("Failed", lambda one: _share(one.facts.failed_share)),
    ("Resent", lambda one: _resent(one.facts)),
    ("Timeouts", lambda one: _number(one.facts.network.retransmission_timeouts if one.facts.network else None, 0)),
    ("Refused", lambda one: _number(one.facts.network.listen_overflows if one.facts.network else None, 0)),
    ("Dropped", lambda one: _number(one.facts.network.backlog_drops if one.facts.network else None, 0)),
)

NAMES = ("Target", "Round", "Attempt", "Verdict")
"""Columns that name a trial."""

WORDS = ("Target", "Verdict", "Strangers", "Per core")
"""Columns that are flush left."""

GAP = 2
"""Spaces between columns."""

STRANGERS_SHOWN = 3


def render_evidence(run: Run, trials: Sequence[Trial]) -> RenderableType:
    """For each load of a run a table with a line for each of its trials that was measured."""
    found = groups(run, trials)
    parts = [part for group in found for part in _section(group)]
    legend = CLIENT_LEGEND if all(group.client_work for group in found) else LEGEND
    return Stack(*parts, *(Text(f"· {line}", style="dim") for line in legend))


CLIENT_COLUMNS: tuple[tuple[str, Callable[[WorkDone], int]], ...] = (
    ("Requests", lambda done: done.requests),
    ("Connections", lambda done: done.connections),
    ("In flight", lambda done: done.in_flight_max),
    ("Pipelined", lambda done: done.pipelined),
    ("Wrong", lambda done: done.wrong_requests),
    ("Body bytes", lambda done: done.body_bytes_sent),
)
"""What the reference server counted of a client."""


def _clients(group: Group) -> Iterator[RenderableType]:
    """Two lines for each trial: the run with delayed responses, and the timed one."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("Target", "Verdict", "Run", "Round", *(title for title, _ in CLIENT_COLUMNS)):
        table.add_column(title, justify="left" if title in ("Target", "Verdict", "Run") else "right")
    for trial in (trial for row in group.rows for trial in row.trials if trial.client):
        assert trial.client is not None
        for name, done in (("held", trial.client.done_held), ("timed", trial.client.done)):
            figures = (f"{figure(done):,}" for _, figure in CLIENT_COLUMNS)
            table.add_row(trial.plan.target, str(trial.verdict.kind), name, str(trial.plan.round + 1), *figures)
    yield table
    yield Text()


def _section(group: Group) -> Iterator[RenderableType]:
    yield Text(notes.title(group), style="bold")
    if group.client_work is not None:
        yield from _clients(group)
        return
    lines = [Measured(trial, known) for row in group.rows for trial in row.attempts if (known := facts(trial))]
    if not lines:
        yield Text("no trial was measured")
        yield Text()
        return
    columns = [(title, [text(line) for line in lines]) for title, text in COLUMNS]
    yield _Lines([(title, cells) for title, cells in columns if any(cells)])
    yield Text()


@dataclass(frozen=True, slots=True)
class _Lines:
    """A table whose columns continue below it if they do not fit, behind the columns that name the trial."""

    columns: list[tuple[str, list[str]]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [column for column in self.columns if column[0] in NAMES]
        part = names.copy()
        for column in self.columns:
            if column in names:
                continue
            if len(part) > len(names) and sum(map(_width, [*part, column])) - GAP > options.max_width:
                yield _grid(part)
                yield Text()
                part = names.copy()
            part.append(column)
        yield _grid(part)


def _width(column: tuple[str, list[str]]) -> int:
    title, cells = column
    return max(map(cell_len, (title, *cells))) + GAP


def _grid(columns: list[tuple[str, list[str]]]) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for title, _ in columns:
        table.add_column(title, justify="left" if title in WORDS else "right", overflow="fold")
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _of(cores: float | None, capacity: int) -> str:
    return "" if cores is None else f"{cores:.2f}/{capacity}"


def _number(value: float | None, digits: int, unit: float = 1) -> str:
    return "" if value is None else f"{value / unit:,.{digits}f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"


def _strangers(trial: Trial) -> str:
    found = trial.others.strangers if trial.others else ()
    return ", ".join(f"{one_line(one.name)} {one.cores:.2f}" for one in found[:STRANGERS_SHOWN])


def _resent(known: Facts) -> str:
    network = known.network
    if network is None or network.segments_retransmitted is None:
        return ""
    return f"{network.segments_retransmitted:,}/{network.segments_sent:,}"
