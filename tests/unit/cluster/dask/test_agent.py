"""Tests of the agent on a load host: it sends signs of life, keeps results in memory, and reports what its host lacks."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from httpbench.cluster.dask import agent
from httpbench.cluster.dask.agent import perform
from httpbench.cluster.dask.orders import Orders
from httpbench.errors import LoadError
from tests.agent_results import agent_result
from tests.programs import program

ORDERS = Orders("token", ("http://10.0.0.9/",), {"body": b"a=1"}, 20.0)


@pytest.fixture
def generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a load generator that takes 0.7 s, and return its folder."""
    (tmp_path / "result.json").write_text(json.dumps(agent_result()))
    program(tmp_path, "httpbench-loadgen", f'echo "$@" >&2; sleep 0.7; cat {tmp_path}/result.json')
    monkeypatch.setenv("HTTPBENCH_PROGRAMS", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("generator")
def test_an_agent_sends_signs_of_life_until_it_has_a_result() -> None:
    beats = []
    outcome = perform(ORDERS, lambda: False, lambda: beats.append(1))
    assert (outcome.exit_code, outcome.messages) == (0, "--start-on-stdin http://10.0.0.9/")
    assert outcome.result is not None and outcome.result.document["requests"]["completed"] == 2
    assert len(beats) >= 2


def test_an_unreadable_result_is_an_error(generator: Path) -> None:
    (generator / "result.json").write_text("{}")
    with pytest.raises(LoadError, match="its result cannot be read"):
        perform(ORDERS, lambda: False, lambda: None)


def test_a_failed_load_generator_has_no_result(generator: Path) -> None:
    program(generator, "httpbench-loadgen", "echo 'error: cannot connect' >&2; exit 1")
    outcome = perform(ORDERS, lambda: False, lambda: None)
    assert (outcome.exit_code, outcome.result, outcome.messages) == (1, None, "error: cannot connect")


@pytest.mark.usefixtures("generator")
def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_orders: Orders, folder: Path) -> list[str]:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / "body"))

    monkeypatch.setattr(agent, "unpacked", full)
    with pytest.raises(LoadError, match=r"/.*/body: No space left on device"):
        perform(ORDERS, lambda: False, lambda: None)


@pytest.mark.usefixtures("generator")
def test_a_cancelled_trial_ends_its_load_generator() -> None:
    with pytest.raises(LoadError, match="the trial was cancelled"):
        perform(ORDERS, lambda: True, lambda: None)
