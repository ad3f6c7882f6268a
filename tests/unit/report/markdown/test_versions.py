"""Tests of the Markdown table of program versions."""

from __future__ import annotations

from httpbench.report.markdown.targets import render_versions


def test_versions_form_a_markdown_table_sorted_by_name() -> None:
    assert render_versions({"go": "1.26.0\nbuilt yesterday", "c|c": "12"}).splitlines() == [
        "| Name | Version |",
        "| ---- | ------- |",
        "| c\\|c | 12      |",
        "| go   | 1.26.0  |",
    ]
