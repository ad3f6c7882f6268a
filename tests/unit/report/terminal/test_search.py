"""Tests of a search for the highest rate in terminals of several widths."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from httpbench.model import Bound, Load, Run, RunStatus, Search, ServiceLevel, Trial, Verdict, VerdictKind
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from tests.factories import make_distribution, make_measurement, make_plan, make_run, make_trial

LEVEL = ServiceLevel(bounds=(Bound(figure="p99_9", limit_us=5000),))
SEARCH = Search(level=LEVEL, duration_s=5.0, scout_duration_s=1.0)


def searched(search: Search = SEARCH) -> tuple[Run, list[Trial]]:
    """Make a search whose p99.9 rises with the rate until the service level is missed. The first byte takes half of each response."""
    idle = Verdict(kind=VerdictKind.IDLE)
    trials = []
    for number, rate in enumerate((None, 100_000, 101_000, 102_000)):
        times = make_distribution(500.0 * max(number, 1))
        first_byte = make_distribution(250.0 * max(number, 1))
        measurement = make_measurement(rate or 150_000.0, 5.0, response_time_us=times if rate else None, first_byte_us=first_byte)
        plan = make_plan("python/gunicorn-meinheld", number=number, load=Load(connections=64, duration_s=5.0, rate_rps=rate))
        trials += [make_trial(plan, idle, measurement=measurement)] * (3 if rate else 1)
    return make_run(trials, search=search), trials


def shown(width: int, view: View | None = None, search: Search = SEARCH) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(render_terminal(*searched(search), width=width, view=view))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("view", [None, View(wide=True), View(explain=True)])
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int, view: View | None) -> None:
    assert max(map(cell_len, shown(width, view))) <= width


def header(lines: list[str]) -> list[str]:
    return next(line for line in lines if "Held" in line).split()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_metrics_of_the_service_level_are_shown(width: int) -> None:
    assert header(shown(width)) == ["Requests/s", "Held", "p50", "p99", "p99.9"]


def test_wide_shows_every_metric_and_columns_selects_some() -> None:
    assert header(shown(200, View(wide=True))) == ["Requests/s", "Held", "mean", "p50", "p90", "p99", "p99.9", "max"]
    assert header(shown(200, View(names=("max", "held")))) == ["max", "Held"]
    assert header(shown(200, View(names=("ttfb-max", "held")))) == ["TTFB", "max", "Held"]


def test_a_service_level_of_the_first_byte_has_its_own_column_and_curve() -> None:
    level = ServiceLevel(bounds=(Bound(figure="ttfb_p99", limit_us=1500),))
    lines = shown(200, search=SEARCH.model_copy(update={"level": level}))
    assert header(lines) == ["Requests/s", "Held", "p50", "p99", "TTFB", "p99"]
    assert any("● TTFB p99, SLO held" in line and "· TTFB p50" in line for line in lines), lines
    assert any("SLO (TTFB p99 < 1.5 ms, at most 0.1% failed) holds at 101,000 requests/s" in line for line in lines), lines


def test_at_most_six_lines_follow_the_table() -> None:
    lines = shown(100)
    last_row = max(index for index, line in enumerate(lines) if line.strip().startswith(("100,000", "101,000", "102,000")))
    assert 1 <= len([line for line in lines[last_row + 1 :] if line]) <= 6


def test_a_running_search_shows_what_it_has_found_so_far() -> None:
    run, trials = searched()
    running = run.model_copy(update={"status": RunStatus.RUNNING})
    for count, found in ((1, "no rate is decided"), (4, "holds at 100,000 requests/s")):
        out = io.StringIO()
        Console(file=out, width=200, highlight=False).print(render_terminal(running, trials[:count], width=200))
        assert f"so far: {found}; the search is still running" in out.getvalue()
        assert "ended" not in out.getvalue()
