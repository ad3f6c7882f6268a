"""Tests that every proxy that can be built on this machine satisfies the contract, on one core and on all cores."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target
from httpbench.report.words.checks import check_text
from httpbench.run import KINDS, State
from httpbench.run.builds.build import build
from httpbench.run.builds.states import state_of
from httpbench.run.proxy.verify import verify_proxy
from httpbench.run.trial.inputs import Upstream
from tests.contract.cases import case

# The tests don't build these proxies.
NOT_BUILT_HERE = {
    "proxy:cpp/draft-http-tunnel": "is built by hand from its sources",  # it also loses bytes if the reader is slow: see its target.toml
    "proxy:rust/pingora": "takes several minutes to build",
}

CATALOG = catalog.load()
OF_KIND = KINDS[Kind.PROXY]
PROXIES = [target for target in CATALOG.targets.values() if target.kind is Kind.PROXY]
CASES = [case(target, scaling) for target in PROXIES for scaling in target.scaling]


def built(target: Target) -> Path:
    """Build the target and return the build's folder. Skip the test if the tests don't build the target and nobody else did."""
    state = state_of(target)
    if target.id in NOT_BUILT_HERE and state.state is not State.BUILT:
        pytest.skip(f"it {NOT_BUILT_HERE[target.id]}; {state.fix}")
    assert state.state is not State.MISSING, f"requires {state.reason}; make test-all installs it: {state.fix}"
    return build(target, Event()).folder


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("target", "scaling"), CASES)
def test_the_contract_is_kept(target: Target, scaling: Scaling) -> None:
    folder = built(target)
    workload = CATALOG.workload(OF_KIND.workload)
    cores = OF_KIND.partition(host.read_topology(), scaling, None)
    server = CATALOG.targets[workload.backend or ""]
    backend = Upstream(server, built(server), host.core_groups(cores.backend))
    verified = verify_proxy(target, scaling, workload, folder, cores, backend)
    assert verified.error is None, f"{verified.error}\n{verified.error.log_tail}"
    assert [f"{check.name}: {check_text(check)}" for check in verified.checks if not check.passed] == []
