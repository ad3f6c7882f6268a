"""Load generators, which turn a ``Load`` into a ``Measurement``, and timers for clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.load.base import Job, KeptResponse, LoadGenerator, Output, Phase, Progress, SliceReport
    from httpbench.load.native import FirstResponse, Native
    from httpbench.load.registry import GENERATORS, TIMERS, get, timer, tool
    from httpbench.load.timers import Timed, Timer
    from httpbench.load.tools import Tool
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
