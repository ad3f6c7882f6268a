"""Tests of the findings of an audit on the terminal, as Markdown, as JSON and as a page."""

from __future__ import annotations

import json
import re

import pytest
from rich.console import Console

from httpbench.analysis.audit import Audit, audit
from httpbench.analysis.audit_rules import AuditRule
from httpbench.model import Load
from httpbench.report import AUDIT_FORMATS
from httpbench.report.terminal.audit import render_audit
from httpbench.report.words.audit import MEANINGS, TITLES, conclusion
from tests.audited import published_run, published_table, published_trial

PIPELINED = Load(connections=64, pipeline=16, duration_s=15)


def broken() -> Audit:
    trials = [
        published_trial(64_000, "c/busy", times={"mean": 2500}),
        published_trial(64_000, "c/failing", errors={"timeout": 64_000 * 15}),
        *(published_trial(64_000, "c/idle", workload=f"test-{place}", times={"mean": 500.0}) for place in range(6)),
        *published_table([97_000 - place for place in range(20)], load=PIPELINED, counts_errors=False),
    ]
    return audit(published_run(trials, "httparena"), trials)


def nothing() -> Audit:
    trials = [published_trial()]
    return audit(published_run(trials), trials)


def shown(found: Audit, width: int = 80) -> str:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(render_audit(found, width=width))
    return captured.get()


def test_the_terminal_shows_rules_rows_and_examples_in_80_columns() -> None:
    text = shown(broken())
    assert max(map(len, text.splitlines())) <= 80
    said = " ".join(text.split())
    assert "audit of run 20261121T080000-c0de · published by httparena · 28 rows in 8 tables" in said
    assert "1 rule found figures that can't be true. 4 rules found figures that mean less than they say." in said
    assert "Each figure is the best of several measurements (scripts/benchmark.sh)" in said
    assert "More requests in flight than the load allows: 1 of 1 row in 1 table" in said
    assert "c/busy: 64,000/s × 2.5 ms = 160 in flight of 64" in said
    assert "c/failing: 64,000/s, 50% failed" in said
    assert "96,980 to 97,000 requests/s" in said and "plaintext -c 64 --pipeline 16" in said
    assert said.count("c/idle: 64,000/s × 0.5 ms = 32 in flight of 64") == 4 and "2 more tables: add --export-markdown -" in said
    assert said.index("Figures that can't be true") < said.index("Figures that mean less than they say")


def test_an_audit_without_findings_says_so() -> None:
    assert shown(nothing()).splitlines()[-1].strip() == "No rule found anything."
    assert "can't be true" not in AUDIT_FORMATS["markdown"](nothing()) and json.loads(AUDIT_FORMATS["json"](nothing()))["findings"] == []


def test_the_conclusion_counts_only_rules_that_found_something() -> None:
    trials = [published_trial(64_000, errors={"timeout": 64_000 * 15})]
    assert conclusion(audit(published_run(trials), trials)) == "1 rule found figures that mean less than they say."


def test_markdown_and_the_page_list_every_table() -> None:
    markdown, page = AUDIT_FORMATS["markdown"](broken()), AUDIT_FORMATS["html"](broken())
    assert markdown.count("c/idle: 64,000/s") == 6 and markdown.startswith("### audit of run ")
    assert page.count("c/idle: 64,000/s") == 6
    for rule in broken().rules:
        assert TITLES[rule] in markdown and TITLES[rule] in page


def test_json_has_every_row_with_its_figures() -> None:
    document = json.loads(AUDIT_FORMATS["json"](broken()))
    assert (document["schema"], document["published"], document["tables"], document["rows"]) == ("httpbench-audit/1", "httparena", 8, 28)
    first = document["findings"][0]
    assert (first["rule"], first["impossible"], first["workload"], first["examined"]) == ("too_many_in_flight", True, "plaintext", 1)
    (row,) = first["rows"]
    assert row["target"] == "c/busy" and row["figures"]["in_flight"] == pytest.approx(160)
    (clustered,) = [finding for finding in document["findings"] if finding["rule"] == "clustered"]
    assert len(clustered["rows"]) == 20 and clustered["data"]["throughput_rps_max"] == 97_000


@pytest.mark.parametrize("rule", AuditRule)
def test_each_rule_has_a_title_and_short_sentences(rule: AuditRule) -> None:
    assert TITLES[rule][0].isupper()
    sentences = re.split(r"(?<=[.:]) ", MEANINGS[rule])
    assert MEANINGS[rule].endswith(".") and all(len(sentence.split()) <= 25 for sentence in sentences)


@pytest.mark.parametrize(
    ("changes", "example"),
    [
        ({"times": {"min": -3e18}}, "min -3.0e+12 s"),
        ({"times": {"p99": 30_000}}, "p99 30 ms, max 20 ms"),
        ({"completed": 64_000 * 45}, "64,000/s for 15 s, but 2,880,000 responses"),
        (
            {"times": {"mean": None, "max": None, "p50": 300, "p75": 400, "p90": 500, "p99": 700}},
            "64,000/s × 0.7 ms = 44.8 in flight of 64",
        ),
        ({"counts_errors": False}, "c/epoll/level: 64,000/s"),
    ],
)
def test_examples_show_the_figures_that_a_rule_compares(changes: dict[str, object], example: str) -> None:
    trial = published_trial(64_000, **changes)  # type: ignore[arg-type]
    assert example in shown(audit(published_run([trial]), [trial]), width=200)
