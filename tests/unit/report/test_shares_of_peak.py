"""Tests of reports on loads at shares of each target's own peak. Targets have different rates there, so they are never ranked."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from rich.console import Console

from httpbench.analysis.changes import changes
from httpbench.analysis.compared import against, differences, ranking
from httpbench.analysis.groups import groups
from httpbench.model import Arrivals, Load, Requests, Run, Trial
from httpbench.report import FORMATS
from httpbench.report.charts.run import first_title, of_group, of_run
from httpbench.report.html.run import render as render_html
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.claims import answer, claims
from httpbench.report.words.columns import View
from httpbench.report.words.loads import load_label, method, title
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_rounds, make_run
from tests.made_runs import make_shares_run

HAPROXY, PINGORA = "proxy:c/haproxy", "proxy:rust/pingora"


def shown(run: Run, trials: list[Trial], width: int = 80, *, view: View | None = None) -> list[str]:
    """Return the lines of a report without bars and with single spaces."""
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(render_terminal(run, trials, width=width, view=view))
    return [" ".join(re.sub("[█▏▎▍▌▋▊▉»]", "", line).split()) for line in out.getvalue().splitlines()]


def test_the_tables_follow_that_of_the_peak_and_have_all_targets() -> None:
    run, trials = make_shares_run()
    closed, half, overload = groups(run, trials)
    assert [group.load.share_of_peak for group in (closed, half, overload)] == [None, 0.5, 1.5]
    assert "offered 50% of each target's own peak with Poisson arrivals" in title(half) and "150% of own peak" in load_label(overload)
    assert "response time" in method(half) and "service time" in method(overload)
    for group in (half, overload):
        assert {row.target.id for row in group.rows} == {HAPROXY, PINGORA}


def test_rows_show_their_own_rates_and_the_goodput() -> None:
    lines = shown(*make_shares_run())
    first = lines.index("Target Rate p50 p99 CPU/req Memory Verdict")
    assert [line.split()[:2] for line in lines[first + 2 : first + 4]] == [["rust/pingora", "10,000"], ["c/haproxy", "5,000"]]
    first = lines.index("Target Rate Goodput Goodput Failed p50 p99 Verdict")
    assert [line.split()[:5] for line in lines[first + 2 : first + 4]] == [
        ["rust/pingora", "30,000", "18,000", "90", "0.00"],
        ["c/haproxy", "15,000", "9,000", "90", "0.00"],
    ]


def test_proxies_are_compared_with_the_backend_at_the_same_rate() -> None:
    run, trials = make_shares_run()
    _, half, overload = groups(run, trials)
    assert half.own_baselines[HAPROXY].summary.load.rate_rps == 5000 and half.own_baselines[PINGORA].summary.load.rate_rps == 10_000
    added = differences(half, run.baseline)
    assert added[HAPROXY]["p50"].us == pytest.approx(6400 - 50, rel=0.1) and added[PINGORA]["p50"].us == pytest.approx(3200 - 50, rel=0.1)
    assert differences(overload, run.baseline) == {}


def test_targets_with_their_own_rates_are_never_ranked_or_compared() -> None:
    run, trials = make_shares_run()
    for group in groups(run, trials)[1:]:
        assert ranking(group) == {} and against(group, run.baseline) == [] and claims(run, group) == []
        assert answer(run, group) == ["Not ranked: each target has its own rate"]
    assert not [name for name in of_run(run, trials) if name.startswith("throughput") and "peak" in name]


def test_a_target_that_serves_an_overload_was_not_overloaded() -> None:
    load = Load(share_of_peak=1.5, peak_of="c/a", rate_rps=1500, arrivals=Arrivals.POISSON, warmup_s=0, warmup_max_s=1.5)
    trials = make_rounds("c/a", (1490, 1480, 1510), plan={"load": load})
    run = make_run(trials)
    (group,) = groups(run, trials)
    assert answer(run, group)[1:] == ["Not overloaded, so the peak was higher than the closed loop showed: c/a"]
    assert "warm-up 1.5 s at half of the peak" in method(group)


def test_a_wrong_status_counts_once_as_failed() -> None:
    load = Load(share_of_peak=1.5, peak_of="c/a", rate_rps=1500, arrivals=Arrivals.POISSON)
    requests = Requests(sent=1500, completed=1400, ok=1000)
    measured = make_measurement(1000, 1, requests=requests, errors={"unexpected_status": 400, "timeout": 100})
    trials = make_rounds("c/a", (1000,) * 3, plan={"load": load}, measurement=measured)
    (line,) = [line for line in shown(make_run(trials), trials) if line.startswith("c/a 1,500")]
    assert line.split()[1:5] == ["1,500", "1,000", "100", "33.33"]


def test_two_servers_with_their_own_rates_are_not_compared() -> None:
    trials = []
    for name, rate_rps in (("c/a", 1000.0), ("c/b", 2000.0)):
        load = Load(share_of_peak=0.8, peak_of=name, rate_rps=rate_rps, arrivals=Arrivals.POISSON)
        measured = make_measurement(rate_rps, response_time_us=make_distribution())
        trials += make_rounds(name, (rate_rps,) * 3, plan={"load": load}, measurement=measured)
    run = make_run(trials)
    (group,) = groups(run, trials)
    assert claims(run, group) == [] and answer(run, group) == ["Not ranked: each target has its own rate"]
    assert any(line.startswith("c/b 2,000 0.150") for line in shown(run, trials))


def test_notes_explain_the_columns() -> None:
    run, trials = make_shares_run()
    text = " ".join(shown(run, trials, view=View(explain=True)))
    assert "Added at a share of the peak: difference to the backend alone at the same rate, in turns with the proxy." in text
    assert "Failed: without a correct response, in percent of those that were sent." in text
    assert "a target's median requests/s without a rate" in text


def test_the_reason_of_an_invalid_baseline_is_shown_without_explaining_everything() -> None:
    run, trials = make_shares_run()
    trials = [
        make_failed(trial.plan, "the backend broke") if trial.plan.target == run.baseline and trial.plan.load.peak_of == HAPROXY else trial
        for trial in trials
    ]
    assert "the backend broke" in " ".join(shown(run, trials, width=120))


def test_the_first_chart_of_each_table_has_the_title_that_the_dashboard_shows() -> None:
    run, trials = make_shares_run()
    for group in groups(run, trials):
        assert next(of_group(run, group))[1].title == first_title(group)


def test_exports_have_the_baselines_and_the_shares() -> None:
    run, trials = make_shares_run()
    found = [result for result in json.loads(FORMATS["json"](run, trials))["results"] if result["load"]["share_of_peak"] == 0.5]
    assert {(result["target"], result["load"]["peak_of"]) for result in found} == {
        *((name, name) for name in (HAPROXY, PINGORA)),
        *(("baseline", name) for name in (HAPROXY, PINGORA)),
    }
    lines = list(csv.DictReader(io.StringIO(FORMATS["csv"](run, trials))))
    half = [line for line in lines if line["share_of_peak"] == "0.5" and line["target"] == HAPROXY]
    assert {line["peak_of"] for line in half} == {HAPROXY} and all(float(line["added_us_p50"]) > 6000 for line in half)
    assert "offered 150% of each target" in FORMATS["markdown"](run, trials) and "own peak" in render_html(run, trials)


def test_runs_with_different_peaks_are_not_compared_at_shares() -> None:
    made = make_shares_run()
    assert {cell.load.share_of_peak for cell in changes(made, made).cells} == {None}


def test_a_target_whose_peak_is_unknown_has_a_row() -> None:
    load = Load(share_of_peak=0.5, peak_of="c/b")
    known = Load(share_of_peak=0.5, peak_of="c/a", rate_rps=500.0)
    trials = [*make_rounds("c/a", (500, 501, 502), plan={"load": known}), make_failed(make_plan("c/b", load=load))]
    (group,) = groups(make_run(trials), trials)
    assert [row.target.id for row in group.rows] == ["c/a", "c/b"] and group.load.rate_rps == 500 and ranking(group) == {}
