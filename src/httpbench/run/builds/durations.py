"""Remember how long builds take, so that the slowest can start first and the progress can say what to expect.

A build's durations are kept beside its folder, so that they survive changes of the sources. For a build that this machine has never made,
the duration is that from ``verified.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from httpbench import catalog
from httpbench.errors import CatalogError
from httpbench.model import Frozen, Proof, Target
from httpbench.paths import is_built_in
from httpbench.run.builds.build import SOURCES, beside, build_folder, read_kept
from httpbench.run.builds.image import log_of


class Durations(Frozen, extra="ignore"):
    """The durations of a build on this machine, in seconds. Other builds ran beside it."""

    last_s: float
    first_s: float | None = None
    """Duration of the last build that began without the files of an earlier one. Null: unknown."""


def has_files(target: Target) -> bool:
    """Return whether the next build can reuse the files of an earlier one. An image's layers are cached, but not in a known folder."""
    return target.isolation is None and (build_folder(target) / SOURCES).exists()


def remember(target: Target, seconds: float, *, is_first: bool) -> None:
    """Keep the duration of a successful build."""
    known = read_kept(_file(target), Durations)
    first_s = seconds if is_first else known.first_s if known else None
    with suppress(OSError):  # a build counts even if its duration can't be kept
        _file(target).parent.mkdir(parents=True, exist_ok=True)
        _file(target).write_text(Durations(last_s=seconds, first_s=first_s).model_dump_json())


def first_s(target: Target) -> float | None:
    """Return how long the first build took on this machine, in seconds, or ``None`` if that is unknown."""
    known = read_kept(_file(target), Durations)
    return known.first_s if known else None


def usual_s(target: Target) -> float | None:
    """Return how long a build usually takes, in seconds, or ``None`` if that is unknown."""
    known = read_kept(_file(target), Durations)
    here_s = known and (known.last_s if target.isolation or has_files(target) else known.first_s)
    return here_s or _recorded_s(target)


def slowest_first(targets: Sequence[Target]) -> list[Target]:
    """Return the targets in the order in which to build them. Those with an unknown duration come first, because it may be long."""
    durations = {target.build_name: usual_s(target) if target.build.commands or target.isolation else 0.0 for target in targets}
    unknown_s = float("inf")
    return sorted(targets, key=lambda target: -(unknown_s if (known := durations[target.build_name]) is None else known))


def _recorded_s(target: Target) -> float | None:
    """Return the duration of the target's build from ``verified.toml``, or else that of its build without features."""
    if target.isolation or not is_built_in(target.folder) or (proof := _proofs().get(target.id)) is None:
        return None
    own = proof.builds.get(",".join(target.features))
    return own.build_s if own and own.build_s else proof.build_s


@cache
def _proofs() -> dict[str, Proof]:
    """Return the recorded proofs. A build doesn't fail because their file is invalid."""
    try:
        return catalog.read_proofs()
    except CatalogError:
        return {}


def _file(target: Target) -> Path:
    place = build_folder(target) if target.isolation is None else log_of(target)
    return beside(place, ".durations.json")
