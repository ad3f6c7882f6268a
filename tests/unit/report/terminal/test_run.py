"""Tests of tables in terminals of several widths."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from httpbench.analysis.groups import groups
from httpbench.model import Kind, Load, Run, RunStatus, Scaling, Table, Trial, Verdict, VerdictKind
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View, columns
from httpbench.run.proxy.trial import BASELINE
from tests.factories import (
    SHARED,
    make_client,
    make_distribution,
    make_failed,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_rounds,
    make_run,
    make_startup,
    make_target,
    make_trial,
    make_usage,
)

ALL = View(wide=True, explain=True)
LARGEST_STARTUP = make_startup(12.345, first_us=1_234_567, steady_s=12.3, pss_bytes_ready=12_345_000_000, installed_bytes=12_345_000_000)


def shown(run: Run, trials: list[Trial], width: int = 200, *, color: bool = False, view: View | None = ALL) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, force_terminal=color, color_system="standard" if color else None)
    console.print(render_terminal(run, trials, width=width, view=view))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.mark.parametrize("width", [200, 120, 80])
def test_looks(width: int, snapshot: SnapshotAssertion) -> None:
    assert shown(*make_mixed_run(), width) == snapshot


@pytest.mark.parametrize("width", [200, 100, 80])
def test_looks_in_short(width: int, snapshot: SnapshotAssertion) -> None:
    assert shown(*make_mixed_run(), width, view=None) == snapshot


@pytest.mark.parametrize("view", [None, ALL, View(explain=True), View(names=("target", "rps", "p99.9", "category", "probe"))])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160, 200, 300])
def test_no_line_is_wider_than_the_terminal(width: int, view: View | None) -> None:
    assert max(cell_len(line) for line in shown(*make_mixed_run(), width, view=view).splitlines()) <= width


@pytest.mark.parametrize("table", list(Table))
@pytest.mark.parametrize("width", [80, 100])
def test_the_usual_columns_fit(width: int, table: Table) -> None:
    """The table contains the longest possible values, and an id of forty characters."""
    names = ["language/framework-with-a-long-name/variant", "language/other-framework/variant"]
    load = Load(connections=64, rate_rps=100_000) if table is Table.TCP_PROXIES else Load(connections=64)
    if table is Table.STARTUP:
        load = Load(connections=64, warmup_s=0, rest_s=5)
    own: dict[Table, dict[str, object]] = {
        Table.HTTP_CLIENTS: {"client": make_client(1234.5, 123.4)},
        Table.STARTUP: {"startup": LARGEST_STARTUP},
    }
    trials = [
        trial.model_copy(update=own.get(table, {}))
        for name in names
        for trial in make_rounds(
            name, (9_999_999, 9_000_001, 9_500_000), plan={"load": load}, target_usage=make_usage(15.9, rss_bytes_peak=98_765_000_000)
        )
    ]
    text = shown(make_run(trials, table=table), trials, width, view=None)
    assert "Not shown at this width" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_at_most_five_lines_follow_the_last_table() -> None:
    """A sixth line, on standard error, states where the run is stored."""
    lines = shown(*make_mixed_run(), 100, view=None).splitlines()
    last_row = max(index for index, line in enumerate(lines) if line.endswith(("target", "failed")))
    assert len([line for line in lines[last_row + 1 :] if line]) <= 5


def test_a_reason_shared_by_several_tables_appears_once() -> None:
    loads = [Load(connections=count) for count in (8, 64)]
    fine = [trial for load in loads for trial in make_rounds("a/a", (1000, 1010, 1020), plan={"load": load})]
    trials = [*fine, *(make_failed(make_plan("b/b", load=load), "did not respond within 10 s") for load in loads)]
    for view in (None, ALL):
        assert shown(make_run(trials), trials, view=view).count("did not respond within 10 s") == 1


def test_columns_are_shown_in_the_requested_order() -> None:
    lines = shown(*make_mixed_run(), view=View(names=("p99.9", "target", "rps"))).splitlines()
    assert any(line.split() == ["p99.9", "Target", "Requests/s"] for line in lines)


def test_without_results_everything_is_explained() -> None:
    trials = [make_failed(make_plan("a/a"), "ended", log_tail="first\nsecond")]
    text = shown(make_run(trials), trials, view=None)
    assert "│ first" in text
    assert "│ second" in text


def test_a_run_without_results_begins_with_its_id_and_names_it_once() -> None:
    run = make_run([make_failed(make_plan("a/a"), "ended")])
    lines = shown(run, [make_failed(make_plan("a/a"), "ended")], view=None).splitlines()
    assert lines[0].startswith(f"run {run.id} · ")
    assert sum(run.id in line for line in lines) == 1


def test_a_failed_row_shows_the_last_line_of_its_log() -> None:
    trials = [*make_rounds("a/a", (1000, 1010, 1020)), make_failed(make_plan("b/b"), "ended", log_tail="first\nsecond")]
    assert "b/b failed: ended · log: second" in shown(make_run(trials), trials, view=None)


def test_notes_that_do_not_fit_are_counted() -> None:
    failed = [make_failed(make_plan(f"b/{number}"), f"ended {number}") for number in range(5)]
    trials = [*make_rounds("a/a", (1000, 1010, 1020)), *failed]
    text = shown(make_run(trials), trials, view=None)
    assert "3 more notes: httpbench report 20261121T080000-c0de --explain" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_every_column_is_shown_or_listed_as_omitted(width: int) -> None:
    run, trials = make_mixed_run()
    everything = [column.title for column in columns(groups(run, trials), run.table)]
    lines = shown(run, trials, width).splitlines()
    heading = next(line for line in lines if line.startswith("Language")).split()
    start = next(index for index, line in enumerate(lines) if line.startswith("Not shown"))
    words = " ".join(line.strip() for line in lines[start : start + 4])
    left_out = words.removeprefix("Not shown at this width: ").split(". Use a wider")[0].split(", ")
    assert sorted(heading + left_out) == sorted(everything)


def test_a_wide_terminal_omits_nothing() -> None:
    assert "Not shown" not in shown(*make_mixed_run(), 240)


def test_no_information_is_in_color_alone() -> None:
    run, trials = make_mixed_run()
    plain = shown(run, trials)
    colored = shown(run, trials, color=True)
    assert "\x1b[" in colored
    assert "\x1b[" not in plain
    for verdict in ("target", "generator", "idle", "invalid", "failed"):
        assert f" {verdict}" in plain


def test_a_missing_value_is_blank() -> None:
    measurement = make_measurement(bytes_received=None, service_time_us=make_distribution(100, p99=None))
    trials = [make_trial(make_plan("a/a"), measurement=measurement), make_trial(make_plan("b/b"))]
    line = next(line for line in shown(make_run(trials), trials).splitlines() if line.startswith("a "))
    other = next(line for line in shown(make_run(trials), trials).splitlines() if line.startswith("b "))
    assert len(line.split()) == len(other.split()) - 2
    assert "None" not in line
    assert "nan" not in line.lower()
    assert "-1" not in line


def test_invalid_results_are_struck_through_with_a_reason_and_a_hint() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("0.50% of requests failed (timeout 7)",))
    trials = make_rounds("a/a", (123_456,), verdict=verdict)
    text = shown(make_run(trials), trials)
    assert "(123,500)" in text
    assert "0.50% of requests failed (timeout 7)" in text
    assert "hint: use fewer connections: try `-c 16`" in text
    assert "Measured in invalid rounds: not ranked and not compared." in text
    assert "\x1b[2;9m(123,500)" in shown(make_run(trials), trials, color=True)


def test_results_in_parentheses_are_explained_beside_valid_rows() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("0.50% of requests failed (timeout 7)",))
    trials = [*make_rounds("a/a", (1000, 1010, 1020)), *make_rounds("b/b", (123_456,) * 3, verdict=verdict)]
    text = shown(make_run(trials), trials, view=None)
    assert "(123,500)" in text
    assert "(…) Measured in invalid rounds: not ranked and not compared." in text


def test_invalid_results_come_last_without_a_rank() -> None:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=("0.50% of requests failed (timeout 7)",))
    fast = make_rounds("a/fast", (900_000,) * 3, verdict=verdict)
    trials = [*fast, *make_rounds("b/b", (300, 301, 302)), *make_rounds("c/c", (100, 101, 102))]
    text = shown(make_run(trials), trials)
    assert text.index("(900,000)") > text.index(" 301 ")
    assert "1 a/fast" not in text


def test_one_round_is_not_called_a_median() -> None:
    trials = make_rounds("a/a", (1000,))
    text = shown(make_run(trials), trials)
    assert "1 round ·" in text
    assert "median" not in text
    assert "±" not in text


def test_the_heading_mentions_shared_cores_and_a_note_explains_them() -> None:
    trials = make_rounds("a/a", (1000,), plan={"cores": SHARED})
    lines = shown(make_run(trials), trials).splitlines()
    assert lines[0].endswith("· shared cores")
    assert any(line.startswith("· Shared cores:") for line in lines)


def test_memory_has_the_same_meaning_in_all_rows() -> None:
    trials = [make_trial(make_plan("a/a")), make_trial(make_plan("b/b"), target_usage=make_usage(pss_bytes_peak=None))]
    text = shown(make_run(trials), trials)
    assert text.count(" 12.0 ") == 2
    assert "shared pages count once per process" in text


def test_log_text_is_not_parsed_as_markup() -> None:
    trials = [make_failed(make_plan("a/a"), "bad [red]reason[/red]", log_tail="[bold]tail[/bold]")]
    text = shown(make_run(trials), trials)
    assert "bad [red]reason[/red]" in text
    assert "│ [bold]tail[/bold]" in text


def test_escape_sequences_in_a_log_do_not_reach_the_terminal() -> None:
    trials = [make_failed(make_plan("a/a"), log_tail="\x1b[2Jgone")]
    assert "\x1b[2J" not in shown(make_run(trials), trials)


def test_an_interrupted_run_says_how_many_trials_it_has() -> None:
    trials = make_rounds("a/a", (1000, 1001))
    run = make_run(trials, status=RunStatus.INTERRUPTED)
    assert "interrupted: 1 of 2 trials" in shown(run, trials[:1])


def test_a_run_without_trials_is_shown_without_a_table() -> None:
    run = make_run(make_rounds("a/a", (1,)), status=RunStatus.INTERRUPTED)
    assert "interrupted: 0 of 1 trial" in shown(run, [])


def test_an_open_loop_shows_response_times() -> None:
    load = make_plan().load.model_copy(update={"rate_rps": 1000})
    measurement = make_measurement(1000, service_time_us=make_distribution(100), response_time_us=make_distribution(5000))
    trials = [make_trial(make_plan("a/a", load=load, scaling=Scaling.MULTI), measurement=measurement)]
    text = shown(make_run(trials), trials)
    assert "offered 1,000 requests/s" in text
    assert " 5.000 " in text
    assert " 0.100 " not in text


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("load", [Load(connections=64), Load(connections=64, rate_rps=10_000)])
def test_proxies_have_a_second_table_that_fits(load: Load, width: int) -> None:
    proxies = [make_target(name, kind=Kind.PROXY) for name in ("rust/tokio-splice-proxy/single", "c/haproxy")]
    targets = {proxy.id: proxy for proxy in proxies}
    trials = [
        make_trial(
            make_plan(name, round_=number, load=load),
            rps=rate + number,
            measurement=make_measurement(rate + number, service_time_us=make_distribution(p50_us + number)),
        )
        for name, rate, p50_us in ((BASELINE.id, 90_000, 1000), *((name, 50_000, 3000) for name in targets))
        for number in range(3)
    ]
    run = make_run(trials, {**targets, BASELINE.id: BASELINE}, table=Table.TCP_PROXIES, baseline=BASELINE.id)
    lines = shown(run, trials, width, view=None).splitlines()
    assert max(map(cell_len, lines)) <= width
    second = lines.index("Added to the baseline")
    titles = lines[second + 2].split()
    assert titles[0] == "Proxy"
    assert {"p50", "p99"} <= set(titles)
    assert ("Requests/s" in titles) == (load.rate_rps is None)
