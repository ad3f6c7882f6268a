"""Knobs of the processor: its clock, its idle states and its interruptions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from httpbench.host.finding import Finding
from httpbench.host.kernel_files import CLOCKSOURCE, CPU, read_int, read_text
from httpbench.host.knobs.knob import Knob, Setting, at_least, exactly, read_value

STEADY_CLOCKS = ("tsc", "arch_sys_counter")  # read without a system call
WAKE_UP_US_MAX = 10
"""Exit latency up to which an idle state stays enabled: roughly the time of a request over loopback."""

HALT_POLL_NS_ENOUGH, HALT_POLL_NS_WANTED = 1_000_000, 10_000_000
"""How long a virtual CPU polls for work before it halts: longer than the gap between requests at a few hundred requests/s."""


class Governor(Knob):
    name = "governor"
    why = "other governors change the clock with the load, so a slow target gets a slow processor"
    source = "Linux, Documentation/admin-guide/pm/cpufreq.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [
            setting
            for path in sorted((root / CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
            if "performance" in (read_text(path.with_name("scaling_available_governors")) or "performance").split()
            for setting in exactly(root, path, "performance")
        ]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the frequency governor is {','.join(sorted({setting.now for setting in settings}))}"


class Turbo(Knob):
    name = "turbo"
    why = "with turbo, the clock depends on temperature and on the number of busy cores, so the first trial is faster than the tenth"
    source = "Linux, Documentation/admin-guide/pm/intel_pstate.rst and cpufreq.rst (boost)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [*exactly(root, root / CPU / "intel_pstate/no_turbo", "1")] or [*exactly(root, root / CPU / "cpufreq/boost", "0")]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"turbo is {'off' if settings[0].is_fine else 'on'}"


class IdleStates(Knob):
    name = "idle-states"
    severity = "note"
    why = "a core takes longer to wake up from deep sleep than a request takes, which adds latency when cores are not busy"
    source = "Linux, Documentation/admin-guide/pm/cpuidle.rst (latency, disable)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return [
            setting
            for folder in sorted((root / CPU).glob("cpu[0-9]*/cpuidle/state[0-9]*"))
            if (read_int(folder / "latency") or 0) > WAKE_UP_US_MAX
            for setting in exactly(root, folder / "disable", "1")
        ]

    def what(self, settings: Sequence[Setting]) -> str:
        allowed = sum(not setting.is_fine for setting in settings)
        return f"{allowed or 'no'} enabled idle states, over all CPUs, take more than {WAKE_UP_US_MAX} µs to wake up from"


class HaltPolling(Knob):
    name = "halt-polling"
    why = "a virtual CPU that halts immediately wakes up through the hypervisor, which takes longer than a request and varies"
    source = "Linux, Documentation/virt/guest-halt-polling.rst (guest_halt_poll_ns)"

    def settings(self, root: Path) -> Sequence[Setting]:
        if read_text(root / CPU / "cpuidle/current_governor") != "haltpoll":
            return []
        path = root / "sys/module/haltpoll/parameters/guest_halt_poll_ns"
        return at_least(root, path, enough=HALT_POLL_NS_ENOUGH, wanted=HALT_POLL_NS_WANTED)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"virtual CPUs that wait for work halt after {int(settings[0].now) / 1e6:g} ms"


class Clocksource(Knob):
    name = "clocksource"
    why = "other clock sources cost up to a microsecond per reading, and every request is timed twice"
    source = "Linux, Documentation/timers/timekeeping.rst; vdso(7)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / CLOCKSOURCE / "current_clocksource"
        now = read_value(path) or ""
        offered = (read_text(path.with_name("available_clocksource")) or "").split()
        better = next((name for name in STEADY_CLOCKS if name in offered), now)
        return exactly(root, path, now if now in STEADY_CLOCKS else better)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the clock source is {settings[0].now}"

    def finding(self, root: Path) -> Finding | None:
        settings = self.settings(root)
        if settings and settings[0].wanted not in STEADY_CLOCKS:
            return Finding(self.name, "note", self.what(settings), self.why, "nothing: this machine offers no better one")
        return super().finding(root)


class NmiWatchdog(Knob):
    name = "nmi-watchdog"
    severity = "note"
    why = "it interrupts every CPU at a rate that depends on the clock, and occupies a hardware counter that profilers use"
    source = "Linux, Documentation/admin-guide/lockup-watchdogs.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        return exactly(root, root / "proc/sys/kernel/nmi_watchdog", "0")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the NMI watchdog is {'off' if settings[0].is_fine else 'on'}"
