"""Tests of the reasons why a load generator can't produce a load."""

from __future__ import annotations

import pytest

from httpbench import load
from httpbench.model import Expectation, Load, Rule, Workload
from httpbench.run.plan.refusals import server_refusal
from tests.factories import make_plan, make_target

PLAIN = Workload(name="plain", description="", expect=Expectation(body="hello"))
ROWS = Workload(name="rows", description="", expect=Expectation(rule=Rule.WORLD))


@pytest.mark.parametrize(
    ("generator", "sent", "workload", "sentence"),
    [
        ("native", Load(tls=True, http2=True), PLAIN, None),
        ("native", Load(tls=True), ROWS, None),
        ("native", Load(http2=True), ROWS, None),
        ("native", Load(http2=True, keepalive=False), PLAIN, "HTTP/2 connections cannot be closed after each request"),
        ("oha", Load(tls=True, http2=True, pipeline=8), PLAIN, None),
        ("h2load", Load(tls=True, http2=True, pipeline=8), PLAIN, None),
        ("wrk", Load(tls=True), PLAIN, "wrk sends plain HTTP/1.1 only here; `--load-generator native` also sends HTTPS and HTTP/2"),
    ],
)
def test_loads_that_a_generator_cannot_produce(generator: str, sent: Load, workload: Workload, sentence: str | None) -> None:
    assert server_refusal(load.get(generator), make_plan(load=sent), workload, make_target()) == sentence


def test_only_one_generator_connects_to_unix_sockets() -> None:
    target = make_target(url="unix:/run/app.sock", run=())
    assert server_refusal(load.get("native"), make_plan(), PLAIN, target) is None
    refusal = "wrk cannot connect to Unix sockets here; `--load-generator native` can"
    assert server_refusal(load.get("wrk"), make_plan(), PLAIN, target) == refusal
