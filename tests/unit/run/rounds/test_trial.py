"""Tests that errors during a trial become a verdict with the reason."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import cast

import pytest

from httpbench import load
from httpbench.errors import HttpbenchError, LimitError, LoadError, LostHostError
from httpbench.model import Kind, VerdictKind, Workload
from httpbench.report.words.reasons import sentence
from httpbench.run.observer import Observer
from httpbench.run.rounds import trial
from httpbench.run.rounds.trial import make_trial
from httpbench.run.trial.inputs import TrialInputs
from tests.factories import APART, make_plan, make_target


class Fails:
    """A kind of target that makes every trial fail."""

    def __init__(self, error: Exception):
        self._error = error

    def trial(self, *_: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (LostHostError("the connection to load host load1 was lost: it ended"), VerdictKind.INVALID),
        (LimitError("a limit is not in force"), VerdictKind.INVALID),
        (LoadError("wrk ended with exit code 1"), VerdictKind.FAILED),
        (OSError(28, "No space left on device"), VerdictKind.FAILED),
    ],
)
def test_an_error_becomes_a_verdict_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, error: HttpbenchError | OSError, kind: VerdictKind
) -> None:
    monkeypatch.setattr(trial, "KINDS", MappingProxyType({Kind.SERVER: Fails(error)}))
    inputs = TrialInputs(
        plan=make_plan(cores=APART.model_copy(update={"harness": (0,)})),
        started_at="2026-11-21T08:00:00.000Z",
        target=make_target(),
        workload=Workload(name="plaintext", description=""),
        generator=load.get("native"),
        folder=Path("/"),
        cores=((0,),),
    )
    verdict = make_trial(inputs, cast("Observer", None)).verdict
    assert verdict.kind is kind
    assert (error.message if isinstance(error, HttpbenchError) else "No space left on device") in sentence(verdict.reasons[0])
