"""Tests of errors for invalid options of the measuring verbs, and of the plans that these verbs show for valid options."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench import host
from httpbench.cli.main import cli
from httpbench.cli.terminal import console
from httpbench.errors import CatalogError, UsageError

REFUSED = "perl/tagged"
CLONE = Path(__file__).parents[2] / "targets" / "techempower"
COUNT = len(host.read_topology().cores)


def planned(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Return the output of ``bench --dry-run`` on both streams, or raise its exception."""
    return shown(monkeypatch, "bench", *words, "--dry-run")


def shown(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("COLUMNS", "240")
    done = CliRunner().invoke(cli, words)
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("c/nginx", "--cores", str(COUNT + 1)), f"--cores {COUNT + 1} is more than the {COUNT} physical core"),
        (("c/nginx", "--cores", "1", "--scaling", "single"), "--cores requires --scaling multi"),
        (("c/nginx", "--workers", "8", "--scaling", "single"), "--workers requires --scaling multi"),
        (("client:c/curl", "--workers", "8"), "--cores and --workers apply to servers and proxies only"),
        (("dlang/arsd/threads", "--workers", "8"), "no targets left to measure"),
    ],
)
def test_an_impossible_number_gives_one_sentence(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        planned(monkeypatch, *words)
    assert sentence in caught.value.message and len(caught.value.message.splitlines()) == 1


def test_options_for_cores_and_workers_imply_multi(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = planned(monkeypatch, "c/nginx", "c/epoll/edge", "--workers", "8", "--cores", "1")
    lines = {line.split()[0]: line for line in shown.splitlines() if line.startswith("c/")}
    assert "multi, 8 workers" in lines["c/nginx"]
    assert "prefork, 8 workers" in lines["c/epoll/edge"]


def test_a_target_with_a_fixed_number_of_workers_is_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = planned(monkeypatch, "c/nginx", "dlang/arsd/threads", "--workers", "8")
    assert "skipped dlang/arsd/threads: cannot be given a number of workers: its command has no {workers}" in shown


def test_a_plan_omits_loads_its_load_generator_cannot_make(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = planned(monkeypatch, "--suite", "tcp-proxies", "--load-generator", "perf-gauge")
    assert "perf-gauge cannot close a connection after a number of requests" in shown
    assert "rising rates of perf-gauge are not supported" in shown
    rows = [line for line in shown.splitlines() if line.startswith(("proxy:", "baseline"))]
    assert len(rows) == 7


def test_a_plan_without_any_possible_load_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (("c/nginx",), ("--suite", "frameworks")):
        with pytest.raises(UsageError, match="perf-gauge cannot pipeline requests"):
            planned(monkeypatch, *words, "--load-generator", "perf-gauge", "-p", "10")


def test_an_impossible_load_on_the_command_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="1,000,000 connections are too many"):
        planned(monkeypatch, "c/nginx", "-c", "8,1M")


COMMAND = "./server {port} {workers}"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", COMMAND, "--cores", str(COUNT + 1)), f"--cores {COUNT + 1} is more than the {COUNT} physical core"),
        (("run", COMMAND, "--workers", "8", "--scaling", "single"), "--workers requires --scaling multi"),
        (("run", "./server {port}", "--workers", "8"), "command/server: cannot be given a number of workers: its command has no {workers}"),
        (("saturate", "c/nginx", "--cores", str(COUNT + 1)), f"--cores {COUNT + 1} is more than the {COUNT} physical core"),
        (("saturate", "dlang/arsd/threads", "--workers", "8"), "dlang/arsd/threads: cannot be given a number of workers"),
    ],
)
def test_run_and_saturate_share_their_error_messages(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        shown(monkeypatch, *words)
    assert sentence in caught.value.message


def test_a_command_gets_the_given_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "multi, 8 workers" in shown(monkeypatch, "run", COMMAND, "--workers", "8", "--dry-run")


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("--precision", "2%"), ("-d", "5s", "--warmup-max", "10s")),
        (("--precision", "2%", "-d", "4s"), ("-d", "4s")),
        (("--precision", "2%", "--rate", "1k"), ("--rate", "1k", "-d", "10s")),
    ],
)
def test_the_precision_determines_the_usual_duration(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], same: tuple[str, ...]
) -> None:
    """With a rate, the interval of the p99 counts, which requires many responses."""
    expected = shown(monkeypatch, "run", COMMAND, *same, "--rounds", "6", "--dry-run")
    assert shown(monkeypatch, "run", COMMAND, *words, "--max-rounds", "6", "--dry-run") == expected


def test_a_run_that_may_end_early_shows_both_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    output = shown(monkeypatch, "run", COMMAND, "./b {port}", "--precision", "2%", "--warmup", "1s", "--dry-run")
    assert "120 trials: 2 lines × 6 to 60 rounds, about 1m 39s to 16m 14s" in output


def test_a_container_has_one_command_for_all_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    generators = ("--load-generator", "native", "--load-generator", "wrk")
    shown = planned(monkeypatch, "golang/net-http", "--isolate", "docker", "-c", "8,64", *generators)
    assert shown.count("docker run ") == 1


def test_a_containers_command_has_the_given_port_and_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    shown = planned(monkeypatch, "golang/net-http", "--isolate", "docker", "--workers", "8", "--port", "8123")
    assert "--env GOMAXPROCS=8 " in shown
    assert shown.rstrip().endswith("./server -listen 127.0.0.1:8123")


def test_a_target_of_a_catalog_is_planned_with_its_declared_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--targets", f"techempower:{CLONE}", "c++/older", "c++/older/fast")
    shown = planned(monkeypatch, *words, "--workload", "json")
    assert "skipped c++/older: declares no path for json" in shown
    assert any(line.startswith("c++/older/fast") for line in shown.splitlines())
    shown = planned(monkeypatch, *words, "--workload", "json", "--path", "/mine")
    assert "skipped" not in shown


def test_without_names_all_targets_of_a_catalog_are_planned_without_a_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = planned(monkeypatch, "--targets", f"techempower:{CLONE}", "--language", "c++", "--workload", "plaintext", "--workload", "json")
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("c++/")] == ["c++/older", "c++/older/fast"]


def test_an_unknown_layout_gives_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r'unknown layout "tecempower" .*; use techempower:DIR, httparena:DIR, web-frameworks:DIR'):
        planned(monkeypatch, "--targets", "tecempower:/tmp", "c/nginx")


def test_a_plan_says_how_much_longer_warm_ups_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    until_steady = planned(monkeypatch, "c/nginx", "--scaling", "single", "-d", "5s", "--rounds", "2")
    assert "\nup to 5s more if every warm-up lasts its longest\n" in until_steady
    assert "warm-up" not in planned(monkeypatch, "c/nginx", "--scaling", "single", "-d", "1s", "--rounds", "2", "--warmup", "1s")


def test_a_plan_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "WIDTH_WITHOUT_TERMINAL", 80)
    done = CliRunner().invoke(cli, ["bench", "proxy:cpp", "proxy:c/haproxy", "--rate", "1000", "--dry-run"])
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["Target", "State", "Scaling", "Workload", "Connections", "Requests/s", "Generator"]
    assert [line.split()[0] for line in lines[:2]] == ["baseline", "haproxy"]
    assert max(map(len, lines)) <= 80


def test_refused_targets_are_listed_and_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--targets", f"techempower:{CLONE}", "--workload", "plaintext", "--rounds", "1")
    shown = planned(monkeypatch, *words, "c++/older", REFUSED)
    assert f"refused: {REFUSED}: " in shown
    assert "1 trial: 1 line" in shown
    with pytest.raises(UsageError, match="no targets left to measure: all of them were refused"):
        planned(monkeypatch, *words, REFUSED)


def test_a_broken_file_matters_only_to_its_own_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "target.toml"
    broken.parent.mkdir()
    broken.write_text("framework = 3\n")
    shown = planned(monkeypatch, "--targets", str(tmp_path), "c/nginx")
    assert f"skipped {broken}: " in shown
    assert any(line.startswith("c/nginx") for line in shown.splitlines())
    for words in (("c/nginx", "broken"), ("--language", "c")):
        with pytest.raises(CatalogError, match=str(broken)):
            planned(monkeypatch, "--targets", str(tmp_path), *words)
    with pytest.raises(CatalogError, match="is not a folder"):
        planned(monkeypatch, "--targets", str(tmp_path / "absent"), "c/nginx")
