"""Notes below tables: each fact once."""

from __future__ import annotations

from httpbench.model import Verdict, VerdictKind
from httpbench.report.tables.groups import groups
from httpbench.report.tables.notes import legend, row_notes
from tests.factories import make_measurement, make_plan, make_run, make_trial


def test_notes_of_trials_are_said_once_with_ranges_and_a_count() -> None:
    noted = [("1,032 requests timed out.", "wrk does not check bodies."), ("9 requests timed out.", "wrk does not check bodies.")]
    trials = [make_trial(make_plan(round_=index), measurement=make_measurement(notes=notes)) for index, notes in enumerate(noted)]
    run = make_run(trials)
    lines = legend(groups(run, trials), run.table)
    assert "9 to 1,032 requests timed out (in 2 trials)." in lines
    assert lines.count("wrk does not check bodies.") == 1


def test_a_reason_of_ten_rounds_is_said_once_with_its_count() -> None:
    verdicts = [
        Verdict(kind=VerdictKind.INVALID, reasons=(f"0.{number}% of requests failed (timeout {number})",)) for number in range(17, 27)
    ]
    trials = [make_trial(make_plan(round_=index), verdict) for index, verdict in enumerate(verdicts)]
    (note,) = row_notes(groups(make_run(trials), trials)[0])
    assert note.reasons == ("0.17 to 0.26% of requests failed (timeout 17 to 26), in 10 rounds",)


def test_lines_of_a_log_that_repeat_are_shown_once() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("it died",))
    trials = [make_trial(verdict=invalid, log_tail="GET /\n" * 20 + "panic")]
    (note,) = row_notes(groups(make_run(trials), trials)[0])
    assert note.log == ("GET / (20 times)", "panic")
