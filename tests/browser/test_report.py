"""Tests of the HTML report in a browser: it makes no requests, has no errors and is accessible."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from httpbench.analysis.changes import changes
from httpbench.model import Run, Trial
from httpbench.report.data.json import Document
from httpbench.report.html import render_changes_html, render_html
from tests.browser.accessibility import SCHEMES, serious_findings
from tests.browser.traffic import Traffic
from tests.factories import make_environment, make_failed, make_plan, make_response, make_rounds, make_run, make_target
from tests.made_profiles import make_profiled_run
from tests.made_runs import make_clients_run, make_proxies_run, make_search_run, make_servers_run

pytestmark = pytest.mark.browser

ATTACK = "<img src=x onerror=\"document.title='broken'\"></style></script><script>document.title='broken'</script>"
TABS_MAX = 400
WIDTHS = (400, 1000, 1600)
SCREENSHOTS = os.environ.get("HTTPBENCH_SCREENSHOTS")
"""Folder for screenshots, or ``None`` to take none."""


def hostile_run() -> tuple[Run, list[Trial]]:
    """Return a run whose names, logs and responses contain scripts."""
    target = make_target("c/a").model_copy(update={"notes": ATTACK, "upstream": "javascript:document.title='broken'"})
    trials = [
        *make_rounds("c/a", (1000, 1010, 1020), response=make_response(headers=((ATTACK, ATTACK),), body=ATTACK)),
        *(make_failed(make_plan("c/b", round_), ATTACK, log_tail=ATTACK) for round_ in range(3)),
    ]
    environment = make_environment(hostname=ATTACK, cpu_model=ATTACK, versions={ATTACK: ATTACK})
    return make_run(trials, {"c/a": target}, name=ATTACK, command=("httpbench", ATTACK), environment=environment), trials


def changes_page() -> str:
    base = [*make_rounds("c/a", (1000, 1001, 1002)), *make_rounds("c/b", (1000, 1010, 1002))]
    head = [*make_rounds("c/a", (990, 991, 992)), *make_rounds("c/b", (500, 501, 502))]
    return render_changes_html(changes((make_run(base), base), (make_run(head), head)))


PAGES: Mapping[str, Callable[[], str]] = {
    "servers": lambda: render_html(*make_servers_run()),
    "search": lambda: render_html(*make_search_run()),
    "proxies": lambda: render_html(*make_proxies_run()),
    "clients": lambda: render_html(*make_clients_run()),
    "hostile": lambda: render_html(*hostile_run()),
    "changes": changes_page,
    "profiles": lambda: render_html(*make_profiled_run({f"main;{ATTACK}": 3.0})),
}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in PAGES}
    for name, path in paths.items():
        path.write_text(PAGES[name](), encoding="utf-8")
    return paths


def opened(browser: Browser, path: Path, *, fragment: str = "", width: int = 1000, **options: Any) -> Page:
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    page.goto(path.as_uri() + fragment)
    return page


def width_of(found: Locator) -> float:
    box = found.bounding_box()
    assert box is not None
    return box["width"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_wide_as_the_window_sends_no_request_logs_nothing_and_runs_no_script_of_a_target(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    traffic = Traffic(page)
    page.goto(files[name].as_uri(), wait_until="networkidle")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in SCHEMES if SCREENSHOTS else ():
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=Path(SCREENSHOTS or "") / f"{name}-{width}-{scheme}.png", full_page=True)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.wait_for_timeout(100)
    assert [url for url in traffic.requests if not url.startswith("data:")] == [files[name].as_uri()]
    assert traffic.messages == []
    assert page.title() != "broken"
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_axe_has_no_serious_finding(browser: Browser, files: dict[str, Path], axe: Path, name: str) -> None:
    # The page's content security policy would block axe-core, which is a script.
    page = opened(browser, files[name], bypass_csp=True)
    assert serious_findings(page, axe) == []
    page.context.close()


def test_the_keyboard_reaches_everything(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["search"])
    wanted = page.evaluate("""() => {
        const all = [...document.querySelectorAll('a[href], summary, input, [tabindex="0"]')].filter(one => one.checkVisibility())
        all.forEach((one, index) => one.dataset.number = index)
        return all.length
    }""")
    reached = set()
    for _ in range(min(wanted + 5, TABS_MAX)):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.number"))
    assert {str(number) for number in range(wanted)} <= reached
    page.context.close()


def test_a_line_can_be_hidden(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["servers"])
    stroke = "getComputedStyle(document.querySelector('figure:has(.s2) path[stroke=\"var(--series-2)\"]')).stroke"
    assert page.evaluate(stroke) != "rgba(0, 0, 0, 0)"
    box = page.locator("figure:has(.s2) .s2").first
    box.focus()
    page.keyboard.press("Space")
    assert page.evaluate(stroke) == "rgba(0, 0, 0, 0)"
    page.context.close()


def test_the_keyboard_zooms_a_flame_graph(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["profiles"])
    graph = page.get_by_role("tree", name="c/a, plaintext")
    parse = graph.get_by_role("treeitem", name="parse: ")
    width = width_of(graph)
    graph.get_by_role("treeitem", name="all functions").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(parse).to_be_focused()
    assert width_of(parse.locator("rect")) < width / 5
    expect(page.locator(".flame-detail").nth(1)).to_have_text(re.compile(r"parse: 1\d\.\d% of CPU time, 1\d\.\d µs per request, user"))
    page.keyboard.press("Enter")
    assert width_of(parse.locator("rect")) == pytest.approx(width, abs=6)
    expect(graph.get_by_role("treeitem", name="write: ")).to_be_hidden()
    page.keyboard.press("Escape")
    assert width_of(parse.locator("rect")) < width / 5
    page.context.close()


def test_a_click_zooms_and_the_search_counts_frames(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["profiles"])
    differential = page.locator(".flame-graph").first
    differential.get_by_role("treeitem", name="validate: ").click()
    expect(differential.locator(".flame-detail")).to_have_text(re.compile(r"validate: .* change \+\d"))
    expect(differential.get_by_role("treeitem", name="parse: ")).to_be_hidden()
    differential.get_by_role("button", name="Show everything").click()
    expect(differential.get_by_role("treeitem", name="parse: ")).to_be_visible()
    differential.get_by_label("Search").fill("TCP_")
    expect(differential.locator(".flame-detail")).to_have_text(re.compile(r"2 of \d+ frames, 3\d\.\d% of CPU time"))
    page.context.close()


def test_a_flame_graph_needs_no_script(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["profiles"], java_script_enabled=False)
    graph = page.get_by_role("img", name="c/a, plaintext")
    assert graph.get_by_text("tcp_sendmsg (kernel)").is_visible()
    assert not page.get_by_label("Search").first.is_visible()
    page.context.close()


def test_a_link_leads_to_its_target(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["servers"], fragment="#golang/net-http")
    top = page.evaluate("document.getElementById('golang/net-http').getBoundingClientRect().top")
    assert 0 <= top < 200
    page.context.close()


def test_the_json_can_be_saved(browser: Browser, files: dict[str, Path], tmp_path: Path) -> None:
    page = opened(browser, files["servers"])
    with page.expect_download() as saved:
        page.click("a[download]")
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    assert path.name.endswith(".json.gz")
    assert Document.model_validate_json(gzip.decompress(path.read_bytes())).run
    page.context.close()


def test_dark_and_light_differ_and_print_is_white(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["servers"])
    color = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(color) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(color) == "rgb(13, 17, 23)"
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(color) == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
    page.context.close()
