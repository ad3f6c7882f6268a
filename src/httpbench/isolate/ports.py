"""Choose and check ports for servers.

Ports are chosen below the kernel's ephemeral range. Within that range, the kernel could assign a free port to an outgoing connection before
the server listens on the port.
"""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

from httpbench.errors import StartError

LOWEST = 10_240
TRIES = 200
LISTEN = "0A"  # the state TCP_LISTEN in the kernel's tables


def ephemeral_ports() -> range:
    """Return the ports that the kernel assigns to outgoing connections."""
    try:
        low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return range(int(low), int(high) + 1)
    except (OSError, ValueError):
        return range(32_768, 61_000)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether a server could listen on the port.

    The check doesn't set SO_REUSEPORT, which would let it share the port with another program.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a connection in TIME_WAIT doesn't occupy a port
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str = "127.0.0.1") -> int:
    """Return a free port. Raises :class:`StartError` if none is found."""
    top = ephemeral_ports().start - 1
    if top <= LOWEST:
        top = 65_535
    for _ in range(TRIES):
        port = random.randint(LOWEST, top)
        if is_free(port, host):
            return port
    raise StartError(f"no free port between {LOWEST} and {top} on {host}")


def require_free(port: int, host: str = "127.0.0.1") -> None:
    """Raise :class:`StartError` if a program listens on the port."""
    if not is_free(port, host):
        raise StartError(f"port {port} on {host} is in use by another program", hint="choose another with --port, or omit it")


def accepts(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether a program accepts connections on the port."""
    try:
        socket.create_connection((host, port), timeout=0.5).close()
    except OSError:
        return False
    return True


def listening(parent: int) -> list[str]:
    """Return the addresses that the processes below a parent listen on, as ``address:port`` with IPv6 addresses in brackets."""
    import psutil

    places = set()
    for process in psutil.Process(parent).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            for connection in process.net_connections("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    address = f"[{connection.laddr.ip}]" if ":" in connection.laddr.ip else connection.laddr.ip
                    places.add(f"{address}:{connection.laddr.port}")
    return sorted(places)


def is_only_on_ipv6(port: int) -> bool:
    """Return whether a program listens on the port of ``::1``, and none on the port of 127.0.0.1.

    The port is bound only if a program already listens on IPv6, so that this check can't take the port from a program that is starting.
    """
    return bool(_listening_in("/proc/net/tcp6", port)) and is_free(port) and not is_free(port, "::1")


def listeners(port: int) -> int:
    """Return how many sockets listen on a TCP port of this machine, on any address."""
    return _listening_in("/proc/net/tcp", port) + _listening_in("/proc/net/tcp6", port)


def _listening_in(table: str, port: int) -> int:
    """Return how many sockets in one of the kernel's tables listen on a port."""
    try:
        lines = Path(table).read_text().splitlines()[1:]
    except OSError:
        return 0
    words = [line.split() for line in lines]
    return sum(state == LISTEN and int(local.rpartition(":")[2], 16) == port for _, local, _, state, *_ in words)
