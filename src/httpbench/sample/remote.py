"""Convert an agent's report on a load generator and its host to the values that are measured for local load generators.

The agent reads kernel files but doesn't interpret them, because it runs on hosts without our libraries. It samples processes with the
modules ``tree`` and ``threads``, and reads the capacities of links with ``link_limits``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpbench.host import scratch
from httpbench.model import CoreOccupancy, Network, Usage
from httpbench.sample.links import limits
from httpbench.sample.network import FILES, network
from httpbench.sample.occupancy import occupancy
from httpbench.sample.series import SampleSeries

AGENT_MODULES: Mapping[str, Path] = {
    "scratch": Path(scratch.__file__),
    **{name: Path(__file__).with_name(f"{name}.py") for name in ("tree", "threads", "link_limits")},
}


@dataclass(frozen=True, slots=True)
class SeenThere:
    """A load generator's usage in the measured window, and the activity of its whole host during that time."""

    usage: Usage
    occupancy: tuple[CoreOccupancy, ...]
    """Occupancy of the CPUs that the load generator could use."""
    network: Network


def seen_there(report: Mapping[str, Any], cpus: Sequence[int]) -> SeenThere:
    """Parse the agent's output at the end of the window. ``cpus`` are the CPUs that the load generator could use."""
    series = SampleSeries(0.0)
    series.memory(*report["first"])
    for at_s, cpu_s, rss_bytes, processes in report["samples"]:
        series.add(at_s, cpu_s, int(rss_bytes), int(processes))
    usage = series.usage().model_copy(
        update={
            "cpu_wait_cores_mean": report["waited_cores"],
            "threads": report["threads"],
            "thread_cores_max": report["fullest_cores"],
        }
    )
    before, after = report["before"], report["after"]
    return SeenThere(
        usage=usage,
        occupancy=occupancy(before.get("stat", ""), after.get("stat", ""), report["elapsed_s"], cpus),
        network=network(_network_files(before), _network_files(after), report["elapsed_s"], limits(report["links"])),
    )


def _network_files(counters: Mapping[str, str]) -> dict[str, str]:
    return {name: counters.get(f"net/{name}", "") for name in FILES}
