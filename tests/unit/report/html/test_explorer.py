"""Tests of the explorer's page: its data, its policy, and text that can't leave the script element."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from httpbench.analysis.explorer import ExploredRun
from httpbench.model import Verdict, VerdictKind
from httpbench.report.html.explorer import render_explorer, script
from tests.factories import make_failed, make_plan, make_rounds, make_run, make_target
from tests.made_runs import make_proxies_run

ATTACK = "</script><script>alert(1)</script>\u202e"


def page_of(*sources: ExploredRun) -> tuple[str, dict[str, Any]]:
    page = render_explorer(sources, "Results")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return page, json.loads(found)


def test_cells_have_values_ranks_bounds_and_verdicts() -> None:
    bound = Verdict(kind=VerdictKind.BOTH)
    failed = [make_failed(make_plan("c/c", round_), "died") for round_ in range(3)]
    trials = [*make_rounds("c/a", (1000, 1001, 1002), verdict=bound), *make_rounds("c/b", (500, 501, 502)), *failed]
    _, data = page_of(ExploredRun("r", make_run(trials), trials, ["d/skipped: requires ldc2"], "r.html"))
    (load,) = data["loads"]
    first, second, third = load["cells"]
    assert [data["targets"][cell["target"]]["id"] for cell in load["cells"]] == ["c/a", "c/b", "c/c"]
    assert (first["speed"], first["relative"], first["verdict"], first["bound"], first["rank"]) == (1001, 100, "both", True, "1")
    assert (second["speed"], second["lower"], second["rank"]) == (501, True, "2")
    assert second["ends"][0] < second["relative"] < second["ends"][1]
    assert (third["invalid"], third["verdict"]) == (True, "failed")
    assert "rank" not in third and "relative" not in third
    assert [data["texts"][number] for number in third["why"]] == ["died, in 3 rounds"]
    skipped = [target["id"] for target in data["targets"]].index("d/skipped")
    assert data["texts"][load["absent"][str(skipped)]] == "d/skipped: requires ldc2"
    assert load["speed"] == {"title": "Requests/s", "unit": "", "better": 1, "bound": "≥"}
    assert data["runs"][0]["report"] == "r.html"


def test_loads_that_read_alike_have_different_keys() -> None:
    trials = make_rounds("c/a", (1000, 1001, 1002))
    _, data = page_of(ExploredRun("r", make_run(trials), trials), ExploredRun("r", make_run(trials), trials))
    assert len({load["key"] for load in data["loads"]}) == 2


def test_the_baseline_of_proxies_has_no_rank() -> None:
    _, data = page_of(ExploredRun("proxies", *make_proxies_run()))
    baseline = [target["id"] for target in data["targets"]].index("baseline")
    cells = [cell for load in data["loads"] for cell in load["cells"] if cell["target"] == baseline]
    assert cells and all("rank" not in cell and "relative" not in cell for cell in cells)


def test_hostile_text_stays_text() -> None:
    trials = [make_failed(make_plan("c/a", round_), ATTACK) for round_ in range(3)]
    run = make_run(trials, {"c/a": make_target("c/a")}, name=ATTACK)
    page, data = page_of(ExploredRun(ATTACK, run, trials, [f"x/y: {ATTACK}"]))
    assert len(re.findall("<script", page)) == 2
    assert "\u202e" not in page
    assert any("</script>" in text for text in data["texts"])


def test_the_policy_allows_only_the_pages_own_script_and_style() -> None:
    page, _ = page_of()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in policy
    assert "default-src &#39;none&#39;" in policy and "connect-src" not in policy
    assert len(script().splitlines()) <= 500
