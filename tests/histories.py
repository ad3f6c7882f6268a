"""Stores with one target in many runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from httpbench.model import RunStatus, Trial
from httpbench.store import Store
from tests.factories import make_environment, make_rounds, make_run

A = "c/a"
SEVERAL = 12


def keep(store: Store, number: int, trials: Sequence[Trial], commit: str | None = "aaaa", **changed: Any) -> None:
    """Store these trials as a run, one day after the run with the previous number."""
    trials = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": n})}) for n, trial in enumerate(trials)]
    values = {
        "id": f"run-{number:04}",
        "started_at": f"2026-01-{number % 28 + 1:02}T08:00:00.000Z",
        "environment": make_environment(git_commit=commit),
        **changed,
    }
    run = make_run(trials, **values)
    store.begin(run)
    for trial in trials:
        store.add(run.id, trial)
    store.finish(run.id, RunStatus.FINISHED, run.started_at)


def rounds(rps: float, **changed: Any) -> list[Trial]:
    return make_rounds(A, [rps, rps * 1.01, rps * 0.99], **changed)


def fall(store: Store, runs: int = 2 * SEVERAL, commits: tuple[str, str] = ("aaaa", "bbbb")) -> None:
    """Store runs whose throughput falls by 5% in the middle, where the commit changes too."""
    chance = np.random.default_rng(1)
    for number in range(runs):
        rps = 100_000 * (1 if number < runs // 2 else 0.95) * float(np.exp(chance.normal(0, 0.01)))
        keep(store, number, rounds(rps), commit=commits[number >= runs // 2])
