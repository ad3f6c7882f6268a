"""Whether a target was verified: here, as a mark beside its build tells, or as a proof that can be recorded in the project."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from httpbench import host
from httpbench.model import Frozen, Proof, Scaling, Target
from httpbench.paths import root
from httpbench.run.builds import build
from httpbench.run.builds.prepare import Built, toolchains

DIGITS = 12
"""Of a fingerprint in a record: enough to tell two states of the sources apart."""


class Mark(Frozen):
    """What was verified on this machine."""

    fingerprint: str
    scaling: tuple[Scaling, ...]


def sources_of(target: Target) -> str:
    """The beginning of the fingerprint of a target's sources and build commands."""
    return build.fingerprint_of(target)[:DIGITS]


def is_verified_here(target: Target) -> bool:
    """Whether it passed on this machine in every scaling, and neither its sources nor its build have changed since.

    Of a target in a container nothing is kept.
    """
    if target.isolation is not None:
        return False
    known = build.read_kept(_mark_file(target), Mark)
    if known is None or build.state(target).receipt is None:
        return False
    return known.fingerprint == build.fingerprint_of(target) and set(known.scaling) >= set(target.scaling)


def mark_verified(target: Target, passed: Sequence[Scaling], failed: Sequence[Scaling]) -> tuple[Scaling, ...]:
    """Remembers on this machine in which scalings a target passed, and returns them.

    A scaling that was not verified now keeps its mark if the sources are the same.
    """
    path, now = _mark_file(target), build.fingerprint_of(target)
    known = build.read_kept(path, Mark)
    before = known.scaling if known and known.fingerprint == now else ()
    scaling = tuple(own for own in target.scaling if own in passed or (own in before and own not in failed))
    path.write_text(Mark(fingerprint=now, scaling=scaling).model_dump_json())
    return scaling


def proof_of(target: Target, scaling: tuple[Scaling, ...], built: Built) -> Proof:
    """The proof of a verification that has just ended on this machine. ``scaling``: those in which it passed."""
    return Proof(
        id=target.id,
        date=datetime.datetime.now(datetime.UTC).date(),
        os=host.read_environment(root(), {}).os,
        toolchain=toolchains([target]),
        version=built.versions.get(target.id),
        scaling=scaling,
        sources=sources_of(target),
    )


def _mark_file(target: Target) -> Path:
    """Beside the build, which the variants of a target may share."""
    return build.build_folder(target) / f".httpbench-verified-{target.variant or 'only'}.json"
