"""Tests of the file formats Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from httpbench.model import Observed, Trial, Verdict, VerdictKind
from httpbench.report import FORMATS
from httpbench.report.data.csv import COLUMNS
from httpbench.report.data.json import Document, Round
from httpbench.report.markdown.parts import escape, fenced
from tests.factories import (
    make_distribution,
    make_failed,
    make_histogram,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_rounds,
    make_run,
    make_trial,
)

INVALID = Verdict(kind=VerdictKind.INVALID, reasons=("7 responses were wrong",))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_deterministic_has_full_ids_and_ends_with_a_line_break(name: str) -> None:
    run, trials = make_mixed_run()
    text = FORMATS[name](run, trials)
    assert "gunicorn-meinheld" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert FORMATS[name](run, trials) == text
    assert FORMATS[name](run, [])  # works without trials


# --- Markdown ------------------------------------------------------------------------------------------------------------------


def test_markdown_looks(snapshot: SnapshotAssertion) -> None:
    assert FORMATS["markdown"](*make_mixed_run()) == snapshot


def cells_of(markdown: str) -> list[list[str]]:
    """Return the cells of the tables as Markdown renders them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    rows: list[list[str]] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("th_open", "td_open"):
            children = tokens[index + 1].children or []
            rows[-1].append("".join(child.content for child in children))
    return rows


def test_markdown_has_every_column_in_every_row() -> None:
    run, trials = make_mixed_run()
    rows = cells_of(FORMATS["markdown"](run, trials))
    assert len(rows) == 2 + 7 + 2
    assert {len(row) for row in rows} == {23}
    assert rows[0][7:10] == ["Requests/s", "± (%)", "Half range (%)"]
    assert rows[3][7] == "≥ 250,400"
    assert rows[4][4] == "181*"
    assert rows[7][5:21] == [""] * 16


@pytest.mark.parametrize("text", ["a|b", "a\\|b", "*a*", "`a`", "<b>", "[a](b)", "a\\", "&lt;"])
def test_markdown_shows_text_unchanged(text: str) -> None:
    assert cells_of(f"| h |\n| - |\n| {escape(text)} |\n")[1] == [text]


def test_a_log_cannot_end_its_block() -> None:
    lines = fenced("one\n```\ntwo ````")
    assert lines[0] == lines[-1] == "`````"


def test_a_multiline_reason_becomes_one_sentence() -> None:
    trials = [make_failed(make_plan("a/a"), "first\nsecond")]
    assert "- **a/a** failed: first; second\n" in FORMATS["markdown"](make_run(trials), trials)


# --- CSV -----------------------------------------------------------------------------------------------------------------------


def lines_of(trials: list[Trial]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(FORMATS["csv"](make_run(trials), trials))))


def test_the_csv_header_is_stable(snapshot: SnapshotAssertion) -> None:
    assert list(COLUMNS) == snapshot


def test_csv_has_one_line_per_trial_with_every_value() -> None:
    run, trials = make_mixed_run()
    lines = list(csv.DictReader(io.StringIO(FORMATS["csv"](run, trials))))
    assert [int(line["trial"]) for line in lines] == [trial.plan.number for trial in trials]
    assert lines[0]["throughput_rps"] == "412345.6"
    assert lines[0]["service_time_us_p99"] == repr(trials[0].measurement.service_time_us.p99)  # type: ignore[union-attr]
    assert lines[0]["keepalive"] == "true"
    assert lines[0]["limits"] == "no-router no-method"


def test_csv_leaves_missing_values_blank() -> None:
    (line,) = lines_of([make_failed(make_plan("a/a"))])
    assert {line[name] for name in COLUMNS if name.startswith(("service_time", "target_cpu", "requests", "errors"))} == {""}
    assert line["verdict"] == "failed"


def test_csv_of_an_invalid_trial_has_counts_but_no_rate_or_latency() -> None:
    (line,) = lines_of(make_rounds("a/a", (1000,), verdict=INVALID))
    assert line["requests_completed"] == "10000"
    assert {line[name] for name in ("throughput_rps", "bytes_received", "service_time_us_p50", "cpu_us_per_request")} == {""}


def test_csv_can_hold_any_text() -> None:
    reason = 'says "no", then\nends'
    (line,) = lines_of([make_failed(make_plan("a/a"), reason)])
    assert line["verdict_reasons"] == reason


# --- JSON ----------------------------------------------------------------------------------------------------------------------


def parsed(trials: list[Trial]) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    result: dict[str, Any] = json.loads(FORMATS["json"](make_run(trials), trials), parse_constant=refuse)
    return result


def test_json_matches_its_models() -> None:
    run, trials = make_mixed_run()
    text = FORMATS["json"](run, trials)
    document = Document.model_validate_json(text)
    assert document.model_dump_json(indent=2, by_alias=True) + "\n" == text
    assert len(document.plan) == len(trials)
    assert sum(len(result.rounds) for result in document.results) == len(trials)


def test_json_names_its_schema_and_keeps_every_round_with_its_histogram() -> None:
    histogram = make_histogram([1000, 2000, 3000])
    trials = make_rounds(
        "a/a", (1000, 1001, 1002), measurement=make_measurement(service_time_us=make_distribution(150, histogram=histogram))
    )
    document = parsed(trials)
    assert document["schema"] == "httpbench/1"
    (result,) = document["results"]
    assert [round_["round"] for round_ in result["rounds"]] == [0, 1, 2]
    assert {round_["measurement"]["service_time_us"]["histogram"] for round_ in result["rounds"]} == {histogram}
    assert result["summary"]["service_time_us"]["merged"]["count"] == 9
    assert result["verdict"] == {"kind": "target", "reasons": [], "is_accepted": False, "causes": []}


def test_json_is_strict_if_a_value_is_not_a_number() -> None:
    measurement = make_measurement(service_time_us=make_distribution(150, stddev=math.nan, max=math.inf))
    document = parsed([make_trial(measurement=measurement)])
    times = document["results"][0]["rounds"][0]["measurement"]["service_time_us"]
    assert times["stddev"] is None
    assert times["max"] is None


def test_json_does_not_reveal_folders_of_targets() -> None:
    run, trials = make_mixed_run()
    assert "/targets/" not in FORMATS["json"](run, trials)


def test_json_keeps_every_field_of_a_trial() -> None:
    fields = {*Trial.model_fields, *Observed.model_fields} - {"plan", "probed", "observed"}
    assert fields <= set(Round.model_fields)  # plan and probe are elsewhere in the document; a round has the fields of ``observed``
