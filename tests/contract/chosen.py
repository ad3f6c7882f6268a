"""Choose the targets that a test run builds and verifies, and those whose verification it takes from ``targets/verified.toml``.

A run verifies every target whose record is missing or outdated, those in ``first.txt``, and an eighth of all others, which rotates by
commit.

Run as a program, it prints the ids to verify to standard output, and all choices with their reasons to standard error. ``--all`` chooses
every target that can be built. Tests of the contract verify the ids in the environment variable ``VERIFY`` or, without it, all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from httpbench import catalog, contract
from httpbench.model import Proof, Target
from httpbench.run import State, sources_of
from httpbench.run.builds.prepare import toolchains
from httpbench.run.builds.states import state_of

PARTS = 8
FIRST = tuple((Path(__file__).parent / "first.txt").read_text(encoding="utf-8").split())
FOREIGN_REGISTRY = {"dlang": "dub's registry", "elixir": "hex", "nim": "nimble's registry", "dotnet": "NuGet", "dart": "pub.dev"}
"""Registries that a test machine may be unable to reach, by language."""
NO_LIBRARY = ("epoll", "std-net-curl")
"""Frameworks of the languages in ``FOREIGN_REGISTRY`` that need only the compiler."""
BY_HAND = ("proxy:cpp/draft-http-tunnel",)
"""Targets that are built by hand from their sources."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether this run verifies a target, and why."""

    id: str
    verifies: bool
    reason: str


def choose(targets: Iterable[Target], proofs: dict[str, Proof], *, everything: bool, turn: int) -> tuple[Choice, ...]:
    """Choose among ``targets``. In turn ``n``, every target whose position in the sorted list is ``n`` modulo ``PARTS`` is verified."""
    chosen = []
    for position, target in enumerate(sorted(targets, key=lambda each: each.id)):
        proof = proofs.get(target.id)
        if obstacle := obstacle_of(target):
            chosen.append(Choice(target.id, False, obstacle))
        elif everything:
            chosen.append(Choice(target.id, True, "all are verified"))
        elif target.id in FIRST:
            chosen.append(Choice(target.id, True, "every run verifies it"))
        elif proof is None or (change := change_of(target, proof)) is not None:
            chosen.append(Choice(target.id, True, "it has no record" if proof is None else change or ""))
        elif position % PARTS == turn % PARTS:
            chosen.append(Choice(target.id, True, "its turn"))
        else:
            chosen.append(Choice(target.id, False, f"verified {proof.date.isoformat()} on {proof.os}"))
    return tuple(chosen)


def obstacle_of(target: Target) -> str | None:
    """Return why test runs neither build nor verify the target, or ``None``. A target that somebody has built is verified."""
    obstacle = "it is built by hand from its sources" if target.id in BY_HAND else None
    if target.language in FOREIGN_REGISTRY and target.framework not in NO_LIBRARY:
        obstacle = f"its library comes from {FOREIGN_REGISTRY[target.language]}"
    return obstacle if obstacle and state_of(target).state is not State.BUILT else None


def change_of(target: Target, proof: Proof) -> str | None:
    """Return what has changed since a target was verified, or ``None``. A program that isn't installed counts as unchanged."""
    if proof.sources != sources_of(target):
        return "its sources changed"
    if proof.contract != contract.VERSION:
        return "the contract changed"
    if set(proof.scaling) != set(target.scaling):
        return "not every scaling was verified"
    for program, version in toolchains([target]).items():
        if proof.toolchain.get(program) != version:
            return f"{program} changed from {proof.toolchain.get(program, 'an unknown version')} to {version}"
    return None


def _turn() -> int:
    """Return the number of this CI run or, if the environment has none, the number of commits."""
    if number := os.environ.get("GITHUB_RUN_NUMBER"):
        return int(number)
    done = subprocess.run(["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return int(done.stdout)


def main() -> None:
    found = choose(catalog.load().targets.values(), catalog.read_proofs(), everything="--all" in sys.argv, turn=_turn())
    for verifies, title in ((True, "Verified in this run"), (False, "Taken from the record, or not built")):
        print(f"{title}:", file=sys.stderr)
        for choice in found:
            if choice.verifies is verifies:
                print(f"  {choice.id}: {choice.reason}", file=sys.stderr)
    print("\n".join(choice.id for choice in found if choice.verifies))


if __name__ == "__main__":
    main()
