"""A probe ends in time whatever a server does, and does not blame one for what could not be seen."""

from __future__ import annotations

import time

from httpbench.model import Expectation, Label, SampledResponse, Trait, Workload
from httpbench.probe import observe
from tests.servers import BODY, Mode, Server

HELLO = Workload(name="hello", description="", expect=Expectation(body=BODY.decode()))
FIRST = SampledResponse(status=200, headers=(), body=BODY.decode(), size_bytes=52)
LIMIT_S = 0.6


def test_a_server_that_fell_silent_gets_no_word_and_keeps_nobody_waiting() -> None:
    with Server(Mode.SILENT) as server:
        begin = time.monotonic()
        found = observe("127.0.0.1", server.port, HELLO, FIRST, 0.0, LIMIT_S)
        took_s = time.monotonic() - begin
    assert found.label is None
    assert found.holds(Trait.ASKED) is None
    assert took_s < 10, "two seconds for each of a dozen answers would be more"


def test_one_that_is_gone_gets_no_word() -> None:
    with Server(Mode.OK) as server:
        port = server.port
    found = observe("127.0.0.1", port, HELLO, FIRST, 0.0, LIMIT_S)
    assert found.label is None
    assert found.holds(Trait.SURVIVES) is False


def test_one_without_a_date_is_not_blamed_for_it_and_a_loop_is_a_loop() -> None:
    with Server(Mode.OK) as server:
        found = observe("127.0.0.1", server.port, HELLO, FIRST, 0.0, 20.0)
    assert found.label is Label.LOOP
    assert found.holds(Trait.DATE) is None
    assert found.holds(Trait.ROUTES) is False
    assert found.response_bytes == 52
