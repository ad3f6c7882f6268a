"""The section of one target on the page of a run: facts, verdicts with reasons, charts over time, rounds, commands and responses."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from httpbench.analysis.evidence import known
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Target, Trial
from httpbench.report.charts.drawing import label
from httpbench.report.charts.run import of_target
from httpbench.report.html.parts import HtmlFigure, HtmlTable, verdict
from httpbench.report.words import evidence, notes
from httpbench.report.words.loads import short_place
from httpbench.report.words.numbers import figure_text, percentage
from httpbench.report.words.reasons import joined
from httpbench.report.words.targets import LIMITS, render_responses
from httpbench.stats.summary import rss_bytes_peak, throughput_rps

RUN_NAMES = {"held": "delayed responses", "timed": "timed"}


def sections(run: Run, found: Sequence[Group]) -> list[dict[str, Any]]:
    """Return a section for each target, in the order in which the tables list them."""
    rows: dict[str, list[tuple[Group, Row]]] = {}
    for group in found:
        for row in group.rows:
            rows.setdefault(row.target.id, []).append((group, row))
    return [_section(run, found, own) for own in rows.values()]


def _section(run: Run, found: Sequence[Group], own: Sequence[tuple[Group, Row]]) -> dict[str, Any]:
    target = own[0][1].target
    return {
        "id": target.id,
        "name": label(own[0][1]),
        "facts": _facts(target),
        "upstream": target.upstream if target.upstream and target.upstream.startswith("https://") else None,
        "verdicts": [] if run.search else list(_verdicts(own)),
        "figures": [
            HtmlFigure.of(drawing, f"{drawing.title}: {drawing.place}")
            for drawing in ([] if run.search else of_target(run, found, target.id))
        ],
        "tables": [table for table in (_rounds(own), _evidence(own)) if table.rows],
        "texts": list(_texts(target, own)),
    }


def _facts(target: Target) -> list[tuple[str, str]]:
    facts = [
        ("Kind", str(target.kind)),
        ("Language", target.language if target.is_declared else ""),
        ("Category", f"{target.category}, {target.tuning}" if target.is_declared else ""),
        ("Notes", " ".join((target.notes or "").split())),
        ("Limits", "; ".join(f"{limit}: {LIMITS[limit]}" for limit in target.limits)),
        ("URL", target.url or ""),
    ]
    return [(name, text) for name, text in facts if text]


def _verdicts(own: Sequence[tuple[Group, Row]]) -> Iterator[tuple[str, Markup, Sequence[str]]]:
    """Yield each load with its verdict and the verdict's reasons."""
    for group, row in own:
        note = next((note for note in notes.row_notes(group) if note.id == row.target.id), None)
        reasons = [] if note is None else [*note.reasons, *([f"Hint: {note.next_step}"] if note.next_step else [])]
        yield short_place(group), verdict(row.summary.verdict.kind), reasons


def _rounds(own: Sequence[tuple[Group, Row]]) -> HtmlTable:
    rows = [[short_place(group), *(text(trial) for _, text in ROUNDS)] for group, row in own for trial in row.attempts]
    return HtmlTable.of("Rounds", ["Table", *(title for title, _ in ROUNDS)], rows)


def _number(trial: Trial) -> str:
    attempt = f", attempt {trial.plan.attempt + 1}" if trial.plan.attempt else ""
    return f"{trial.plan.round + 1}{attempt}"


def _percentile(name: str) -> Callable[[Trial], str]:
    def text(trial: Trial) -> str:
        us = getattr(trial.measurement.times_us, name, None) if trial.measurement else None
        return "" if us is None else figure_text(us / 1000)

    return text


def _errors(trial: Trial) -> str:
    if trial.measurement is None:
        return ""
    return ", ".join(f"{count:,} {kind}" for kind, count in trial.measurement.errors.items() if count) or "0"


def _memory(trial: Trial) -> str:
    peak = rss_bytes_peak(trial)
    return "" if peak is None else figure_text(peak / 1e6)


def _throughput(trial: Trial, *, of_events: bool) -> str:
    measurement = trial.measurement
    return figure_text(throughput_rps(measurement)) if measurement and (measurement.events is not None) is of_events else ""


def _throttled(trial: Trial) -> str:
    share = trial.observed.target_usage.throttled_share if trial.observed.target_usage else None
    return "" if share is None else percentage(share)


ROUNDS: Sequence[tuple[str, Callable[[Trial], str]]] = (
    ("Round", _number),
    ("Verdict", lambda trial: verdict(trial.verdict.kind)),
    ("Requests/s", lambda trial: _throughput(trial, of_events=False)),
    ("Events/s", lambda trial: _throughput(trial, of_events=True)),
    ("Time (ms)", lambda trial: figure_text(trial.client.whole.wall_s * 1000 if trial.client else None)),
    ("p50 (ms)", _percentile("p50")),
    ("p99 (ms)", _percentile("p99")),
    ("p99.9 (ms)", _percentile("p99_9")),
    ("Errors", _errors),
    ("CPU (cores)", lambda trial: figure_text(trial.observed.target_usage.cpu_cores_mean if trial.observed.target_usage else None)),
    ("Memory (MB)", _memory),
    ("Throttled", _throttled),
    ("Reasons", lambda trial: joined(trial.verdict.reasons)),
)


def _evidence(own: Sequence[tuple[Group, Row]]) -> HtmlTable:
    """Return the facts behind each verdict or, for clients, the counts of the reference server."""
    if own[0][0].client_work is not None:
        header = ["Run", *(name for name, _ in evidence.CLIENT_COLUMNS)]
        cells = [
            [short_place(group), _number(trial), RUN_NAMES[name], *counts]
            for group, row in own
            for trial in row.attempts
            if trial.client
            for name, counts in evidence.client_lines(trial)
        ]
    else:
        columns = [(name, text) for name, text in evidence.COLUMNS if name not in evidence.NAMES]
        header = [name for name, _ in columns]
        cells = [
            [short_place(group), _number(one.trial), *(text(one) for _, text in columns)] for group, row in own for one in known([row])
        ]
    return HtmlTable.of("Evidence of the verdicts", ["Table", "Round", *header], cells)


def _texts(target: Target, own: Sequence[tuple[Group, Row]]) -> Iterator[tuple[str, str]]:
    rows = [row for _, row in own]
    if commands := list(_commands(target, own)):
        yield "Commands", "\n".join(commands)
    trials = [trial for row in rows for trial in row.trials]
    seen = {trial.plan.workload: trial.response for trial in reversed(trials) if trial.response}
    for workload, response in seen.items():
        yield f"Response to {workload}", render_responses({target.id: response})
    if log := next((row.log_tail for row in rows if row.log_tail), None):
        yield "End of the log", log


def _commands(target: Target, own: Sequence[tuple[Group, Row]]) -> Iterator[str]:
    """Yield the commands of the build, the target and each load.

    The target's command comes from the first round that stored one, or else from the target's definition.
    """
    if target.build.commands:
        yield "# build"
        yield from (shlex.join(command) for command in target.build.commands)
    if target.prepare:
        yield "# before each trial"
        yield shlex.join(target.prepare)
    ran = [(short_place(group), trial) for group, row in own for trial in row.trials[:1]]
    loads = {place: shlex.join(trial.commands.load) for place, trial in ran if trial.commands and trial.commands.load}
    if text := _started(target, [trial for _, trial in ran]):
        yield "# target"
        yield from (f"{name}={shlex.quote(value)}" for name, value in target.env.items())
        yield text
    for place, command in loads.items():
        yield f"# load: {place}"
        yield command


def _started(target: Target, trials: Sequence[Trial]) -> str:
    """Return the command that started the target, or an empty string if it was already running."""
    for trial in trials:
        if trial.container is not None:
            return trial.container.command
        if trial.commands is not None and trial.commands.target:
            copies = f"  # {trial.commands.copies} copies" if trial.commands.copies > 1 else ""
            return f"{shlex.join(trial.commands.target)}{copies}"
    return shlex.join(target.run)
