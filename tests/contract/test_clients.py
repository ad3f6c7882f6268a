"""Tests that every client with an installed toolchain satisfies the contract."""

from __future__ import annotations

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target
from httpbench.report.words.checks import check_text
from httpbench.run.client.verify import verify_client
from tests.contract.cases import built, case, is_verified

CATALOG = catalog.load()
CLIENTS = [target for target in CATALOG.targets.values() if target.kind is Kind.CLIENT]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("target", [case(target) for target in CLIENTS if is_verified(target)])
def test_the_contract_is_kept(target: Target) -> None:
    workload = CATALOG.workload("client-small-1000")
    verified = verify_client(target, Scaling.SINGLE, workload, built(target), host.partition(host.read_topology(), Scaling.SINGLE))
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
