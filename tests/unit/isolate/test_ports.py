"""Tests of checks of ports, with real sockets."""

from __future__ import annotations

import socket

import pytest

from httpbench.isolate import free_port, is_only_on_ipv6


@pytest.mark.parametrize(
    ("address", "v6only", "only"),
    [("::1", 1, True), ("::", 1, True), ("::", 0, False), ("127.0.0.1", None, False), (None, None, False)],
    ids=["::1", "all of IPv6", "both", "127.0.0.1", "nothing"],
)
def test_a_server_that_lacks_ipv4_is_recognized(address: str | None, v6only: int | None, only: bool) -> None:
    port = free_port()
    with socket.socket(socket.AF_INET if v6only is None else socket.AF_INET6) as listener:
        if v6only is not None:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6only)
        if address is not None:
            listener.bind((address, port))
            listener.listen()
        assert is_only_on_ipv6(port) is only
