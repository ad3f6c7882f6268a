"""Tests of the backend that the proxies of a round share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from httpbench import load
from httpbench.errors import StartError
from httpbench.http import PLAIN, Transport
from httpbench.model import Load, SampledResponse, Trust, Workload
from httpbench.run.proxy.handled import Handled
from httpbench.run.proxy.trial import BASELINE
from httpbench.run.slices import started
from httpbench.run.slices.started import HandledInTurns, SharedBackend
from httpbench.run.trial.inputs import TrialInputs, Upstream
from httpbench.run.trial.running import RunningTarget
from tests.factories import make_plan, make_target

INPUTS = TrialInputs(
    plan=make_plan("a/a"),
    started_at="2026-01-01T00:00:00Z",
    target=make_target("a/a"),
    workload=Workload(name="proxy", description="A proxy"),
    generator=load.get("native"),
    folder=Path("/"),
    cores=(),
    backend=Upstream(make_target("c/nginx", counter="/status"), Path("/"), ()),
)


class Start(NamedTuple):
    scratch: Path
    transport: Transport


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Start]:
    """Replace the start of a backend, and return a list of all starts."""
    found: list[Start] = []
    response = SampledResponse(status=200, headers=(), body="", size_bytes=0)

    @contextmanager
    def start(
        backend: Upstream, workload: Workload, scratch: Path, limit_s: float, address: str, transport: Transport = PLAIN
    ) -> Iterator[RunningTarget]:
        found.append(Start(scratch, transport))
        if backend.target.id == "c/broken":
            raise StartError("ended before it responded")
        yield RunningTarget(None, "127.0.0.1", 1, response, scratch / "log")

    monkeypatch.setattr("httpbench.run.proxy.backend.started_backend", start)
    return found


@pytest.mark.parametrize("load", [Load(tls=True), Load(tls=True, http2=True)], ids=["https", "http2"])
def test_only_the_baselines_own_backend_serves_https_and_http2(starts: list[Start], tmp_path: Path, load: Load) -> None:
    plan = make_plan("baseline", load=load)
    inputs = replace(INPUTS, plan=plan, target=BASELINE)
    with ExitStack() as stack:
        shared = SharedBackend(stack)
        behind = shared.running(inputs)
        with started.started(inputs, tmp_path, shared) as (_, subject):
            assert subject.target is not behind and subject.backend is None
    assert [start.transport for start in starts] == [PLAIN, Transport(Trust(), load.http2)]


def test_the_baseline_of_plain_http_is_the_shared_backend(starts: list[Start], tmp_path: Path) -> None:
    inputs = replace(INPUTS, target=BASELINE)
    with ExitStack() as stack:
        shared = SharedBackend(stack)
        with started.started(inputs, tmp_path, shared) as (_, subject):
            assert subject.target is shared.running(inputs)
    assert len(starts) == 1


def test_the_backend_starts_once_and_is_not_stopped_with_a_proxy(starts: list[Start]) -> None:
    with ExitStack() as stack:
        backend = SharedBackend(stack)
        assert backend.death() is None and backend.handled() is None
        assert backend.running(INPUTS) is backend.running(INPUTS)
        assert backend.running(INPUTS).is_shared
    assert len(starts) == 1


def test_a_backend_that_cannot_start_fails_each_proxy_with_the_same_error(starts: list[Start]) -> None:
    broken = replace(INPUTS, backend=Upstream(make_target("c/broken"), Path("/"), ()))
    with ExitStack() as stack:
        backend = SharedBackend(stack)
        for _ in range(2):
            with pytest.raises(StartError, match="ended before it responded"):
                backend.running(broken)
    assert len(starts) == 1


class Counting(SharedBackend):
    """A backend whose counters show these values in turn."""

    def __init__(self, *shown: Handled | None):
        self._shown = iter(shown)

    def handled(self) -> Handled | None:
        return next(self._shown)


def test_only_what_the_backend_handles_during_the_proxys_turns_counts() -> None:
    handled = HandledInTurns(Counting(Handled(2, 10), Handled(7, 31), Handled(90, 500), Handled(91, 511)))
    for _ in range(2):
        with handled.counting():
            pass
    assert handled.so_far == Handled(connections=4 + 0, requests=20 + 10), "each second query is a request and a connection, too"


def test_a_backend_without_a_counter_proves_nothing() -> None:
    handled = HandledInTurns(Counting(Handled(2, 10), Handled(7, 31), None, Handled(9, 511), Handled(10, 600), Handled(11, 700)))
    for _ in range(3):
        with handled.counting():
            pass
    assert handled.so_far is None
