"""Tests that every proxy that can be built on this machine satisfies the contract, on one core and on all cores."""

from __future__ import annotations

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target
from httpbench.report.words.checks import check_text
from httpbench.run import KINDS
from httpbench.run.proxy.verify import verify_proxy
from httpbench.run.trial.inputs import Upstream
from tests.contract.cases import built, cases

CATALOG = catalog.load()
OF_KIND = KINDS[Kind.PROXY]
PROXIES = [target for target in CATALOG.targets.values() if target.kind is Kind.PROXY]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("target", "scaling"), cases(PROXIES))
def test_the_contract_is_kept(target: Target, scaling: Scaling) -> None:
    folder = built(target)
    workload = CATALOG.workload(OF_KIND.workload)
    cores = OF_KIND.partition(host.read_topology(), scaling, None)
    server = CATALOG.targets[workload.backend or ""]
    backend = Upstream(server, built(server), host.core_groups(cores.backend))
    verified = verify_proxy(target, scaling, workload, folder, cores, backend)
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
