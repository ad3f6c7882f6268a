"""What a kernel can be set to that disturbs or limits a measurement over HTTP: one class for each knob.

A knob is a few files below /proc or /sys: what they hold, and what they should. Nothing here writes; ``httpbench.host.tuning`` does, and
takes it back. All are switches that end with the next boot. What would change the figures themselves rather than their noise, or what a
machine's owner must decide, is no knob: docs/tune.md says of each why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from httpbench.host.files import read_int, read_text
from httpbench.host.finding import Finding, Severity, judged
from httpbench.host.machine import CLOCKSOURCE
from httpbench.host.topology import CPU

IPV4 = "proc/sys/net/ipv4"
PORTS_ENOUGH = 20_000
PORTS_WANTED = "16384 65535"
"""Leaves a range below it in which targets can listen."""

STEADY_CLOCKS = ("tsc", "arch_sys_counter")  # read without a system call
WAKE_UP_US_MAX = 10
"""Exit latency up to which an idle state may stay: about what a request over loopback takes."""

HALT_POLL_NS_ENOUGH, HALT_POLL_NS_WANTED = 1_000_000, 10_000_000
"""For how long a virtual CPU looks for work before it halts: longer than the gap between two requests at some hundred a second."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One file, what it holds and what it should."""

    path: str
    """Relative to the root."""
    now: str
    wanted: str

    @property
    def is_fine(self) -> bool:
        return self.now == self.wanted

    @property
    def label(self) -> str:
        """As its users call it: ``net.core.somaxconn``, or the path."""
        return self.path.removeprefix("proc/sys/").replace("/", ".") if self.path.startswith("proc/sys/") else f"/{self.path}"


def read_value(path: Path) -> str | None:
    """What would be written to get it back: of ``always [madvise] never`` the word in brackets; white space made one."""
    text = read_text(path)
    if text is None:
        return None
    words = text.split()
    chosen = next((word for word in words if word.startswith("[") and word.endswith("]")), None)
    return chosen[1:-1] if chosen else " ".join(words)


class Knob(ABC):
    """One thing that can be set, here or on other machines."""

    name: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    """Of the finding when it is not as it should be."""
    why: ClassVar[str]
    source: ClassVar[str]
    """Where what we say of it can be read."""

    @abstractmethod
    def settings(self, root: Path) -> Sequence[Setting]:
        """Empty where this machine does not have it."""

    @abstractmethod
    def what(self, settings: Sequence[Setting]) -> str:
        """What was found, in words."""

    def finding(self, root: Path) -> Finding | None:
        found = self.settings(root)
        if not found:
            return None
        do = f"httpbench tune apply {self.name}, as root; httpbench tune reset takes it back"
        return judged(self.name, all(setting.is_fine for setting in found), self.what(found), self.why, do, self.severity)


class Governor(Knob):
    name = "governor"
    why = "other governors change the clock with the load, so a slow target gets a slow processor"
    source = "Linux, Documentation/admin-guide/pm/cpufreq.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [
            setting
            for path in sorted((root / CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
            if "performance" in (read_text(path.with_name("scaling_available_governors")) or "performance").split()
            for setting in _as(root, path, "performance")
        ]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the frequency governor is {','.join(sorted({setting.now for setting in settings}))}"


class Turbo(Knob):
    name = "turbo"
    why = "with turbo the clock depends on temperature and on how many cores are busy, so the first trial is faster than the tenth"
    source = "Linux, Documentation/admin-guide/pm/intel_pstate.rst and cpufreq.rst (boost)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [*_as(root, root / CPU / "intel_pstate/no_turbo", "1")] or [*_as(root, root / CPU / "cpufreq/boost", "0")]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"turbo is {'off' if settings[0].is_fine else 'on'}"


class IdleStates(Knob):
    name = "idle-states"
    severity = "note"
    why = "a core that sleeps deeply takes longer to wake up than a request takes, which shows as latency wherever cores are not busy"
    source = "Linux, Documentation/admin-guide/pm/cpuidle.rst (latency, disable)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [
            setting
            for folder in sorted((root / CPU).glob("cpu[0-9]*/cpuidle/state[0-9]*"))
            if (read_int(folder / "latency") or 0) > WAKE_UP_US_MAX
            for setting in _as(root, folder / "disable", "1")
        ]

    def what(self, settings: Sequence[Setting]) -> str:
        allowed = sum(not setting.is_fine for setting in settings)
        return f"{allowed or 'no'} idle states of all CPUs together take more than {WAKE_UP_US_MAX} µs to wake up from"


class HaltPolling(Knob):
    name = "halt-polling"
    why = "a virtual CPU that halts at once comes back through the hypervisor, which takes longer than a request and differs each time"
    source = "Linux, Documentation/virt/guest-halt-polling.rst (guest_halt_poll_ns)"

    def settings(self, root: Path) -> Sequence[Setting]:
        if read_text(root / CPU / "cpuidle/current_governor") != "haltpoll":
            return []
        path = root / "sys/module/haltpoll/parameters/guest_halt_poll_ns"
        return _at_least(root, path, enough=HALT_POLL_NS_ENOUGH, wanted=HALT_POLL_NS_WANTED)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"virtual CPUs look for work for at most {int(settings[0].now) / 1e6:g} ms before they halt"


class Clocksource(Knob):
    name = "clocksource"
    why = "other sources cost up to a microsecond for each reading, and every request is timed twice"
    source = "Linux, Documentation/timers/timekeeping.rst; vdso(7)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / CLOCKSOURCE / "current_clocksource"
        now = read_value(path) or ""
        offered = (read_text(path.with_name("available_clocksource")) or "").split()
        better = next((name for name in STEADY_CLOCKS if name in offered), now)
        return _as(root, path, now if now in STEADY_CLOCKS else better)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the clock source is {settings[0].now}"

    def finding(self, root: Path) -> Finding | None:
        settings = self.settings(root)
        if settings and settings[0].wanted not in STEADY_CLOCKS:
            return Finding(self.name, "note", self.what(settings), self.why, "nothing on this machine: it offers no better one")
        return super().finding(root)


class NmiWatchdog(Knob):
    name = "nmi-watchdog"
    severity = "note"
    why = "it interrupts every CPU at a rate that depends on the clock, and keeps a counter that profilers want"
    source = "Linux, Documentation/admin-guide/lockup-watchdogs.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        return _as(root, root / "proc/sys/kernel/nmi_watchdog", "0")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the NMI watchdog is {'off' if settings[0].is_fine else 'on'}"


class NumaBalancing(Knob):
    name = "numa-balancing"
    why = "to see which node uses a page the kernel takes it away now and then, and the next request that needs it pays for a fault"
    source = "Linux, Documentation/admin-guide/sysctl/kernel.rst (numa_balancing)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return _as(root, root / "proc/sys/kernel/numa_balancing", "0")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"automatic NUMA balancing is {'off' if settings[0].is_fine else 'on'}"


class HugePages(Knob):
    name = "huge-pages"
    severity = "note"
    why = "with «always» memory figures grow in steps of 2 MB, and compaction can stop a target for milliseconds"
    source = "Linux, Documentation/admin-guide/mm/transhuge.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / "sys/kernel/mm/transparent_hugepage/enabled"
        now = read_value(path)
        return _as(root, path, "madvise" if now == "always" else now or "")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"transparent huge pages: {settings[0].now}"


class Backlog(Knob):
    name = "backlog"
    why = "when many connect at once, those beyond are dropped and try again a second later"
    source = "Linux, Documentation/networking/ip-sysctl.rst (somaxconn, tcp_max_syn_backlog); listen(2)"

    def settings(self, root: Path) -> Sequence[Setting]:
        paths = (root / "proc/sys/net/core/somaxconn", root / IPV4 / "tcp_max_syn_backlog")
        return [setting for path in paths for setting in _at_least(root, path, enough=1024, wanted=4096)]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"{min(int(setting.now) for setting in settings)} connections may wait to be accepted ({_labels(settings)})"


class PacketQueue(Knob):
    name = "packet-queue"
    severity = "note"
    why = "packets over loopback wait in it too; with thousands of connections those beyond are lost, and sent again after 200 ms"
    source = "Linux, Documentation/admin-guide/sysctl/net.rst (netdev_max_backlog); the second column of /proc/net/softnet_stat counts them"

    def settings(self, root: Path) -> Sequence[Setting]:
        return _at_least(root, root / "proc/sys/net/core/netdev_max_backlog", enough=4096, wanted=16_384)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"{settings[0].now} received packets may wait on each CPU ({_labels(settings)})"


class EphemeralPorts(Knob):
    name = "ephemeral-ports"
    why = "each connection to one target takes one, and keeps it for a minute after it was closed"
    source = "Linux, Documentation/networking/ip-sysctl.rst (ip_local_port_range)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / IPV4 / "ip_local_port_range"
        now = read_value(path) or ""
        return _as(root, path, now if _ports(now) >= PORTS_ENOUGH else PORTS_WANTED)

    def what(self, settings: Sequence[Setting]) -> str:
        now = settings[0].now
        return f"{_ports(now)} ports are there for outgoing connections ({now.replace(' ', '–')})"


class ClosedConnections(Knob):
    name = "closed-connections"
    severity = "note"
    why = "without keep-alive a run uses up the ephemeral ports within seconds, and then measures that"
    source = "Linux, Documentation/networking/ip-sysctl.rst (tcp_tw_reuse; 2: over loopback only)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / IPV4 / "tcp_tw_reuse"
        now = read_value(path)
        return _as(root, path, "2" if now == "0" else now or "")

    def what(self, settings: Sequence[Setting]) -> str:
        (setting,) = settings
        return f"{setting.label} is {setting.now}: ports of closed connections are{'' if setting.is_fine else ' not'} used again early"


class TrackedConnections(Knob):
    name = "tracked-connections"
    why = "where the firewall tracks connections, over loopback too, those beyond are dropped without a word"
    source = "Linux, Documentation/networking/nf_conntrack-sysctl.rst (nf_conntrack_max)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return _at_least(root, root / "proc/sys/net/netfilter/nf_conntrack_max", enough=131_072, wanted=1_048_576)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the firewall tracks at most {settings[0].now} connections"


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Governor(),
        Turbo(),
        IdleStates(),
        HaltPolling(),
        Clocksource(),
        NmiWatchdog(),
        NumaBalancing(),
        HugePages(),
        Backlog(),
        PacketQueue(),
        EphemeralPorts(),
        ClosedConnections(),
        TrackedConnections(),
    )
}
"""By name, in the order in which they are shown and set."""


def findings(root: Path) -> Iterator[Finding]:
    """Of every knob that this machine has."""
    for knob in KNOBS.values():
        if found := knob.finding(root):
            yield found


def tuned(root: Path = Path("/")) -> dict[str, str]:
    """What every knob stands at here, by name: part of the environment of a run."""
    found = {name: knob.settings(root) for name, knob in KNOBS.items()}
    return {name: ",".join(dict.fromkeys(setting.now for setting in settings)) for name, settings in found.items() if settings}


def _as(root: Path, path: Path, wanted: str) -> Sequence[Setting]:
    now = read_value(path)
    return [] if now is None else [Setting(str(path.relative_to(root)), now, wanted)]


def _at_least(root: Path, path: Path, *, enough: int, wanted: int) -> Sequence[Setting]:
    now = read_int(path)
    return [] if now is None else _as(root, path, str(now if now >= enough else wanted))


def _ports(text: str) -> int:
    words = text.split()
    return int(words[1]) - int(words[0]) + 1 if len(words) == 2 else 0


def _labels(settings: Sequence[Setting]) -> str:
    return ", ".join(setting.label for setting in settings)
