"""Tests of the length of a listening socket's queue, as the kernel reports it."""

from __future__ import annotations

import socket

import pytest

from httpbench.sample.accept_queue import accept_queue


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_queue_length_is_the_backlog_of_listen(family: int, host: str) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip(f"no {host} here")
        server.listen(5)
        assert accept_queue(server.getsockname()[1]) == 5


def test_an_unused_port_has_no_queue() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        assert accept_queue(server.getsockname()[1]) is None
