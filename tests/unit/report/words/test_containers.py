"""Tests of notes on containers: their limits, how httpbench checked the limits, and the counters of their control groups."""

from __future__ import annotations

from typing import Any

from httpbench.analysis.groups import groups
from httpbench.model import ContainerRun, Engine, Isolation, Run, Trial
from httpbench.report.words.notes import container_notes
from tests.factories import make_rounds, make_run, make_target, make_usage

HALF = Isolation(engine=Engine.DOCKER, cpus=0.5, memory_bytes=64 << 20)
NAME = "golang/net-http@docker"


def made(**changes: Any) -> tuple[Run, list[Trial]]:
    values: dict[str, Any] = {"engine_version": "20.10", "image_id": "sha256:1", "cpus": 0.5, "memory_bytes": 64 << 20, "cpuset": (0,)}
    container = ContainerRun(command="docker run web", **{**values, "burned_cpus": 0.5, **changes})
    usage = make_usage(0.5, throttled_share=0.98, throttled_s=4.9, group_bytes_peak=21_000_000)
    trials = make_rounds(NAME, [1000.0, 1000.0], container=container, target_usage=usage)
    return make_run(trials, {NAME: make_target("golang/net-http", id=NAME, isolation=HALF)}), trials


def notes(**changes: Any) -> list[str]:
    return [note for group in groups(*made(**changes)) for note in container_notes(group.rows)]


def test_limits_and_counts_appear_once_for_each_target() -> None:
    assert notes() == [
        "golang/net-http@docker: docker 20.10, --cpus 0.5, --memory 64m, host network; limits read, and tried by a burn (0.50 cores); "
        "its CPU limit stopped it in 98% of periods, 4.9 s in all (worst round); peak memory, page cache included, 21.0 of 67 MB."
    ]


def test_untested_limits_are_not_reported_as_tried() -> None:
    assert "limits read, but not tried, which requires root" in notes(burned_cpus=None)[0]


def test_a_disturbed_cpu_burn_does_not_count_as_a_test_of_limits() -> None:
    assert "the CPU limit was not tried, because a burn reached only 0.08 cores" in notes(burned_cpus=0.08)[0]


def test_processes_have_no_note() -> None:
    trials = make_rounds("c/nginx", [1000.0])
    assert [note for group in groups(make_run(trials), trials) for note in container_notes(group.rows)] == []
