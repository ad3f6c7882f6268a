"""Records of verified targets: a mark in the build folder on this machine, or a proof that can be stored in the project."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

from httpbench import contract, host
from httpbench.model import Frozen, Proof, ProvenBuild, ProxyOutcome, Scaling, Target
from httpbench.paths import root
from httpbench.run.builds import build, durations
from httpbench.run.builds.features import usual_builds
from httpbench.run.builds.prepare import Built, toolchains

DIGITS = 12
"""Number of digits of a fingerprint in a record, which is enough to distinguish different sources."""


class Mark(Frozen):
    """The scalings that were verified on this machine."""

    fingerprint: str
    scaling: tuple[Scaling, ...]


def sources_of(target: Target) -> str:
    """Return the beginning of the fingerprint of a target's sources and build commands, with its features."""
    return build.fingerprint_of(target)[:DIGITS]


def is_verified_here(target: Target) -> bool:
    """Return whether the target has passed verification in all its scalings on this machine, with its current sources and usual builds.

    Always false for a target in a container, because verifications of containers aren't recorded.
    """
    return target.isolation is None and all(map(_is_build_verified, usual_builds(target)))


def _is_build_verified(target: Target) -> bool:
    known = build.read_kept(_mark_file(target), Mark)
    if known is None or build.state(target).receipt is None:
        return False
    return known.fingerprint == build.fingerprint_of(target) and set(known.scaling) >= set(target.scaling)


def mark_verified(target: Target, passed: Sequence[Scaling], failed: Sequence[Scaling]) -> tuple[Scaling, ...]:
    """Record the scalings in which a target passed verification on this machine, and return all scalings that have passed.

    A scaling that wasn't verified this time keeps its mark if the sources haven't changed.
    """
    path, now = _mark_file(target), build.fingerprint_of(target)
    known = build.read_kept(path, Mark)
    before = known.scaling if known and known.fingerprint == now else ()
    scaling = tuple(own for own in target.scaling if own in passed or (own in before and own not in failed))
    path.write_text(Mark(fingerprint=now, scaling=scaling).model_dump_json())
    return scaling


def proof_of(target: Target, scaling: tuple[Scaling, ...], built: Built, ambiguous: dict[str, ProxyOutcome] | None = None) -> Proof:
    """Return the proof of a verification that has just ended on this machine.

    Args:
        target: The target.
        scaling: The scalings that passed.
        built: The builds, with the version of the target.
        ambiguous: What a proxy in HTTP mode did with ambiguous requests.
    """
    return Proof(
        id=target.id,
        build_s=_build_s(target),
        date=datetime.datetime.now(datetime.UTC).date(),
        os=host.read_environment(root(), {}).os,
        toolchain=toolchains([target]),
        version=built.versions.get(target.id),
        scaling=scaling,
        sources=sources_of(target),
        contract=contract.VERSION,
        ambiguous=ambiguous or {},
    )


def with_builds(proof: Proof, verified: Iterable[tuple[Target, bool]]) -> Proof:
    """Return the proof with the builds that have passed verification in all scalings, and without those that have not."""
    builds = dict(proof.builds)
    for target, passed in verified:
        before = builds.pop(name := ",".join(target.features), None)
        if passed and name:
            build_s = _build_s(target) or (before.build_s if before else None)
            builds[name] = ProvenBuild(sources=sources_of(target), build_s=build_s)
    return proof.model_copy(update={"builds": builds})


def _build_s(target: Target) -> float | None:
    seconds = durations.first_s(target) if target.build.commands else None
    return None if seconds is None else max(round(seconds, 1), 0.1)


def _mark_file(target: Target) -> Path:
    """Return the path of the target's mark, in the folder of the build. Several variants can share this folder."""
    return build.build_folder(target) / f".httpbench-verified-{target.variant or 'only'}.json"
