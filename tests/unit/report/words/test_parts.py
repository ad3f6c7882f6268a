"""Tests of the table of the parts of a mix, below the main table."""

from __future__ import annotations

from rich.console import Console

from httpbench.analysis.groups import groups
from httpbench.model import PartMeasurement, Run, Trial
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.tables import parts
from tests.factories import make_distribution, make_measurement, make_plan, make_run, make_trial

MIX = "json:3,db:1"


def part(name: str, sent: int, p50_us: float) -> PartMeasurement:
    times = make_distribution(p50_us, count=sent)
    return PartMeasurement(name=name, weight=1, sent=sent, ok=sent, errors=2, throughput_rps=sent / 10, time_us=times)


def measured() -> tuple[Run, list[Trial]]:
    """Make three rounds. Both parts take longer in the second round."""
    trials = []
    for number, slow in enumerate((1.0, 3.0, 1.0)):
        parts = (part("json", 3000, 200 * slow), part("db", 1000, 1000 * slow))
        plan = make_plan(round_=number, number=number, workload=MIX)
        trials.append(make_trial(plan, measurement=make_measurement(400.0, parts=parts)))
    return make_run(trials), trials


def test_each_part_has_a_share_and_medians() -> None:
    run, trials = measured()
    (group,) = groups(run, trials)
    assert [row[1:5] for row in parts(group).rows] == [("json", "75%", "300", "0.200"), ("db", "25%", "100", "1.000")]
    assert all(row[6] == "2" for row in parts(group).rows)


def test_the_table_fits_80_columns_and_only_mixes_have_it() -> None:
    run, trials = measured()
    console = Console(width=80)
    with console.capture() as captured:
        console.print(render_terminal(run, trials, width=80))
    text = captured.get()
    assert "Parts of the mix" in text and all(len(line.rstrip()) <= 80 for line in text.splitlines())
    plain = [make_trial()]
    assert parts(groups(make_run(plain), plain)[0]).rows == []
