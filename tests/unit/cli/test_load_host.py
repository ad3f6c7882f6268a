"""Options of a load host: what they contradict is refused before anything is built or connected."""

from __future__ import annotations

import sys

import pytest

from httpbench.cli.main import run_command_line


def error(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setenv("HTTPBENCH_SSH", "false")
    monkeypatch.setattr(sys, "argv", ["httpbench", *words])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert ended.value.code == 2
    return capfd.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bench", "c/nginx", "--host", "192.0.2.1"), "--host applies to a load host only"),
        (("saturate", "c/nginx", "--install"), "--install applies to a load host only"),
        (("bench", "proxy:c/haproxy", "--backend-host", "load"), "--backend-host load applies to a load host only"),
        (("bench", "c/nginx", "-r", "load1", "--backend-host", "load"), "servers have no backend"),
        (("doctor", "--host", "192.0.2.1"), "--host applies to a load host only"),
        (("bench", "client:c/curl", "-r", "load1"), "client:c/curl is a client, which makes its own load"),
        (("run", "--url", "http://localhost:80/", "-r", "load1"), "http://localhost:80 is reached from this machine only"),
        (("run", "--url", "http://[::1]/", "-r", "load1"), "http://[::1]:80 is reached from this machine only"),
        (
            ("bench", "c/nginx", "--isolate", "docker", "--network", "bridge", "-r", "load1"),
            "c/nginx@docker-bridge is in a bridge network, which a load host does not reach",
        ),
    ],
)
def test_contradictions_are_refused(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    assert error(capfd, monkeypatch, *words) == f"error: {message}"


def test_a_dry_run_connects_to_nobody(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPBENCH_SSH", "false")
    monkeypatch.setattr(sys, "argv", ["httpbench", "bench", "c/nginx", "-r", "user@load1", "--dry-run"])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert ended.value.code == 0
    shown = capfd.readouterr().out
    assert "Load host" in shown and "user@load1" in shown


@pytest.mark.parametrize("option", ["-r", "--remote", "--load-host"])
def test_the_option_has_the_names_that_users_bring(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    assert error(capfd, monkeypatch, "bench", "client:c/curl", option, "load1").startswith("error: client:c/curl is a client")
