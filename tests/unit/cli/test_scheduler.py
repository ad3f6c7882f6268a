"""Loads and targets that load hosts cannot serve are refused before anything is connected."""

from __future__ import annotations

import socket

import pytest

from httpbench.cli.scheduler import SchedulerOptions, check_reached, over
from httpbench.errors import UsageError
from httpbench.load import get
from httpbench.model import Kind
from tests.factories import make_target

HERE = SchedulerOptions(None, None)
MANY = SchedulerOptions("tcp://127.0.0.1:8786", None)
HOSTNAME = socket.gethostname()


def test_without_a_scheduler_nothing_changes() -> None:
    tools = {"native": get("native")}
    assert HERE.workers(["wrk"], [make_target()]) is None
    assert HERE.warmup({"warmup_max_s": 10.0}) == {}
    assert over(None, tools) == tools


def test_what_load_hosts_cannot_do_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="--scheduler applies to the load generator native only, not to wrk"):
        MANY.workers(["native", "wrk"], [make_target()])
    with pytest.raises(UsageError, match="is a client, which makes its own load"):
        MANY.workers(["native"], [make_target("c/curl", kind=Kind.CLIENT)])
    with pytest.raises(UsageError, match="--warmup-max does not apply to --scheduler"):
        MANY.warmup({"warmup_max_s": 10.0})


def test_load_hosts_warm_up_for_a_fixed_time() -> None:
    assert MANY.warmup({}) == {"warmup_s": 2.0, "warmup_max_s": None}


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:80/", "http://[::1]/", "http://localhost:8080/"])
def test_a_target_on_loopback_is_out_of_reach_of_other_machines(url: str | None) -> None:
    target = make_target(url=url) if url else make_target()
    check_reached([target], [HOSTNAME])
    with pytest.raises(UsageError, match="is reached from this machine only, and not from load host elsewhere"):
        check_reached([target], [HOSTNAME, "elsewhere"])


def test_a_target_with_another_address_is_reached() -> None:
    check_reached([make_target(url="http://10.0.0.9/")], ["elsewhere"])


def test_one_load_host_and_many_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--load-host and --scheduler both say where the load comes from"), MANY.started("load1"):
        pass
