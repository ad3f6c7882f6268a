"""Tests of the Markdown page of all targets."""

from __future__ import annotations

from httpbench.contract.ambiguous import REQUESTS
from httpbench.model import ProxyOutcome
from httpbench.report.markdown.targets import render_ambiguous, render_targets
from tests.factories import TARGETS, make_proof


def test_each_kind_has_a_section_with_its_plural() -> None:
    page = render_targets(TARGETS, {}, {target.id: "0123456789ab" for target in TARGETS})
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [f"## {name}: {count} targets" for name, count in (("Servers", 6), ("Clients", 1), ("Proxies", 1))]


def test_only_proxies_with_outcomes_are_in_the_table_of_ambiguous_requests() -> None:
    outcomes = {REQUESTS[0].name: ProxyOutcome.FORWARDED, REQUESTS[1].name: ProxyOutcome.REJECTED}
    proved = make_proof("proxy:c/nginx", version="1.22.1", ambiguous=outcomes)
    page = render_ambiguous(REQUESTS[:3], {"proxy:c/nginx": proved, "proxy:c/haproxy": make_proof("proxy:c/haproxy")})
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    assert header == ["Request", "RFC 9112", "c/nginx"]
    assert [row[-1] for row in rows] == ["forwarded", "rejected", ""], "the last request is newer than the record"
    assert page.endswith("- c/nginx: 1.22.1 2026-11-22\n")
