"""Tests of the options that measure how servers start, up to the plan of the run."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.cli.options.params import gate
from httpbench.errors import UsageError

SERVER = "./a {port}"


def planned(*words: str) -> str:
    done = CliRunner().invoke(cli, [*words, "--startup", "--dry-run"], env={"COLUMNS": "240"})
    if done.exception is not None:
        raise done.exception
    return done.output


def test_thirty_starts_are_planned() -> None:
    output = planned("run", SERVER, "./b {port}")
    assert "60 trials: 2 lines × 30 rounds, about" in output
    assert "in slices" not in output


def test_a_start_includes_the_load_and_the_rest() -> None:
    assert "2 trials: 1 line × 2 rounds, about 14s" in planned("run", SERVER, "--rounds", "2", "-d", "2s", "--rest", "4s")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bench", "client:c/curl"), "--startup measures servers, and client:c/curl is a client"),
        (("run", "--url", "http://127.0.0.1:8080"), "--startup starts servers, and http://127.0.0.1:8080 is already running"),
        (("run", SERVER, "--load-generator", "wrk"), "wrk cannot wait for a server to start"),
        (("run", SERVER, "--warmup", "1s"), "--startup measures servers that are not warmed up"),
        (("run", SERVER, "--precision", "2%"), "--precision is about throughput, so it cannot be used with --startup"),
        (("run", SERVER, "./b {port}", "--interleave", "slices"), "targets cannot take turns in slices: each start is measured by itself"),
        (
            ("bench", "c/nginx", "--isolate", "docker", "--network", "bridge"),
            "--startup requires an address that is known before the container starts",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        planned(*words)
    assert caught.value.message == sentence


def test_a_suite_may_measure_starts() -> None:
    done = CliRunner().invoke(cli, ["bench", "c/epoll/level", "c/nginx", "--suite", "startup", "--dry-run"], env={"COLUMNS": "240"})
    assert "60 trials: 2 lines × 30 rounds" in done.output
    done = CliRunner().invoke(cli, ["bench", "c/nginx", "--suite", "startup", "--warmup", "1s", "--dry-run"])
    assert isinstance(done.exception, UsageError)
    assert "rest_s requires warmup_s = 0: start-up is measured without a warm-up" in done.exception.message


def test_a_rest_without_startup_is_refused() -> None:
    done = CliRunner().invoke(cli, ["run", SERVER, "--rest", "1s", "--dry-run"])
    assert isinstance(done.exception, UsageError)
    assert done.exception.message == "--rest requires --startup"


@pytest.mark.parametrize(("text", "figure"), [("ready>10%", "ready"), ("to-steady>20%", "to-steady"), ("to_steady>20%", "to-steady")])
def test_gates_may_bound_the_results(text: str, figure: str) -> None:
    assert gate(text).figure == figure


def test_a_time_limit_too_short_to_become_steady_is_refused() -> None:
    done = CliRunner().invoke(cli, ["run", SERVER, "--warmup", "100ms", "--warmup-max", "1s", "--dry-run"])
    assert isinstance(done.exception, UsageError)
    assert "warmup_max_s must be at least 1.5 s more than warmup_s" in done.exception.message
