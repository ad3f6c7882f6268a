"""Check a load host, and its network connection to this machine, for anything that can disturb a measurement."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from httpbench import host
from httpbench.cluster.ssh_host import SshLoadHost
from httpbench.host import doctor
from httpbench.host.finding import Finding, judged, worst_first
from httpbench.host.kernel_files import read_int
from httpbench.host.knobs import all_knobs
from httpbench.host.mirror import mirrored
from httpbench.host.scratch import scratch_folder
from httpbench.model import RoundTrips

JITTER_SHARE_MAX, JITTER_US_MIN = 0.25, 50.0
"""Limits on the jitter of round trips: a share of the fastest round trip, and a time in µs. The larger limit applies."""
OFFLOADS = ("tcp-segmentation-offload", "generic-receive-offload")


def findings_of(load_host: SshLoadHost) -> list[Finding]:
    """Return all findings, worst first. Their names begin with the name of the load host. Nothing on the load host is changed."""
    name = load_host.host.name
    with scratch_folder() as folder:
        root = mirrored(load_host.seen["files"], folder)
        topology = host.read_topology(root, load_host.host.cpus)
        own = [
            doctor.siblings(root, topology),
            doctor.cpu_quota(root, topology),
            doctor.virtual_machine(root),
            *doctor.mitigations(root),
            *doctor.free_ports(root),
        ]
        knobs = [dataclasses.replace(one, do=one.do and f"on {name}: {one.do}") for one in all_knobs.findings(root)]
        found = [*_round_trips(load_host.host.round_trips), *_link(load_host, root), *own, *knobs]
    return worst_first(dataclasses.replace(one, name=f"{name}: {one.name}") for one in found)


def _round_trips(trips: RoundTrips) -> Iterator[Finding]:
    yield judged(
        "round-trips",
        trips.jitter_us <= max(JITTER_US_MIN, JITTER_SHARE_MAX * trips.min_us),
        f"a round trip takes {trips.min_us:,.0f} µs, p50 {trips.p50_us:,.0f} µs, at most {trips.max_us:,.0f} µs of {trips.count}",
        "each latency includes a round trip, so its variation comes from the network, not from the target",
        "use a wired link and a switch without other traffic; compare latencies only with runs over the same link",
    )


def _link(load_host: SshLoadHost, root: Path) -> Iterator[Finding]:
    """Yield findings on the network interfaces at both ends of the route, if both interfaces are known."""
    (route,) = load_host.seen["printed"]
    addresses, own = host.capture(("ip", "-o", "address")), re.escape(load_host.host.address)
    match_there = re.search(r"\bdev (\S+)", route["stdout"])
    match_here = re.search(rf"^\d+: ([^\s@]++)(?:@\S+)?\s+inet6? {own}/", addresses.stdout if addresses else "", re.MULTILINE)
    if match_there is None or match_here is None:
        return
    there, here = match_there[1], match_here[1]
    folders = {"there": root / "sys/class/net" / there, "here": Path("/sys/class/net") / here}
    mtus = {side: read_int(folder / "mtu") for side, folder in folders.items()}
    yield judged(
        "mtu",
        mtus["there"] == mtus["here"],
        f"the MTU is {mtus['there']} bytes there ({there}) and {mtus['here']} bytes here ({here})",
        "large packets from one side are fragmented or lost",
        "set the same MTU on both: ip link set dev DEVICE mtu N",
    )
    yield from _offloads(load_host, there, here)
    speeds = {f"{folder.name} {side}": read_int(folder / "speed") for side, folder in folders.items()}
    yield from _speed({name: speed for name, speed in speeds.items() if speed is not None and speed > 0})


def _offloads(load_host: SshLoadHost, there: str, here: str) -> Iterator[Finding]:
    """Yield a finding on the segmentation offloads of the network devices, if at least one of the hosts has ``ethtool``."""
    printed = host.capture(("ethtool", "-k", here))
    task = {"do": "look", "files": [], "programs": [], "commands": [["ethtool", "-k", there]]}
    (printed_there,) = load_host.connection.ask(task)["printed"]
    sides = {f"there ({there})": printed_there["stdout"], f"here ({here})": printed.stdout if printed else ""}
    off = [f"{name} {side}" for side, text in sides.items() for name in OFFLOADS if re.search(rf"^{name}: off", text, re.MULTILINE)]
    if any(sides.values()):
        what = f"off: {', '.join(off)}" if off else "the devices split and merge segments"
        why = "the kernel spends CPU time on each packet of a large response"
        yield judged("offloads", not off, what, why, "ethtool -K DEVICE tso on gro on", "note")


def _speed(mbit: Mapping[str, int]) -> Iterator[Finding]:
    """Yield a finding on the link speed, unless the devices are virtual and have no speed."""
    if not mbit:
        return
    slowest = min(mbit.values())
    what = ", ".join(f"{name} has {speed:,} Mbit/s" for name, speed in mbit.items())
    why = f"the link moves at most {slowest / 8:,.0f} MB/s: a target that sends more is limited by the network"
    yield judged("link-speed", slowest >= 1000, what, why, "use a faster link, or a workload with smaller responses", "note")
