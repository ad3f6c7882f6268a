"""Tests of the clauses for HTTP proxies, without a proxy: whoever connects to the backend directly sees a proxy that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from httpbench.contract.backend import HELLO_WORKLOAD
from httpbench.contract.check import Check
from httpbench.contract.http_proxy_clauses import check_http_proxy
from httpbench.contract.recording_backend import RecordingBackend
from httpbench.http.server import Server
from httpbench.model import Limit

HOP_BY_HOP = "removes hop-by-hop fields, both ways"
KEEPS_OPEN = "keeps it open although the backend closes its own"


@pytest.fixture
def backend() -> Iterator[RecordingBackend]:
    with RecordingBackend() as running:
        yield running


def checks(backend: RecordingBackend, *limits: Limit) -> dict[str, Check]:
    server = Server("127.0.0.1", backend.port, HELLO_WORKLOAD)
    return {check.name: check for check in check_http_proxy(server, backend, limits)}


def test_only_the_clauses_that_require_a_proxy_fail(backend: RecordingBackend) -> None:
    failed = {name: check.problem for name, check in checks(backend).items() if not check.passed}
    assert set(failed) == {HOP_BY_HOP, KEEPS_OPEN}, failed
    assert str(failed[HOP_BY_HOP]).startswith("forwarded `X-Hop`, `Keep-Alive`, `Proxy-Connection` in a request and `X-Hop`")


class Hiding(RecordingBackend):
    """A backend behind a proxy that responds to requests from memory: the backend sees only the first of equal requests."""

    def take(self):  # type: ignore[no-untyped-def]
        return list({request.head.split(b"\r\n")[0]: request for request in super().take()}.values())


def test_a_proxy_that_responds_from_memory_is_found() -> None:
    with Hiding() as backend:
        problem = checks(backend)["asks the backend for each response"].problem
    assert problem == "only 1 of 3 equal requests arrived at the backend: the other responses came from a cache"


def test_a_declared_limit_excuses_its_clause(backend: RecordingBackend) -> None:
    found = checks(backend, Limit.FORWARDS_HOP_BY_HOP, Limit.NO_INTERIM)
    assert found[HOP_BY_HOP].passed
    interim = found["relays the response that follows 103 Early Hints"]
    assert interim.passed and interim.problem is None, "only some versions have this limit"
