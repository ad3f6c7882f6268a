"""A/A pairs: one server compared with itself, and the resulting noise floor of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from httpbench.model import Environment, Noise, Run, Target
from httpbench.store import Store

TARGET = "c/epoll/edge"
"""Id of the simplest built-in server. If the server's results vary, the machine is the cause."""

AGE_MAX = timedelta(days=30)
"""Maximum age of a noise floor. After a month, a virtual machine may have moved to another host, or have other neighbors or microcode."""

ALIKE = {
    "kernel": "kernel",
    "httpbench_version": "httpbench",
    "cpus_allowed": "CPUs allowed",
    "cpu_quota_cores": "CPU quota",
}
"""Fields of the environment that must match for a noise floor to be valid, with their names in warnings. Host, processor and tuning must
match too."""


def pair(target: Target) -> tuple[Target, Target]:
    """Return a target, and the same target under another name."""
    return target, target.model_copy(update={"id": f"{target.id}-again", "variant": f"{target.variant or target.framework}-again"})


def known_noise(store: Store, environment: Environment) -> Noise | None:
    """Return this machine's newest noise floor, whether or not it is still valid. Raises :class:`~httpbench.errors.StoreError`."""
    return next(_noises(store, environment), None)


def noise_for(store: Store, run: Run) -> tuple[Noise | None, str | None]:
    """Return the newest valid noise floor, preferably one for a load of the run. If none is valid, return why the newest one isn't.

    A noise floor that was measured in slices is valid only for runs in slices, and vice versa.
    """
    environment, at = run.environment, run.started_at
    in_slices = any(planned.slices for planned in run.plan)
    found = [noise for noise in _noises(store, environment) if noise.in_slices == in_slices]
    valid = [noise for noise in found if outdated(noise, environment, at) is None]
    if not valid:
        return None, outdated(found[0], environment, at) if found else None
    return next((noise for noise in valid if _has_its_load(run, noise)), valid[0]), None


def outdated(noise: Noise, environment: Environment, at: str) -> str | None:
    """Return why a noise floor is no longer valid at the time ``at`` (UTC, ISO 8601), or ``None`` if it is valid."""
    changes = "; ".join(_changes(noise, environment, at))
    return f"this machine's noise floor is no longer valid: {changes}; hint: run `httpbench noise` again" if changes else None


def _noises(store: Store, environment: Environment) -> Iterator[Noise]:
    """Yield this machine's noise floors, newest first."""
    for name in store.noise_runs(environment.hostname, environment.cpu_model):
        from httpbench.stats.noise import noise_of

        if noise := noise_of(*store.run(name)):
            yield noise


def _has_its_load(run: Run, noise: Noise) -> bool:
    from httpbench.stats.noise import other_load

    return any(other_load(noise, planned.load, run.workloads[planned.workload]) is None for planned in run.plan)


def _changes(noise: Noise, environment: Environment, at: str) -> Iterator[str]:
    age = datetime.fromisoformat(at) - datetime.fromisoformat(noise.made_at)
    if age > AGE_MAX:
        yield f"it is {age.days} days old"
    if age < timedelta():
        yield "the clock has been set back since then, so its age is unknown"
    for field, name in ALIKE.items():
        before, after = getattr(noise, field), getattr(environment, field)
        if before != after:
            yield f"{name} {_text(before)} → {_text(after)}"
    for name in sorted(noise.tuning.keys() | environment.tuning.keys()):
        known, now = noise.tuning.get(name, "absent"), environment.tuning.get(name, "absent")
        if known != now:
            yield f"{name} {known} → {now}"


def _text(value: object) -> str:
    if value is None:
        return "none"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
