"""A/A pairs: one server against itself, and the noise floor that they showed on this machine."""

from __future__ import annotations

from httpbench.model import Environment, Noise, Target
from httpbench.stats.noise import noise_of
from httpbench.store import Store

TARGET = "c/epoll/edge"
"""The simplest of the built-in servers: if it varies, the machine does."""


def pair(target: Target) -> tuple[Target, Target]:
    """A target, and the same target under another name."""
    return target, target.model_copy(update={"id": f"{target.id}-again", "variant": f"{target.variant or target.framework}-again"})


def known_noise(store: Store, environment: Environment) -> Noise | None:
    """The newest noise floor measured on this machine, whether or not it is still valid. Raises :class:`~httpbench.errors.StoreError`."""
    for name in store.noise_runs(environment.hostname, environment.cpu_model):
        if noise := noise_of(*store.run(name)):
            return noise
    return None


def outdated(noise: Noise, environment: Environment) -> str | None:
    """Why a noise floor is no longer valid, in words; ``None`` if it is valid."""
    if noise.kernel != environment.kernel:
        change = f"with kernel {noise.kernel}, which is now {environment.kernel}"
    elif noise.tuning != environment.tuning:
        names = sorted(
            name for name in noise.tuning.keys() | environment.tuning.keys() if noise.tuning.get(name) != environment.tuning.get(name)
        )
        changes = (f"{name} was {noise.tuning.get(name, 'absent')} and is now {environment.tuning.get(name, 'absent')}" for name in names)
        change = f"with another tuning: {'; '.join(changes)}"
    else:
        return None
    return f"this machine's noise floor was measured {change}; hint: run `httpbench noise` again"
