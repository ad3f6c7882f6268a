"""Tests that ids with a plus sign work in every link, in the search, in the static copy and in ``httpbench report``."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.model import RunStatus
from httpbench.store import Store
from httpbench.web import addresses
from httpbench.web.export import export, links
from tests.dashboards import add_run, make_client, make_rounds_of
from tests.factories import make_run

TARGET = "cpp/c++server"
BASE, HEAD = "20261121T080000-c0de", "20261121T080000-c0de+2"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Create three runs of targets with a plus sign. The id of the first is the beginning of the second. The third is in progress."""
    path = tmp_path / "results.db"
    trials = make_rounds_of(TARGET, "c/a")
    for name in (BASE, HEAD):
        add_run(path, make_run(trials, id=name), trials)
    add_run(path, make_run(trials, id="live+1", status=RunStatus.RUNNING, finished_at=None), trials[:3])
    return path


def test_every_link_of_every_page_works_over_http(db: Path) -> None:
    client = make_client(db)
    known, waiting = {"/index.html"}, ["/index.html"]
    while waiting:
        path = waiting.pop()
        response = client.get(path)
        assert response.status_code == 200, path
        if response.headers["content-type"].startswith("text/html"):
            found = {f"/{link}" for link in links(response.text, path.lstrip("/"))}
            waiting += found - known
            known |= found
    visited = {unquote(path) for path in known}
    expected = (addresses.target(TARGET), f"runs/{HEAD}.html", f"runs/{HEAD}/report.html", f"compare/{BASE}/{HEAD}.html")
    assert {f"/{path}" for path in (*expected, f"runs/{HEAD}/table-1.svg")} <= visited


@pytest.mark.parametrize("path", ["runs/{}.html", "runs/{}/report.html", "runs/{}/table-1.svg", "compare/{}/20261121T080000-c0de.html"])
@pytest.mark.parametrize("run", [HEAD, HEAD.replace("+", "%2B")])
def test_a_plus_sign_works_with_and_without_escaping(db: Path, path: str, run: str) -> None:
    assert make_client(db).get(f"/{path.format(run)}").status_code == 200


def test_two_runs_are_selected_for_a_comparison(db: Path) -> None:
    client = make_client(db)
    response = client.get("/compare", params={"base": BASE, "head": HEAD})
    assert response.status_code == 303
    assert f"Changes from {BASE} to {HEAD}" in client.get(response.headers["location"]).text


def test_the_events_of_a_run_are_sent(db: Path) -> None:
    client = make_client(db)
    address = links(client.get("/runs/live%2B1.html").text.replace("data-events", "href"), "runs/live%2B1.html")
    (events,) = [found for found in address if found.endswith("/events")]
    with Store(db) as store:
        store.finish("live+1", RunStatus.FINISHED, "2026-11-21T09:00:00.000Z")
    assert client.get(f"/{events}").text == "event: end\ndata: finished · 3 of 6 trials\n\n"


def test_a_search_for_a_target_keeps_its_plus_signs(db: Path) -> None:
    text = make_client(db).get("/", params={"target": "c++"}).text
    assert "3 runs found" in text
    assert 'value="c++"' in text


@pytest.mark.parametrize("path", [f"runs/{HEAD}.html?", "runs/live%2B1.html?", "index.html?target=c%2B%2B&"])
def test_signing_in_keeps_a_plus_sign(db: Path, path: str) -> None:
    client = make_client(db, token="secret")
    response = client.get(f"/{path}token=secret")
    assert response.status_code == 303
    followed = client.get(response.headers["location"])
    assert followed.status_code == 200
    assert "c++server" in followed.text


def test_the_links_of_a_static_copy_name_its_files(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    export(db, folder, 10, lambda path: None)
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert f"runs/{HEAD}.html" in files
    for file in files:
        if file.endswith(".html"):
            found = {unquote(link) for link in links((folder / file).read_text(), file)}
            assert found <= files


@pytest.mark.parametrize("name", [BASE, HEAD, "live+1", "live+"])
def test_a_report_is_shown_by_id(db: Path, name: str) -> None:
    result = CliRunner().invoke(cli, ["report", name, "--db", str(db)])
    assert result.exit_code == 0, result.output
    assert "c++server" in result.output
