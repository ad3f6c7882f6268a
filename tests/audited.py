"""Runs of published results for tests of the audit. By default, their figures are correct."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from httpbench.model import Distribution, Load, Measurement, Requests, Run, Trial, Verdict, VerdictKind, Workload
from tests.factories import make_plan, make_run, make_trial

LANGUAGES = ("c", "go", "rust", "java")


def published_trial(
    rps: float = 64_000.0,
    target: str = "c/epoll/level",
    *,
    load: Load | None = None,
    workload: str = "plaintext",
    times: Mapping[str, float | None] | None = None,
    generator: str = "unknown",
    ok: int | None = None,
    completed: int | None = None,
    **changes: Any,
) -> Trial:
    """Return a trial without a verdict. Its mean latency follows from Little's law."""
    load = load or Load(connections=64, duration_s=15)
    completed = round(rps * 15) if completed is None else completed
    mean = load.connections * load.pipeline / rps * 1e6
    usual = {"min": mean / 4, "mean": mean, "p50": 0.9 * mean, "p75": 1.1 * mean, "p90": 1.5 * mean, "p99": 3 * mean, "max": 20 * mean}
    measurement = Measurement(
        generator=generator,
        generator_version="published",
        duration_s=15,
        requests=Requests(completed=completed, ok=completed if ok is None else ok),
        throughput_rps=rps,
        service_time_us=Distribution(count=completed, **{**usual, **(times or {})}),
        **changes,
    )
    plan = make_plan(target, load=load, workload=workload, load_generator=generator)
    return make_trial(plan, Verdict(kind=VerdictKind.UNKNOWN), measurement=measurement, target_usage=None, generator_usage=None)


def published_table(rates: Iterable[float], **changes: Any) -> list[Trial]:
    """Return a trial for each rate, of targets in several languages."""
    return [published_trial(rps, f"{LANGUAGES[index % 4]}/framework-{index}", **changes) for index, rps in enumerate(rates)]


def published_run(trials: list[Trial], project: str = "techempower", **workloads: Workload) -> Run:
    named = {trial.plan.workload: Workload(name=trial.plan.workload, description="a test") for trial in trials}
    return make_run(trials, published=project, workloads={**named, **workloads})
