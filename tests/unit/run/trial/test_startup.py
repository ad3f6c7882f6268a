"""Tests of how measured times become the results of a start."""

from __future__ import annotations

import pytest

from httpbench.errors import LoadError
from httpbench.load import FirstResponse
from httpbench.run.trial.startup import Started
from tests.factories import make_usage

READY = make_usage(rss_bytes_peak=5_000_000, pss_bytes_peak=4_000_000)
RESPONSE = FirstResponse(waiting_ns=500, sent_ns=12_000_000, received_ns=12_250_000)


def test_the_time_begins_with_the_program() -> None:
    started = Started.of(RESPONSE, 2_000_000, READY)
    assert (started.ready_s, started.first_us) == (0.01025, 250.0)


def test_a_request_that_waited_too_late_is_an_error() -> None:
    with pytest.raises(LoadError, match="the server started before the load generator waited for it"):
        Started.of(RESPONSE, 400, READY)


def test_a_server_that_died_under_load_keeps_what_is_known() -> None:
    startup = Started.of(RESPONSE, 2_000_000, READY).startup(None, None, 1234)
    assert (startup.rss_bytes_ready, startup.pss_bytes_ready, startup.installed_bytes) == (5_000_000, 4_000_000, 1234)
    assert (startup.steady_s, startup.rss_bytes_rest, startup.pss_bytes_rest) == (None, None, None)
