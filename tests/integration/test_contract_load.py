"""Tests of the load that checks the contract."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench import catalog, host
from httpbench.model import Scaling
from httpbench.report.words.checks import check_text
from httpbench.run.builds.build import build
from httpbench.run.load import contract_load
from httpbench.run.server.verify import verify

TARGETS = Path(__file__).parents[1] / "targets"


@pytest.mark.slow
def test_responses_after_the_end_of_a_slice_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each response takes longer than a slice, so all 64 arrive after its end."""
    monkeypatch.setattr(contract_load, "SLICES_S", (0.05, 0.05))
    found = catalog.load([TARGETS])
    target = found.targets["test/misbehaving/answers-late"]
    cores = host.partition(host.read_topology(), Scaling.SINGLE)
    verified = verify(target, Scaling.SINGLE, found.workload("plaintext"), build(target, Event()).folder, cores)
    (check,) = [check for check in verified.checks if check.name.startswith("responds correctly to 10,000 requests")]
    assert check_text(check).startswith("only 128 responses")
