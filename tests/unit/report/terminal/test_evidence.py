"""Tests that the facts behind verdicts fit terminals of any width."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from httpbench.model import CoreOccupancy
from httpbench.report.terminal.evidence import render_evidence
from httpbench.stats.facts import facts
from tests.factories import make_rounds, make_run, make_usage


@pytest.mark.parametrize("width", [60, 80, 200])
def test_columns_that_do_not_fit_continue_below(width: int) -> None:
    occupancy = tuple(CoreOccupancy(cpu=cpu, busy=0.5, stolen=0) for cpu in range(4))
    trials = make_rounds("golang/net-http", (1000, 1010, 1020), occupancy=occupancy)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(render_evidence(make_run(trials), trials, width=console.width))
    lines = captured.get().splitlines()
    tables = [line for line in lines if line.startswith("Target  ")]
    assert (len(tables) == 1) == (width == 200)
    assert sum("golang/net-http" in line for line in lines) == 3 * len(tables)
    assert all("0:50% 1:50% 2:50% 3:50%" in line for line in lines if "0:" in line)


def test_the_fullest_thread_and_core_of_each_program_are_shown() -> None:
    occupancy = (CoreOccupancy(cpu=0, busy=0.5, interrupts=0.25, stolen=0),)
    target = make_usage(0.7, threads=4, thread_cores_max=0.61, cpu_wait_cores_mean=0.12, throttled_share=0.031)
    trials = make_rounds("golang/net-http", (1000,), occupancy=occupancy, target_usage=target)
    console = Console(width=300)
    with console.capture() as captured:
        console.print(render_evidence(make_run(trials), trials, width=console.width))
    title, line = captured.get().splitlines()[1:3]
    shown = dict(zip(re.split(r"  +", title), re.split(r"  +", line), strict=True))
    assert (shown["Target thread"], shown["Target waited"], shown["Throttled"]) == ("0.61", "0.12", "3.10%")
    assert shown["Per core"] == "0:75%"
    known = facts(trials[0])
    assert known is not None and known.target_core_max == 0.75
