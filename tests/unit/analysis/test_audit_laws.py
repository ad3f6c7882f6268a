"""Tests that the audit says nothing about correct results: simulated tables, and the results of this repository."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import pytest

from httpbench.analysis.audit import audit
from httpbench.analysis.audit_rules import AuditRule
from httpbench.catalog import load
from httpbench.catalog.workload_names import find
from httpbench.model import Load, Trial
from tests.audited import LANGUAGES, published_run, published_trial
from tests.committed import FOLDERS, results

MIX = find(load().workloads, "web-frameworks-index:1,web-frameworks-user:1,web-frameworks-create:1")
TABLES = 100
FALSE_SHARE_MAX = 0.01
SHARES = {"min": 0.0001, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "max": 0.99999}


def digits(value: float, count: int) -> float:
    """Round as published results are rounded."""
    return float(f"{value:.{count}g}")


def measured_once(chance: random.Random, rps: float, load: Load) -> tuple[float, dict[str, float]]:
    """Return the throughput of a closed loop and its log-normal latencies, whose mean follows from Little's law."""
    spread = chance.uniform(0.05, 1.5)
    mean_us = load.connections * load.pipeline / rps * 1e6 * chance.uniform(0.9, 1.0)  # the load generator takes time, too
    median_us = mean_us / math.exp(spread**2 / 2)
    times = {name: median_us * math.exp(spread * NormalDist().inv_cdf(share)) for name, share in SHARES.items()}
    return rps, {**times, "mean": mean_us}


def honest_row(chance: random.Random, target: str, rps: float, load: Load, hidden: set[str], averages: int) -> Trial:
    """Return a row with at most 0.1% errors. With ``averages``, its figures are the averages of several loads of different speed."""
    parts = [measured_once(chance, rps * chance.uniform(0.3, 1.5), load) for _ in range(averages)] or [measured_once(chance, rps, load)]
    found = sum(part[0] for part in parts) / len(parts)
    kept = chance.choice((3, 4, 9))
    times: dict[str, float | None] = {name: digits(sum(part[1][name] for part in parts) / len(parts), kept) for name in parts[0][1]}
    times.update(dict.fromkeys(hidden))
    completed = round(found * 15 * chance.uniform(1.0, 1.04))
    failed = chance.choice((0, 0, completed // 2000))
    errors = {"unexpected_status": failed}
    workload = MIX.name if averages else "plaintext"
    return published_trial(
        digits(found, kept), target, load=load, workload=workload, times=times, ok=completed - failed, completed=completed, errors=errors
    )


def honest_table(chance: random.Random) -> list[Trial]:
    """Return a table of 3 to 300 targets, whose speeds are log-normal."""
    rows, spread = chance.choice((3, 10, 10, 30, 30, 100, 300)), chance.uniform(0.1, 1.5)
    hidden = set(chance.choice(([], ["mean"], ["mean", "max", "min"], ["p50", "p75", "p90", "p99"], ["min", "p75", "p90", "max"])))
    load = Load(connections=chance.choice((1, 64, 512)), pipeline=chance.choice((1, 1, 16)), duration_s=15)
    averages = chance.choice((0, 0, 3))
    return [
        honest_row(chance, f"{LANGUAGES[place % 4]}/target-{place}", 1e5 * math.exp(chance.gauss(0, spread)), load, hidden, averages)
        for place in range(rows)
    ]


def test_each_rule_is_silent_on_99_of_100_correct_tables() -> None:
    chance, fired = random.Random(20261127), Counter[AuditRule]()
    for _ in range(TABLES):
        trials = honest_table(chance)
        run = published_run(trials).model_copy(update={"workloads": {MIX.name: MIX, "plaintext": MIX.parts[0].workload}})
        fired.update(set(audit(run, trials).rules))
    assert all(count <= FALSE_SHARE_MAX * TABLES for count in fired.values()), fired


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_audit_says_nothing_about_our_own_results(folder: Path) -> None:
    run, trials = results(folder)
    assert not audit(run, trials).findings
