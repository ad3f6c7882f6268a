"""Every server whose toolchain is here keeps the contract, on one core and on all."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench import catalog, host
from httpbench.model import Kind, Scaling, Target
from httpbench.probe import contradiction
from httpbench.run import State, state_of, verify
from httpbench.run.builds.build import build
from tests.contract.cases import case

# Their libraries come from registries that a machine which only tests need not reach.
FOREIGN_REGISTRY = {"dlang": "dub's registry", "elixir": "hex", "nim": "nimble's registry", "dotnet": "NuGet", "dart": "pub.dev"}

NO_LIBRARY = ("epoll", "std-net-curl")
"""Of these languages, what needs nothing beside the compiler."""

SERVERS = [target for target in catalog.load().targets.values() if target.kind is Kind.SERVER]
CASES = [case(target, scaling) for target in SERVERS for scaling in target.scaling]


def built(target: Target) -> Path:
    """Its build; a reason to skip where it cannot be had on this machine."""
    state = state_of(target)
    if target.language in FOREIGN_REGISTRY and target.framework not in NO_LIBRARY and state.state is not State.BUILT:
        pytest.skip(f"its library comes from {FOREIGN_REGISTRY[target.language]}; {state.fix}")
    assert state.state is not State.MISSING, f"requires {state.reason}; make test-all would install it: {state.fix}"
    return build(target, Event()).folder


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
