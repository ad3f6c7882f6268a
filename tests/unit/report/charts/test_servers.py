"""Tests that charts of servers and of searches contain the measurements. Their appearance is checked by eye."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from httpbench.analysis.groups import groups
from httpbench.model import Interval, Load, Observed, Sample, Search, ServiceLevel, Trial, Verdict, VerdictKind
from httpbench.model.search import Bound
from httpbench.report.charts import write_charts
from httpbench.report.charts.drawing import GLYPHS, LINES_MAX, SHAPES, Drawing, label
from httpbench.report.charts.over_time import SLICES_MAX, served, used
from httpbench.report.charts.run import of_run
from httpbench.report.charts.theme import inline_svg, save
from tests.factories import (
    make_distribution,
    make_histogram,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_rounds,
    make_run,
    make_target,
    make_trial,
    make_usage,
)

GENERATOR = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))


def values(drawing: Drawing) -> list[dict[str, Any]]:
    """Return all rows of a chart's data."""
    return [row for rows in drawing.chart.to_dict()["datasets"].values() for row in rows]


def of_kind(kind: str, trials: list[Trial], **changes: Any) -> Drawing:
    run = make_run(trials, **changes)
    return next(drawing for name, drawing in of_run(run, trials).items() if name.startswith(kind))


def test_a_ranking_has_medians_intervals_and_each_round() -> None:
    trials = [*make_rounds("c/a", (100.0, 102.0, 104.0)), *make_rounds("c/b", (90.0, 91.0, 92.0), verdict=GENERATOR)]
    drawing = of_kind("ranking", trials)
    rows = values(drawing)
    assert sorted(row["round"] for row in rows if "round" in row) == [90, 91, 92, 100, 102, 104]
    medians = {row["target"]: row for row in rows if "value" in row}
    assert {name: row["value"] for name, row in medians.items()} == {"c/a": 102, "c/b": 91}
    assert all(row["low"] < row["value"] < row["high"] for row in medians.values())
    assert [row[0] for row in drawing.rows] == ["c/a", "c/b"]
    assert drawing.rows[1][-1] == "generator"
    assert drawing.rows[0][4] == "100 · 102 · 104"


def test_an_axis_starts_at_zero_or_says_that_it_is_cut() -> None:
    for lowest, is_cut in ((10.0, False), (90.0, True)):
        drawing = of_kind("ranking", [*make_rounds("c/a", (100.0, 102.0, 104.0)), *make_rounds("c/b", (lowest, lowest, lowest))])
        encoded = [layer["encoding"]["x"] for layer in drawing.chart.to_dict()["layer"]]
        assert {(x["scale"]["zero"], x["title"].endswith(", axis cut")) for x in encoded} == {(not is_cut, is_cut)}


def test_a_ranking_of_one_round_has_no_interval() -> None:
    drawing = of_kind("ranking", make_rounds("c/a", (100.0,)))
    (median,) = [row for row in values(drawing) if "value" in row]
    assert median["low"] == median["high"] == 100
    assert drawing.rows[0][2:4] == ("", "")


def test_with_a_rate_targets_are_compared_by_p99() -> None:
    load = Load(rate_rps=1000)
    trials = [
        make_trial(make_plan(round_=round_, load=load), measurement=make_measurement(1000, response_time_us=make_distribution(100)))
        for round_ in range(3)
    ]
    drawing = of_kind("ranking", trials)
    assert drawing.header[1] == "p99 (ms)"
    assert {row["value"] for row in values(drawing) if "value" in row} == {0.25}


def with_first_byte(share: float) -> list[Trial]:
    """Return a round of a target whose first byte takes this share of the service time."""
    times = make_distribution(400)
    assert times.p50 is not None
    measurement = make_measurement(1000, service_time_us=times, first_byte_us=make_distribution(times.p50 * share))
    return [make_trial(make_plan("c/a"), measurement=measurement)]


def test_a_first_byte_that_comes_early_has_a_chart() -> None:
    drawing = of_kind("first-byte", with_first_byte(0.25))
    assert [(row["what"], row["ms"]) for row in values(drawing)] == [("first byte", 0.1), ("whole response", 0.4)]
    assert drawing.rows == (("c/a", "0.1", "0.25", "0.4", "1"),)


@pytest.mark.parametrize("trials", [with_first_byte(0.97), make_rounds("c/a", (100.0,))])
def test_a_first_byte_that_comes_with_the_rest_has_no_chart(trials: list[Trial]) -> None:
    assert not any(name.startswith("first-byte") for name in of_run(make_run(trials), trials))


def test_every_verdict_has_a_shape() -> None:
    assert set(SHAPES) == set(GLYPHS) == set(VerdictKind)
    assert SHAPES[VerdictKind.TARGET] != SHAPES[VerdictKind.GENERATOR] != SHAPES[VerdictKind.UNKNOWN]


def test_percentiles_cover_all_rounds_and_end_with_the_samples() -> None:
    rounds = [make_histogram([1000 * us for us in range(1, 501)]), make_histogram([1000 * us for us in range(501, 1001)])]
    trials = [
        make_trial(
            make_plan(round_=index),
            measurement=make_measurement(service_time_us=make_distribution(100, count=500, histogram=histogram)),
        )
        for index, histogram in enumerate(rounds)
    ]
    drawing = of_kind("percentiles", trials)
    points = {round(100 * (1 - 1 / row["beyond"]), 3): row["ms"] for row in values(drawing)}
    assert points[90] == pytest.approx(0.9, rel=0.01)
    assert points[99] == pytest.approx(0.99, rel=0.01)
    assert max(points) == 99, "a thousand samples have ten beyond p99, and fewer beyond the next"
    assert drawing.rows[-1][0] == "p99"


def test_more_than_four_targets_get_a_panel_each_in_front_of_the_range_of_all() -> None:
    loads = [Load(connections=number) for number in (8, 64)]
    names = [f"c/{number}" for number in range(LINES_MAX + 1)]
    trials = [trial for load in loads for name in names for trial in make_rounds(name, (100.0, 102.0, 104.0), plan={"load": load})]
    for kind in ("percentiles", "connections"):
        drawing = of_kind(kind, trials)
        assert [panel["title"]["text"] for panel in drawing.chart.to_dict()["concat"]] == names
        assert drawing.series == ()
        assert drawing.header[1:] == tuple(names)
        assert all(row["lowest"] <= row["highest"] for row in values(drawing) if "lowest" in row)
    few = of_kind("percentiles", [trial for trial in trials if trial.plan.target != names[0]])
    assert few.series == tuple(names[1:])


def test_without_histograms_reported_percentiles_are_drawn() -> None:
    drawing = of_kind("percentiles", make_rounds("c/a", (1000, 1000, 1000)))
    assert [row[0] for row in drawing.rows] == ["p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"]


def test_loads_that_differ_only_in_connections_share_a_chart() -> None:
    drawing = of_kind("connections", make_mixed_run()[1])
    points = {(row["connections"], row["target"]) for row in values(drawing) if "value" in row}
    assert (64, "c/epoll/level") in points and (256, "c/epoll/level") in points
    assert [row[0] for row in drawing.rows] == ["64", "256"]


def test_a_target_over_time_has_a_line_for_each_load() -> None:
    intervals = tuple(Interval(start_s=at / 4, duration_s=0.25, completed=100, p50_us=100, p99_us=300) for at in range(8))
    trials = [make_trial(make_plan(load=Load(connections=number)), measurement=make_measurement(intervals=intervals)) for number in (8, 64)]
    drawing = of_kind("over-time", trials)
    assert drawing.series == ("8 connections", "64 connections")
    assert {row["value"] for row in values(drawing) if row["figure"] == "Responses/s"} == {400.0}
    assert {row["value"] for row in values(drawing) if row["figure"] in ("p50", "p99")} == {0.1, 0.3}
    assert len(drawing.rows) == 8


def test_a_target_over_time_has_p99_9_and_throttling_if_known() -> None:
    intervals = tuple(Interval(start_s=at, duration_s=1, completed=100, p50_us=100, p99_us=300, p99_9_us=700) for at in range(4))
    samples = tuple(Sample(at_s=at, cpu_cores=0.5, rss_bytes=1_000_000, processes=1) for at in range(1, 5))
    free = make_trial(measurement=make_measurement(intervals=intervals), target_usage=make_usage(samples=samples))
    stopped = free.model_copy(
        update={"observed": Observed(target_usage=make_usage(samples=samples, throttled_samples_s=(0.0, 0.25, 0.5, 0.0)))}
    )
    without, drawing = (of_kind("over-time", [trial]) for trial in (free, stopped))
    assert {row["value"] for row in values(drawing) if row["figure"] in ("p50", "p99", "p99.9")} == {0.1, 0.3, 0.7}
    assert {"p99.9 (ms)", "Throttled (cores)"} <= set(drawing.header)
    assert "Throttled (cores)" not in without.header
    assert [row["value"] for row in values(drawing) if row["figure"] == "Throttled (cores)"] == [0.0, 0.25, 0.5, 0.0]
    assert len(drawing.chart.to_dict()["vconcat"]) == len(without.chart.to_dict()["vconcat"]) + 1 == 5


def test_slow_times_are_marked_with_their_cause() -> None:
    intervals = tuple(Interval(start_s=at / 2, duration_s=0.5, completed=50 if 6 <= at < 8 else 500) for at in range(20))
    samples = tuple(Sample(at_s=at, cpu_cores=0.5, rss_bytes=1_000_000, processes=1) for at in range(1, 11))
    stolen = tuple(0.9 if at == 3 else 0.0 for at in range(10))
    usage = make_usage(samples=samples, stolen_samples_s=stolen)
    drawing = of_kind("over-time", [make_trial(measurement=make_measurement(intervals=intervals), target_usage=usage)])
    assert drawing.notes[1:] == (
        "▲ less than 50% of the median rate; cause known for 1 of 1 time",
        "3.0–4.0 s: the hypervisor gave the target's CPUs to other virtual machines",
    )
    assert [(row["s"], row["cause"]) for row in values(drawing) if row["figure"] == "slow"] == [(3.0, "steal")]
    assert "Stolen (cores)" in drawing.header
    assert [row["value"] for row in values(drawing) if row["figure"] == "Stolen (cores)"] == list(stolen)


def test_joined_slices_keep_the_highest_percentile() -> None:
    parts = [Interval(start_s=at / 10, duration_s=0.1, completed=10, p50_us=100, p99_us=100 + at) for at in range(1000)]
    joined = served(parts)
    assert len(joined) <= SLICES_MAX
    assert max(one.p99_us or 0 for one in joined) == 1099
    assert {round(one.completed / one.duration_s) for one in joined} == {100}
    assert used(make_usage()) == []


def test_a_search_is_drawn_with_its_service_level(tmp_path: Path) -> None:
    search = Search(level=ServiceLevel(bounds=(Bound(figure="p99", limit_us=1000),)), duration_s=1, scout_duration_s=1, trials_per_rate=1)
    trials = [
        make_trial(
            make_plan(number=number, load=Load(rate_rps=rate, duration_s=10)),
            measurement=make_measurement(rate, response_time_us=make_distribution(p99_us / 2.5)),
        )
        for number, (rate, p99_us) in enumerate(((1000, 500), (2000, 800), (2010, 1500)))
    ]
    run = make_run(trials, search=search)
    (drawing,) = of_run(run, trials).values()
    points = {row["rate"]: row["what"] for row in values(drawing) if row.get("what") != "p50" and "what" in row}
    assert points == {1000: "SLO held", 2000: "SLO held", 2010: "SLO failed"}
    assert {"latency-against-rate-light.svg", "latency-against-rate-dark.png"} <= {
        path.name for path in write_charts(run, trials, tmp_path)
    }


def test_an_inline_chart_has_css_properties_as_colors_and_escapes_names() -> None:
    trials = make_rounds("c/a", (100.0, 102.0, 104.0))
    hostile = make_target("c/a").model_copy(update={"category": None, "framework": "<img src=x onerror=alert(1)>"})
    run = make_run(trials, {"c/a": hostile})
    assert label(groups(run, trials)[0].rows[0]) == "<img src=x onerror=alert(1)>"
    svg = inline_svg(next(iter(of_run(run, trials).values())))
    assert "<img" not in svg
    assert "&lt;img" in svg
    assert "var(--ink)" in svg
    assert "#0072b2" not in svg and "<style" not in svg and "style=" not in svg and "<script" not in svg


def test_a_chart_file_has_a_legend_and_an_inline_chart_has_none(tmp_path: Path) -> None:
    trials = [*make_rounds("c/a", (100.0,)), *make_rounds("c/b", (90.0,))]
    run = make_run(trials)
    drawing = next(drawing for name, drawing in of_run(run, trials).items() if name.startswith("percentiles"))
    svg = next(path for path in save(drawing, tmp_path, "x") if path.name == "x-light.svg").read_text()
    assert ">c/a<" in svg and ">c/b<" in svg
    assert ">c/a<" not in inline_svg(drawing)
