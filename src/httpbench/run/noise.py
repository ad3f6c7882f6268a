"""A/A pairs: one server against itself, and what is known from them of this machine."""

from __future__ import annotations

from httpbench.model import Environment, Noise, Target
from httpbench.stats.noise import noise_of
from httpbench.store import Store

TARGET = "c/epoll/edge"
"""The barest of the built-in servers: what it varies by, the machine does."""


def pair(target: Target) -> tuple[Target, Target]:
    """A target, and the same once more under another name."""
    return target, target.model_copy(update={"id": f"{target.id}-again", "variant": f"{target.variant or target.framework}-again"})


def known_noise(store: Store, environment: Environment) -> Noise | None:
    """The newest that was measured on this machine, whether or not it still holds. Raises :class:`~httpbench.errors.StoreError`."""
    for name in store.noise_runs(environment.hostname, environment.cpu_model):
        if noise := noise_of(*store.run(name)):
            return noise
    return None


def outdated(noise: Noise, environment: Environment) -> str | None:
    """Why a noise no longer holds, in words; ``None`` where it does."""
    if noise.kernel != environment.kernel:
        change = f"with kernel {noise.kernel}, and this is {environment.kernel}"
    elif noise.tuning != environment.tuning:
        names = sorted(
            name for name in noise.tuning.keys() | environment.tuning.keys() if noise.tuning.get(name) != environment.tuning.get(name)
        )
        changes = (f"{name} was {noise.tuning.get(name, 'absent')} and is {environment.tuning.get(name, 'absent')}" for name in names)
        change = f"under another tuning: {'; '.join(changes)}"
    else:
        return None
    return f"this machine's noise was measured {change}: httpbench noise measures it again"
