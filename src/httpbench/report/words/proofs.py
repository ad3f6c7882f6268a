"""How well a target is proved to work, in words."""

from __future__ import annotations

from httpbench.model import Proof, Target
from httpbench.text import listed

NEVER = "never built"
HERE = "verified here"
NOT_VERIFIED = "not verified"
"""It can be started here, and nobody has verified it."""

UNKNOWN = "unknown"
"""It runs in a container: what `verify` finds there is not kept."""


def proof_words(target: Target, proof: Proof | None, sources: str) -> str:
    """``verified 2026-11-22 on Debian GNU/Linux 12 (bookworm)``, with what is not covered. ``sources``: the fingerprint of today's."""
    if proof is None:
        return NEVER
    place = f"{proof.date.isoformat()} on {proof.os}"
    if not proof.scaling:
        return f"built and not verified: failed {place}"
    words = [f"verified {place}"]
    if set(proof.scaling) < set(target.scaling):
        words.append(f"{listed(proof.scaling)} only")
    if proof.sources != sources:
        words.append("before its sources changed" if proof.sources else "sources not recorded")
    return ", ".join(words)
