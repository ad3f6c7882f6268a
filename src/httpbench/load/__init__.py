"""Load generators: a ``Load`` in, a ``Measurement`` out. One adapter for each, which is added here and nowhere else."""

from __future__ import annotations

import difflib

from httpbench.errors import SelectionError
from httpbench.load.base import Job, LoadGenerator, Output, Phase, Progress
from httpbench.load.hey import Hey
from httpbench.load.native import Native
from httpbench.load.perf_gauge import PerfGauge
from httpbench.load.wrk import Wrk

__all__ = ["GENERATORS", "Job", "LoadGenerator", "Output", "Phase", "Progress", "get"]

GENERATORS: dict[str, LoadGenerator] = {generator.name: generator for generator in (Native(), Wrk(), Hey(), PerfGauge())}


def get(name: str) -> LoadGenerator:
    """The adapter of that name. Raises ``SelectionError`` where there is none."""
    if name in GENERATORS:
        return GENERATORS[name]
    close = difflib.get_close_matches(name, GENERATORS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(GENERATORS)}"
    raise SelectionError(f"there is no load generator {name!r}", hint=hint)
