"""Tests that a backend on another host behaves like a target running on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from httpbench.errors import StartError
from httpbench.http import Transport
from httpbench.model import Https, Trust, Workload
from httpbench.run.load.place import Sampler, ServerThere
from httpbench.run.proxy.backend import started_backend
from httpbench.run.trial.inputs import Upstream
from tests.factories import make_target
from tests.servers import Mode, Server

HELLO = Workload(name="plaintext", description="Hello, World!")
NGINX = make_target("c/nginx", run=("./run.sh", "{host}", "{port}", "{workers}", "{scratch}"), env={"PORT": "{port}"})


@dataclass
class There:
    """A server on another host."""

    host: str
    port: int
    end: str | None = None
    calls: list[str] = field(default_factory=list)

    def death(self) -> str | None:
        return self.end

    def log(self) -> str:
        return "first line\nlast line\n"

    def sampler(self) -> Sampler:
        raise NotImplementedError

    def stop(self, grace_s: float) -> None:
        self.calls.append("stopped")


class Place:
    """A fake host that starts the given server."""

    def __init__(self, server: There):
        self.server = server
        self.filled: tuple[tuple[str, ...], Mapping[str, str]] | None = None

    @contextmanager
    def serve(self, fill: Callable[[str, int, int, str], tuple[tuple[str, ...], Mapping[str, str]]], folder: Path) -> Iterator[ServerThere]:
        self.filled = fill("192.0.2.7", 8080, 2, "/scratch")
        yield self.server


def test_it_starts_on_the_other_host_and_responds(tmp_path: Path) -> None:
    with Server(Mode.OK) as server:
        place = Place(There("127.0.0.1", server.port))
        with started_backend(Upstream(NGINX, tmp_path, (), place), HELLO, tmp_path) as running:
            assert place.filled == (("./run.sh", "192.0.2.7", "8080", "2", "/scratch"), {"PORT": "8080"})
            assert running.response.status == 200
            assert running.death() is None and running.program is None
            assert running.log_tail() == "first line\nlast line"
            place.server.end = "exit code 1"
            assert running.death() == "exit code 1"
    assert place.server.calls == []


def test_it_can_be_stopped(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = Place(There("127.0.0.1", stack.enter_context(Server(Mode.OK)).port))
        with started_backend(Upstream(NGINX, tmp_path, (), place), HELLO, tmp_path) as running:
            stack.close()
            assert running.stop().problem is None
    assert place.server.calls == ["stopped"]


def test_a_backend_that_ends_at_once_reports_why(tmp_path: Path) -> None:
    place = Place(There("127.0.0.1", 1, end="exit code 1"))
    with pytest.raises(StartError) as raised, started_backend(Upstream(NGINX, tmp_path, (), place), HELLO, tmp_path):
        pass
    assert raised.value.log_tail == "first line\nlast line"


def test_a_load_over_https_is_refused_there(tmp_path: Path) -> None:
    backend = make_target("c/nginx", https=Https(run=("./run.sh", "{cert}", "{key}")))
    place = Place(There("192.0.2.7", 8080))
    with pytest.raises(StartError, match=r"a backend on a load host serves only plain HTTP/1\.1"):
        started_backend(Upstream(backend, tmp_path, (), place), HELLO, tmp_path, transport=Transport(Trust()))
    assert place.filled is None


@pytest.mark.parametrize(
    ("transport", "protocol"), [(Transport(Trust()), "HTTPS"), (Transport(http2=True), "HTTP/2 without TLS")], ids=["https", "h2c"]
)
def test_a_load_that_the_backend_does_not_declare_is_refused(tmp_path: Path, transport: Transport, protocol: str) -> None:
    with pytest.raises(StartError, match=f"its backend, c/nginx, does not declare {protocol} in its target"):
        started_backend(Upstream(NGINX, tmp_path, ()), HELLO, tmp_path, transport=transport)
