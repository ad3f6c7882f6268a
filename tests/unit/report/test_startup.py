"""Tests of reports on runs that measured how servers start."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from httpbench.analysis.changes import changes
from httpbench.analysis.compared import ranking
from httpbench.analysis.gates import gated
from httpbench.analysis.groups import groups
from httpbench.model import Gate, Load, Run, Table, Trial, Verdict, VerdictKind
from httpbench.report.charts.run import of_run
from httpbench.report.data.csv import render_csv
from httpbench.report.data.json import render_json
from httpbench.report.html.run import answer as page_answer
from httpbench.report.terminal.changes import render_changes
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.claims import answer, claims
from httpbench.report.words.columns import View
from httpbench.report.words.loads import load_text
from httpbench.stats.gates import Passage
from httpbench.stats.ranks import RankRange
from tests.factories import make_plan, make_run, make_starts, make_startup, make_trial

FAST, SLOW, SLOWEST = (0.0100, 0.0102, 0.0101, 0.0099), (0.0200, 0.0203, 0.0201, 0.0199), (0.310, 0.300, 0.305, 0.299)


def run_of(times_s: dict[str, Sequence[float]], **changes: Any) -> tuple[Run, list[Trial]]:
    trials = [trial for name, values in times_s.items() for trial in make_starts(name, values)]
    return make_run(trials, table=Table.STARTUP, **changes), trials


THREE = run_of({"java/netty": SLOWEST, "golang/net-http": SLOW, "c/epoll/level": FAST})


def shown(run: Run, trials: list[Trial], width: int = 80, *, view: View | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(render_terminal(run, trials, width=width, view=view))
    return out.getvalue()


def test_the_table_has_every_result_and_begins_with_the_fastest() -> None:
    lines = [" ".join(re.sub("[█▏▎▍▌▋▊▉»]", "", line).split()) for line in shown(*THREE, 120).splitlines()]
    first = lines.index("Rank Target Ready ± First To steady Memory ready Memory peak Size Verdict")
    assert lines[first + 1 : first + 5] == [
        "ms % ms s MB MB MB",
        "1 c/epoll/level 10.05 2.1 0.350 0.4 8.0 9.5 2.5 target",
        "2 golang/net-http 20.05 1.5 0.350 0.4 8.0 9.5 2.5 target",
        "3 java/netty 302.5 3.0 0.350 0.4 8.0 9.5 2.5 target",
    ]


def test_titles_name_the_start_and_the_load_after_it() -> None:
    text = shown(*THREE, 120)
    assert "plaintext · start-up · target on one core · 64 connections · 5 s" in text
    assert "median of 4 starts, ±: 95% interval · without a warm-up · load generator native" in text


def test_every_column_is_explained() -> None:
    text = " ".join(shown(*THREE, 240, view=View(wide=True, explain=True)).split())
    assert "Memory after" in text
    for explained in ("Ready:", "First:", "To steady:", "Memory ready, peak, after:", "5 s after the load", "Size:"):
        assert explained in text, explained


def test_the_answer_says_how_much_sooner_the_first_was_ready() -> None:
    run, trials = THREE
    (group,) = groups(run, trials)
    lines = answer(run, group)
    assert lines[0] == "c/epoll/level was ready"
    assert lines[1:] == ["  2.00 ± 0.02 times faster than golang/net-http", "  30 ± 1 times faster than java/netty"]
    assert page_answer(run, group) == f"{lines[0]} {lines[1].strip()}"
    assert ranking(group) == {"c/epoll/level": RankRange(1, 1), "golang/net-http": RankRange(2, 2), "java/netty": RankRange(3, 3)}
    assert not any("limit unknown" in line for line in claims(run, group))


def test_two_servers_are_compared_by_each_result() -> None:
    run, trials = run_of({"c/old": FAST, "c/new": SLOW}, baseline="c/old")
    (group,) = groups(run, trials)
    (line,) = answer(run, group)
    first, *others = line.split("; ")
    assert first == "the start-up time of c/new is 2.00 ± 0.02 times that of c/old"
    assert [other.partition(" is not distinguishable")[0] for other in others] == [
        "time of the first request",
        "time to steady throughput",
        "memory when ready",
    ]


def test_the_limit_of_the_load_makes_no_bound() -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR)
    trials = [trial.model_copy(update={"verdict": generator}) for trial in make_starts("c/old", FAST)]
    ((row,),) = [group.rows for group in groups(make_run(trials, table=Table.STARTUP), trials)]
    assert not row.is_lower_bound


def test_gates_judge_starts() -> None:
    run, trials = run_of({"c/old": FAST, "c/new": SLOW}, baseline="c/old")
    gates = tuple(Gate(figure=figure, side=">", change=0.1) for figure in ("ready", "first", "memory-ready", "size"))
    judged = {each.gate.figure: each.passage for each in gated(run.model_copy(update={"gates": gates}), trials)}
    assert judged == {"ready": Passage.BREACHED, "first": Passage.PASSED, "memory-ready": Passage.PASSED, "size": Passage.PASSED}


def test_a_gate_on_an_unknown_result_is_not_judged() -> None:
    trials = [*make_starts("c/old", FAST, steady_s=None), *make_starts("c/new", FAST, steady_s=None)]
    run = make_run(trials, baseline="c/old", gates=(Gate(figure="to-steady", side=">", change=0.1),), table=Table.STARTUP)
    assert [each.passage for each in gated(run, trials)] == [Passage.UNKNOWN]


def test_a_comparison_of_runs_shows_the_results_of_starts() -> None:
    found = changes(run_of({"c/new": FAST}), run_of({"c/new": SLOW}))
    (cell,) = found.cells
    assert list(cell.figures) == ["ready", "first", "to-steady", "memory-ready", "memory", "memory-rest", "size"]
    assert cell.figures["ready"].ratio > 1.9
    out = io.StringIO()
    Console(file=out, width=240, highlight=False).print(render_changes(found, width=240, view=View(wide=True)))
    assert "10 ms → 20.1 ms ×1.998" in out.getvalue() and "0.35 ms → 0.35 ms ×1.000" in out.getvalue()


def test_a_load_after_a_start_is_another_load() -> None:
    """A measurement that includes the start isn't compared with one after a warm-up."""
    run, trials = run_of({"c/new": FAST})
    assert load_text(groups(run, trials)[0].rows[0].summary).endswith(" --startup")
    warm = [
        make_trial(make_plan("c/new", round_=number, load=Load(connections=64, threads=1, duration_s=5, warmup_s=0))) for number in range(3)
    ]
    assert not changes((make_run(warm), warm), (run, trials)).cells


def test_exports_contain_the_results() -> None:
    run, trials = run_of({"c/new": FAST})
    (result,) = json.loads(render_json(run, trials))["results"]
    assert result["rounds"][0]["startup"] == make_startup(FAST[0]).model_dump()
    assert result["summary"]["ready_s"]["rounds"] == len(FAST)
    rows = list(csv.DictReader(io.StringIO(render_csv(run, trials))))
    assert [float(row["startup_ready_s"]) for row in rows] == list(FAST)
    assert rows[0]["rest_s"] == "5.0"


def test_a_chart_shows_every_start() -> None:
    (drawing,) = (drawing for name, drawing in of_run(*THREE).items() if name.startswith("whiskers"))
    (values,) = drawing.chart.to_dict()["datasets"].values()
    assert sorted(value["time_ms"] for value in values) == sorted(1000 * time_s for time_s in (*FAST, *SLOW, *SLOWEST))


def test_times_until_steady_are_no_more_precise_than_their_windows() -> None:
    """A time of 0.1 s only means that throughput was steady in the first window, in every round."""
    old, new = (make_starts(name, FAST, steady_s=time_s) for name, time_s in (("c/old", 0.1), ("c/new", 0.2)))
    run = make_run([*old, *new], baseline="c/old", gates=(Gate(figure="to-steady", side=">", change=0.5),), table=Table.STARTUP)
    (judged,) = gated(run, [*old, *new])
    assert judged.passage is Passage.INCONCLUSIVE
    assert judged.interval is not None and judged.interval.low < 1.1
