"""Tests that every server with an installed toolchain satisfies the contract, on one core and on all cores."""

from __future__ import annotations

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target, Workload
from httpbench.probe import contradiction
from httpbench.report.words.checks import check_text
from httpbench.run import cores_beside_database, database_of
from httpbench.run.server.verify import verify
from httpbench.run.trial.inputs import Upstream
from tests.contract.cases import built, case

SERVERS = [target for target in catalog.load().targets.values() if target.kind is Kind.SERVER]
WORKLOADS = [workload for workload in catalog.load().workloads.values() if workload.kind is Kind.SERVER and workload.name != "plaintext"]
FURTHER = [
    pytest.param(target, workload, id=f"{target.id}-{workload.name}", marks=pytest.mark.slow)
    for target in SERVERS
    for workload in WORKLOADS
    if workload.asked in target.paths
]
CASES = [case(target, scaling) for target in SERVERS for scaling in target.scaling]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("target", "scaling"), CASES)
def test_the_contract_is_kept(target: Target, scaling: Scaling) -> None:
    folder = built(target)
    workload = catalog.load().workload("plaintext")
    verified = verify(target, scaling, workload, folder, host.partition(host.read_topology(), scaling))
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
    assert verified.probed is not None
    assert verified.probed.label is not None
    assert contradiction(target.category, verified.probed.label) is None


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("target", "workload"), FURTHER)
def test_responses_are_correct_for_every_declared_test(target: Target, workload: Workload) -> None:
    topology = host.read_topology()
    cores = cores_beside_database(target, workload, topology, host.partition(topology, Scaling.SINGLE))
    database = database_of(target, workload)
    beside = None if database is None else Upstream(database, built(database), topology.groups(cores.database))
    verified = verify(target, Scaling.SINGLE, workload, built(target), cores, beside)
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
