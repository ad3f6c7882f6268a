"""Do two environments let figures be compared: what must be alike, by name, and how it differs.

Ignored: anything that may itself be under test (the commit, versions of toolchains and libraries), and what says nothing about the
machine (its load a minute ago). Names of containers are random, so they are ignored too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from httpbench.model import Environment, LoadHost, TrialPlan

ALIKE = {
    "hostname": "host name",
    "cpu_model": "processor",
    "cpus_online": "CPUs online",
    "cpus_allowed": "CPUs allowed",
    "smt": "SMT",
    "governor": "governor",
    "turbo": "turbo",
    "mitigations": "mitigations",
    "kernel": "kernel",
    "os": "operating system",
    "virtualization": "virtualization",
    "container": "container engine",
    "cpu_quota_cores": "CPU quota",
    "memory_limit_bytes": "memory limit",
    "httpbench_version": "httpbench",
}
MEMORY_TOLERANCE = 0.02
"""A kernel that boots again has some pages more or less."""


def differences(base: Environment, head: Environment) -> list[str]:
    """One phrase for each thing that differs and must not; empty: the runs may be compared."""
    return list(_differences(base, head))


def load_hosts(before: LoadHost | None, after: LoadHost | None) -> list[str]:
    """The same of the machines that sent the load."""
    if before is None or after is None:
        names = [there.name if there else "the target's machine" for there in (before, after)]
        return [] if before is after else [f"load host ({names[0]} → {names[1]})"]
    found = [f"load host: {difference}" for difference in _differences(before.environment, after.environment)]
    places = ["there" if host.backend_cpus else "here" for host in (before, after)]
    return found if places[0] == places[1] else [*found, f"place of the backend ({places[0]} → {places[1]})"]


def resources(base: TrialPlan, head: TrialPlan) -> list[str]:
    """The same of what a target was given."""
    cores = (base.cores.physical(base.cores.target), head.cores.physical(head.cores.target))
    pairs = (("cores of targets", cores), ("workers of targets", (base.workers, head.workers)))
    return [f"{name} ({old or 'one per core'} → {new or 'one per core'})" for name, (old, new) in pairs if old != new]


def toolchains(base: Environment, head: Environment) -> list[str]:
    """What changed among programs and libraries, which may be under test."""
    names = sorted(base.versions.keys() | head.versions.keys())
    pairs = [(name, base.versions.get(name, "none"), head.versions.get(name, "none")) for name in names]
    return [f"{name} {before} → {after}" for name, before, after in pairs if before != after]


def _differences(base: Environment, head: Environment) -> Iterator[str]:
    for field, name in ALIKE.items():
        before, after = getattr(base, field), getattr(head, field)
        if before == after or (field == "hostname" and base.container and head.container):
            continue
        if field == "mitigations":
            changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
            yield f"{name} ({', '.join(changed)})"
        else:
            yield f"{name} ({_text(before)} → {_text(after)})"
    if abs(base.memory_bytes - head.memory_bytes) > MEMORY_TOLERANCE * base.memory_bytes:
        yield f"memory ({base.memory_bytes / 1e9:.1f} → {head.memory_bytes / 1e9:.1f} GB)"
    if base.tuning and head.tuning:  # runs of earlier versions stored none
        yield from (f"knob {change}" for change in _knobs(base.tuning, head.tuning))


def _knobs(base: Mapping[str, str], head: Mapping[str, str]) -> Iterator[str]:
    """Those that have no name in ``ALIKE``: governor and turbo would be named twice."""
    for name in sorted((base.keys() | head.keys()) - ALIKE.keys()):
        before, after = base.get(name, "absent"), head.get(name, "absent")
        if before != after:
            yield f"{name} ({before} → {after})"


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
