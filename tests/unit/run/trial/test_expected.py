"""Tests that the correct responses of several requests are learned before the load and checked after it."""

from __future__ import annotations

import http.server
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from httpbench.http import PLAIN, learn
from httpbench.load.requests import workload_of
from httpbench.model import Expectation, Learned, LearnedRequests, ListedRequest, Request, Workload
from httpbench.run.trial import expected as module
from httpbench.run.trial.expected import expected, problems_after
from tests.factories import make_response

OPEN = Expectation(status=None)
LEARN = importlib.import_module("httpbench.http.learn")  # the package has a function with this name
Answer = Callable[[str], tuple[int, str]]


@contextmanager
def serving(answer: Answer) -> Iterator[Any]:
    """Start a server whose responses depend on the path, and yield it as a running target."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield SimpleNamespace(host="127.0.0.1", port=server.server_address[1], transport=PLAIN, response=make_response())
        server.shutdown()


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARN, "PAUSE_S", 0.0)


def inputs(workload: Workload) -> Any:
    return SimpleNamespace(workload=workload, learned=None)


def requests(number: int, *, template: bool = True) -> Workload:
    listed = [ListedRequest(request=Request(path=f"/{index}")) for index in range(number)]
    return workload_of(Path("rows.csv"), listed, OPEN, Request(path="/{id}") if template else None)


def path(text: str) -> tuple[int, str]:
    return 200, text


def bodies(workload: Workload) -> list[str | None]:
    assert workload.listed is not None
    return [each.expect.body if each.expect else None for each in workload.listed.requests]


def test_each_request_of_a_short_list_gets_its_own_correct_response() -> None:
    with serving(path) as running:
        found = expected(inputs(requests(3)), running)
        assert bodies(found.workload) == ["/0", "/1", "/2"]
        assert found.requests == LearnedRequests(count=3, learned=3, bodies=3) and found.learned is None
        assert problems_after(running, found.workload) == []
    with serving(lambda text: (200, "x" if text == "/1" else text)) as running:
        (problem,) = problems_after(running, found.workload)
        assert problem.startswith("request 2: ")


def test_requests_that_fail_or_change_are_learned_as_far_as_possible() -> None:
    numbers = count()
    answers: dict[str, Answer] = {"/0": lambda _: (500, ""), "/1": lambda _: (200, str(next(numbers)))}
    with serving(lambda text: answers.get(text, path)(text)) as running:
        found = expected(inputs(requests(3)), running)
    assert bodies(found.workload) == [None, None, "/2"]
    assert found.requests == LearnedRequests(count=3, learned=2, bodies=1)


def test_the_parts_of_a_mix_are_learned_with_the_same_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = list[float]()
    monkeypatch.setattr("time.sleep", pauses.append)
    with serving(path) as running:
        found = expected(inputs(requests(3, template=False)), running)
    assert [(part.expect.status, part.expect.body) for part in found.workload.parts] == [(200, "/0"), (200, "/1"), (200, "/2")]
    assert pauses == [0.0, 0.0]


def test_a_recorded_status_is_not_learned() -> None:
    listed = [ListedRequest(request=Request(path="/a"), expect=Expectation(status=302)), ListedRequest(request=Request(path="/b"))]
    with serving(lambda text: (302 if text == "/a" else 200, text)) as running:
        found = expected(inputs(workload_of(Path("a.har"), listed, OPEN)), running)
        assert problems_after(running, found.workload) == []
    assert [(part.expect.status, part.expect.body) for part in found.workload.parts] == [(302, None), (200, "/b")]
    assert found.requests == LearnedRequests(count=2, learned=1, bodies=1)


@pytest.mark.parametrize(
    ("answer", "common", "body"),
    [
        (lambda text: (200, "same"), True, "same"),
        (path, True, None),
        (lambda text: (200 if text == "/0" else 201, "same"), False, None),
        (lambda text: (500, ""), False, None),
    ],
)
def test_a_long_list_is_learned_from_some_of_its_requests(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, common: bool, body: str | None
) -> None:
    monkeypatch.setattr(module, "LEARNED_MAX", 4)
    asked = set[str]()

    def noted(text: str) -> tuple[int, str]:
        asked.add(text)
        return answer(text)

    with serving(noted) as running:
        found = expected(inputs(requests(10)), running)
    assert asked == {"/0", "/2", "/5", "/7"}
    assert bodies(found.workload) == [None] * 10
    assert (found.workload.expect.status, found.workload.expect.body) == (200 if common else None, body)
    assert found.workload.expect.content_type == ("text/plain" if common else None)
    if common:
        assert found.requests is not None and found.requests.common is not None
        assert (found.requests.count, found.requests.learned, found.requests.common.body_bytes) == (10, 4, body and 4)


def test_learning_ends_if_the_server_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARN, "ROUND_MAX_S", 0.0)
    with serving(path) as running:
        found = expected(inputs(requests(3)), running)
    assert found.requests is None and bodies(found.workload) == [None] * 3


def test_one_request_is_learned_as_before() -> None:
    with serving(path) as running:
        found = expected(inputs(Workload(name="request", description="", request=Request(path="/a"), expect=OPEN)), running)
        assert found.learned is not None and found.workload.expect.body == "/a" and found.requests is None
        before = learn(running.host, running.port, found.workload.model_copy(update={"expect": OPEN}), Learned(status=200))
    assert before is not None and before[1].body_sha256 is None
