"""Loads and targets that load hosts cannot serve are refused before anything is connected."""

from __future__ import annotations

import pytest

from httpbench.cli.options.scheduler import SchedulerOptions, check_reached, divided, over, placed
from httpbench.cluster.dask import Workers
from httpbench.errors import UsageError
from httpbench.host import Core, Topology, partition
from httpbench.load import get
from httpbench.model import Engine, Isolation, Kind, NetworkMode, Scaling
from httpbench.run import HERE
from tests.factories import make_target

ALONE = SchedulerOptions(None, None)
MANY = SchedulerOptions("tcp://127.0.0.1:8786", None)


def test_without_a_scheduler_nothing_changes() -> None:
    tools = {"native": get("native")}
    assert ALONE.workers(["wrk"], [make_target()]) is None
    assert ALONE.warmup({"warmup_max_s": 10.0}) == {}
    assert over(None, tools) == tools


def test_what_load_hosts_cannot_do_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="wrk cannot share one load among hosts"):
        MANY.workers(["native", "wrk"], [make_target()])
    with pytest.raises(UsageError, match="is a client, which makes its own load"):
        MANY.workers(["native"], [make_target("c/curl", kind=Kind.CLIENT)])
    with pytest.raises(UsageError, match="--warmup-max does not apply to --scheduler"):
        MANY.warmup({"warmup_max_s": 10.0})


def test_load_hosts_warm_up_for_a_fixed_time() -> None:
    assert MANY.warmup({}) == {"warmup_s": 2.0, "warmup_max_s": None}


@pytest.mark.parametrize("url", ["http://127.0.0.1:80/", "http://[::1]/", "http://localhost:8080/"])
def test_a_server_on_loopback_is_out_of_reach_of_other_machines(url: str) -> None:
    with pytest.raises(UsageError, match="is reached from this machine only, and not from load host load2"):
        check_reached([make_target(url=url)], "load2")


def test_a_container_in_a_bridge_network_is_out_of_reach_of_other_machines() -> None:
    bridged = make_target(isolation=Isolation(engine=Engine.DOCKER, network=NetworkMode.BRIDGE))
    with pytest.raises(UsageError, match="is in a bridge network, which a load host does not reach"):
        check_reached([bridged], "load2")


def test_other_targets_are_reached() -> None:
    check_reached([make_target(url="http://10.0.0.9/"), make_target()], "load2")


def test_targets_listen_on_loopback_unless_load_hosts_are_elsewhere() -> None:
    assert placed(None) is HERE
    assert (placed(Workers("tcp://127.0.0.1:1", 2)).address, placed(Workers("tcp://127.0.0.1:1", 2)).is_here) == (None, True)
    elsewhere = placed(Workers("tcp://10.0.0.1:1", 2, are_elsewhere=True, address="10.0.0.9"))
    assert (elsewhere.address, elsewhere.is_here) == ("10.0.0.9", False)


def test_load_hosts_that_are_elsewhere_take_no_cores_here() -> None:
    topology = Topology(tuple(Core((cpu,), (cpu,), 0, 1024) for cpu in range(3)))
    for workers, generator in ((None, True), (Workers("tcp://h:1", 2), True), (Workers("tcp://h:1", 2, are_elsewhere=True), False)):
        assert bool(divided(workers, partition)(topology, Scaling.SINGLE, None).generator) is generator


def test_one_load_host_and_many_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--load-host and --scheduler both say where the load comes from"), MANY.started("load1"):
        pass
