"""Tests of port faults: another program holds a port, or the kernel releases it late."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from httpbench.isolate import free_port
from tests.integration.faults.fault import Fault
from tests.waiting import until

HELD_S = 1.5  # less than the 2 s for which the harness waits


def test_port_is_taken(fault: Fault) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        fault.holds(fault.bench("--port", str(stranger.getsockname()[1])), trials=1)


def test_port_is_taken_late(fault: Fault) -> None:
    """Another program takes the port after the harness has checked it and before the target binds to it."""
    port = free_port()
    process = fault.start("--port", str(port), "test/misbehaving/binds-late")
    until(fault.runs_target, limit_s=60)
    with socket.create_server(("127.0.0.1", port)):
        fault.holds(fault.end(process), trials=1)


@contextmanager
def borrowed(port: int) -> Iterator[None]:
    """Keep a copy of a target's listening socket open until some time after the target has ended."""

    def borrow() -> None:
        connection, _ = lender.accept()
        with connection:
            _, (listener,), *_ = socket.recv_fds(connection, 1, 1)
            with socket.socket(fileno=listener):
                connection.recv(1)  # returns when the target has ended
                time.sleep(HELD_S)

    with socket.socket(socket.AF_UNIX) as lender:
        lender.settimeout(60)
        lender.bind(f"\0httpbench-test-{port}")
        lender.listen()
        thread = threading.Thread(target=borrow)
        thread.start()
        yield
        thread.join()


@pytest.mark.slow
def test_port_is_released_late(fault: Fault) -> None:
    """After a process that used io_uring ends, the kernel may release its sockets late. The next target then finds its port still taken."""
    port = free_port()
    with borrowed(port):
        fault.holds(fault.bench("--port", str(port), "test/misbehaving/lends-its-port"), trials=2)
