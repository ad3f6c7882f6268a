"""Tests of the records of whether a target was verified on this machine."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from httpbench.model import Build, Engine, Feature, Isolation, ProvenBuild, Scaling, Target
from httpbench.run.builds import build, durations
from httpbench.run.builds.prepare import Built
from httpbench.run.builds.proofs import is_verified_here, mark_verified, proof_of, sources_of, with_builds
from tests.factories import make_proof, make_target

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


def with_features(target: Target, *features: Feature) -> Target:
    commands = (("sh", "-c", "echo {features} > features"),)
    own = Build(commands=commands, features=(Feature.TLS, Feature.DATABASE))
    return target.model_copy(update={"build": own, "features": features})


def test_a_target_is_verified_once_its_builds_for_the_usual_workloads_are(target: Target) -> None:
    plain, database, tls = (with_features(target, *features) for features in ((), (Feature.DATABASE,), (Feature.TLS,)))
    for each in (plain, database, tls):
        build.build(each, Event())
    mark_verified(plain, BOTH, [])
    mark_verified(tls, BOTH, [])
    assert not is_verified_here(plain)
    mark_verified(database, BOTH, [])
    assert is_verified_here(plain)


def test_a_proof_has_the_builds_that_passed_last(target: Target) -> None:
    plain, database, tls = (with_features(target, *features) for features in ((), (Feature.DATABASE,), (Feature.TLS,)))
    durations.remember(tls, 61.27, is_first=True)
    proof = with_builds(make_proof("c/x/one"), [(plain, True), (tls, True), (database, True)])
    assert proof.builds == {
        "tls": ProvenBuild(sources=sources_of(tls), build_s=61.3),
        "database": ProvenBuild(sources=sources_of(database)),
    }
    assert with_builds(proof, [(plain, False), (tls, False)]).builds.keys() == {"database"}


def test_a_proof_keeps_the_duration_of_a_build_that_was_not_repeated(target: Target) -> None:
    tls = with_features(target, Feature.TLS)
    before = make_proof("c/x/one", builds={"tls": ProvenBuild(sources="0" * 12, build_s=9)})
    assert with_builds(before, [(tls, True)]).builds == {"tls": ProvenBuild(sources=sources_of(tls), build_s=9)}


def test_a_proof_has_the_duration_of_the_first_build(target: Target) -> None:
    assert proof_of(target, BOTH, Built({}, {}, {})).build_s is None  # it was built without prepare()
    durations.remember(target, 0.01, is_first=True)
    assert proof_of(target, BOTH, Built({}, {}, {})).build_s == 0.1
    nothing = target.model_copy(update={"build": Build()})
    assert proof_of(nothing, BOTH, Built({}, {}, {})).build_s is None
