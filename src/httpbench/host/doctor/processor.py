"""Check whether the processor gives repeatable results: cores, siblings, quotas, mitigations, hypervisor. Its knobs are in ``knobs``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench.host.control_groups import groups_of
from httpbench.host.cores.partition import CORES_TO_DIVIDE
from httpbench.host.cores.topology import Topology
from httpbench.host.facts import machine
from httpbench.host.finding import Finding, judged
from httpbench.host.kernel_files import cpu_text
from httpbench.model import Scaling

COSTLY = ("spectre_v2", "meltdown", "mds", "retbleed", "spec_rstack_overflow", "spec_store_bypass", "l1tf", "tsx_async_abort")


def findings(root: Path, topology: Topology) -> Iterator[Finding]:
    """Yield findings only for features that this machine has."""
    yield _siblings(root, topology)
    yield _cores(topology)
    yield _quota(root, topology)
    yield _virtual(root)
    yield from _mitigations(root)


def _siblings(root: Path, topology: Topology) -> Finding:
    strangers = tuple(sorted(cpu for core in topology.cores for cpu in core.siblings if cpu not in core.cpus))
    why = "two threads on SMT siblings slow each other by a third or more"
    if strangers:
        what = f"other programs may use CPUs {cpu_text(strangers)}, the SMT siblings of httpbench's own"
        do = "give httpbench whole physical cores: an affinity (or cpuset) with all siblings of a core or none"
        return Finding("siblings", "warning", what, why, do)
    if machine.smt(root):
        why = f"{why}; httpbench keeps siblings together, but a target with one worker per logical CPU still uses both"
        return Finding("siblings", "note", "SMT is on", why, "echo off > /sys/devices/system/cpu/smt/control")
    return Finding("siblings", "ok", "no core is shared by SMT siblings", why)


def _cores(topology: Topology) -> Finding:
    count = len(topology.cores)
    why = "a load generator on the target's cores takes CPU time from the target"
    what = f"httpbench may use {count} physical core{'' if count == 1 else 's'}"
    if count < CORES_TO_DIVIDE[Scaling.SINGLE]:
        return Finding("cores", "warning", what, why, "measure on a machine with at least 2 cores; 4 for multi and prefork")
    if count < CORES_TO_DIVIDE[Scaling.MULTI]:
        shared = f"{what}; with multi or prefork, the target shares them with the load generator"
        return Finding("cores", "warning", shared, why, "measure with --scaling single")
    return Finding("cores", "ok", what, why)


def _quota(root: Path, topology: Topology) -> Finding:
    groups = groups_of(root=root)
    quota = groups.cpus() if groups else None
    if quota is None:
        return Finding("cpu-quota", "ok", "no control group limits CPU time", "a limit stops everything in the middle of a measurement")
    return Finding(
        "cpu-quota",
        "warning" if quota < len(topology.cpus) else "note",
        f"a control group limits CPU time to {quota:g} cores, on {len(topology.cpus)} CPUs",
        "when it is used up, the target and the load generator stop until the next period (usually 100 ms), which adds tail latency",
        "start the container with --cpuset-cpus instead of --cpus, or the unit without CPUQuota=",
    )


def _virtual(root: Path) -> Finding:
    hypervisor = machine.virtualization(root)
    what = f"this is a virtual machine ({hypervisor})" if hypervisor else "no hypervisor was found"
    why = "the host may run other machines on the same cores, and each exit to the hypervisor costs microseconds"
    return judged("virtual-machine", not hypervisor, what, why, "compare only within one run, or measure on a physical machine", "note")


def _mitigations(root: Path) -> Iterator[Finding]:
    active = [name for name, state in machine.mitigations(root).items() if name in COSTLY and state.startswith("Mitigation")]
    if active:
        yield Finding(
            "mitigations",
            "note",
            f"mitigations are active: {', '.join(active)}",
            "each system call costs more, so targets that make many look worse here than elsewhere",
            "leave them on if production has them on; compare only with runs that have the same mitigations",
        )
