"""Tests that deriving verdicts again from stored trials gives the same verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.model import Criteria, Observed, Reason, ReasonKind, Requests, Trial, Verdict, VerdictKind
from httpbench.stats.verdict import draw, judged
from httpbench.store import Store
from tests.factories import make_disturbed, make_measurement, make_plan, make_run, make_trial, make_usage

DIED = Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death="exit code 3")
LATE = Reason.of(ReasonKind.WRONG_AFTER_LOAD, problems=["responded with status 500"])
NOT_STARTED = Reason.of(ReasonKind.NOT_STARTED, message="no response")
LOST = Reason.of(ReasonKind.LOAD_HOST_LOST, message="the connection to load host load1 was lost")
WRONG = make_measurement(requests=Requests(completed=10_000, ok=9_000))

MADE = [
    (make_trial(), VerdictKind.TARGET),
    (make_trial(generator_usage=make_usage(1.0), target_usage=make_usage(0.5)), VerdictKind.GENERATOR),
    (make_trial(measurement=WRONG), VerdictKind.INVALID),
    (make_trial(measurement=WRONG, criteria=Criteria(failed_share_max=0.2)), VerdictKind.TARGET),
    (make_trial(incidents=(DIED,)), VerdictKind.INVALID),
    (make_trial(incidents=(LATE,)), VerdictKind.INVALID),
    (make_trial(measurement=None, incidents=(DIED,)), VerdictKind.INVALID),
    (make_trial(measurement=None, incidents=(NOT_STARTED,)), VerdictKind.FAILED),
    (make_trial(measurement=None, incidents=(LOST,)), VerdictKind.INVALID),
    (make_trial(target_usage=None, backend_usage=make_usage(0.99)), VerdictKind.BACKEND),
    (make_disturbed(), VerdictKind.DISTURBED),
    (make_disturbed(criteria=Criteria(accepts_disturbed=True)), VerdictKind.DISTURBED),
]


@pytest.mark.parametrize(("trial", "kind"), MADE)
def test_verdicts_depend_only_on_the_trial(trial: Trial, kind: VerdictKind) -> None:
    made = judged(trial.model_copy(update={"verdict": Verdict(kind=VerdictKind.NETWORK)}))
    assert made.verdict.kind is kind
    assert made.verdict.is_accepted == (kind is VerdictKind.DISTURBED and trial.criteria.accepts_disturbed)


def test_drawing_stored_verdicts_again_gives_the_same(tmp_path: Path) -> None:
    trials = [
        judged(trial).model_copy(update={"plan": make_plan(number=number, round_=number, cores=trial.plan.cores)})
        for number, (trial, _) in enumerate(MADE)
    ]
    run = make_run(trials)
    with Store(tmp_path / "results.db") as store:
        store.put(run, trials)
        _, stored = store.run(run.id)
    assert [trial.verdict for trial in stored] == [trial.verdict for trial in trials]
    assert [draw(trial) for trial in stored] == [trial.verdict for trial in stored]


def test_trials_of_earlier_versions_can_be_read() -> None:
    trial = make_trial(target_polling_threads=0.4)
    flat = trial.model_dump(mode="json", exclude={"observed", "criteria"}) | trial.observed.model_dump(mode="json", exclude={"incidents"})
    assert Trial.model_validate(flat) == trial
    assert Trial.model_validate(flat).observed == Observed(**dict(trial.observed))
