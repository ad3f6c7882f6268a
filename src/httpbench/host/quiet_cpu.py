"""Is the processor one that gives the same figure twice: cores, siblings, quotas, mitigations, hypervisor. Its knobs are in ``knobs``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench.host import machine
from httpbench.host.cgroup import read_limits
from httpbench.host.files import cpu_text
from httpbench.host.finding import Finding
from httpbench.host.partition import CORES_TO_DIVIDE
from httpbench.host.topology import Topology
from httpbench.model import Scaling

COSTLY = ("spectre_v2", "meltdown", "mds", "retbleed", "spec_rstack_overflow", "spec_store_bypass", "l1tf", "tsx_async_abort")


def findings(root: Path, topology: Topology) -> Iterator[Finding]:
    """Facts that this machine does not have give no finding."""
    yield from _siblings(root, topology)
    yield _cores(topology)
    yield from _quota(root, topology)
    yield from _virtual(root)
    yield from _mitigations(root)


def _siblings(root: Path, topology: Topology) -> Iterator[Finding]:
    strangers = tuple(sorted(cpu for core in topology.cores for cpu in core.siblings if cpu not in core.cpus))
    why = "two threads on siblings slow each other by a third or more"
    if strangers:
        yield Finding(
            "siblings",
            "warning",
            f"the SMT siblings {cpu_text(strangers)} of our CPUs may be used by others",
            why,
            "give whole physical cores: start with an affinity (or a cpuset) that holds all siblings or none",
        )
    elif machine.smt(root):
        yield Finding(
            "siblings",
            "note",
            "SMT is on",
            f"{why}; the harness keeps siblings together, but a target with one worker for each logical CPU shares them with itself",
            "echo off > /sys/devices/system/cpu/smt/control",
        )
    else:
        yield Finding("siblings", "ok", "no core is shared by SMT siblings", why)


def _cores(topology: Topology) -> Finding:
    count = len(topology.cores)
    why = "a generator on the target's cores takes from the target what it needs itself"
    what = f"{count} physical core{'' if count == 1 else 's'} may be used"
    if count < CORES_TO_DIVIDE[Scaling.SINGLE]:
        return Finding("cores", "warning", what, why, "measure on a machine with at least 2 cores; 4 for multi and prefork")
    if count < CORES_TO_DIVIDE[Scaling.MULTI]:
        return Finding(
            "cores", "warning", f"{what}: single has cores of its own, multi and prefork share them", why, "compare with --scaling single"
        )
    return Finding("cores", "ok", what, why)


def _quota(root: Path, topology: Topology) -> Iterator[Finding]:
    quota = read_limits(root).cpu_cores
    if quota is None:
        yield Finding("cpu-quota", "ok", "no control group limits processor time", "a limit stops us in the middle of a measurement")
    else:
        yield Finding(
            "cpu-quota",
            "warning" if quota < len(topology.cpus) else "note",
            f"a control group allows {quota:g} cores' worth of processor time on {len(topology.cpus)} CPUs",
            "when it is used up, target and generator stand still until the next period, mostly of 100 ms: the tail latency shows that",
            "start the container without --cpus (or the unit without CPUQuota=) and use --cpuset-cpus instead",
        )


def _virtual(root: Path) -> Iterator[Finding]:
    hypervisor = machine.virtualization(root)
    why = "the host may run others on the same cores, and each exit to it costs microseconds"
    if hypervisor:
        do = "compare only within one run, or measure on a machine of your own"
        yield Finding("virtual-machine", "note", f"this is a virtual machine ({hypervisor})", why, do)
    else:
        yield Finding("virtual-machine", "ok", "no hypervisor shows itself", why)


def _mitigations(root: Path) -> Iterator[Finding]:
    active = [name for name, state in machine.mitigations(root).items() if name in COSTLY and state.startswith("Mitigation")]
    if active:
        yield Finding(
            "mitigations",
            "note",
            f"mitigations are active: {', '.join(active)}",
            "each system call costs more, so targets that make many look worse here than elsewhere",
            "leave them on where production has them on; compare only with runs that say the same",
        )
