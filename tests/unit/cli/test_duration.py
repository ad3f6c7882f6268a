"""Tests of the line that a run prints before its first trial."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.cli.terminal.duration import announcement
from httpbench.host import Topology
from httpbench.model import Bound, Load, Precision, Search, ServiceLevel
from httpbench.run import RunPlan, RunSpec
from tests.factories import make_plan, make_target

FIXED = Load(duration_s=1, warmup_s=0.5)
UNTIL_STEADY = Load(duration_s=10, warmup_s=1, warmup_max_s=10)
SEARCH = Search(
    level=ServiceLevel(bounds=(Bound(figure="p99", limit_us=10_000),), failed_share_max=0.001),
    duration_s=3,
    scout_duration_s=1,
    time_max_s=180,
)


def spec_of(load: Load, slices: int | None = 4, **changes: Any) -> RunSpec:
    targets = {name: make_target(name, category=None) for name in ("command/a", "command/b")}
    trials = tuple(make_plan(name, load=load, round_=number, slices=slices) for number in range(5) for name in targets)
    return RunSpec(plan=RunPlan(trials, {}), targets=targets, workloads={}, generators={}, topology=Topology(()), command=(), **changes)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (spec_of(FIXED), "10 trials, about 24s"),
        (spec_of(FIXED, retries=2), "10 trials, about 24s; longer if other programs disturb it"),
        (spec_of(UNTIL_STEADY, slices=40), "10 trials, about 2m 15s, up to 1m 15s more if every warm-up lasts its longest"),
        (
            spec_of(FIXED, precision=Precision(rounds_min=3, rounds_max=5, half_width=0.02)),
            "3 to 5 rounds until intervals are within ± 2.0%, at most 10 trials, about 15s to 24s",
        ),
        (
            spec_of(FIXED, slices=None, search=SEARCH),
            "a search of at most 3m 00s (--max-time), usually about 1m 07s",
        ),
    ],
    ids=["fixed", "repeats", "until steady", "precision", "search"],
)
def test_the_first_line_says_how_long_a_run_takes(spec: RunSpec, words: str) -> None:
    assert announcement(spec) == words
