"""Find the address of this machine that load hosts can reach, and measure round trips from them to this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import statistics
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from httpbench.model import RoundTrips

DISCARD_PORT = 9
"""Port for route lookups. No packet is sent: connecting a datagram socket only selects its route."""
ROUND_TRIPS = 50
ACCEPT_LIMIT_S = 60.0
HINT = "choose an address of this machine that every load host can reach: --host ADDRESS"


@dataclass(frozen=True, slots=True)
class Route:
    """The route from this machine to another host, or to itself."""

    source: str
    """Source address of packets on this route."""
    destination: str

    @property
    def stays_here(self) -> bool:
        return self.source == self.destination or ipaddress.ip_address(self.source).is_loopback


def route_to(name: str) -> Route:
    """Return the route to a host name or address. Raise :class:`UsageError` if there is no route."""
    try:
        places = socket.getaddrinfo(name, DISCARD_PORT, type=socket.SOCK_DGRAM)
    except OSError:
        raise UsageError(f"cannot resolve {name} on this machine", hint=HINT) from None
    for family, kind, protocol, _, place in places:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as probe:
            probe.connect(place)
            return Route(probe.getsockname()[0], str(place[0]))
    raise UsageError(f"no route from this machine to {name}", hint=HINT)


def is_here(url: str) -> bool:
    """Return whether the host of a URL is this machine. A host without a route counts as another machine."""
    try:
        return route_to(_host_of(url)).stays_here
    except UsageError:
        return False


def is_loopback(url: str) -> bool:
    """Return whether the host of a URL is a loopback address or a loopback name. Names aren't resolved."""
    name = _host_of(url)
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def address_for(load_hosts: Mapping[str, str], given: str | None) -> str:
    """Return the address that targets listen on: ``given``, or the source address of the routes to all load hosts.

    Args:
        load_hosts: Host name, address or URL of each load host, by display name.
        given: The value of ``--host``, or ``None``.

    Raises:
        UsageError: ``given`` is not a usable address, or the routes to the load hosts have different source addresses.
    """
    if given is not None:
        return _checked(given)
    routes = {name: route_to(_host_of(place)) for name, place in load_hosts.items()}
    for name, route in routes.items():
        if ipaddress.ip_address(route.source).is_loopback:
            raise UsageError(f"{name} is this machine", hint="remove --load-host")
    sources = {name: route.source for name, route in routes.items()}
    if len(set(sources.values())) > 1:
        ways = ", ".join(f"{source} to {name}" for name, source in sources.items())
        raise UsageError(f"the routes to the load hosts leave from different addresses: {ways}", hint=HINT)
    return next(iter(sources.values()))


def round_trips(connection: SshConnection, address: str, port: int | None) -> tuple[RoundTrips, str]:
    """Have the load host connect to this machine, and measure round trips.

    Args:
        connection: The connection to the load host.
        address: The address of this machine to connect to.
        port: The port to listen on, or ``None`` for a free port.

    Returns:
        The round trips, and the address that the load host connected from.

    Raises:
        UsageError: The load host cannot connect.
    """
    with _echo_server(address, port) as listened:
        task = {"do": "connect", "address": address, "port": listened, "count": ROUND_TRIPS}
        seen = connection.ask(task)
    times = seen.get("times_us")
    if not times:
        raise unreachable(connection.host, address, listened, seen.get("error", "the connection was closed"))
    trips = RoundTrips(count=len(times), min_us=min(times), p50_us=statistics.median(times), max_us=max(times))
    return trips, seen["local"]


def unreachable(load_host: str, address: str, port: int, reason: str) -> UsageError:
    """Return the error for a load host that cannot connect to this machine."""
    return UsageError(
        f"load host {load_host} cannot connect to this machine at {address}, port {port}: {reason}",
        hint="choose another address with --host, or a port that the firewall allows with --port",
    )


def cannot_listen(address: str, error: OSError) -> UsageError:
    """Return the error for an address on which this machine cannot listen."""
    return UsageError(f"cannot listen on {address}: {error.strerror}", hint="--host must be an address of this machine")


def _host_of(place: str) -> str:
    return (urlsplit(place).hostname or "") if "://" in place else place


def _checked(given: str) -> str:
    hint = "use an address of this machine; `ip address` lists them"
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        raise UsageError(f"--host {given} is not an IP address", hint=hint) from None
    if address.is_unspecified or address.is_loopback:
        raise UsageError(f"--host {given} is not reachable from other hosts", hint=hint)
    return str(address)


@contextmanager
def _echo_server(address: str, port: int | None) -> Iterator[int]:
    """Run a server that echoes the bytes of one connection, and yield its port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        server = socket.create_server((address, port or 0), family=family)
    except OSError as error:
        raise cannot_listen(address, error) from None
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
