"""What a machine can tell apart."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Noise(Frozen):
    """How far one server differs from itself on a machine: what came of A/A pairs."""

    run: str
    """Id of the run that made the pairs."""
    made_at: str
    """UTC, ISO 8601."""
    hostname: str
    cpu_model: str
    kernel: str
    tuning: dict[str, str]
    """What the knobs stood at, by name."""
    target: str
    connections: int
    duration_s: float
    """Of each trial."""
    rounds: int
    """Pairs that count."""
    deviation: dict[str, float]
    """Figure, by its name in exports → root mean square, over the pairs, of the logarithm of their ratio, which of equals would be 0."""
