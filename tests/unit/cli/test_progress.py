"""Tests of the progress of a run as plain lines."""

from __future__ import annotations

from httpbench.cli.terminal.progress import Lines
from tests.factories import make_plan, make_trial


def test_each_line_but_the_last_shows_the_time_left() -> None:
    lines, now_s = list[str](), 1000.0
    shown = Lines(lines.append, lambda: now_s)
    trials = [make_trial(make_plan(number=number)) for number in range(2)]
    shown.trial_started(trials[0].plan, 0, 2, 90)
    now_s += 45
    shown.trial_ended(trials[0])
    shown.trial_started(trials[1].plan, 1, 2, 45)
    shown.trial_ended(trials[1])
    first, last = lines
    assert first.startswith("[1/2]") and first.endswith(" · 45s left")
    assert last.startswith("[2/2]") and "left" not in last


def test_a_search_shows_no_time_left() -> None:
    lines = list[str]()
    shown = Lines(lines.append)
    shown.trial_started(make_trial().plan, 0, None, 90)
    shown.trial_ended(make_trial())
    (line,) = lines
    assert line.startswith("[1]") and "left" not in line
