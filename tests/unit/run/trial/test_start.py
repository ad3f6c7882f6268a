"""Tests of the commands that start a target, and of the cores that each command gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.model import Scaling
from httpbench.run.trial.context import StartContext
from httpbench.run.trial.start import commands_of
from tests.factories import make_target

TARGET = make_target(run=("./server", "{port}", "{workers}"))
CORES = ((0, 2), (1, 3))


@pytest.mark.parametrize(
    ("scaling", "workers", "words", "cpus"),
    [
        (Scaling.SINGLE, None, "1", [(0, 2, 1, 3)]),
        (Scaling.MULTI, None, "2", [(0, 2, 1, 3)]),
        (Scaling.MULTI, 8, "8", [(0, 2, 1, 3)]),
        (Scaling.PREFORK, None, "1", [(0, 2), (1, 3)]),
        (Scaling.PREFORK, 3, "1", [(0, 2), (1, 3), (0, 2)]),
        (Scaling.PREFORK, 1, "1", [(0, 2)]),
    ],
)
def test_workers_fill_the_cores_unless_a_number_is_given(
    scaling: Scaling, workers: int | None, words: str, cpus: list[tuple[int, ...]]
) -> None:
    commands = commands_of(TARGET, scaling, StartContext(Path("/build"), Path("/scratch"), CORES, workers=workers), 80)
    assert [command.argv for command in commands] == [("./server", "80", words)] * len(cpus)
    assert [command.cpus for command in commands] == cpus
