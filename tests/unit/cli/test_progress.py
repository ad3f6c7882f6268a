"""The live line of a run."""

from __future__ import annotations

import io

from rich.console import Console

from httpbench.cli.progress import LiveLine
from httpbench.load import Phase, Progress
from httpbench.sample import Current


def test_the_target_stands_beside_the_rate() -> None:
    screen = io.StringIO()
    with LiveLine(Console(file=screen, force_terminal=True, width=120)) as line:
        line.progress(Progress(Phase.MEASURE, 2.0, 12_345.0), Current(0.5, 30_000_000, 0.4))
    assert "measuring 2.0 s · 12,345/s · 50% CPU (throttled 40%), 30 MB · 0s left" in screen.getvalue()


def test_a_target_that_is_not_sampled_has_no_figures() -> None:
    screen = io.StringIO()
    with LiveLine(Console(file=screen, force_terminal=True, width=120)) as line:
        line.progress(Progress(Phase.MEASURE, 2.0, 12_345.0))
    assert "12,345/s · 0s left" in screen.getvalue()
