"""Tests of the network stack's counters, from the kernel's files."""

from __future__ import annotations

import socket
from pathlib import Path

from httpbench.sample import NetworkMeter


def write(folder: Path, *, sent: int, again: int, overflows: int, dropped: tuple[int, int]) -> None:
    (folder / "snmp").write_text(f"Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 {sent} {again}\n")
    (folder / "netstat").write_text(
        "TcpExt: DelayedACKs ListenOverflows ListenDrops TCPTimeouts\n"
        f"TcpExt: {sent // 2} {overflows} {overflows + 1} {again // 2}\nIpExt: InOctets\nIpExt: 5\n"
    )
    (folder / "softnet_stat").write_text("".join(f"0000ffff {count:08x} 00000000\n" for count in dropped))


def test_counters_start_at_the_mark(tmp_path: Path) -> None:
    write(tmp_path, sent=1000, again=7, overflows=2, dropped=(1, 2))
    meter = NetworkMeter(tmp_path)
    write(tmp_path, sent=1500, again=9, overflows=2, dropped=(1, 18))
    found = meter.read()
    assert (found.segments_sent, found.segments_retransmitted) == (500, 2)
    assert (found.retransmission_timeouts, found.delayed_acks) == (1, 250)
    assert (found.listen_overflows, found.listen_drops) == (0, 0)
    assert found.backlog_drops == 16


def test_unreported_counters_are_unknown(tmp_path: Path) -> None:
    found = NetworkMeter(tmp_path).read()
    assert set(found.model_dump().values()) == {None}


def test_this_machines_counters_can_be_read() -> None:
    meter = NetworkMeter()
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as connection:
        connection.sendall(b"x")
    sent = meter.read().segments_sent
    assert sent is not None
    assert sent > 0
