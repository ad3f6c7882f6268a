"""Load generators, which turn a ``Load`` into a ``Measurement``, and timers for clients. No other module registers adapters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

from httpbench.errors import SelectionError
from httpbench.load.autocannon import Autocannon
from httpbench.load.base import Job, KeptResponse, LoadGenerator, Output, Phase, Progress, SliceReport
from httpbench.load.h2load import H2load
from httpbench.load.hey import Hey
from httpbench.load.native import FirstResponse, Native
from httpbench.load.oha import Oha
from httpbench.load.perf_gauge import PerfGauge
from httpbench.load.timer import Hyperfine, NativeTimer, Timed, Timer
from httpbench.load.tool import Tool
from httpbench.load.wrk import Wrk

__all__ = [
    "GENERATORS",
    "TIMERS",
    "FirstResponse",
    "Job",
    "KeptResponse",
    "LoadGenerator",
    "Native",
    "Output",
    "Phase",
    "Progress",
    "SliceReport",
    "Timed",
    "Timer",
    "Tool",
    "get",
    "timer",
    "tool",
]

GENERATORS: dict[str, LoadGenerator] = {
    generator.name: generator for generator in (Native(), Wrk(), Hey(), Oha(), H2load(), Autocannon(), PerfGauge())
}
TIMERS: dict[str, Timer] = {found.name: found for found in (NativeTimer(), Hyperfine())}
"""Timers by name. If the target is a client, a timer replaces the load generator, because the client sends the requests itself."""

Found = TypeVar("Found", bound=Tool)


def get(name: str) -> LoadGenerator:
    """Return the load generator with that name. Raises ``SelectionError`` if there is none."""
    return _named(GENERATORS, name, "load generator")


def timer(name: str) -> Timer:
    """Return the timer with that name. Raises ``SelectionError`` if there is none."""
    return _named(TIMERS, name, "timer")


def tool(name: str) -> Tool:
    """Return the timer or load generator with that name. Raises ``SelectionError`` if there is neither."""
    return _named({**TIMERS, **GENERATORS}, name, "load generator")


def _named(known: Mapping[str, Found], name: str, noun: str) -> Found:
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of: {', '.join(known)}"
    raise SelectionError(f"unknown {noun} {name!r}", hint=hint)
