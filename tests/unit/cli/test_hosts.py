"""Test that ``httpbench hosts check`` accepts the options of the load source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from httpbench.cli.main import run_command_line
from httpbench.cluster.dask import Scheduler, by_ssh, survey
from httpbench.cluster.dask.by_ssh import SshHosts

STARTED = "tls://10.0.0.1:40000"


@pytest.mark.parametrize(
    ("words", "scheduler", "named"),
    [
        (("-r", "load1", "-r", "load2"), STARTED, [("load1", "load2")]),
        (("--load-hosts", "load1,load2"), STARTED, [("load1", "load2")]),
        (("--scheduler", "tcp://127.0.0.1:8786"), "tcp://127.0.0.1:8786", []),
    ],
)
def test_several_names_start_a_cluster_and_a_scheduler_already_has_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], scheduler: str, named: list[tuple[str, ...]]
) -> None:
    started: list[tuple[str, ...]] = []
    surveyed: list[str] = []

    @contextmanager
    def start(hosts: SshHosts) -> Iterator[Scheduler]:
        started.append(hosts.hosts)
        yield Scheduler(STARTED)

    def look(scheduler: Scheduler, **_options: bool) -> list[survey.Surveyed]:
        surveyed.append(scheduler.address)
        return []

    monkeypatch.setattr(by_ssh, "started", start)
    monkeypatch.setattr(survey, "survey", look)
    monkeypatch.setattr(sys, "argv", ["httpbench", "hosts", "check", *words, "--json"])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert (ended.value.code, capfd.readouterr().out) == (0, "[]\n")
    assert (surveyed, started) == ([scheduler], named)
