"""Tests of the suggestions of what to do about invalid rounds."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Learned, Load, Reason, ReasonKind, SampledBodies, Trial, Verdict, VerdictKind
from httpbench.report.words.notes import next_step_text
from httpbench.stats.next_step import next_step as step_of
from tests.factories import make_measurement, make_plan, make_rounds, make_trial

INVALID = Verdict(kind=VerdictKind.INVALID, reasons=(Reason.of(ReasonKind.REQUESTS_FAILED, share=0.0064, limit_share=0.001, errors={}),))


def next_step(trials: list[Trial]) -> str | None:
    """Return the next step in words."""
    step = step_of(trials)
    return next_step_text(step) if step else None


def invalid(errors: dict[str, int], load: Load | None = None, **changes: Any) -> Trial:
    measurement = make_measurement(400.0, errors=errors)
    return make_trial(make_plan(load=load or Load(connections=64)), INVALID, measurement=measurement, **changes)


def test_a_short_accept_queue_means_fewer_connections() -> None:
    assert next_step([invalid({"connect timeout": 12, "timeout": 77}, accept_queue=5)]) == (
        "the server accepts 5 connections at a time: try `-c 5`"
    )


def test_a_sufficient_accept_queue_is_not_blamed() -> None:
    step = next_step([invalid({"timeout": 77}, accept_queue=4096)])
    assert step == "some responses take longer than 2 s: try `--timeout 10s`"


def test_a_missed_rate_suggests_a_lower_one() -> None:
    assert next_step([invalid({}, Load(connections=64, rate_rps=1000))]) == "offer less: try `--rate 360`"


def test_a_changing_learned_response_suggests_stating_it() -> None:
    learned = Learned(status=200, body_bytes=5, body_sha256="0" * 64)
    step = next_step([invalid({"unexpected_body": 3}, learned=learned)])
    assert step == "if the response may change, state what is correct: `--expect-status 200`"


def test_a_wrong_built_in_target_suggests_verify() -> None:
    assert next_step([invalid({"unexpected_status": 3})]) == "`httpbench verify c/epoll/level` shows what is wrong"


def test_a_dead_target_suggests_reading_its_output() -> None:
    died = Verdict(kind=VerdictKind.INVALID, reasons=(Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death="exit code 3"),))
    assert next_step([make_trial(verdict=died)]) == "its last lines of output are below; try `-c 1`"


@pytest.mark.parametrize(
    ("connections", "step"), [(64, "use fewer connections: try `-c 16`"), (1, "give it more time: try `--timeout 10s`")]
)
def test_there_is_always_a_next_step(connections: int, step: str) -> None:
    assert next_step([invalid({}, Load(connections=connections))]) == step


def test_wrong_responses_count_even_without_errors() -> None:
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=(Reason.of(ReasonKind.WRONG_RESPONSES, wrong=1, completed=10, errors={}),))
    assert next_step([make_trial(verdict=wrong)]) == "`httpbench verify c/epoll/level` shows what is wrong"


def test_wrong_sampled_bodies_count_as_wrong_responses() -> None:
    sampled = SampledBodies(checked=19, wrong=0, problems=("db: 19 rows have the same id, 7",))
    trial = make_trial(verdict=INVALID, measurement=make_measurement(sampled_bodies=sampled))
    assert next_step([trial]) == "`httpbench verify c/epoll/level` shows what is wrong"


def test_a_row_with_a_valid_round_has_no_next_step() -> None:
    assert next_step([*make_rounds("c/nginx", (1000,)), invalid({"timeout": 3})]) is None
