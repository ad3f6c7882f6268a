"""Tests of the results explorer in a browser: sorting, filters, the address, the keyboard, narrow windows, and no requests."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from httpbench.analysis.explorer import ExploredRun
from httpbench.model import Load, Verdict, VerdictKind
from httpbench.report.html.explorer import render_explorer
from tests.browser.accessibility import SCHEMES, serious_findings
from tests.browser.traffic import Traffic
from tests.dashboards import add_run, make_rounds_of, serving
from tests.factories import TARGET_LIMITED, make_failed, make_plan, make_rounds, make_run, make_target
from tests.made_runs import make_clients_run

pytestmark = pytest.mark.browser

ATTACK = "<img src=x onerror=\"document.title='broken'\"></script><script>document.title='broken'</script>"
SCREENSHOTS = os.environ.get("HTTPBENCH_SCREENSHOTS")
"""Folder for screenshots, or ``None`` to take none."""
BOTH = Verdict(kind=VerdictKind.BOTH)
CONNECTIONS = (8, 64, 512)
SPEEDS = {"c/nginx": (3000, 2000, 1000), "golang/gin": (1000, 2500, 900), "rust/axum": (2000, 2200, 800)}
TARGETS, LOADS = 1000, 20
SORT_MS_MAX = 1500
"""Time limit for a sort on a busy machine. Without other load, it takes less than 100 ms."""


def servers_run() -> ExploredRun:
    """Return three servers under three numbers of connections, a server without results for one load, and two without any."""
    trials = []
    for index, connections in enumerate(CONNECTIONS):
        plan = {"load": Load(connections=connections)}
        for name, speeds in SPEEDS.items():
            rps = speeds[index]
            trials += make_rounds(name, (rps, rps * 1.001, rps * 1.002), plan=plan, verdict=BOTH if name == "c/nginx" else TARGET_LIMITED)
        failed = [make_failed(make_plan("c/broken", round_, load=plan["load"]), ATTACK) for round_ in range(3)]
        trials += failed if index else make_rounds("c/broken", (100, 101, 102), plan=plan)
    targets = {name: make_target(name, language=name.partition("/")[0], notes=ATTACK) for name in (*SPEEDS, "c/broken")}
    return ExploredRun("servers", make_run(trials, targets), trials, ["dlang/none: requires ldc2", f"x/y: {ATTACK}"], "servers/report.html")


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(render_explorer([servers_run(), ExploredRun("clients", *make_clients_run())], "Results"), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    page = opened(browser, file)
    yield page
    page.context.close()


def opened(browser: Browser, path: Path, fragment: str = "", *, width: int = 1280, **options: Any) -> Page:
    page = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
    page.goto(path.as_uri() + fragment)
    return page


def names(page: Page) -> list[str]:
    return page.locator("#body th").all_inner_texts()


def sort_by(page: Page, title: str) -> None:
    page.get_by_role("columnheader", name=title).get_by_role("button").click()


def test_columns_sort_in_both_orders_and_say_so(page: Page) -> None:
    expect(page.get_by_role("columnheader", name="Score")).to_have_attribute("aria-sort", "descending")
    assert names(page) == ["c/nginx", "rust/axum", "golang/gin", "c/broken", "dlang/none", "x/y"]
    sort_by(page, "64 connections")
    assert names(page)[:3] == ["golang/gin", "rust/axum", "c/nginx"]
    sort_by(page, "64 connections")
    expect(page.get_by_role("columnheader", name="64 connections")).to_have_attribute("aria-sort", "ascending")
    assert names(page) == ["c/nginx", "rust/axum", "golang/gin", "c/broken", "dlang/none", "x/y"], "rows without a value come last"
    assert page.locator("[aria-sort]").count() == 1


def test_cells_show_the_rank_the_bound_and_the_verdict(page: Page) -> None:
    cell = page.get_by_role("row", name="c/nginx").get_by_role("cell").nth(1)
    expect(cell).to_contain_text(re.compile(r"≥ 3,003\s*rank 1 ▶ both\s*[\d.]+ µs CPU"))
    expect(page.get_by_role("row", name="c/broken").get_by_role("cell").first).to_have_text("no result for 2 of 3 loads")


def test_filters_keep_their_state_in_the_address(page: Page, browser: Browser, file: Path) -> None:
    page.get_by_label("Targets").fill("rust golang")
    page.get_by_label("Show").select_option("p99")
    sort_by(page, "8 connections")
    assert sorted(names(page)) == ["golang/gin", "rust/axum"]
    expect(page.get_by_role("status")).to_have_text("2 targets, 3 loads")
    fragment = page.evaluate("location.hash")
    other = opened(browser, file, fragment)
    assert names(other) == names(page)
    assert other.get_by_label("Show").input_value() == "p99"
    other.get_by_role("button", name="Reset").click()
    assert (other.evaluate("location.hash"), len(names(other))) == ("", 6)
    other.context.close()


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("Language", "rust", ["rust/axum"]),
        ("Verdict", "both", ["c/nginx"]),
        ("Verdict", "missing", ["dlang/none", "x/y"]),
        ("Run", "clients", ["client:c/curl", "client:golang/http-client", "client:rust/hyper"]),
    ],
)
def test_a_filter_narrows_the_rows(page: Page, label: str, value: str, expected: list[str]) -> None:
    page.get_by_label(label, exact=True).select_option(value)
    assert names(page) == expected


def test_weights_change_the_score_and_a_target_without_a_load_gets_none(page: Page, browser: Browser, file: Path) -> None:
    score = page.get_by_role("row", name="golang/gin").get_by_role("cell").first
    expect(score).to_contain_text("67")  # (1/3 × 1 × 0.9) to the power of 1/3
    page.get_by_text("Weights of the score").click()
    page.get_by_label("8 connections", exact=False).first.fill("0")
    expect(score).to_contain_text("94.9")  # the square root of 1 × 0.9
    other = opened(browser, file, page.evaluate("location.hash"))
    expect(other.get_by_role("row", name="golang/gin").get_by_role("cell").first).to_contain_text("94.9")
    expect(other.get_by_role("row", name="c/broken").get_by_role("cell").first).to_have_text("no result for 2 of 2 loads")
    other.context.close()


def test_the_keyboard_opens_a_target_and_returns(page: Page) -> None:
    button = page.get_by_role("button", name="c/broken")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="c/broken")
    expect(dialog).to_contain_text("img src=x")
    assert "target=c%2Fbroken" in page.evaluate("location.hash")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    page.wait_for_function("!location.hash.includes('target')")  # the page hears of the end only afterwards


def test_details_say_why_a_load_is_missing_and_link_to_the_report(page: Page) -> None:
    page.get_by_role("button", name="dlang/none").click()
    expect(page.get_by_role("dialog")).to_contain_text("64 connections · 10 s: dlang/none: requires ldc2")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="c/nginx").click()
    link = page.get_by_role("link", name="Report of servers")
    assert link.get_attribute("href") == "servers/report.html#c/nginx"
    expect(page.get_by_role("dialog").get_by_role("img", name="c/nginx, Requests/s by connections: 8: ≥ 3,003")).to_be_visible()


def test_the_keyboard_reaches_everything(page: Page) -> None:
    wanted = page.evaluate("""() => {
        const all = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility())
        all.forEach((one, index) => one.dataset.number = index)
        return all.length
    }""")
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.number"))
    assert {str(number) for number in range(wanted)} <= reached


@pytest.mark.parametrize("fragment", ["", "#target=c%2Fnginx", "#run=&cores=&figure=p99"])
def test_axe_has_no_serious_finding(browser: Browser, file: Path, axe: Path, fragment: str) -> None:
    # The page's content security policy would block axe-core, which is another script.
    page = opened(browser, file, fragment, bypass_csp=True)
    assert serious_findings(page, axe) == []
    page.context.close()


@pytest.mark.parametrize("fragment", ["", "#target=c%2Fnginx", "#run=&cores="])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_page_is_as_wide_as_the_window_sends_no_request_and_logs_nothing(browser: Browser, file: Path, fragment: str, width: int) -> None:
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    traffic = Traffic(page)
    page.goto(file.as_uri() + fragment, wait_until="networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('details').scrollWidth <= document.getElementById('details').offsetWidth")
    assert ([url for url in traffic.requests if not url.startswith("data:")], traffic.messages) == ([file.as_uri()], [])
    assert page.title() != "broken"
    for scheme in SCHEMES if SCREENSHOTS else ():
        page.emulate_media(color_scheme=scheme)
        name = re.sub(r"\W+", "-", fragment)
        page.screenshot(path=Path(SCREENSHOTS or "") / f"explorer{name}-{width}-{scheme}.png", full_page=not name)
    page.context.close()


def test_a_wrong_address_shows_the_defaults(browser: Browser, file: Path) -> None:
    page = opened(browser, file, "#run=none&figure=&sort=x&weights=%5B&target=none&language=%3Cscript%3E")
    assert len(names(page)) == 6
    page.context.close()


def test_the_dashboard_shows_the_explorer_under_its_policy(browser: Browser, tmp_path: Path) -> None:
    trials = make_rounds_of("c/a", "c/b")
    add_run(tmp_path / "results.db", make_run(trials, id="r1"), trials)
    with serving(tmp_path / "results.db") as (_, address):
        page = browser.new_context().new_page()
        page.goto(address)
        page.get_by_role("link", name="Explorer").click()
        page.get_by_role("button", name="c/a").click()
        page.get_by_role("link", name="Report of").click()
        expect(page).to_have_url(f"{address}runs/r1/report.html#c/a")
        page.context.close()


def test_many_targets_sort_quickly(browser: Browser, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(with_many_targets(file.read_text(encoding="utf-8")), encoding="utf-8")
    page = opened(browser, path)
    times_ms = page.evaluate("""() => [...document.querySelectorAll('#head button')].slice(2).map(button => {
        const begun = performance.now()
        button.click()
        document.getElementById('matrix').scrollHeight  // lay the table out
        return performance.now() - begun
    })""")
    print("sorting, ms:", [round(each) for each in times_ms])
    assert len(times_ms) == LOADS
    assert sorted(times_ms)[LOADS // 2] < SORT_MS_MAX
    expect(page.locator("#body tr")).to_have_count(50)
    page.get_by_role("button", name="Show 200 more of 1,000 targets").click()
    expect(page.locator("#body tr")).to_have_count(250)
    speeds = [float(text.replace(",", "")) for text in page.locator("#body tr td:last-child .value").all_inner_texts()]
    assert speeds == sorted(speeds, reverse=True)
    page.context.close()


def with_many_targets(text: str) -> str:
    """Replace the data of a page with a thousand targets under twenty loads."""
    chance = random.Random(1)
    whole = re.compile(r'(id="data">)(.*?)(</script>)', re.DOTALL)
    found = whole.search(text)
    assert found
    data = json.loads(found[2])
    load = next(each for each in data["loads"] if each["workload"] == "plaintext")
    cell = load["cells"][1]
    data["targets"] = [{**data["targets"][0], "id": f"c/{number}", "name": f"c/{number}"} for number in range(TARGETS)]
    data["loads"] = [
        {
            **load,
            "key": f"load {number}",
            "parts": [f"load {number}"],
            "cells": [
                {**cell, "target": target, "speed": chance.randint(1, 10**6), "relative": chance.uniform(1, 100)}
                for target in range(TARGETS)
            ],
        }
        for number in range(LOADS)
    ]
    return text[: found.start(2)] + json.dumps(data).replace("<", "\\u003c") + text[found.end(2) :]
