"""Test that httpbench imports and builds nothing while it measures, because that would take CPU time from the load.

Many imports are inside functions, so that commands start quickly. This test watches a run in a new process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.harness import MISBEHAVING_SERVER, Harness

WATCHED = """
import contextlib, json, sys
from httpbench.cli import main
from httpbench.cli.terminal import console
from httpbench.cli.terminal.progress import Lines
from httpbench.model.frozen import Frozen

events = []
def built(model=Frozen):
    for each in model.__subclasses__():
        yield from [each.__name__] * each.__pydantic_complete__
        yield from built(each)

class Watching(Lines):
    def stage(self, stage):
        events.append(["stage", stage])
    def turn(self, *of_slice):
        events.append(["window", sorted(built())])
    def progress(self, progress, current=None):
        if progress.phase in ("measure", "done"):
            events.append(["window", sorted(built())])

console.observer = lambda quiet=False: contextlib.nullcontext(Watching(lambda line: None))
sys.addaudithook(lambda event, of_event: events.append(["import", of_event[0]]) if event == "import" else None)
try:
    main()
finally:
    print(json.dumps(events), file=sys.stderr)
"""
"""Prints each import, and the built models at each sign of progress during the windows."""


@pytest.mark.slow
@pytest.mark.parametrize("interleave", ["slices", "rounds"])
def test_nothing_is_imported_or_built_while_a_target_is_measured(interleave: str, tmp_path: Path) -> None:
    server = f"{MISBEHAVING_SERVER} {{host}} {{port}} good"
    servers = [server, server, "--name", "a", "--name", "b"] if interleave == "slices" else [server, "--name", "a"]
    load = ["-c", "2", "-d", "1s", "--warmup", "300ms", "--rounds", "1", "--retries", "0", "--interleave", interleave]
    argv = [sys.executable, "-c", WATCHED, "run", *servers, *load]
    done = subprocess.run(argv, env=Harness(tmp_path).env, capture_output=True, text=True, timeout=60, check=False)
    events = json.loads(done.stderr.splitlines()[-1])
    stages = [list(stage) for _, stage in groupby(events, key=lambda event: event[0] == "stage")]
    found = [measured for stage in stages if len(measured := between_windows(stage)) > 1]
    assert found, done.stderr
    for measured in found:
        assert [module for kind, module in measured if kind == "import"] == []
        before, *_, after = [models for kind, models in measured if kind == "window"]
        assert sorted({*after} - {*before}) == []


def between_windows(events: list[list[Any]]) -> list[list[Any]]:
    """Return the events from the first to the last sign of progress."""
    windows = [number for number, (kind, _) in enumerate(events) if kind == "window"]
    return events[windows[0] : windows[-1] + 1] if windows else []
