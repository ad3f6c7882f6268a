"""Read how many connections a listening socket can queue until the server accepts them.

The server passes this number to ``listen()``, and the kernel may reduce it. The kernel reports the actual number over a netlink socket,
even without root. The Send-Q column of ``ss -ltn`` also shows it; see sock_diag(7).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
DONE, ERROR = 3, 2
LISTENING = 1 << 10  # the bit for the state TCP_LISTEN
TIMEOUT_S = 0.5
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBBBI48x")  # inet_diag_req_v2 that names no socket, which selects all of them
QUEUES_AT = 60
"""Offset of ``idiag_wqueue`` in ``inet_diag_msg``: for a listening socket, the maximum length of its accept queue (net/ipv4/tcp_diag.c)."""


def accept_queue(port: int) -> int | None:
    """Return how many connections the shortest accept queue on a TCP port can hold, or ``None`` if this is unknown."""
    try:
        found = [length for family in (socket.AF_INET, socket.AF_INET6) for own, length in _listening(family) if own == port]
    except (OSError, struct.error):
        return None
    return min(found, default=None)


def _listening(family: int) -> Iterator[tuple[int, int]]:
    """Yield the port and the maximum queue length of each listening TCP socket."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
        kernel.settimeout(TIMEOUT_S)
        kernel.send(
            HEADER.pack(HEADER.size + REQUEST.size, BY_FAMILY, DUMP, 1, 0) + REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, LISTENING)
        )
        while True:
            data = kernel.recv(65_536)
            while data:
                length, kind, *_ = HEADER.unpack_from(data)
                if kind in (DONE, ERROR) or length < HEADER.size:
                    return
                (port,) = struct.unpack_from("!H", data, HEADER.size + 4)
                (queue,) = struct.unpack_from("=I", data, HEADER.size + QUEUES_AT)
                yield port, queue
                data = data[(length + 3) & ~3 :]
