"""Knobs of the network stack: queues, ports, tracked connections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from httpbench.host.knobs.knob import Knob, Setting, at_least, exactly, labels, read_value

IPV4 = "proc/sys/net/ipv4"
PORTS_ENOUGH = 20_000
PORTS_WANTED = "16384 65535"
"""Leaves a lower range for targets to listen in."""


class Backlog(Knob):
    name = "backlog"
    why = "when many clients connect at once, connections beyond the limit are dropped and retried a second later"
    source = "Linux, Documentation/networking/ip-sysctl.rst (somaxconn, tcp_max_syn_backlog); listen(2)"

    def settings(self, root: Path) -> Sequence[Setting]:
        paths = (root / "proc/sys/net/core/somaxconn", root / IPV4 / "tcp_max_syn_backlog")
        return [setting for path in paths for setting in at_least(root, path, enough=1024, wanted=4096)]

    def what(self, settings: Sequence[Setting]) -> str:
        return f"{min(int(setting.now) for setting in settings)} connections may wait to be accepted ({labels(settings)})"


class PacketQueue(Knob):
    name = "packet-queue"
    severity = "note"
    why = "loopback packets wait in this queue; with thousands of connections it overflows, and lost packets are sent again after 200 ms"
    source = "Linux, Documentation/admin-guide/sysctl/net.rst (netdev_max_backlog); the second column of /proc/net/softnet_stat counts them"

    def settings(self, root: Path) -> Sequence[Setting]:
        return at_least(root, root / "proc/sys/net/core/netdev_max_backlog", enough=4096, wanted=16_384)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"{settings[0].now} received packets may wait on each CPU ({labels(settings)})"


class EphemeralPorts(Knob):
    name = "ephemeral-ports"
    why = "each connection to a target takes one, and keeps it for a minute after it is closed"
    source = "Linux, Documentation/networking/ip-sysctl.rst (ip_local_port_range)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / IPV4 / "ip_local_port_range"
        now = read_value(path) or ""
        return exactly(root, path, now if _ports(now) >= PORTS_ENOUGH else PORTS_WANTED)

    def what(self, settings: Sequence[Setting]) -> str:
        now = settings[0].now
        return f"{_ports(now)} ports are available for outgoing connections ({now.replace(' ', '–')})"


class ClosedConnections(Knob):
    name = "closed-connections"
    severity = "note"
    why = "without keep-alive, a run uses up the ephemeral ports within seconds and then measures how long it waits for ports"
    source = "Linux, Documentation/networking/ip-sysctl.rst (tcp_tw_reuse; 2: over loopback only)"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / IPV4 / "tcp_tw_reuse"
        now = read_value(path)
        return exactly(root, path, "2" if now == "0" else now or "")

    def what(self, settings: Sequence[Setting]) -> str:
        (setting,) = settings
        return f"{setting.label} is {setting.now}: ports of closed connections are{'' if setting.is_fine else ' not'} reused early"


class TrackedConnections(Knob):
    name = "tracked-connections"
    why = "if the firewall tracks connections, over loopback too, it silently drops those beyond the limit"
    source = "Linux, Documentation/networking/nf_conntrack-sysctl.rst (nf_conntrack_max)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return at_least(root, root / "proc/sys/net/netfilter/nf_conntrack_max", enough=131_072, wanted=1_048_576)

    def what(self, settings: Sequence[Setting]) -> str:
        return f"the firewall tracks at most {settings[0].now} connections"


def _ports(text: str) -> int:
    words = text.split()
    return int(words[1]) - int(words[0]) + 1 if len(words) == 2 else 0
