"""Tables in terminals of several widths."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from httpbench.model import Run, RunStatus, Scaling, Trial, Verdict, VerdictKind
from httpbench.report import render_terminal
from httpbench.report.tables.columns import columns
from httpbench.report.tables.groups import groups
from tests.factories import (
    SHARED,
    make_distribution,
    make_failed,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_rounds,
    make_run,
    make_trial,
    make_usage,
)


def shown(run: Run, trials: list[Trial], width: int = 200, *, color: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, force_terminal=color, color_system="standard" if color else None)
    console.print(render_terminal(run, trials, width=width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.mark.parametrize("width", [200, 120, 80])
def test_looks(width: int, snapshot: SnapshotAssertion) -> None:
    assert shown(*make_mixed_run(), width) == snapshot


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160, 200, 300])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(cell_len(line) for line in shown(*make_mixed_run(), width).splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_every_column_is_either_in_the_heading_or_named_as_left_out(width: int) -> None:
    run, trials = make_mixed_run()
    everything = [column.title for column in columns(groups(run, trials), run.table)]
    lines = shown(run, trials, width).splitlines()
    heading = next(line for line in lines if line.startswith("Language")).split()
    start = next(index for index, line in enumerate(lines) if line.startswith("· Not shown"))
    words = " ".join(line.strip() for line in lines[start : start + 4])
    left_out = words.removeprefix("· Not shown at this width: ").split(". Use a wider")[0].split(", ")
    assert sorted(heading + left_out) == sorted(everything)


def test_a_wide_terminal_leaves_nothing_out() -> None:
    assert "Not shown" not in shown(*make_mixed_run(), 240)


def test_nothing_is_said_by_colour_alone() -> None:
    run, trials = make_mixed_run()
    plain = shown(run, trials)
    colored = shown(run, trials, color=True)
    assert "\x1b[" in colored
    assert "\x1b[" not in plain
    for verdict in ("target", "generator", "idle", "invalid", "failed"):
        assert f" {verdict}" in plain


def test_a_missing_figure_is_blank() -> None:
    measurement = make_measurement(bytes_received=None, service_time_us=make_distribution(100, p99=None))
    trials = [make_trial(make_plan("a/a"), measurement=measurement), make_trial(make_plan("b/b"))]
    line = next(line for line in shown(make_run(trials), trials).splitlines() if line.startswith("a "))
    other = next(line for line in shown(make_run(trials), trials).splitlines() if line.startswith("b "))
    assert len(line.split()) == len(other.split()) - 2
    assert "None" not in line
    assert "nan" not in line.lower()
    assert "-1" not in line


def test_figures_of_invalid_rounds_are_struck_through_in_parentheses_with_a_reason_and_a_hint() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("0.50% of requests failed (timeout 7)",))
    trials = make_rounds("a/a", (123_456,), verdict=verdict)
    text = shown(make_run(trials), trials)
    assert "(123,456)" in text
    assert "0.50% of requests failed (timeout 7)" in text
    assert "hint: use fewer connections: try `-c 16`" in text
    assert "Measured in invalid rounds: not ranked and not compared." in text
    assert "\x1b[2;9m(123,456)" in shown(make_run(trials), trials, color=True)


def test_figures_of_invalid_rounds_are_below_those_that_count_and_not_ranked() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("0.50% of requests failed (timeout 7)",))
    fast = make_rounds("a/fast", (900_000,) * 3, verdict=verdict)
    trials = [*fast, *make_rounds("b/b", (300, 301, 302)), *make_rounds("c/c", (100, 101, 102))]
    text = shown(make_run(trials), trials)
    assert text.index("(900,000)") > text.index(" 301 ")
    assert "1 a/fast" not in text


def test_one_round_is_not_called_a_median() -> None:
    trials = make_rounds("a/a", (1000,))
    text = shown(make_run(trials), trials)
    assert "1 round ·" in text
    assert "median" not in text
    assert "±" not in text


def test_shared_cores_are_in_the_heading_and_explained() -> None:
    trials = make_rounds("a/a", (1000,), plan={"cores": SHARED})
    lines = shown(make_run(trials), trials).splitlines()
    assert lines[0].endswith("· shared cores")
    assert any(line.startswith("· Shared cores:") for line in lines)


def test_memory_has_one_meaning_in_all_rows() -> None:
    trials = [make_trial(make_plan("a/a")), make_trial(make_plan("b/b"), target_usage=make_usage(pss_bytes_peak=None))]
    text = shown(make_run(trials), trials)
    assert text.count(" 12.0 ") == 2
    assert "shared pages count once per process" in text


def test_what_a_log_says_is_not_taken_for_markup() -> None:
    trials = [make_failed(make_plan("a/a"), "bad [red]reason[/red]", log_tail="[bold]tail[/bold]")]
    text = shown(make_run(trials), trials)
    assert "bad [red]reason[/red]" in text
    assert "│ [bold]tail[/bold]" in text


def test_an_escape_in_a_log_does_not_reach_the_terminal() -> None:
    trials = [make_failed(make_plan("a/a"), log_tail="\x1b[2Jgone")]
    assert "\x1b[2J" not in shown(make_run(trials), trials)


def test_an_interrupted_run_says_how_much_of_it_there_is() -> None:
    trials = make_rounds("a/a", (1000, 1001))
    run = make_run(trials, status=RunStatus.INTERRUPTED)
    assert "interrupted: 1 of 2 trials" in shown(run, trials[:1])


def test_a_run_without_trials_is_shown_without_a_table() -> None:
    run = make_run(make_rounds("a/a", (1,)), status=RunStatus.INTERRUPTED)
    assert "interrupted: 0 of 1 trial" in shown(run, [])


def test_an_open_loop_shows_response_times() -> None:
    load = make_plan().load.model_copy(update={"rate_rps": 1000})
    measurement = make_measurement(1000, service_time_us=make_distribution(100), response_time_us=make_distribution(5000))
    trials = [make_trial(make_plan("a/a", load=load, scaling=Scaling.MULTI), measurement=measurement)]
    text = shown(make_run(trials), trials)
    assert "offered 1,000 requests/s" in text
    assert " 5.000 " in text
    assert " 0.100 " not in text
