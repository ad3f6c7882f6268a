"""Tests of the dashboard over HTTP: status codes, redirects, events of a run in progress, and errors."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from httpbench.model import RunStatus
from httpbench.store import Store
from httpbench.web import app as dashboard
from httpbench.web.site import Site
from tests.dashboards import make_client, make_rounds_of, make_small_store
from tests.factories import make_run


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return make_small_store(tmp_path / "results.db")


@pytest.mark.parametrize(
    "path",
    [
        "/none",
        "/runs/none.html",
        "/runs/none/events",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/runs/%2e%2e%2fresults.db",
        "/static/../app.py",
        "/runs/r1%00.html",
        "/" + "a" * 5000,
    ],
)
def test_a_missing_page_shows_an_error_page(db: Path, path: str) -> None:
    response = make_client(db).get(path)
    assert response.status_code == 404
    assert "Not found" in response.text
    assert 'href="/index.html"' in response.text
    assert "root:" not in response.text


def test_selecting_two_runs_redirects_to_their_comparison(db: Path) -> None:
    response = make_client(db).get("/compare", params={"base": "r1", "head": "r2/../x"})
    assert (response.status_code, response.headers["location"]) == (303, "/compare/r1/r2%2F..%2Fx.html")
    assert make_client(db).get("/compare", params={"base": "r1"}).status_code == 400


def test_content_types(db: Path) -> None:
    client = make_client(db)
    types = {path: client.get(path).headers["content-type"] for path in ("/", "/live.js", "/runs/r1/table-1.svg")}
    assert types == {"/": "text/html; charset=utf-8", "/live.js": "text/javascript; charset=utf-8", "/runs/r1/table-1.svg": "image/svg+xml"}


def test_a_fault_shows_a_page_and_is_logged(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Site, "page", fail)
    response = make_client(db, say=told.append).get("/")
    assert response.status_code == 500
    assert "secret detail" not in response.text
    assert any("secret detail" in text for text in told)


def test_an_unreadable_store_shows_an_error_page(tmp_path: Path) -> None:
    (tmp_path / "results.db").write_bytes(b"no database of anyone, but long enough to be read as one")
    response = make_client(tmp_path / "results.db").get("/")
    assert response.status_code == 500
    assert "The store cannot be read" in response.text


def test_events_follow_the_store_until_the_run_ends(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second connection to the store simulates the process that is measuring."""
    monkeypatch.setattr(dashboard, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(dashboard, "REST", 0)
    trials = make_rounds_of("c/a", "c/b", rps=3000.0)
    looks = 0
    state_of = Site.state

    def look(self: Site, run_id: str) -> object:
        nonlocal looks
        looks += 1
        if looks == 4:
            with Store(db) as store:
                store.add("r3", trials[2])
        if looks == 7:
            with Store(db) as store:
                store.finish("r3", RunStatus.FINISHED, "2026-11-23T09:00:00.000Z")
        return state_of(self, run_id)

    monkeypatch.setattr(Site, "state", look)
    response = make_client(db).get("/runs/r3/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [event.split("\n") for event in response.text.split("\n\n") if event.startswith("event: ")]
    assert [event[0] for event in events] == ["event: state", "event: results"] * 2 + ["event: end"]
    assert events[0][1] == "data: running · 2 of 6 trials"
    assert events[2][1] == "data: running · 3 of 6 trials"
    assert events[4][1] == "data: finished · 3 of 6 trials"
    assert all(line.startswith("data: ") for line in events[1][1:])


def test_events_of_a_finished_run_end_at_once(db: Path) -> None:
    assert make_client(db).get("/runs/r1/events").text == "event: end\ndata: finished · 6 of 6 trials\n\n"


def test_a_stream_rests_after_results_that_took_long(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is sent for every trial, but the results are not made again at once, and the last ones are sent in the end."""
    monkeypatch.setattr(dashboard, "LOOK_EVERY_S", 0.01)
    trials = make_rounds_of("c/a", "c/b", rps=3000.0)
    state_of, results_of = Site.state, Site.results
    looks = 0
    made_at: list[float] = []

    def look(self: Site, run_id: str) -> object:
        nonlocal looks
        looks += 1
        if looks in (3, 4, 5):
            with Store(db) as store:
                store.add("r3", trials[looks - 1])
        if len(made_at) == 2:
            with Store(db) as store:
                store.finish("r3", RunStatus.FINISHED, "2026-11-23T09:00:00.000Z")
        return state_of(self, run_id)

    def results(self: Site, run_id: str) -> str:
        made_at.append(time.monotonic())
        time.sleep(0.05)
        return results_of(self, run_id)

    monkeypatch.setattr(Site, "state", look)
    monkeypatch.setattr(Site, "results", results)
    text = make_client(db).get("/runs/r3/events").text
    names = re.findall(r"^event: (\w+)", text, flags=re.MULTILINE)
    assert names == ["state", "results", "state", "state", "state", "results", "end"]
    assert made_at[1] - made_at[0] >= 0.05 * dashboard.REST


def test_the_number_of_event_streams_is_limited(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "STREAMS_MAX", 0)
    assert make_client(db).get("/runs/r1/events").status_code == 503


def test_a_run_with_a_dead_process_is_not_shown_as_running(db: Path) -> None:
    with Store(db) as store:
        store.begin(make_run(make_rounds_of("c/a"), id="r4", status=RunStatus.RUNNING))
        store._connection.execute("UPDATE run SET boot_id = 'another' WHERE id = 'r4'")
    text = make_client(db).get("/runs/r4.html").text
    assert "live.js" not in text
    assert "interrupted" in make_client(db).get("/").text


def test_the_server_warms_up_when_it_starts(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed = threading.Event()
    monkeypatch.setattr(Site, "warm_up", lambda site: warmed.set())
    with make_client(db) as client:
        assert client.get("/").status_code == 200
        assert warmed.wait(10)


def test_warming_up_an_empty_store_reports_no_error(tmp_path: Path) -> None:
    Site(tmp_path / "none.db").warm_up()
