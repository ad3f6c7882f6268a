"""Tests of the live area of a run, as shown by a terminal."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.live import Live

from httpbench.cli.terminal.live_area import LiveArea, sparkline
from httpbench.cli.terminal.progress import Lines, outcome
from httpbench.cli.terminal.safe_console import SafeConsole
from httpbench.load import Phase, Progress, SliceReport
from httpbench.model import Feature, Load, Step, Verdict, VerdictKind
from httpbench.run import Stage
from httpbench.sample import Current
from httpbench.stats.search import Bounds
from tests.factories import make_plan, make_target, make_trial

PLAN = make_plan("python/gunicorn-meinheld", round_=1, load=Load(connections=64))
WIDTHS = [80, 100, 200]


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def measuring(width: int, rates: int = 90) -> list[str]:
    """Return the lines of an area halfway through a run."""
    clock = Clock()
    area = make_area(clock)
    area._last = "last: c/nginx: 251,002 requests/s"
    area.trial_started(make_plan("c/nginx"), 0, 36, 200)
    clock.now += 100
    area.trial_started(PLAN, 18, 36, 110)
    area.stage(Stage.MEASURE)
    for number in range(rates):
        area.progress(Progress(Phase.MEASURE, number, 200_000 + 1000 * (number % 50), 150.0, 609.0), lambda: Current(0.62, 9_000_000, 0.4))
    clock.now += 10
    return lines(area, width)


def make_area(now: Callable[[], float] = time.monotonic) -> LiveArea:
    return LiveArea(Console(file=io.StringIO(), force_terminal=True, width=80), now)


def lines(area: LiveArea, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(area)
    return [line.rstrip() for line in captured.get().splitlines()]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_area_shows_progress_remaining_time_and_the_targets_activity(width: int) -> None:
    overall, trial, figures, last = measuring(width)
    assert overall.endswith("18/36 trials · 1m 40s left")
    assert overall.startswith("━━━━━")
    assert trial == "python/gunicorn-meinheld · single, 64 connections · round 2 · measuring 10.0 s"
    assert figures.startswith("239,000/s ")
    assert figures.endswith(" p99 0.609 ms · target 62% CPU (throttled 40%), 9 MB")
    assert last == "last: c/nginx: 251,002 requests/s"


@pytest.mark.parametrize("width", [40, *WIDTHS])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, measuring(width))) <= width


def test_a_wider_terminal_shows_a_longer_history() -> None:
    sparks = [sum(character in "▁▂▃▄▅▆▇█" for character in measuring(width)[2]) for width in WIDTHS]
    assert sparks == sorted(sparks)
    assert 8 <= sparks[0] < sparks[-1] <= 60


def test_the_usage_of_a_target_is_read_only_when_it_is_drawn() -> None:
    reads: list[int] = []

    def current() -> Current:
        reads.append(1)
        return Current(0.5, 30_000_000)

    area = make_area(Clock())
    area.trial_started(PLAN, 0, 1, 10)
    for number in range(50):
        area.progress(Progress(Phase.MEASURE, number, 1000.0), current)
    assert reads == []
    lines(area, 80)
    assert reads == [1]


def test_nothing_is_read_after_the_measurement() -> None:
    def current() -> Current:
        raise AssertionError

    area = make_area(Clock())
    area.trial_started(PLAN, 0, 1, 10)
    area.progress(Progress(Phase.MEASURE, 1.0, 1000.0), current)
    area.progress(Progress(Phase.DONE, 1.0), current)
    assert "measured" in "\n".join(lines(area, 80))
    area.progress(Progress(Phase.MEASURE, 1.0, 1000.0), current)
    area.stage(Stage.STOP)
    assert "stopping" in "\n".join(lines(area, 80))


def test_a_generator_without_progress_still_has_a_phase_and_a_time() -> None:
    clock = Clock()
    area = make_area(clock)
    area.trial_started(PLAN, 0, 2, 20)
    area.stage(Stage.MEASURE)
    clock.now += 3
    assert "measuring 3.0 s" in lines(area, 80)[1]
    assert lines(area, 80)[0].endswith("0/2 trials · 17s left")


def test_a_search_has_no_known_end() -> None:
    area = make_area(Clock())
    area.trial_started(PLAN, 11, None, 6)
    assert lines(area, 80)[0] == "trial 12"


def test_a_build_is_shown_while_it_runs() -> None:
    clock = Clock()
    live = make_area(clock)
    hyper = make_target("rust/hyper", features=(Feature.TLS,))
    live.build_started(hyper, 45.2)
    clock.now += 3
    live.build_started(make_target("c/nginx"), None)
    assert lines(live, 80) == ["building rust/hyper (tls) for 3 s, usually 45 s; c/nginx for 0 s …"]
    live.build_ended(hyper, 40.0, None)
    live.build_ended(make_target("c/nginx"), 3.0, None)
    assert lines(live, 80) == []


def test_a_line_says_how_long_a_build_usually_takes() -> None:
    said: list[str] = []
    log = Lines(said.append)
    for usual_s in (45.2, 1.0, None):
        log.build_started(make_target("rust/hyper"), usual_s)
    log.build_ended(make_target("rust/hyper", features=(Feature.TLS,)), 40.0, None)
    assert said == [
        "building rust/hyper, usually 45 s …",
        "building rust/hyper …",
        "building rust/hyper …",
        "built rust/hyper (tls) in 40 s",
    ]


def test_only_trials_with_a_problem_leave_a_line() -> None:
    out = io.StringIO()
    console = SafeConsole(file=out, force_terminal=True, width=100, color_system=None)
    live = LiveArea(console)
    with Live(live, console=console, transient=True):
        live.trial_started(PLAN, 0, 2, 20)
        live.trial_ended(make_trial(PLAN))
        live.trial_started(PLAN, 1, 2, 10)
        live.trial_ended(make_trial(PLAN, Verdict(kind=VerdictKind.INVALID, reasons=("7 responses were wrong",))))
    assert "[2/2] python/gunicorn-meinheld single, 64 connections, round 2: invalid: 7 responses were wrong" in out.getvalue()
    assert "[1/2]" not in out.getvalue()


def test_a_sparkline_starts_at_zero() -> None:
    assert sparkline([0, 50, 100]) == "▁▅█"
    assert sparkline([99, 100]) == "██"
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"


def test_targets_that_take_turns_show_their_own_slices() -> None:
    clock = Clock()
    area = make_area(clock)
    first, second = (make_plan(name, number=number) for number, name in enumerate(("c/nginx", "rust/hyper")))
    for plan in (first, second):
        area.trial_started(plan, plan.number, 2, 20)
    area.turn(first, 1, 8, None)
    assert lines(area, 80)[1:] == ["c/nginx · single, 64 connections · round 1 · slice 1/8 0.0 s", ""]
    area.turn(second, 1, 8, None)
    area.turn(first, 2, 8, slice_report(200_000))
    area.turn(second, 2, 8, slice_report(50_000))
    area.turn(first, 3, 8, slice_report(100_000))
    clock.now += 0.1
    assert lines(area, 80)[1:] == ["c/nginx · single, 64 connections · round 1 · slice 3/8 0.1 s", "100,000/s █▅ p99 0.609 ms"]


def slice_report(throughput_rps: float) -> SliceReport:
    return SliceReport(0.25, round(throughput_rps / 4), 100, throughput_rps, 500.0, 150.0, 609.0, 2000.0)


def test_a_rising_rate_shows_its_current_step() -> None:
    load = Load(connections=8, duration_s=12.0, rate_from_rps=10_000, rate_rps=30_000, rate_step_rps=10_000, step_s=4.0)
    area = make_area(Clock())
    area.trial_started(make_plan("c/a", load=load), 0, 1, 10)
    assert "10,000 to 30,000 requests/s offered" in lines(area, 120)[1]
    area.progress(Progress(Phase.MEASURE, 5.0, 20_000.0))
    assert "step 2/3, 20,000 requests/s offered" in lines(area, 120)[1]


def test_the_outcome_of_a_rising_rate_is_that_of_its_last_step() -> None:
    trial = make_trial(rps=20_000.0)
    measured = trial.measurement
    assert measured is not None and measured.times_us is not None
    times = measured.times_us
    steps = tuple(
        Step(rate_rps=rate, start_s=at * 4.0, duration_s=4.0, completed=4 * rate, errors=0, response_time_us=times)
        for at, rate in enumerate((10_000, 30_000))
    )
    rising = trial.model_copy(update={"measurement": measured.model_copy(update={"steps": steps})})
    assert outcome(trial).startswith("20,000 requests/s")
    assert outcome(rising).startswith("30,000 requests/s")


def test_a_search_shows_its_interval_and_the_time_left() -> None:
    area = make_area(Clock())
    area.searching(Bounds(9000, None), 200, 130.0)
    area.trial_started(PLAN, 6, None, 10)
    assert lines(area, 120)[0] == "trial 7 of at most 200 · holds at 9,000, at most 2m 10s left"
