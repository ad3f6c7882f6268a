"""All knobs by name, and functions that read their current state on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench.host.finding import Finding
from httpbench.host.kernel_files import CLOCKSOURCE, CPU, read_int, read_text
from httpbench.host.knobs.knob import Knob, Setting, at_least, exactly, files

STEADY_CLOCKS = ("tsc", "arch_sys_counter")  # clock sources that are read without a system call
WAKE_UP_US_MAX = 10
"""Maximum exit latency of the CPU idle states that stay enabled, in µs. It is roughly the time of a request over loopback."""

HALT_POLL_NS_ENOUGH, HALT_POLL_NS_WANTED = 1_000_000, 10_000_000
"""Time for which a virtual CPU polls for work before it halts, in ns: the acceptable minimum, and the value that httpbench sets.

The value that httpbench sets is longer than the gap between two requests at a few hundred requests/s.
"""

PORTS_ENOUGH = 20_000
PORTS_WANTED = "16384 65535"
"""Range of ephemeral ports that httpbench sets. Targets listen on lower ports."""


def _governor(_now: str, path: Path) -> str | None:
    offered = read_text(path.with_name("scaling_available_governors")) or "performance"
    return "performance" if "performance" in offered.split() else None


def _turbo(root: Path) -> list[Setting]:
    return exactly("1", f"{CPU}/intel_pstate/no_turbo")(root) or exactly("0", f"{CPU}/cpufreq/boost")(root)


def _idle_state(_now: str, path: Path) -> str | None:
    return "1" if (read_int(path.with_name("latency")) or 0) > WAKE_UP_US_MAX else None


def _halt_polling(root: Path) -> list[Setting]:
    if read_text(root / CPU / "cpuidle/current_governor") != "haltpoll":
        return []
    return at_least(HALT_POLL_NS_ENOUGH, HALT_POLL_NS_WANTED, "sys/module/haltpoll/parameters/guest_halt_poll_ns")(root)


def _clock(now: str, path: Path) -> str:
    offered = (read_text(path.with_name("available_clocksource")) or "").split()
    return now if now in STEADY_CLOCKS else next((name for name in STEADY_CLOCKS if name in offered), now)


def _ports(text: str) -> int:
    words = text.split()
    return int(words[1]) - int(words[0]) + 1 if len(words) == 2 else 0


_ALL = (
    Knob(
        name="governor",
        settings=files(_governor, f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor"),
        what=lambda found: f"the frequency governor is {','.join(sorted({setting.now for setting in found}))}",
        why="other governors change the clock with the load, so a slow target gets a slow processor",
        source="Linux, Documentation/admin-guide/pm/cpufreq.rst",
    ),
    Knob(
        name="turbo",
        settings=_turbo,
        what=lambda found: f"turbo is {'off' if found[0].is_fine else 'on'}",
        why="with turbo, the clock depends on temperature and on the number of busy cores, so the first trial is faster than the tenth",
        source="Linux, Documentation/admin-guide/pm/intel_pstate.rst and cpufreq.rst (boost)",
    ),
    Knob(
        name="idle-states",
        severity="note",
        settings=files(_idle_state, f"{CPU}/cpu[0-9]*/cpuidle/state[0-9]*/disable"),
        what=lambda found: (
            f"{sum(not setting.is_fine for setting in found) or 'no'} enabled idle states, over all CPUs, "
            f"take more than {WAKE_UP_US_MAX} µs to wake up from"
        ),
        why="a core takes longer to wake up from deep sleep than a request takes, which adds latency when cores are not busy",
        source="Linux, Documentation/admin-guide/pm/cpuidle.rst (latency, disable)",
    ),
    Knob(
        name="halt-polling",
        settings=_halt_polling,
        what=lambda found: f"virtual CPUs that wait for work halt after {int(found[0].now) / 1e6:g} ms",
        why="a virtual CPU that halts immediately wakes up through the hypervisor, which takes longer than a request and varies",
        source="Linux, Documentation/virt/guest-halt-polling.rst (guest_halt_poll_ns)",
    ),
    Knob(
        name="clocksource",
        settings=files(_clock, f"{CLOCKSOURCE}/current_clocksource"),
        what=lambda found: f"the clock source is {found[0].now}",
        why="other clock sources cost up to a microsecond per reading, and every request is timed twice",
        source="Linux, Documentation/timers/timekeeping.rst; vdso(7)",
        has_no_better=lambda found: found[0].wanted not in STEADY_CLOCKS,
    ),
    Knob(
        name="nmi-watchdog",
        severity="note",
        settings=exactly("0", "proc/sys/kernel/nmi_watchdog"),
        what=lambda found: f"the NMI watchdog is {'off' if found[0].is_fine else 'on'}",
        why="it interrupts every CPU at a rate that depends on the clock, and occupies a hardware counter that profilers use",
        source="Linux, Documentation/admin-guide/lockup-watchdogs.rst",
    ),
    Knob(
        name="numa-balancing",
        settings=exactly("0", "proc/sys/kernel/numa_balancing"),
        what=lambda found: f"automatic NUMA balancing is {'off' if found[0].is_fine else 'on'}",
        why="the kernel unmaps pages now and then to see which node uses them, and the next request pays for a page fault",
        source="Linux, Documentation/admin-guide/sysctl/kernel.rst (numa_balancing)",
    ),
    Knob(
        name="huge-pages",
        severity="note",
        settings=files(lambda now, _path: "madvise" if now == "always" else now, "sys/kernel/mm/transparent_hugepage/enabled"),
        what=lambda found: f"transparent huge pages are set to {found[0].now}",
        why='with "always", memory use grows in steps of 2 MB, and compaction can stop a target for milliseconds',
        source="Linux, Documentation/admin-guide/mm/transhuge.rst",
    ),
    Knob(
        name="backlog",
        settings=at_least(1024, 4096, "proc/sys/net/core/somaxconn", "proc/sys/net/ipv4/tcp_max_syn_backlog"),
        what=lambda found: (
            f"{min(int(setting.now) for setting in found)} connections may wait to be accepted "
            f"({', '.join(setting.label for setting in found)})"
        ),
        why="when many clients connect at once, connections beyond the limit are dropped and retried a second later",
        source="Linux, Documentation/networking/ip-sysctl.rst (somaxconn, tcp_max_syn_backlog); listen(2)",
    ),
    Knob(
        name="packet-queue",
        severity="note",
        settings=at_least(4096, 16_384, "proc/sys/net/core/netdev_max_backlog"),
        what=lambda found: f"{found[0].now} received packets may wait on each CPU ({found[0].label})",
        why="loopback packets wait in this queue; with thousands of connections it overflows, and lost packets are sent again after 200 ms",
        source=(
            "Linux, Documentation/admin-guide/sysctl/net.rst (netdev_max_backlog); the second column of /proc/net/softnet_stat counts them"
        ),
    ),
    Knob(
        name="ephemeral-ports",
        settings=files(
            lambda now, _path: now if _ports(now) >= PORTS_ENOUGH else PORTS_WANTED,
            "proc/sys/net/ipv4/ip_local_port_range",
        ),
        what=lambda found: f"{_ports(found[0].now)} ports are available for outgoing connections ({found[0].now.replace(' ', '–')})",
        why="each connection to a target takes one, and keeps it for a minute after it is closed",
        source="Linux, Documentation/networking/ip-sysctl.rst (ip_local_port_range)",
    ),
    Knob(
        name="closed-connections",
        severity="note",
        settings=files(lambda now, _path: "2" if now == "0" else now, "proc/sys/net/ipv4/tcp_tw_reuse"),
        what=lambda found: (
            f"{found[0].label} is {found[0].now}: ports of closed connections are{'' if found[0].is_fine else ' not'} reused early"
        ),
        why="without keep-alive, a run uses up the ephemeral ports within seconds and then measures how long it waits for ports",
        source="Linux, Documentation/networking/ip-sysctl.rst (tcp_tw_reuse; 2: over loopback only)",
    ),
    Knob(
        name="tracked-connections",
        settings=at_least(131_072, 1_048_576, "proc/sys/net/netfilter/nf_conntrack_max"),
        what=lambda found: f"the firewall tracks at most {found[0].now} connections",
        why="if the firewall tracks connections, over loopback too, it silently drops those beyond the limit",
        source="Linux, Documentation/networking/nf_conntrack-sysctl.rst (nf_conntrack_max)",
    ),
)
KNOBS: dict[str, Knob] = {knob.name: knob for knob in _ALL}
"""All knobs by name, in the order in which they are shown and set."""


def findings(root: Path) -> Iterator[Finding]:
    """Yield a finding for each knob that this machine has."""
    yield from filter(None, (knob.finding(root) for knob in KNOBS.values()))


def tuned(root: Path = Path("/")) -> dict[str, str]:
    """Return the state of each knob on this machine, by name. A run stores it in its environment."""
    found = {name: knob.settings(root) for name, knob in KNOBS.items()}
    return {name: ",".join(dict.fromkeys(setting.now for setting in settings)) for name, settings in found.items() if settings}
