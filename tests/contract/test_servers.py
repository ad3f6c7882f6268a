"""Tests that every server with an installed toolchain satisfies the contract, on one core and on all cores."""

from __future__ import annotations

import re
import subprocess

import pytest

from httpbench import catalog, host
from httpbench.model import Feature, Kind, Scaling, Target, Trust, Workload
from httpbench.probe import contradiction
from httpbench.report.words.checks import check_text
from httpbench.run import Transport, built_for, cores_beside_database, database_of
from httpbench.run.server.verify import verify
from httpbench.run.trial.inputs import Upstream
from tests.contract.cases import built, cases, is_verified

CATALOG = catalog.load()
SERVERS = [target for target in CATALOG.targets.values() if target.kind is Kind.SERVER]
WORKLOADS = [workload for workload in CATALOG.workloads.values() if workload.kind is Kind.SERVER and workload.name != "plaintext"]
FURTHER = [
    pytest.param(target, workload, id=f"{target.id}-{workload.name}", marks=pytest.mark.slow)
    for target in SERVERS
    for workload in WORKLOADS
    if workload.asked in target.paths and is_verified(target)
]
FEATURED = [target for target in SERVERS if target.build.features and is_verified(target)]
WITH_FEATURES = [pytest.param(target, id=target.id, marks=pytest.mark.slow) for target in FEATURED]
WITH_TLS = [pytest.param(target, id=target.id, marks=pytest.mark.slow) for target in FEATURED if Feature.TLS in target.build.features]
OPTIONAL = re.compile(r"rustls|aws-lc|openssl|\bring |postgres|pgx")
"""Pattern that matches TLS libraries and drivers of databases, as cargo and go name them."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("target", "scaling"), cases(SERVERS))
def test_the_contract_is_kept(target: Target, scaling: Scaling) -> None:
    folder = built(target)
    workload = CATALOG.workload("plaintext")
    verified = verify(target, scaling, workload, folder, host.partition(host.read_topology(), scaling))
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
    assert verified.probed is not None
    assert verified.probed.label is not None
    assert contradiction(target.category, verified.probed.label) is None


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("target", "workload"), FURTHER)
def test_responses_are_correct_for_every_declared_test(target: Target, workload: Workload) -> None:
    target, topology = built_for(target, workload), host.read_topology()
    cores = cores_beside_database(target, workload, topology, host.partition(topology, Scaling.SINGLE))
    database = database_of(target, workload)
    beside = None if database is None else Upstream(database, built(database), topology.groups(cores.database))
    verified = verify(target, Scaling.SINGLE, workload, built(target), cores, beside)
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("target", WITH_TLS)
def test_the_build_with_tls_serves_https(target: Target) -> None:
    workload = CATALOG.workload("plaintext")
    target = built_for(target, workload, tls=True)
    transport = Transport(Trust(any_certificate=True))
    cores = host.partition(host.read_topology(), Scaling.SINGLE)
    verified = verify(target, Scaling.SINGLE, workload, built(target), cores, None, transport)
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("target", WITH_FEATURES)
def test_a_build_for_plaintext_has_no_library_for_tls_or_databases(target: Target) -> None:
    folder = built(target)
    of_cargo = ("cargo", "tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none")
    of_go = ("go", "version", "-m", *target.build.artifacts)
    argv = of_cargo if target.language == "rust" else of_go
    libraries = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert libraries.splitlines()
    assert not OPTIONAL.findall(libraries)
