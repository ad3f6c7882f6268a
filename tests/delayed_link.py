"""A link that delays each packet by a fixed time, for kernels without netem.

``python tests/delayed_link.py DELAY_MS NAME NAME`` makes two network devices in its own namespace and moves packets between them until it
is killed. It prints a line when the devices exist; one of the devices can then be moved to another namespace. The delay is accurate to
about 0.1 ms unless the machine is busy.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUN, TUNSETIFF = "/dev/net/tun", 0x400454CA
IP_PACKETS_ALONE = 0x0001 | 0x1000  # IFF_TUN | IFF_NO_PI
PACKET_MAX = 65_536
QUEUE_MAX = 100_000  # maximum number of packets in flight; further packets are dropped, as on a real link


def device(name: str) -> int:
    """Create a device and return its file descriptor.

    Reading returns packets that were routed to the device. Written packets arrive as if the device had received them.
    """
    found = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(found, TUNSETIFF, struct.pack("16sH22x", name.encode(), IP_PACKETS_ALONE))
    return found


def move(first: int, second: int, delay_s: float) -> None:
    """Move packets between two devices, each packet after the delay."""
    under_way: deque[tuple[float, int, bytes]] = deque()
    other = {first: second, second: first}
    while True:
        limit_s = max(under_way[0][0] - time.monotonic(), 0) if under_way else None
        readable, _, _ = select.select(list(other), [], [], limit_s)
        for source in readable:
            for packet in packets(source):
                if len(under_way) < QUEUE_MAX:
                    under_way.append((time.monotonic() + delay_s, other[source], packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, to, packet = under_way.popleft()
            try:
                os.write(to, packet)
            except OSError:  # the device is down: a test cut the link
                continue


def packets(source: int) -> list[bytes]:
    """Return all packets that can be read now."""
    found: list[bytes] = []
    while len(found) < QUEUE_MAX:
        try:
            found.append(os.read(source, PACKET_MAX))
        except OSError:  # no more packets, or the device is down
            break
    return found


if __name__ == "__main__":
    one_end, other_end = map(device, sys.argv[2:4])
    print("ready", flush=True)
    move(one_end, other_end, float(sys.argv[1]) / 1000)
