"""Tests that a suite selects the kind of its tables, and that all formats show the columns of this kind."""

from __future__ import annotations

import json

from rich.console import Console

from httpbench.model import Load, Run, Table
from httpbench.report import FORMATS
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from tests.factories import make_mixed_run, make_rounds, make_run, make_usage
from tests.made_runs import make_clients_run

APP_SERVER_COLUMNS = ["Language", "App Server", "Requests/s", "± (%)", "RAM (MB)", "RAM mean (MB)", "CPU peak (%)", "CPU mean (%)"]
APP_SERVER_COLUMNS += ["Probe", "Verdict"]


def markdown_rows(table: Table) -> list[list[str]]:
    run, trials = make_mixed_run()
    text = FORMATS["markdown"](run.model_copy(update={"table": table}), trials)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]


def test_the_table_of_app_servers_shows_throughput_and_cost() -> None:
    rows = markdown_rows(Table.APP_SERVERS)
    assert rows[0] == APP_SERVER_COLUMNS
    assert rows[2] == ["c", "epoll/level", "409,900", "2.2", "9.5", "8.2", "100.0", "99.0", "loop", "target"]


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
