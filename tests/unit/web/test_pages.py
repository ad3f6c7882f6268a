"""Tests of the pages: their content, working links, and escaped text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from httpbench.model import RunStatus
from httpbench.store import Store
from httpbench.web import addresses
from httpbench.web.export import links
from httpbench.web.frame import NotFound
from httpbench.web.lists import RUNS_PER_PAGE
from httpbench.web.site import Site
from tests.dashboards import add_run, make_rounds_of, make_small_store
from tests.factories import make_environment, make_failed, make_plan, make_run, make_target
from tests.made_runs import make_search_run

ATTACK = "<img src=x onerror=alert(1)></style></script><script>alert(2)</script>"


class Seen(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(make_small_store(tmp_path_factory.mktemp("store") / "results.db"))


def test_runs_are_listed_newest_first_with_their_state(site: Site) -> None:
    text = Seen(site.page("").content).text
    assert re.findall(r"2026-11-2\d 08:00", text)[::3] == ["2026-11-23 08:00", "2026-11-22 08:00", "2026-11-21 08:00"]
    assert "running 2 of 6" in text
    assert "3 runs" in text


def test_a_search_filters_the_list_and_keeps_its_terms(site: Site) -> None:
    page = site.page("index.html", {"target": "c/b", "until": "2026-11-21", "other": "x"})
    seen = Seen(page.content)
    assert "1 run found" in seen.text
    assert {attrs["name"]: attrs["value"] for tag, attrs in seen.tags if tag == "input" and attrs.get("autocomplete")} == {
        "target": "c/b",
        "name": "",
        "commit": "",
        "tag": "",
        "since": "",
        "until": "2026-11-21",
    }


def test_a_long_list_has_pages_that_keep_the_search(tmp_path: Path) -> None:
    for number in range(RUNS_PER_PAGE + 1):
        add_run(tmp_path / "results.db", make_run(make_rounds_of("c/a"), id=f"n{number}", name="x&y", tags=("t",)), [])
    site = Site(tmp_path / "results.db")
    first = site.page("", {"name": "x&y"})
    assert "51 runs found, 1 to 50 shown" in Seen(first.content).text
    assert "runs-2.html?name=x%26y" in first.content.replace("&amp;", "&")
    assert "51 to 51 shown" in Seen(site.page("runs-2.html", {"name": "x&y"}).content).text
    with pytest.raises(NotFound, match="has 2 pages"):
        site.page("runs-3.html", {"name": "x&y"})


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    site = Site(tmp_path / "none.db")
    assert "No runs yet" in site.page("").content
    assert "No target was measured yet" in site.page("targets.html").content
    assert not (tmp_path / "none.db").exists()


def test_a_run_shows_its_answer_table_and_links(site: Site) -> None:
    page = site.page("runs/r2.html")
    seen = Seen(page.content)
    assert "requests/s" in seen.text.lower()
    assert {"report.html", "table-1.svg"} <= {link.rpartition("/")[2] for link in links(page.content, "runs/r2.html")}
    assert "compare/r1/r2.html" in links(page.content, "runs/r2.html")
    assert not [tag for tag, _ in seen.tags if tag == "script"]


def test_a_run_in_progress_shows_its_state_and_follows_the_store(site: Site) -> None:
    page = site.page("runs/r3.html")
    seen = Seen(page.content)
    assert "running · 2 of 6 trials" in seen.text
    assert ("script", {"src": "../live.js", "defer": None}) in seen.tags
    assert "Latest trials" in seen.text
    assert '<div id="results" data-events="../runs/r3/events">' in page.content
    assert "Latest trials" in site.results("r3")


def test_a_run_without_trials_has_a_page(tmp_path: Path) -> None:
    add_run(tmp_path / "results.db", make_run(make_rounds_of("c/a"), id="r", status=RunStatus.RUNNING), [])
    page = Site(tmp_path / "results.db").page("runs/r.html")
    assert "No trial was finished." in page.content
    with pytest.raises(NotFound):
        Site(tmp_path / "results.db").page("runs/r/report.html")


def test_a_search_for_the_highest_rate_shows_its_curve(tmp_path: Path) -> None:
    run, trials = make_search_run()
    add_run(tmp_path / "results.db", run, trials)
    site = Site(tmp_path / "results.db")
    assert f"../runs/{run.id}/search.svg" in site.page(f"runs/{run.id}.html").content
    assert "<caption>Rates</caption>" in site.page(f"runs/{run.id}.html").content
    assert site.page(f"runs/{run.id}/search.svg").media_type == "image/svg+xml"


def test_two_runs_are_compared(site: Site) -> None:
    page = site.page("compare/r1/r2.html")
    assert "Changes from r1 to r2" in page.content
    assert "×2.000" in page.content
    assert site.page("compare/r1/r2/rps.svg").content == "<svg>Requests/s: change from base to head</svg>"


def test_targets_are_listed_and_link_to_their_runs(site: Site) -> None:
    found = links(site.page("targets.html").content, "targets.html")
    assert addresses.target("c/a") in found
    page = site.page(addresses.target("c/a"))
    assert "runs/r1.html" in links(page.content, addresses.target("c/a"))


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "runs/none.html",
        "runs/none/report.html",
        "runs/none/table-1.svg",
        "runs/r1/table-2.svg",
        "runs/r1/table-0.svg",
        "runs/r1/search.svg",
        "runs/r1/other.svg",
        "runs-0.html",
        "runs-2.html",
        "runs-99999999999999999999.html",
        "compare/r1/none.html",
        "compare/none/r1.html",
        "compare/r1/r2/other.svg",
        "targets/c-a-00000000.html",
        "../results.db",
        "runs/../../results.db",
        "runs/..%2f..%2fresults.db.html",
        "style.css",
        "site.py",
    ],
)
def test_missing_pages_are_not_found(site: Site, path: str) -> None:
    with pytest.raises(NotFound):
        site.page(path)


def test_every_link_on_every_page_works(site: Site) -> None:
    known, waiting = {"index.html"}, ["index.html"]
    while waiting:
        path = waiting.pop()
        page = site.page(path)
        found = {link.partition("?")[0] for link in links(page.content, path)} if page.media_type == "text/html" else set()
        new = found - known - {addresses.SCRIPT}
        known |= new
        waiting += new
    assert {"compare/r2/r3.html", "runs/r3/report.html", "targets.html"} <= known


def test_untrusted_text_is_escaped(tmp_path: Path) -> None:
    target = make_target("c/a").model_copy(update={"notes": ATTACK})
    trials = make_rounds_of("c/a")
    trials.append(make_failed(make_plan("c/a", 3, 3), ATTACK, log_tail=ATTACK))
    environment = make_environment(hostname=ATTACK, cpu_model=ATTACK, git_commit=ATTACK)
    values = {"name": ATTACK, "tags": (ATTACK, "\x1b[2J"), "command": ("httpbench", ATTACK), "environment": environment}
    for name, status in (("r1", RunStatus.FINISHED), ("r2", RunStatus.RUNNING)):
        add_run(tmp_path / "results.db", make_run(trials, {"c/a": target}, id=name, status=status, **values), trials)
    site = Site(tmp_path / "results.db")
    pages = [site.page(path).content for path in ("", "targets.html", "runs/r1.html", "runs/r2.html", "compare/r1/r2.html")]
    pages += [site.page("", {"target": ATTACK, "tag": '"><script>'}).content, site.page(addresses.target("c/a")).content]
    pages += [site.results("r2"), site.frame.message(ATTACK, ATTACK).content]
    with Store(site.db) as store:
        store._connection.execute("UPDATE trial SET target = ?", (ATTACK,))
    pages += [site.page("targets.html").content, site.page("", {"target": "img"}).content]
    for page in pages:
        seen = Seen(page)
        assert {attrs.get("src") for tag, attrs in seen.tags if tag == "script"} <= {"../live.js"}
        assert not [attrs for tag, attrs in seen.tags if tag == "img" and attrs.get("src") == "x"]
        assert not [name for _, attrs in seen.tags for name in attrs if name.startswith("on") or name == "style"]
        assert "\x1b" not in page


def test_addresses_of_targets_are_safe_and_unique() -> None:
    names = [addresses.target_name(name) for name in ("c/a", "c-a", "C/A", "../..", "a" * 300, "«»", "x\n", "")]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]{7,79}", name) and ".." not in name for name in names), names


def test_charts_are_cached_until_the_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "results.db"
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:2])
    site = Site(db)
    first = site.page("runs/r/report.html")
    assert site.page("runs/r/report.html") is first
    with Store(db) as store:
        store.add("r", trials[2])
    assert site.page("runs/r/report.html") is not first


def test_the_explorer_shows_the_finished_runs_and_links_to_their_reports(site: Site) -> None:
    page = site.page("explorer.html").content
    assert '"runs/r2/report.html"' in page and '"runs/r1/report.html"' in page
    assert "runs/r3" not in page, "r3 is in progress"
    assert 'href="explorer.html" aria-current="page"' in page
