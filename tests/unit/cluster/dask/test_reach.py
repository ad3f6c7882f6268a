"""Which load hosts are this machine, and at which of its addresses the others reach it."""

from __future__ import annotations

import pytest

from httpbench.cluster import address
from httpbench.cluster.address import Route
from httpbench.cluster.dask import reach
from httpbench.errors import UsageError

SOURCES = {"10.0.0.1": "10.0.0.9", "10.0.0.2": "10.0.0.9", "10.1.0.1": "10.1.0.9", "10.0.0.9": "10.0.0.9"}


@pytest.fixture(autouse=True)
def routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "route_to", lambda name: Route(SOURCES[name], name) if name in SOURCES else address.route_to(name))


def test_a_worker_at_an_address_of_this_machine_is_here() -> None:
    assert reach.is_here("tcp://127.0.0.1:4000") and reach.is_here("tls://10.0.0.9:4000")
    assert not reach.is_here("tcp://10.0.0.1:4000")
    assert not reach.is_here("tcp://no-such-host.invalid:4000")


def test_targets_listen_where_all_routes_leave() -> None:
    assert reach.chosen({"load1": "tcp://10.0.0.1:4000", "load2": "tcp://10.0.0.2:4000"}, None) == "10.0.0.9"


def test_routes_that_leave_from_different_addresses_are_named() -> None:
    workers = {"load1": "tcp://10.0.0.1:4000", "load2": "tcp://10.1.0.1:4000"}
    with pytest.raises(UsageError, match=r"leave from different addresses: 10\.0\.0\.9 to load1, 10\.1\.0\.9 to load2"):
        reach.chosen(workers, None)
    assert reach.chosen(workers, "10.0.0.9") == "10.0.0.9"


def test_an_address_that_no_other_host_reaches_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--host 127\.0\.0\.1 is not reached from another host"):
        reach.chosen({"load1": "tcp://10.0.0.1:4000"}, "127.0.0.1")
