"""Tests that a suite selects the kind of its tables, and that all formats show the columns of this kind."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from rich.console import Console

from httpbench.model import Events, KernelCounts, Load, Run, Table, Trial
from httpbench.report import FORMATS
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from httpbench.stats.figures import BY_NAME
from tests.factories import (
    make_distribution,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_profile,
    make_rounds,
    make_run,
    make_trial,
    make_usage,
)
from tests.made_runs import make_clients_run

APP_SERVER_COLUMNS = ["Language", "App Server", "Requests/s", "± (%)", "RAM (MB)", "RAM mean (MB)", "CPU peak (%)", "CPU mean (%)"]
APP_SERVER_COLUMNS += ["Probe", "Verdict"]


def markdown_rows(table: Table) -> list[list[str]]:
    run, trials = make_mixed_run()
    return markdown_table(run.model_copy(update={"table": table}), trials)


def markdown_table(run: Run, trials: Sequence[Trial]) -> list[list[str]]:
    text = FORMATS["markdown"](run, trials)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]


def test_the_table_of_app_servers_shows_throughput_and_cost() -> None:
    rows = markdown_rows(Table.APP_SERVERS)
    assert rows[0] == APP_SERVER_COLUMNS
    assert rows[2] == ["c", "epoll/level", "409,900", "2.4", "9.5", "8.2", "100.0", "99.0", "loop", "target"]


def test_the_terminal_has_the_same_columns_and_explains_cpu() -> None:
    run, trials = make_mixed_run()
    console = Console(width=160)
    with console.capture() as captured:
        console.print(
            render_terminal(run.model_copy(update={"table": Table.APP_SERVERS}), trials, width=160, view=View(wide=True, explain=True))
        )
    header = next(line for line in captured.get().splitlines() if "App Server" in line)
    assert header.split("  ")[0] == "Language"
    assert all(title.partition(" (")[0] in header for title in APP_SERVER_COLUMNS)
    assert "the highest sample, and the mean over the measurement" in " ".join(captured.get().split())


def test_peak_and_mean_memory_are_separate_columns() -> None:
    trials = make_rounds("node/cluster", (9000,), target_usage=make_usage(1.2, cpu_cores_peak=3.45))
    run = make_run(trials, table=Table.APP_SERVERS)
    (line,) = [line for line in FORMATS["markdown"](run, trials).splitlines() if line.startswith("| node")]
    assert [cell.strip() for cell in line.split("|")][7:9] == ["345.0", "120.0"]


def test_a_run_stored_without_mean_memory_has_an_empty_column() -> None:
    trials = make_rounds("c/nginx", (9000,), target_usage=make_usage(rss_bytes_mean=None, pss_bytes_mean=None))
    (line,) = [line for line in FORMATS["markdown"](make_run(trials, table=Table.APP_SERVERS), trials).splitlines() if "| nginx" in line]
    assert [cell.strip() for cell in line.split("|")][5:7] == ["9.5", ""]


@pytest.mark.parametrize(
    ("table", "unit", "texts"), [(Table.HTTP_SERVERS, "ms", ["1.000", "2.500"]), (Table.TCP_PROXIES, "µs", ["1,000", "2,500"])]
)
def test_the_first_byte_has_columns_if_it_comes_visibly_early(table: Table, unit: str, texts: list[str]) -> None:
    for p50_us, is_shown in ((1000.0, True), (3900.0, False)):
        measurement = make_measurement(service_time_us=make_distribution(4000), first_byte_us=make_distribution(p50_us))
        trials = [make_trial(make_plan("c/nginx"), measurement=measurement)]
        header, _, row = markdown_table(make_run(trials, table=table), trials)
        shown = [row[index] for index, title in enumerate(header) if title in (f"TTFB p50 ({unit})", f"TTFB p99 ({unit})")]
        assert shown == (texts if is_shown else [])


def test_event_streams_have_columns_of_their_own() -> None:
    times = {"first_us": make_distribution(7000), "between_us": make_distribution(50_000)}
    events = Events(count=90, streams=4, numbered_streams=4, lost=0, first_censored=0, between_censored=0, **times)
    trials = [make_trial(make_plan("c/nginx"), measurement=make_measurement(40.0, events=events))]
    assert [BY_NAME[name].of(trials[0]) for name in ("rps", "first-event-p50", "between-p50")] == [40, 7000, 50_000]
    header, _, row = markdown_table(make_run(trials), trials)
    shown = dict(zip(header, row, strict=True))
    assert [shown[title] for title in ("Events/s", "First event p50 (ms)", "Between p50 (ms)", "Lost")] == ["40", "7.000", "50.00", "0"]
    assert [shown[title] for title in ("Requests/s", "p50 (ms)")] == ["", ""]


def test_json_states_the_kind_of_table() -> None:
    run, trials = make_mixed_run()
    text = FORMATS["json"](run.model_copy(update={"table": Table.APP_SERVERS}), trials)
    assert json.loads(text)["table"] == "app-servers"


def test_an_old_run_without_a_kind_of_table_keeps_its_table() -> None:
    run, trials = make_mixed_run()
    old = Run.model_validate_json(json.dumps({key: value for key, value in run.model_dump(mode="json").items() if key != "table"}))
    assert FORMATS["markdown"](old, trials) == FORMATS["markdown"](run, trials)


def test_a_new_connection_for_each_request_over_tls_is_a_handshake() -> None:
    load = Load(tls=True, keepalive=False)
    trials = make_rounds("c/nginx", (9000, 9100, 9200), plan={"load": load})
    text = FORMATS["markdown"](make_run(trials), trials)
    header, _, line = [line for line in text.splitlines() if line.startswith("|")][:3]
    cells = dict(zip((cell.strip() for cell in header.split("|")), (cell.strip() for cell in line.split("|")), strict=True))
    assert cells["Handshakes/s"] == cells["Requests/s"] == "9,100"
    assert "HTTPS · 64 connections · a new connection and a full handshake for each request" in text
    console = Console(width=100)
    with console.capture() as captured:
        console.print(render_terminal(make_run(trials), trials, width=100, view=View()))
    assert "Handshakes/s" in captured.get() and "Requests/s" not in captured.get()


def test_the_times_of_clients_are_relative_to_the_shortest_median() -> None:
    times = {"client:c/curl": (0.10, 0.90, 0.10), "client:golang/http-client": (0.20, 0.25, 0.30)}
    text = FORMATS["markdown"](*make_clients_run(times))
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    median, relative = lines[0].index("Median (ms)"), lines[0].index("Relative")
    found = [(line[0], line[median], line[relative]) for line in lines[2:4]]
    assert found == [("c/curl", "100.0", "1.00"), ("golang/http-client", "250.0", "2.50")]


def test_counts_of_the_kernel_are_columns_if_the_run_has_profiles() -> None:
    trials = make_rounds("c/nginx", (9000,))
    profile = make_profile("c/nginx", counts=KernelCounts(requests=2000, syscalls=6001, switches=3, writes=2000, bytes_sent=308_000))
    titles, _, (*_, syscalls, switches, writes, size, packets, faults, _probe, _verdict) = markdown_table(
        make_run(trials, profiles=(profile,)), trials
    )
    assert titles[-8:-2] == ["Syscalls/req", "Switches/req", "Writes/req", "B/write", "Packets/req", "Faults/req"]
    assert (syscalls, switches, writes, size, packets, faults) == ("3.001", "0.002", "1.000", "154", "", "")
    assert "Syscalls/req" not in markdown_table(make_run(trials), trials)[0]


def test_uncounted_system_calls_have_a_note() -> None:
    trials = make_rounds("c/nginx", (9000,))
    run = make_run(trials, profiles=(make_profile("c/nginx", counts=KernelCounts(requests=2000, switches=3)),))
    assert "System calls were not counted: this requires perf" in FORMATS["markdown"](run, trials)


def test_counts_under_another_load_are_not_shown() -> None:
    trials = make_rounds("c/nginx", (9000,))
    other = make_profile("c/nginx", load=Load(connections=7), counts=KernelCounts(requests=2000, syscalls=6001))
    assert "Syscalls/req" not in markdown_table(make_run(trials, profiles=(other,)), trials)[0]
