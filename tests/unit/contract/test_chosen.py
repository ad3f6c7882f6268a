"""Tests of the choice of targets that a test run verifies."""

from __future__ import annotations

import pytest

from httpbench import contract
from httpbench.model import Proof, Target
from httpbench.run import sources_of
from tests.contract import chosen
from tests.contract.chosen import PARTS, Choice, choose
from tests.factories import make_proof, make_target

TARGETS = [make_target(f"c/t{number:02}") for number in range(20)]


def proof(target: Target, **changes: object) -> Proof:
    facts: dict[str, object] = {"scaling": target.scaling, "sources": sources_of(target), "contract": contract.VERSION}
    return make_proof(target.id, **{**facts, **changes})


def choice(target: Target, found: Proof | None) -> Choice:
    """Return the choice for a target in a turn that isn't its own."""
    (only,) = choose([target], {} if found is None else {target.id: found}, everything=False, turn=1)
    return only


def test_every_unchanged_target_is_verified_once_in_eight_turns() -> None:
    proofs = {target.id: proof(target) for target in TARGETS}
    turns = [[each.id for each in choose(TARGETS, proofs, everything=False, turn=turn) if each.verifies] for turn in range(3, 3 + PARTS)]
    assert sorted(name for turn in turns for name in turn) == [target.id for target in TARGETS]
    assert max(map(len, turns)) - min(map(len, turns)) <= 1


def test_all_targets_are_verified_on_request() -> None:
    proofs = {target.id: proof(target) for target in TARGETS}
    assert all(each.verifies for each in choose(TARGETS, proofs, everything=True, turn=1))


def test_an_unchanged_target_is_taken_from_the_record() -> None:
    found = proof(TARGETS[0])
    assert choice(TARGETS[0], found) == Choice(TARGETS[0].id, False, f"verified {found.date.isoformat()} on {found.os}")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sources": "0" * 12}, "its sources changed"),
        ({"sources": None}, "its sources changed"),
        ({"contract": contract.VERSION - 1}, "the contract changed"),
        ({"contract": None}, "the contract changed"),
        ({"scaling": ()}, "not every scaling was verified"),
    ],
)
def test_a_target_is_verified_after_a_change(changes: dict[str, object], reason: str) -> None:
    assert choice(TARGETS[0], proof(TARGETS[0], **changes)) == Choice(TARGETS[0].id, True, reason)


def test_a_target_without_a_record_is_verified() -> None:
    assert choice(TARGETS[0], None) == Choice(TARGETS[0].id, True, "it has no record")


@pytest.mark.parametrize(("here", "verifies"), [({"gcc": "12.2.0"}, False), ({"gcc": "13.1.0"}, True), ({}, False)])
def test_another_toolchain_is_a_change_and_a_missing_one_is_not(
    here: dict[str, str], verifies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chosen, "toolchains", lambda targets: here)
    found = choice(TARGETS[0], proof(TARGETS[0], toolchain={"gcc": "12.2.0"}))
    assert found.verifies is verifies
    assert not verifies or found.reason == "gcc changed from 12.2.0 to 13.1.0"


def test_the_first_targets_are_always_verified() -> None:
    first = make_target("c/epoll/level")
    assert choice(first, proof(first)) == Choice("c/epoll/level", True, "every run verifies it")


def test_a_target_from_an_unreachable_registry_is_not_verified_unless_it_was_built() -> None:
    target = make_target("nim/httpbeast", language="nim", framework="httpbeast")
    assert choice(target, None) == Choice("nim/httpbeast", False, "its library comes from nimble's registry")
