"""Check whether two runs can be compared, and list the properties of their environments that must match but don't.

Properties that may be the subject of the comparison are ignored: the commit, and the versions of toolchains and libraries. The load average
is ignored because it isn't a property of the machine. The host names of containers are ignored because they are random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from httpbench.model import Environment, LoadHost, TrialPlan

MUST_MATCH = (
    "hostname",
    "cpu_model",
    "cpus_online",
    "cpus_allowed",
    "smt",
    "governor",
    "turbo",
    "mitigations",
    "kernel",
    "os",
    "virtualization",
    "container",
    "cpu_quota_cores",
    "memory_limit_bytes",
    "httpbench_version",
)
"""Fields of an environment that must match."""

MEMORY_TOLERANCE = 0.02
"""Maximum relative difference between memory sizes that match. The size changes slightly from boot to boot."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A property that must match between two runs but doesn't."""

    subject: str
    """A field of the environment, ``load_host``, ``has_backend`` (of the load host), ``target_cores``, ``workers``, or a system setting."""
    base: object
    head: object
    is_knob: bool = False
    of_load_host: bool = False


def load_hosts(before: LoadHost | None, after: LoadHost | None) -> list[Mismatch]:
    """Return the mismatches between the machines that sent the load."""
    if before is None or after is None:
        names = [there.name if there else None for there in (before, after)]
        return [] if before is after else [Mismatch("load_host", names[0], names[1])]
    found = [replace(mismatch, of_load_host=True) for mismatch in differences(before.environment, after.environment)]
    places = [bool(host.backend_cpus) for host in (before, after)]
    return found if places[0] == places[1] else [*found, Mismatch("has_backend", *places)]


def resources(base: TrialPlan, head: TrialPlan) -> list[Mismatch]:
    """Return how the cores and workers that a target got differ between two runs."""
    cores = (base.cores.physical(base.cores.target), head.cores.physical(head.cores.target))
    pairs = (("target_cores", cores), ("workers", (base.workers, head.workers)))
    return [Mismatch(subject, old, new) for subject, (old, new) in pairs if old != new]


def toolchains(base: Environment, head: Environment) -> list[Mismatch]:
    """Return the programs and libraries whose versions differ. Such differences may be intended, so they don't prevent a comparison."""
    names = sorted(base.versions.keys() | head.versions.keys())
    pairs = [Mismatch(name, base.versions.get(name), head.versions.get(name)) for name in names]
    return [pair for pair in pairs if pair.base != pair.head]


def differences(base: Environment, head: Environment) -> Iterator[Mismatch]:
    """Yield the mismatches between two environments. If there are none, the runs can be compared."""
    for field in MUST_MATCH:
        before, after = getattr(base, field), getattr(head, field)
        if before != after and not (field == "hostname" and base.container and head.container):
            yield Mismatch(field, before, after)
    if abs(base.memory_bytes - head.memory_bytes) > MEMORY_TOLERANCE * base.memory_bytes:
        yield Mismatch("memory_bytes", base.memory_bytes, head.memory_bytes)
    if base.tuning and head.tuning:  # earlier versions didn't store these settings
        for name in sorted((base.tuning.keys() | head.tuning.keys()) - set(MUST_MATCH)):  # MUST_MATCH includes governor and turbo
            before, after = base.tuning.get(name), head.tuning.get(name)
            if before != after:
                yield Mismatch(name, before, after, is_knob=True)
