"""Tests of what determines a verdict in addition to the measurements, such as the counters of a container's control groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from httpbench import load
from httpbench.isolate import Stopped
from httpbench.model import Expectation, Load, Observed, Reason, ReasonKind, Usage, Verdict, VerdictKind, Workload
from httpbench.report.words.reasons import sentences
from httpbench.run.load.generator import UnderLoad
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.verdict import criteria_of, incidents_of
from httpbench.stats.verdict import draw
from tests.factories import make_measurement, make_plan, make_target, make_trial, make_usage

STOPPED = Stopped((), (), 1.0)


def verdict_of(usage: Usage, death: str | None = None, problems: Sequence[str] = (), stopped: Stopped = STOPPED) -> Verdict:
    incidents = incidents_of(UnderLoad(make_measurement(), Observed(), death), problems, stopped)
    return draw(make_trial(target_usage=usage, generator_usage=make_usage(0.3), incidents=incidents))


def test_an_out_of_memory_kill_makes_the_trial_invalid() -> None:
    verdict = verdict_of(make_usage(oom_kills=2))
    assert verdict.kind is VerdictKind.INVALID
    assert verdict.reasons[0] == Reason.of(ReasonKind.OUT_OF_MEMORY, kills=2)


def test_a_target_killed_for_memory_is_reported_once() -> None:
    death = "out of memory: the kernel killed it at its limit, --memory 64m"
    verdict = verdict_of(make_usage(oom_kills=1), death)
    said = [sentence for sentence in sentences(verdict) if "out of memory" in sentence]
    assert said == [f"the target died under the load ({death})"]


def test_a_target_stopped_by_its_cpu_limit_is_the_limit() -> None:
    verdict = verdict_of(make_usage(0.5, throttled_share=0.99, oom_kills=0))
    assert verdict.kind is VerdictKind.TARGET
    assert "the target's CPU quota stopped it in 99% of the quota's periods" in sentences(verdict)


def test_a_wrong_response_after_the_load_makes_the_trial_invalid() -> None:
    verdict = verdict_of(make_usage(0.99), problems=["responded with status 500"])
    assert (verdict.kind, sentences(verdict)) == (VerdictKind.INVALID, ["after the load the target responded with status 500"])


def test_a_bad_end_leaves_the_results_valid() -> None:
    verdict = verdict_of(make_usage(0.99), stopped=Stopped(("sh (pid 7)",), (), 1.0, log_bytes_dropped=12_000_000))
    assert verdict.kind is VerdictKind.TARGET
    assert [reason.kind for reason in verdict.reasons] == [ReasonKind.IGNORED_SIGTERM, ReasonKind.FILLED_LOG]


@pytest.mark.parametrize(("sent", "expected"), [(Load(), (142, "responses")), (Load(http2=True), (13, "bodies"))])
def test_headers_count_only_where_they_have_the_same_size_under_load(sent: Load, expected: tuple[int, str]) -> None:
    """HTTP/2 compresses headers that it has sent before."""
    inputs = TrialInputs(
        plan=make_plan(load=sent),
        started_at="2026-11-21T08:00:00.000Z",
        target=make_target(),
        workload=Workload(name="plaintext", description="", expect=Expectation(body="Hello, World!")),
        generator=load.get("h2load"),
        folder=Path("/"),
        cores=((0,),),
    )
    criteria = criteria_of(inputs, response_bytes=150)
    assert (criteria.response_bytes_min, criteria.response_part) == expected
