"""Every server whose toolchain is here keeps the contract, on one core and on all."""

from __future__ import annotations

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target
from httpbench.probe import contradiction
from httpbench.run import verify
from tests.contract.cases import built, case

SERVERS = [target for target in catalog.load().targets.values() if target.kind is Kind.SERVER]
CASES = [case(target, scaling) for target in SERVERS for scaling in target.scaling]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("target", "scaling"), CASES)
def test_the_contract_is_kept(target: Target, scaling: Scaling) -> None:
    folder = built(target)
    workload = catalog.load().workload("plaintext")
    verified = verify(target, scaling, workload, folder, host.partition(host.read_topology(), scaling))
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check.text}" for check in verified.checks if not check.passed] == []
    assert verified.probed is not None
    assert verified.probed.label is not None
    assert contradiction(target.category, verified.probed.label) is None
