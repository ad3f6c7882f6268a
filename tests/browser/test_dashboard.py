"""Tests of the dashboard in a browser: stored runs, a run in progress and the static copy."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from httpbench.model import RunStatus
from httpbench.store import Store
from httpbench.web import addresses
from httpbench.web.export import export
from tests.browser.accessibility import SCHEMES, serious_findings
from tests.browser.traffic import Traffic
from tests.dashboards import add_run, make_rounds_of, serving
from tests.factories import make_environment, make_failed, make_plan, make_run
from tests.made_runs import make_search_run, make_servers_run
from tests.made_stores import make_store

pytestmark = pytest.mark.browser

WAIT_MS = 60_000
"""Time limit for charts, which the server draws on request."""
ATTACK = "<img src=x onerror=\"document.title='broken'\"></style></script><script>document.title='broken'</script>"
COPIES = 11
WIDTHS = (400, 1000, 1600)
TABS_MAX = 400
SCREENSHOTS = os.environ.get("HTTPBENCH_SCREENSHOTS")
"""Folder for screenshots, or ``None`` to take none."""


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Store twelve runs of twelve servers, a search, a hostile run and a run in progress. Return the ids of the first twelve runs."""
    db = tmp_path_factory.mktemp("store") / "results.db"
    ids = make_store(db, make_servers_run(), COPIES, with_histograms=True)
    add_run(db, *make_search_run_named("search"))
    trials = [*make_rounds_of("c/x"), make_failed(make_plan("c/x", 3, 3), ATTACK, log_tail=ATTACK)]
    texts: dict[str, Any] = {"name": ATTACK, "tags": (ATTACK,), "command": ("httpbench", ATTACK)}
    add_run(db, make_run(trials, id="hostile", environment=make_environment(hostname=ATTACK, cpu_model=ATTACK), **texts), trials)
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="running", status=RunStatus.RUNNING), trials[:4])
    return db, ids


def make_search_run_named(name: str) -> Any:
    run, trials = make_search_run()
    return run.model_copy(update={"id": name}), trials


@pytest.fixture(scope="session")
def server(store: tuple[Path, list[str]]) -> Iterator[str]:
    with serving(store[0]) as (_, address):
        yield address


@pytest.fixture(scope="session")
def pages(store: tuple[Path, list[str]]) -> Mapping[str, str]:
    *_, base, head = store[1]
    return {
        "runs": "",
        "found": "?target=nginx&tag=nightly",
        "run": addresses.run(head),
        "search": addresses.run("search"),
        "hostile": addresses.run("hostile"),
        "running": addresses.run("running"),
        "comparison": addresses.comparison(base, head),
        "targets": "targets.html",
        "target": addresses.target("c/nginx"),
        "explorer": addresses.EXPLORER,
        "missing": "runs/none.html",
    }


NAMES = ("runs", "found", "run", "search", "hostile", "running", "comparison", "targets", "target", "explorer", "missing")


def opened(browser: Browser, address: str, *, width: int = 1000, **options: Any) -> Page:
    page = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    return page


def with_pictures(page: Page) -> None:
    """Load all charts, including those that the browser would load lazily, and wait for them."""
    page.evaluate("document.querySelectorAll('img').forEach(one => one.loading = 'eager')")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    deadline = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate("[...document.images].every(one => one.complete)"):
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)
    assert page.evaluate("[...document.images].filter(one => !one.naturalWidth).map(one => one.src)") == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_as_wide_as_the_window_sends_no_request_elsewhere_and_logs_no_error(
    browser: Browser, server: str, pages: Mapping[str, str], name: str
) -> None:
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    page.set_default_timeout(WAIT_MS)
    traffic = Traffic(page)
    page.goto(server + pages[name])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in SCHEMES if SCREENSHOTS else ():
            page.emulate_media(color_scheme=scheme)
            with_pictures(page)
            page.screenshot(path=Path(SCREENSHOTS or "") / f"dashboard-{name}-{width}-{scheme}.png", full_page=True)
    with_pictures(page)
    assert [url for url in traffic.requests if not url.startswith((server, "data:"))] == []
    assert [text for text in traffic.messages if not (name == "missing" and "404" in text)] == []
    assert page.title() != "broken"
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_axe_has_no_serious_finding(browser: Browser, server: str, pages: Mapping[str, str], axe: Path, name: str) -> None:
    # The page's content security policy would block axe-core, which is a script.
    page = opened(browser, server + pages[name], bypass_csp=True)
    assert serious_findings(page, axe) == []
    page.context.close()


def test_the_keyboard_reaches_everything(browser: Browser, server: str, pages: Mapping[str, str]) -> None:
    page = opened(browser, server + pages["found"])
    wanted = page.evaluate("""() => {
        const all = [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility() && (one.type !== 'radio' || one.checked))
        all.forEach((one, index) => one.dataset.number = index)
        return all.length
    }""")
    reached = set()
    for _ in range(min(2 * wanted + 20, TABS_MAX)):  # a date field has several tab stops
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.number"))
    assert {str(number) for number in range(wanted)} <= reached
    page.context.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_searching_and_comparing(browser: Browser, server: str, store: tuple[Path, list[str]], *, javascript: bool) -> None:
    page = opened(browser, server, java_script_enabled=javascript)
    page.get_by_label("Target").first.fill("nginx")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(f"{COPIES + 1} runs found")
    page.get_by_role("radio", name=re.compile("^base")).nth(3).check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Changes from {store[1][-4]} to {store[1][-1]}")
    page.context.close()


def test_the_page_of_a_run_in_progress_updates_until_the_run_ends(browser: Browser, tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:2])
    with serving(db) as (_, address), Store(db) as harness:
        page = opened(browser, f"{address}runs/r.html")
        page.evaluate("window.known = true")
        expect(page.locator("#state")).to_have_text("running · 2 of 6 trials")
        for number, trial in enumerate(trials[2:5], 3):
            harness.add("r", trial)
            expect(page.locator("#state")).to_have_text(f"running · {number} of 6 trials", timeout=WAIT_MS)
        expect(page.locator("#trials tbody tr")).to_have_count(5, timeout=WAIT_MS)
        assert page.evaluate("window.known"), "the page was reloaded"
        harness.finish("r", RunStatus.FINISHED, "2026-11-23T09:00:00.000Z")
        expect(page.locator("#state")).to_have_count(0, timeout=WAIT_MS)
        assert page.evaluate("window.known === undefined")
        assert page.locator("script").count() == 0
        page.context.close()


def test_the_page_of_a_run_in_progress_reloads_without_scripts(browser: Browser, server: str) -> None:
    page = opened(browser, server + addresses.run("running"), java_script_enabled=False)
    assert page.locator("noscript meta[http-equiv=refresh], meta[http-equiv=refresh]").count() == 1
    page.context.close()


def test_the_token_disappears_from_the_address_and_scripts_cannot_read_it(browser: Browser, store: tuple[Path, list[str]]) -> None:
    with serving(store[0], "--token") as (_, address):
        plain, _, token = address.partition("?token=")
        page = opened(browser, address)
        assert page.url == plain
        assert page.title() == "Runs · httpbench"
        assert token not in page.evaluate("document.cookie + document.documentElement.outerHTML")
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["value"]) == (True, "Strict", token)
        page.context.close()
        other = opened(browser, plain)
        assert other.title() == "Token required · httpbench"
        other.context.close()


def test_the_static_copy_opens_from_disk(browser: Browser, tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    for name in ("r1", "r2"):
        trials = make_rounds_of("c/a", "c/b")
        add_run(db, make_run(trials, id=name), trials)
    export(db, tmp_path / "public", 10, lambda path: None)
    page = browser.new_context().new_page()
    traffic = Traffic(page)
    page.goto((tmp_path / "public" / "index.html").as_uri())
    page.get_by_role("link", name="2026").first.click()
    with_pictures(page)
    page.get_by_role("link", name="Changes since").click()
    with_pictures(page)
    page.get_by_role("link", name="Targets").click()
    page.get_by_role("link", name="c/a").click()
    with_pictures(page)
    assert traffic.messages == []
    assert all(url.startswith(("file:", "data:")) for url in traffic.requests)
    page.context.close()
