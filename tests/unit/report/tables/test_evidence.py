"""The figures behind verdicts fit every terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from httpbench.model import CoreOccupancy
from httpbench.report import render_evidence
from tests.factories import make_rounds, make_run


@pytest.mark.parametrize("width", [60, 80, 200])
def test_columns_that_do_not_fit_continue_below(width: int) -> None:
    occupancy = tuple(CoreOccupancy(cpu=cpu, busy=0.5, stolen=0) for cpu in range(4))
    trials = make_rounds("golang/net-http", (1000, 1010, 1020), occupancy=occupancy)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(render_evidence(make_run(trials), trials))
    lines = captured.get().splitlines()
    tables = [line for line in lines if line.startswith("Target  ")]
    assert (len(tables) == 1) == (width == 200)
    assert sum("golang/net-http" in line for line in lines) == 3 * len(tables)
    assert all("0:50% 1:50% 2:50% 3:50%" in line for line in lines if "0:" in line)
