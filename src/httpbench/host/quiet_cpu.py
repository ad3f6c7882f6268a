"""Is the processor one that gives the same figure twice: clock, cores, clock source, mitigations, hypervisor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench.host import machine
from httpbench.host.cgroup import read_limits
from httpbench.host.files import cpu_text, read_text
from httpbench.host.finding import Finding, judged
from httpbench.host.partition import CORES_TO_DIVIDE
from httpbench.host.topology import Topology
from httpbench.model import Scaling

STEADY_CLOCKS = ("tsc", "arch_sys_counter")  # read without a system call
COSTLY = ("spectre_v2", "meltdown", "mds", "retbleed", "spec_rstack_overflow", "spec_store_bypass", "l1tf", "tsx_async_abort")


def findings(root: Path, topology: Topology) -> Iterator[Finding]:
    """Facts that this machine does not have (a governor in most virtual machines) give no finding."""
    yield from _clock_speed(root, topology)
    yield from _siblings(root, topology)
    yield _cores(topology)
    yield from _quota(root, topology)
    yield from _virtual(root)
    yield from _clocksource(root)
    yield from _mitigations(root)


def _clock_speed(root: Path, topology: Topology) -> Iterator[Finding]:
    if governor := machine.governor(root, topology.cpus):
        yield judged(
            "governor",
            governor == "performance",
            f"the frequency governor is {governor}",
            "other governors change the clock with the load, so a slow target gets a slow processor",
            "cpupower frequency-set --governor performance",
        )
    turbo = machine.turbo(root)
    if turbo is not None:
        yield judged(
            "turbo",
            not turbo,
            f"turbo is {'on' if turbo else 'off'}",
            "with turbo the clock depends on temperature and on how many cores are busy, so the first trial is faster than the tenth",
            _turbo_off(root),
        )


def _turbo_off(root: Path) -> str:
    if (root / "sys/devices/system/cpu/intel_pstate/no_turbo").exists():
        return "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
    return "echo 0 > /sys/devices/system/cpu/cpufreq/boost"


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


def _clocksource(root: Path) -> Iterator[Finding]:
    if clock := machine.clocksource(root):
        offered = (read_text(root / machine.CLOCKSOURCE / "available_clocksource") or "").split()
        better = next((name for name in STEADY_CLOCKS if name in offered), None)
        yield judged(
            "clocksource",
            clock in STEADY_CLOCKS,
            f"the clock source is {clock}",
            "other sources cost up to a microsecond for each reading, and every request is timed twice",
            f"echo {better} > /{machine.CLOCKSOURCE}/current_clocksource" if better else "nothing on this machine: it offers no better one",
            "warning" if better else "note",
        )


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
