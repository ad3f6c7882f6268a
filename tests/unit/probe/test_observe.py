"""Tests that a probe ends in time whatever a server does, and treats missing observations as unknown."""

from __future__ import annotations

import time

from httpbench.http.server import Server as Probed
from httpbench.model import Expectation, Label, SampledResponse, Trait, Workload
from httpbench.probe import observe
from tests.servers import BODY, Mode, Server

HELLO = Workload(name="hello", description="", expect=Expectation(body=BODY.decode()))
FIRST = SampledResponse(status=200, headers=(), body=BODY.decode(), size_bytes=52)
LIMIT_S = 0.6


def test_a_silent_server_gets_no_label_in_bounded_time() -> None:
    with Server(Mode.SILENT) as server:
        begin = time.monotonic()
        found = observe(Probed("127.0.0.1", server.port, HELLO), FIRST, 0.0, LIMIT_S)
        took_s = time.monotonic() - begin
    assert found.label is None
    assert found.holds(Trait.ASKED) is None
    assert took_s < 10, "two seconds for each of a dozen responses would be more"


def test_a_server_that_is_gone_gets_no_label() -> None:
    with Server(Mode.OK) as server:
        port = server.port
    found = observe(Probed("127.0.0.1", port, HELLO), FIRST, 0.0, LIMIT_S)
    assert found.label is None
    assert found.holds(Trait.SURVIVES) is False


def test_a_missing_date_is_unknown_and_does_not_change_the_label() -> None:
    with Server(Mode.OK) as server:
        found = observe(Probed("127.0.0.1", server.port, HELLO), FIRST, 0.0, 20.0)
    assert found.label is Label.LOOP
    assert found.holds(Trait.DATE) is None
    assert found.holds(Trait.ROUTES) is False
    assert found.response_bytes == 52
