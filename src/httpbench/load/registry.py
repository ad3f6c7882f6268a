"""All adapters by name. No other module registers adapters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from httpbench.errors import SelectionError
from httpbench.lazy import LazyMapping
from httpbench.load.tools import Tool

if TYPE_CHECKING:
    from httpbench.load.base import LoadGenerator
    from httpbench.load.timers import Timer

Found = TypeVar("Found", bound=Tool)


def _adapters(classes: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a table of adapters by name. ``classes`` has the module and class of each."""
    return LazyMapping({name: partial(_adapter, path) for name, path in classes.items()})


def _adapter(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(import_module(f"httpbench.load.{module}"), name)()


GENERATORS: Mapping[str, LoadGenerator] = _adapters(
    {
        "native": "native.Native",
        "wrk": "wrk.Wrk",
        "hey": "hey.Hey",
        "oha": "oha.Oha",
        "h2load": "h2load.H2load",
        "autocannon": "autocannon.Autocannon",
        "perf-gauge": "perf_gauge.PerfGauge",
    }
)
TIMERS: Mapping[str, Timer] = _adapters({"native": "timers.NativeTimer", "hyperfine": "timers.Hyperfine"})
"""Timers by name. If the target is a client, a timer replaces the load generator, because the client sends the requests itself."""


def get(name: str) -> LoadGenerator:
    """Return the load generator with that name. Raises ``SelectionError`` if there is none."""
    return _named(name, "load generator", GENERATORS)


def timer(name: str) -> Timer:
    """Return the timer with that name. Raises ``SelectionError`` if there is none."""
    return _named(name, "timer", TIMERS)


def tool(name: str) -> Tool:
    """Return the load generator or timer with that name. Raises ``SelectionError`` if there is neither."""
    return _named(name, "load generator", GENERATORS, TIMERS)


def _named(name: str, noun: str, *tables: Mapping[str, Found]) -> Found:
    if table := next((table for table in tables if name in table), None):
        return table[name]
    known = list(dict.fromkeys(chain.from_iterable(tables)))
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of: {', '.join(known)}"
    raise SelectionError(f"unknown {noun} {name!r}", hint=hint)
