"""At which address a load host reaches this machine, and how long that takes."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from httpbench.model import RoundTrips

DISCARD_PORT = 9
"""Nothing is sent to it: a datagram socket that is connected only chooses its route."""
ROUND_TRIPS = 50
ACCEPT_LIMIT_S = 60.0
HINT = "name the address at which it reaches this machine with --host"


@dataclass(frozen=True, slots=True)
class Route:
    """From this machine to another host, or to itself."""

    source: str
    """The address of this machine from which it leaves."""
    destination: str

    @property
    def stays_here(self) -> bool:
        return self.source == self.destination or ipaddress.ip_address(self.source).is_loopback


def route_to(name: str) -> Route:
    """The route to a host of this name or address. Raises :class:`UsageError` if there is none."""
    try:
        places = socket.getaddrinfo(name, DISCARD_PORT, type=socket.SOCK_DGRAM)
    except OSError:
        raise UsageError(f"the address of {name} is unknown here", hint=HINT) from None
    for family, kind, protocol, _, place in places:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as probe:
            probe.connect(place)
            return Route(probe.getsockname()[0], str(place[0]))
    raise UsageError(f"there is no route from here to {name}", hint=HINT)


def chosen(connection: SshConnection, named: str | None) -> str:
    """The address that was named; otherwise the one from which the route to the load host leaves. Raises :class:`UsageError`."""
    if named is not None:
        return checked(named)
    route = route_to(connection.setting("hostname") or connection.host.rpartition("@")[2])
    if ipaddress.ip_address(route.source).is_loopback:
        raise UsageError(f"{connection.host} is this machine", hint="omit --load-host")
    return route.source


def checked(named: str) -> str:
    """The address if other hosts can reach it. Raises :class:`UsageError`."""
    try:
        address = ipaddress.ip_address(named)
    except ValueError:
        raise UsageError(f"--host {named} is not an IP address", hint="name one of this machine's, as `ip address` shows them") from None
    if address.is_unspecified or address.is_loopback:
        raise UsageError(f"--host {named} is not reached from another host", hint="name one of this machine's, as `ip address` shows them")
    return str(address)


def round_trips(connection: SshConnection, address: str, port: int | None) -> tuple[RoundTrips, str]:
    """Lets the load host connect to this machine, on ``port`` if one is given; also its own address. Raises :class:`UsageError`."""
    with _echoes(address, port) as listened:
        task = {"do": "connect", "address": address, "port": listened, "count": ROUND_TRIPS}
        seen = connection.ask(task)
    times = seen.get("times_us")
    if not times:
        reason = seen.get("error", "the connection was closed")
        raise UsageError(
            f"{connection.host} does not reach this machine at {address}, port {listened}: {reason}",
            hint="name another address with --host, or allow the port, which --port sets, in the firewall",
        )
    trips = RoundTrips(count=len(times), min_us=min(times), p50_us=statistics.median(times), max_us=max(times))
    return trips, seen["local"]


@contextmanager
def _echoes(address: str, port: int | None) -> Iterator[int]:
    """A server for one connection that sends back what comes; its port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        server = socket.create_server((address, port or 0), family=family)
    except OSError as error:
        raise UsageError(f"cannot listen on {address}: {error.strerror}", hint="--host names an address of this machine") from None
    with server:
        server.settimeout(ACCEPT_LIMIT_S)
        thread = threading.Thread(target=_echo, args=(server,), name="echo", daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _echo(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        stream, _ = server.accept()
        with stream:
            stream.settimeout(ACCEPT_LIMIT_S)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := stream.recv(1):
                stream.sendall(data)
