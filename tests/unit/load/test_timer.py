"""Tests that the reports of timers are parsed, and that invalid reports are errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from httpbench.errors import LoadError, RequirementError
from httpbench.load import programs

NATIVE = {"code": 0, "wall_s": 0.5, "user_s": 0.1, "system_s": 0.05, "rss_bytes_peak": 9_000_000, "rss_bytes_floor": 2_000_000}


def hyperfine(**changes: Any) -> str:
    result = {"command": "x", "mean": 0.5, "stddev": None, "user": 0.1, "system": 0.05, "times": [0.5], "exit_codes": [0]}
    return json.dumps({"results": [{**result, **changes}]})


def test_the_native_timers_report_is_read() -> None:
    found = load.timer("native").read(json.dumps(NATIVE))
    assert (found.code, found.timing.wall_s) == (0, 0.5)
    assert found.timing.cpu_s == pytest.approx(0.15)
    assert found.timing.rss_bytes_peak == 9_000_000


def test_a_peak_at_the_floor_is_not_the_programs_own() -> None:
    assert load.timer("native").read(json.dumps({**NATIVE, "rss_bytes_peak": 2_000_000})).timing.rss_bytes_peak is None


def test_hyperfines_report_is_read() -> None:
    found = load.timer("hyperfine").read(hyperfine())
    assert (found.code, found.timing.wall_s, found.timing.rss_bytes_peak) == (0, 0.5, None)
    assert found.timing.cpu_s == pytest.approx(0.15)
    assert load.timer("hyperfine").read(hyperfine(exit_codes=[3])).code == 3
    assert load.timer("hyperfine").read(hyperfine(memory_usage_byte=[4096])).timing.rss_bytes_peak == 4096


def test_hyperfine_runs_once_without_a_shell() -> None:
    timer = load.timer("hyperfine")
    if timer.locate() is None:
        pytest.skip("hyperfine is not installed: httpbench setup --load-generator hyperfine")
    argv = timer.argv(("./client", "http://x/#[1-3]"), Path("/r"), Path("/o"))
    assert argv[1:4] == ("-N", "--runs", "1")
    assert argv[-1] == "./client 'http://x/#[1-3]'"


@pytest.mark.parametrize("name", load.TIMERS)
def test_nonsense_gives_one_clear_error(name: str) -> None:
    with pytest.raises(LoadError, match="report cannot be read"):
        load.timer(name).read("{}")


def test_a_missing_timer_has_a_build_command_as_its_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "locate", lambda _: None)
    with pytest.raises(RequirementError) as raised:
        load.timer("native").program()
    assert raised.value.hint == "cargo build --release --locked --package httpbench-timer"
