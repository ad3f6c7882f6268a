"""Tests of the check that a proxy's backend handled everything that the proxy answered."""

from __future__ import annotations

import pytest

from httpbench.model import Load, ProxyMode, ReasonKind, Requests
from httpbench.run.proxy.handled import Handled, unrelayed
from tests.factories import make_measurement, make_plan, make_trial


@pytest.mark.parametrize(
    ("handled", "mode", "problem"),
    [
        (None, ProxyMode.TCP, None),
        (Handled(connections=66, requests=1_304), ProxyMode.TCP, None),
        (Handled(connections=66, requests=1_299), ProxyMode.TCP, ReasonKind.BACKEND_NOT_ASKED),
        (Handled(connections=66, requests=1_299), ProxyMode.HTTP, ReasonKind.BACKEND_NOT_ASKED),
        (Handled(connections=63, requests=1_304), ProxyMode.TCP, ReasonKind.BACKEND_NOT_CONNECTED),
        (Handled(connections=1, requests=1_304), ProxyMode.HTTP, None),
    ],
)
def test_a_backend_handles_whatever_the_proxy_answers(handled: Handled | None, mode: ProxyMode, problem: ReasonKind | None) -> None:
    """The load generator received 1,000 responses in the window, 200 before it and 100 in dropped slices, over 64 connections."""
    requests = Requests(completed=1_000, ok=1_000, before_window=200, ok_in_all=1_300)
    trial = make_trial(measurement=make_measurement(requests=requests, connections_opened=64))
    found = unrelayed(trial, handled, mode)
    assert (found.kind if found else None) is problem


@pytest.mark.parametrize(("accepted", "is_relayed"), [(4_744, True), (4_743, False)])
def test_connections_that_were_just_reopened_need_not_be_relayed(accepted: int, is_relayed: bool) -> None:
    """The load on 64 connections ended four times."""
    plan = make_plan(load=Load(connections=64, keepalive=False)).model_copy(update={"slices": 4})
    measurement = make_measurement(requests=Requests(completed=1_000, ok=1_000, ok_in_all=1_000), connections_opened=5_000)
    found = unrelayed(make_trial(plan, measurement=measurement), Handled(accepted, 5_000), ProxyMode.TCP)
    assert (found is None) == is_relayed


def test_a_load_generator_that_does_not_count_connections_proves_nothing_about_them() -> None:
    requests = Requests(completed=1_000, ok=1_000)
    trial = make_trial(measurement=make_measurement(requests=requests))
    assert unrelayed(trial, Handled(connections=1, requests=1_000), ProxyMode.TCP) is None
