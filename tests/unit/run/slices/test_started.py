"""Tests of the backend that the proxies of a round share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from httpbench.errors import StartError
from httpbench.model import SampledResponse, Workload
from httpbench.run.slices import started
from httpbench.run.slices.started import Handled, SharedBackend
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


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replace the start of a backend, and return the scratch folders of all starts."""
    found: list[Path] = []
    response = SampledResponse(status=200, headers=(), body="", size_bytes=0)

    @contextmanager
    def start(backend: Upstream, workload: Workload, scratch: Path, *_: Any) -> Iterator[RunningTarget]:
        found.append(scratch)
        if backend.target.id == "c/broken":
            raise StartError("ended before it responded")
        yield RunningTarget(None, "127.0.0.1", 1, response, scratch / "log")

    monkeypatch.setattr(started, "started_backend", start)
    return found


def test_the_backend_starts_once_and_is_not_stopped_with_a_proxy(starts: list[Path]) -> None:
    with ExitStack() as stack:
        backend = SharedBackend(stack)
        assert backend.death() is None and backend.requests_handled() is None
        assert backend.running(INPUTS) is backend.running(INPUTS)
        assert backend.running(INPUTS).is_shared
    assert len(starts) == 1


def test_a_backend_that_cannot_start_fails_each_proxy_with_the_same_error(starts: list[Path]) -> None:
    broken = replace(INPUTS, backend=Upstream(make_target("c/broken"), Path("/"), ()))
    with ExitStack() as stack:
        backend = SharedBackend(stack)
        for _ in range(2):
            with pytest.raises(StartError, match="ended before it responded"):
                backend.running(broken)
    assert len(starts) == 1


class Counting(SharedBackend):
    """A backend whose counter shows these values in turn."""

    def __init__(self, *shown: int | None):
        self._shown = iter(shown)

    def requests_handled(self) -> int | None:
        return next(self._shown)


def test_only_requests_during_the_proxys_turns_count() -> None:
    handled = Handled(Counting(10, 31, 500, 511))
    for _ in range(2):
        with handled.counting():
            pass
    assert handled.requests == 20 + 10, "each second query of the counter is a request, too"


def test_a_backend_without_a_counter_proves_nothing() -> None:
    handled = Handled(Counting(10, 31, None, 511, 600, 700))
    for _ in range(3):
        with handled.counting():
            pass
    assert handled.requests is None
