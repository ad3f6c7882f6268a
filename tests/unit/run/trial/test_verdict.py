"""What a container's control groups say goes into the verdict."""

from __future__ import annotations

from typing import cast

from httpbench.isolate import Stopped
from httpbench.load import get
from httpbench.model import Network, Others, Reason, ReasonKind, Usage, VerdictKind, Workload
from httpbench.report.words.reasons import sentences
from httpbench.run.load.generator import UnderLoad
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.verdict import verdict_of
from tests.factories import make_measurement, make_plan, make_target, make_usage

STOPPED = Stopped((), (), 1.0)


def inputs() -> TrialInputs:
    workload = Workload(name="plaintext", description="x")
    return TrialInputs(make_plan(), "now", make_target(), workload, get("native"), cast("object", None), ())  # type: ignore[arg-type]


def under_load(usage: Usage, death: str | None = None) -> UnderLoad:
    return UnderLoad(make_measurement(), usage, make_usage(0.3), None, (), Others(), Network(), death)


def test_a_process_that_the_kernel_killed_for_memory_makes_the_figures_invalid() -> None:
    verdict = verdict_of(inputs(), under_load(make_usage(oom_kills=2)), None, (), STOPPED)
    assert verdict.kind is VerdictKind.INVALID
    assert verdict.reasons[0] == Reason.of(ReasonKind.OUT_OF_MEMORY, kills=2)


def test_a_target_that_died_of_it_is_named_once() -> None:
    death = "out of memory: the kernel killed it at its limit, --memory 64m"
    verdict = verdict_of(inputs(), under_load(make_usage(oom_kills=1), death), None, (), STOPPED)
    said = [sentence for sentence in sentences(verdict) if "out of memory" in sentence]
    assert said == [f"the target died under the load ({death})"]


def test_a_target_that_its_cpu_limit_stopped_is_the_limit() -> None:
    verdict = verdict_of(inputs(), under_load(make_usage(0.5, throttled_share=0.99, oom_kills=0)), None, (), STOPPED)
    assert verdict.kind is VerdictKind.TARGET
    assert "the target's CPU quota stopped it in 99% of the quota's periods" in sentences(verdict)
