"""Tests that verdicts derived again from a real run's stored observations equal the stored verdicts."""

from __future__ import annotations

import pytest

from httpbench.stats.verdict import draw
from httpbench.store import Store
from tests.harness import MISBEHAVING_SERVER, Harness

SERVER = f"{MISBEHAVING_SERVER} {{host}} {{port}}"


@pytest.mark.slow
def test_stored_observations_lead_to_the_stored_verdicts(harness: Harness) -> None:
    short = ("-c", "4", "-d", "200ms", "--warmup", "50ms", "--timeout", "5s", "--rounds", "1")
    harness.run("run", *short, f"{SERVER} good", f"{SERVER} turns-500", f"{SERVER} ignores-sigterm")
    with Store(harness.db) as store:
        _, trials = store.run("latest")
    assert len(trials) >= 3
    assert [draw(trial) for trial in trials] == [trial.verdict for trial in trials]
