"""Every knob by name, and its current state on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench.host.finding import Finding
from httpbench.host.knobs import memory, network, processor
from httpbench.host.knobs.knob import Knob

KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        processor.Governor(),
        processor.Turbo(),
        processor.IdleStates(),
        processor.HaltPolling(),
        processor.Clocksource(),
        processor.NmiWatchdog(),
        memory.NumaBalancing(),
        memory.HugePages(),
        network.Backlog(),
        network.PacketQueue(),
        network.EphemeralPorts(),
        network.ClosedConnections(),
        network.TrackedConnections(),
    )
}
"""All knobs, in the order in which they are shown and set."""


def findings(root: Path) -> Iterator[Finding]:
    """Yield a finding for each knob that this machine has."""
    for knob in KNOBS.values():
        if found := knob.finding(root):
            yield found


def tuned(root: Path = Path("/")) -> dict[str, str]:
    """Return the state of each knob on this machine, by name, as part of a run's environment."""
    found = {name: knob.settings(root) for name, knob in KNOBS.items()}
    return {name: ",".join(dict.fromkeys(setting.now for setting in settings)) for name, settings in found.items() if settings}
