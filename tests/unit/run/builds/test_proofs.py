"""Tests of the records of whether a target was verified on this machine."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench.model import Build, Engine, Isolation, Scaling, Target
from httpbench.run.builds import build
from httpbench.run.builds.prepare import Built
from httpbench.run.builds.proofs import is_verified_here, mark_verified, proof_of, sources_of
from tests.factories import make_target

BOTH = (Scaling.SINGLE, Scaling.MULTI)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    """Return a target that is built but was never verified."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "server.c").write_text("one")
    wanted = make_target("c/x/one", folder=str(folder), scaling=BOTH, build=Build(commands=(("cp", "server.c", "server"),)))
    build.build(wanted, Event())
    return wanted


def test_a_built_target_is_not_yet_verified(target: Target) -> None:
    assert not is_verified_here(target)


def test_a_target_is_verified_once_each_scaling_has_passed(target: Target) -> None:
    assert mark_verified(target, [Scaling.SINGLE], []) == (Scaling.SINGLE,)
    assert not is_verified_here(target)
    assert mark_verified(target, [Scaling.MULTI], []) == BOTH
    assert is_verified_here(target)


def test_a_failure_removes_the_mark(target: Target) -> None:
    mark_verified(target, BOTH, [])
    assert mark_verified(target, [], [Scaling.MULTI]) == (Scaling.SINGLE,)
    assert not is_verified_here(target)


def test_changed_sources_are_not_verified(target: Target) -> None:
    mark_verified(target, BOTH, [])
    (Path(target.folder) / "server.c").write_text("two")
    assert not is_verified_here(target)
    build.build(target, Event())
    assert mark_verified(target, [Scaling.SINGLE], []) == (Scaling.SINGLE,)


def test_variants_that_share_a_build_have_separate_marks(target: Target) -> None:
    mark_verified(target, BOTH, [])
    assert not is_verified_here(target.model_copy(update={"id": "c/x/two", "variant": "two"}))


def test_a_container_does_not_use_the_mark_of_the_process(target: Target) -> None:
    mark_verified(target, BOTH, [])
    assert not is_verified_here(target.model_copy(update={"isolation": Isolation(engine=Engine.DOCKER)}))


def test_a_proof_contains_target_machine_and_scalings(target: Target) -> None:
    proof = proof_of(target, (Scaling.SINGLE,), Built({}, {}, {target.id: "1.2"}))
    assert (proof.id, proof.version, proof.scaling, proof.sources) == (target.id, "1.2", (Scaling.SINGLE,), sources_of(target))
    assert proof.os
    assert build.fingerprint_of(target).startswith(sources_of(target))
