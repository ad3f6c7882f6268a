"""Tests of disturbed trials in reports: a repeated trial counts once, and each program that disturbed it is listed once."""

from __future__ import annotations

import csv
import io
import json

from httpbench.analysis.compared import ranking
from httpbench.analysis.gates import gated
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Gate, Load, Trial, Verdict, VerdictKind
from httpbench.report.data.csv import render_csv
from httpbench.report.data.json import render_json
from httpbench.report.words.claims import claims
from httpbench.report.words.gates import gate_sentence
from httpbench.report.words.notes import disturbed_note, legend, row_notes
from httpbench.report.words.run import origin
from httpbench.stats.gates import Passage
from httpbench.stats.ranks import RankRange
from tests.factories import make_disturbed, make_plan, make_rounds, make_run, make_stranger, make_trial

FAST, SLOW = (100_000, 101_000, 100_500), (50_000, 50_500, 50_200)


def repeated(target: str, round_: int, rps: float, number: int = 90) -> list[Trial]:
    """Make a disturbed trial and its undisturbed repeat."""
    first = make_disturbed(make_plan(target, round_, number=number), rps=rps / 2)
    return [first, make_trial(make_plan(target, round_, number=number + 1, attempt=1), rps=rps)]


def two_rows(*, is_repeated: bool) -> list[Trial]:
    """Make three rounds of two targets in which the second round was disturbed."""
    trials = [*make_rounds("a/fast", FAST), *make_rounds("b/slow", SLOW)]
    numbered = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": number})}) for number, trial in enumerate(trials)]
    again = [*repeated("a/fast", 1, FAST[1], 10), *repeated("b/slow", 1, SLOW[1], 20)]
    return [trial for trial in numbered if trial.plan.round != 1] + [trial for trial in again if is_repeated or not trial.plan.attempt]


def table(trials: list[Trial]) -> Group:
    (found,) = groups(make_run(trials), trials)
    return found


def notes(trials: list[Trial]) -> str:
    run = make_run(trials)
    return "\n".join(legend(groups(run, trials), run.table))


def test_repeated_trials_give_the_same_results_and_ranks_as_undisturbed_trials() -> None:
    group = table(two_rows(is_repeated=True))
    assert (group.rounds, [row.summary.rounds_counting for row in group.rows]) == (3, [3, 3])
    assert [row.summary.throughput_rps.median for row in group.rows if row.summary.throughput_rps] == [100_500, 50_200]
    assert ranking(group) == {"a/fast": RankRange(1, 1), "b/slow": RankRange(2, 2)}
    assert [row.summary.verdict.kind for row in group.rows] == [VerdictKind.TARGET] * 2
    assert row_notes(group) == []


def test_the_brief_note_names_the_worst_disturber() -> None:
    run = two_rows(is_repeated=True)
    assert disturbed_note(table(run).rows) == "2 trials were disturbed and repeated, by spin (pid 4711)"
    assert disturbed_note(table(two_rows(is_repeated=False)).rows) == (
        "2 trials were disturbed in the last attempt and not counted, by spin (pid 4711)"
    )
    assert disturbed_note(table(make_rounds("a/fast", FAST)).rows) is None


def test_disturbers_of_repeated_trials_appear_once_with_a_count() -> None:
    said = notes(two_rows(is_repeated=True))
    assert "2 trials were disturbed and repeated, by spin (pid 4711), up to 0.50 of a core in 2." in said
    assert said.count("disturbed") == 1


def test_rows_with_too_few_undisturbed_rounds_are_noted_and_not_ranked() -> None:
    trials = two_rows(is_repeated=False)
    group = table(trials)
    assert [row.summary.rounds_counting for row in group.rows] == [2, 2]
    assert all(row.counts_partly for row in group.rows)
    assert (
        row_notes(group)[0].reasons[0].startswith("1 of 3 rounds disturbed: other programs took 0.50 of the target's core: spin (pid 4711)")
    )
    assert "2 trials were disturbed in the last attempt and do not count, by spin (pid 4711)" in notes(trials)
    assert claims(make_run(trials), group) == [
        "a/fast is not compared with b/slow: a/fast lost rounds (1 of 3 rounds disturbed: by other programs)"
    ]


def test_a_fully_disturbed_row_shows_its_measurements_and_a_hint() -> None:
    trials = [make_disturbed(make_plan("a/fast", index, number=index)) for index in range(3)]
    (row,) = table(trials).rows
    assert (row.summary.verdict.kind, row.counts) == (VerdictKind.DISTURBED, False)
    assert row.measured is not None
    assert row.measured.throughput_rps is not None
    said = notes(trials)
    assert "(…) Measured in disturbed rounds: not ranked and not compared." in said
    assert "`--retries 0` counts disturbed trials" in said


def test_accepted_trials_count_and_keep_their_verdict() -> None:
    accepted = [make_disturbed(make_plan("a/fast", index, number=index), rps=rps) for index, rps in enumerate(FAST)]
    trials = [trial.model_copy(update={"verdict": trial.verdict.model_copy(update={"is_accepted": True})}) for trial in accepted]
    (row,) = table(trials).rows
    assert (row.summary.verdict.kind, row.summary.rounds_counting) == (VerdictKind.DISTURBED, 3)
    assert "3 trials were disturbed but count because of `--retries 0`, by spin (pid 4711)" in notes(trials)


def test_invalid_takes_precedence_over_disturbed() -> None:
    invalid = make_trial(make_plan("a/fast", 1, number=1), Verdict(kind=VerdictKind.INVALID, reasons=("it died",)))
    (row,) = table([make_disturbed(make_plan("a/fast")), invalid]).rows
    assert row.summary.verdict.kind is VerdictKind.INVALID


def test_the_largest_disturbers_are_listed_and_the_rest_counted() -> None:
    trials = [make_disturbed(make_plan("a/a", index, number=index), make_stranger(f"cc{index}", pid=index)) for index in range(9)]
    assert "cc4 (pid 4), up to 0.50 of a core in 1; 4 more." in notes(trials)


def test_gates_use_undisturbed_trials() -> None:
    gate = Gate(figure="rps", side="<", change=-0.03)
    for is_repeated, passage in ((True, Passage.BREACHED), (False, Passage.UNKNOWN)):
        trials = two_rows(is_repeated=is_repeated)
        (judged,) = gated(make_run(trials, baseline="a/fast", gates=(gate,)), trials)
        assert judged.passage is passage, gate_sentence(judged)


def test_all_attempts_are_exported() -> None:
    trials = two_rows(is_repeated=True)
    document = json.loads(render_json(make_run(trials), trials))
    rounds = document["results"][0]["rounds"]
    assert [(each["round"], each["attempt"], each["verdict"]["kind"]) for each in rounds] == [
        (0, 0, "target"),
        (1, 0, "disturbed"),
        (1, 1, "target"),
        (2, 0, "target"),
    ]
    assert rounds[1]["others"]["strangers"][0]["name"] == "spin"
    lines = list(csv.DictReader(io.StringIO(render_csv(make_run(trials), trials))))
    assert len(lines) == len(trials)
    assert sum(line["attempt"] == "1" for line in lines) == 2, "the attempt is a column"


def test_repeats_do_not_count_as_planned_trials() -> None:
    trials = two_rows(is_repeated=True)
    planned = [trial for trial in trials if not trial.plan.attempt]
    run = make_run(planned)
    assert not any("of 6 trials" in line for line in origin(run, trials))
    assert any("finished: 5 of 6 trials" in line for line in origin(run, [trial for trial in trials if trial is not planned[0]]))


def test_loads_with_a_rate_are_compared_in_undisturbed_rounds() -> None:
    rate = Load(rate_rps=100_000)
    trials = [make_disturbed(make_plan("a/a", index, number=index, load=rate)) for index in range(3)]
    (row,) = table(trials).rows
    assert row.summary.response_time_us is None
