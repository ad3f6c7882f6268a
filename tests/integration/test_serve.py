"""Tests of the process ``httpbench serve``: its output, its access control, and how quickly it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from httpbench.model import RunStatus
from httpbench.web.connections import HEAD_S
from tests.dashboards import START_S, add_run, make_rounds_of, serving
from tests.factories import make_run

pytestmark = pytest.mark.slow

END_S = 8.0
"""Time limit for the server to end. It usually ends much sooner. If it waited for open event streams, it would take an hour."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a results database with a run that this process seems to be executing."""
    db = tmp_path_factory.mktemp("store") / "results.db"
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:2])
    return db


@pytest.fixture(scope="module")
def served(db: Path) -> Iterator[tuple[Path, str]]:
    """Serve the database, and yield its path and the server's address."""
    with serving(db) as (_, address):
        yield db, address


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_at_once_despite_an_open_stream(db: Path, number: signal.Signals) -> None:
    with serving(db) as (process, address), urllib.request.urlopen(f"{address}runs/r/events", timeout=30) as stream:
        assert stream.readline() == b"event: state\n"
        begun = time.monotonic()
        process.send_signal(number)
        code = process.wait(timeout=END_S)
        assert time.monotonic() - begun < END_S
        assert code == (0 if number is signal.SIGINT else -signal.SIGTERM)
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


def is_closed(connection: socket.socket) -> bool:
    """Wait for data or for the end of the connection, and return whether the peer closed it.

    The connection is reset if the peer closes it before it has read everything that was sent.
    """
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_idle_connections_do_not_keep_others_out(served: tuple[Path, str]) -> None:
    """Browsers open connections in advance, and anyone can open many."""
    _, address = served
    with ExitStack() as stack:
        host, port = re.findall(r"//([^:/]+):(\d+)", address)[0]
        idle = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(300)]
        for connection in idle[:100]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        with urllib.request.urlopen(address, timeout=30) as page:
            assert page.status == 200
        idle[0].settimeout(30)
        assert is_closed(idle[0]), "the one that has waited the longest is closed"


def test_one_address_cannot_close_the_connections_of_others(served: tuple[Path, str]) -> None:
    _, address = served
    with ExitStack() as stack:
        host, port = re.findall(r"//([^:/]+):(\d+)", address)[0]
        early = stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
        others = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=30, source_address=("127.0.0.2", 0)))
            for _ in range(100)
        ]
        assert is_closed(others[0])
        early.sendall(b"GET / HTTP/1.1\r\nHost: %s:%s\r\n\r\n" % (host.encode(), port.encode()))
        assert early.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_head_has_a_time_limit(served: tuple[Path, str]) -> None:
    _, address = served
    host, port = re.findall(r"//([^:/]+):(\d+)", address)[0]
    begun = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert is_closed(connection)
    assert HEAD_S - 1 < time.monotonic() - begun < HEAD_S + 20


def test_other_addresses_require_a_token_that_is_printed_once(db: Path) -> None:
    with serving(db, "--host", "0.0.0.0") as (process, address):
        assert re.search(r"\?token=[\w-]{43}$", address)
        plain = re.sub(r"//[^/]*:(\d+)/.*", r"//127.0.0.1:\1/", address)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(plain, timeout=30)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(plain + "?" + address.partition("?")[2], timeout=30) as page:
            assert page.url == plain
            assert b"Runs" in page.read()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=END_S)
        assert "token" not in errors


def test_the_store_is_not_changed(served: tuple[Path, str]) -> None:
    db, address = served
    before = db.read_bytes()
    for path in ("", "runs/r.html", "targets.html"):
        with urllib.request.urlopen(address + path, timeout=30) as page:
            assert page.status == 200
    assert db.read_bytes() == before


def test_a_port_in_use_is_an_error(db: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        argv = [sys.executable, "-m", "httpbench", "serve", "--db", str(db), "--port", str(taken.getsockname()[1])]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=START_S)
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in done.stderr
    assert "--port" in done.stderr
