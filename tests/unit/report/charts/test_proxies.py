"""Tests that charts are drawn from stored data, for light and dark pages, in the right file formats."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from httpbench.errors import UsageError
from httpbench.model import Interval, Kind, Load, Run, Sample, Step, Table, Trial, Verdict, VerdictKind
from httpbench.report import charts
from httpbench.report.charts import check_charts, write_charts
from httpbench.report.charts.run import of_run
from httpbench.report.charts.theme import inline_svg
from httpbench.run.proxy.trial import BASELINE
from tests.factories import make_distribution, make_measurement, make_plan, make_run, make_target, make_trial, make_usage

WIDEST = 800
"""Maximum width of a chart in pixels. A page scales wider ones down until their text is too small."""

RISING = Load(rate_from_rps=100, rate_rps=200, rate_step_rps=100, step_s=1, duration_s=2)
PROXY = make_target("c/haproxy").model_copy(update={"id": "proxy:c/haproxy", "kind": Kind.PROXY})


def trial(target: str, round_: int, p50_us: float, load: Load, samples: int = 20) -> Trial:
    steps = tuple(
        Step(
            rate_rps=level.rate_rps,
            start_s=level.start_s,
            duration_s=1,
            completed=200,
            errors=0,
            response_time_us=make_distribution(p50_us),
        )
        for level in load.levels
        if load.step_s
    )
    intervals = tuple(Interval(start_s=at / 4, duration_s=0.25, completed=50, p50_us=p50_us, p90_us=p50_us * 2) for at in range(8))
    sampled = tuple(Sample(at_s=at / 10, cpu_cores=0.5, rss_bytes=10_000_000, processes=1) for at in range(samples))
    usage = make_usage(0.5, samples=sampled)
    return make_trial(
        make_plan(target, round_, load=load),
        measurement=make_measurement(service_time_us=make_distribution(p50_us), steps=steps, intervals=intervals),
        target_usage=None if target == BASELINE.id else usage,
        backend_usage=usage,
        generator_usage=usage,
    )


def run_of(trials: list[Trial]) -> Run:
    return make_run(trials, {PROXY.id: PROXY, BASELINE.id: BASELINE}, table=Table.TCP_PROXIES, baseline=BASELINE.id)


@pytest.mark.parametrize(
    ("load", "names"),
    [
        (RISING, {"latency-over-time", "usage-over-time", "overhead"}),
        (Load(connections=8), {"throughput", "usage-over-time", "overhead"}),
    ],
)
@pytest.mark.slow
def test_every_chart_is_written_in_both_themes_and_formats(load: Load, names: set[str], tmp_path: Path) -> None:
    trials = [trial(name, round_, us, load) for round_ in range(3) for name, us in ((BASELINE.id, 100.0), ("proxy:c/haproxy", 150.0))]
    paths = write_charts(run_of(trials), trials, tmp_path / "charts")
    assert {path.name.partition("-plaintext")[0] for path in paths} == names
    widths = {path.name: float(ElementTree.parse(path).getroot().attrib["width"]) for path in paths if path.suffix == ".svg"}
    assert max(widths.values()) <= WIDEST, widths
    assert len(paths) == 4 * len(names) and all(path.exists() for path in paths)
    for path in paths:
        head = path.read_bytes()[:4]
        assert head == (b"\x89PNG" if path.suffix == ".png" else b"<svg")
    light, dark = (next(path for path in paths if path.name.endswith(f"{theme}.svg")).read_text() for theme in ("light", "dark"))
    assert "#ffffff" in light and "#0d1117" in dark


@pytest.mark.parametrize("load", [RISING, Load(connections=8)])
def test_the_first_chart_shows_what_proxies_add(load: Load) -> None:
    trials = [trial(name, round_, us, load) for round_ in range(3) for name, us in ((BASELINE.id, 100.0), ("proxy:c/haproxy", 150.0))]
    drawing = next(iter(of_run(run_of(trials), trials).values()))
    assert drawing.title == "Latency that each proxy adds"
    added = [value["us"] for rows in drawing.chart.to_dict()["datasets"].values() for value in rows]
    assert added[0] == 50


@pytest.mark.parametrize("samples", [0, 1, 2, 5])
def test_trials_shorter_than_a_second_are_drawn(samples: int) -> None:
    short = Load(connections=8, duration_s=0.5)
    trials = [trial(name, 0, 100.0, short, samples) for name in (BASELINE.id, "proxy:c/haproxy")]
    drawn = {name.partition("-plaintext")[0]: inline_svg(drawing) for name, drawing in of_run(run_of(trials), trials).items()}
    assert "throughput" in drawn
    assert all(svg.startswith("<svg") for svg in drawn.values())
    assert ("usage-over-time" in drawn) == (samples >= 3)


def test_the_tail_of_each_step_is_drawn() -> None:
    trials = [trial(name, 0, us, RISING) for name, us in ((BASELINE.id, 100.0), ("proxy:c/haproxy", 150.0))]
    (drawing,) = [drawing for name, drawing in of_run(run_of(trials), trials).items() if name.startswith("latency-over-time")]
    values = [value for values in drawing.chart.to_dict()["datasets"].values() for value in values]
    tails = {(value["percentile"], value["us"]) for value in values if "end" in value}
    assert tails == {("p99.9 of a step", 500.0), ("p99.99 of a step", 1000.0), ("p99.9 of a step", 750.0), ("p99.99 of a step", 1500.0)}


def test_a_run_without_results_has_no_charts_to_draw(tmp_path: Path) -> None:
    trials = [trial("proxy:c/haproxy", 0, 100.0, RISING)]
    with pytest.raises(UsageError, match="nothing to draw"):
        write_charts(run_of(trials), [], tmp_path)


def test_the_error_names_the_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "PACKAGES", ("no_such_package",))
    with pytest.raises(UsageError, match="altair, jinja2 and vl-convert-python") as raised:
        check_charts()
    assert raised.value.hint == "pip install 'httpbench[charts]'"


def test_a_bound_keeps_its_mark_in_charts() -> None:
    """The backend was at its limit, so the proxy may be faster."""
    limited = Verdict(kind=VerdictKind.BACKEND)
    trials = [trial(BASELINE.id, round_, 100.0, Load(connections=8)) for round_ in range(3)]
    bounds = [trial("proxy:c/haproxy", round_, 150.0, Load(connections=8)) for round_ in range(3)]
    trials += [each.model_copy(update={"verdict": limited}) for each in bounds]
    drawn = of_run(run_of(trials), trials)
    names = {kind: drawing.chart.to_dict()["datasets"] for kind, drawing in drawn.items() if kind.startswith(("overhead", "throughput"))}
    found = {kind.partition("-")[0]: {value["proxy"] for rows in data.values() for value in rows} for kind, data in names.items()}
    assert found == {"overhead": {"≤ c/haproxy"}, "throughput": {"baseline", "≥ c/haproxy"}}
    assert any("a bound" in note for note in next(iter(drawn.values())).notes)
