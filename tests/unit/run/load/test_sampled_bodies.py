"""Tests that sampled responses are checked: bodies against the rules of their workloads, and heads against those of a proxy's backend."""

from __future__ import annotations

import json
import random

import pytest

from httpbench.http import Response, parsed
from httpbench.load import KeptResponse
from httpbench.model import Expectation, Observed, ProxyMode, ReasonKind, Rule, SampledBodies, Workload
from httpbench.report.words.reasons import sentence
from httpbench.run.load.sampled_bodies import with_sampled_bodies
from httpbench.stats.evidence import Evidence
from httpbench.stats.validity import is_incorrect, untrue
from tests.factories import make_measurement, make_plan

DB = Workload(name="db", description="", expect=Expectation(content_type="application/json", rule=Rule.WORLD, headers=("Server",)))
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: x\r\n\r\n"
ORDER = random.Random(1)


def kept(body: str, head: str = HEAD, *, truncated: bool = False) -> KeptResponse:
    return KeptResponse(DB, head, body, truncated)


def row(number: int | None = None) -> str:
    return json.dumps({"id": number or ORDER.randint(1, 10_000), "randomNumber": 7})


def sampled(*responses: KeptResponse) -> SampledBodies:
    found = with_sampled_bodies(make_measurement(), responses).sampled_bodies
    assert found is not None
    return found


def test_correct_rows_have_no_problems() -> None:
    assert sampled(*(kept(row()) for _ in range(100))) == SampledBodies(checked=100, wrong=0)


def test_without_kept_responses_nothing_is_reported() -> None:
    assert with_sampled_bodies(make_measurement(), ()).sampled_bodies is None


def test_each_problem_is_reported_once() -> None:
    found = sampled(kept(row()), kept("{}"), kept("{}"), kept(row(), HEAD.replace("Server: x\r\n", "")), kept(row(), truncated=True))
    assert (found.checked, found.wrong) == (5, 4)
    assert len(found.problems) == 3
    assert "instead of id and randomNumber" in found.problems[0]
    assert found.problems[1:] == ("no Server header", "a body of more than 64 KiB")


def test_repeated_identical_rows_are_detected() -> None:
    found = sampled(*(kept(row(17)) for _ in range(20)))
    assert (found.wrong, found.problems) == (0, ("db: 20 rows have the same id, 17",))


def test_a_few_rows_may_be_equal_by_chance() -> None:
    assert sampled(*(kept(row(17)) for _ in range(9))).problems == ()


def test_wrong_samples_make_a_trial_invalid() -> None:
    def reasons(found: SampledBodies | None) -> list[str]:
        measurement = make_measurement(sampled_bodies=found)
        evidence = Evidence(measurement=measurement, load=make_plan().load, cores=make_plan().cores, observed=Observed())
        assert is_incorrect(evidence) == any(reason.kind is ReasonKind.WRONG_SAMPLES for reason in untrue(evidence))
        return [sentence(reason) for reason in untrue(evidence) if reason.kind is ReasonKind.WRONG_SAMPLES]

    assert reasons(None) == reasons(SampledBodies(checked=9, wrong=0)) == []
    assert reasons(SampledBodies(checked=9, wrong=2, problems=("x",))) == ["2 of 9 responses sampled during the load were wrong: x"]
    assert reasons(SampledBodies(checked=9, wrong=0, problems=("y",))) == ["the 9 responses sampled during the load were wrong: y"]


PROXIED = Workload(name="proxied", description="", backend="c/nginx")
DIRECT = parsed(
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 1\r\nContent-Type: text/plain\r\nX-Own: a\r\nConnection: keep-alive\r\n\r\n", "x"
)


def changes(head: str, mode: ProxyMode, direct: Response = DIRECT) -> tuple[str, ...]:
    kept_response = KeptResponse(PROXIED, f"HTTP/1.1 {head}\r\n\r\n", "x", truncated=False)
    found = with_sampled_bodies(make_measurement(), [kept_response], direct, mode).sampled_bodies
    assert found is not None
    return found.problems


@pytest.mark.parametrize(
    "head",
    [
        "200 OK\r\nServer: nginx\r\nContent-Length: 1\r\nContent-Type: text/plain\r\nX-Own: a",
        "200 \r\nserver: other\r\ntransfer-encoding: chunked\r\ncontent-type: text/plain\r\nx-own: a\r\nvia: 1.1 other\r\nage: 0",
        "200 OK\r\nServer: nginx\r\nServer: other\r\nContent-Type: text/plain\r\nX-Own: a\r\nKeep-Alive: timeout=5\r\nDate: now",
    ],
    ids=["unchanged", "http2", "two-servers"],
)
def test_an_http_proxy_may_change_what_concerns_its_own_hop(head: str) -> None:
    assert changes(head, ProxyMode.HTTP) == ()


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("200 OK\r\nX-Own: a", "the proxy removed or changed headers: `Content-Type: text/plain`"),
        ("200 OK\r\nContent-Type: text/plain\r\nX-Own: b", "the proxy removed or changed headers: `X-Own: a`"),
        ("203 OK\r\nContent-Type: text/plain\r\nX-Own: a", "the proxy sent status 203 instead of 200"),
    ],
)
def test_an_http_proxy_must_not_change_anything_else(head: str, problem: str) -> None:
    assert changes(head, ProxyMode.HTTP) == (problem,)


def test_a_tcp_proxy_must_not_change_anything() -> None:
    own = "200 OK\r\nServer: nginx\r\nContent-Length: 1\r\nContent-Type: text/plain\r\nX-Own: a"
    assert changes(own, ProxyMode.TCP) == ()
    assert changes(f"{own}\r\nVia: 1.1 other", ProxyMode.TCP) == ("the proxy changed headers: `Via: 1.1 other`",)
