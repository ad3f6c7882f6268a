"""Runs programs: their process tree, their CPUs, their port."""

from __future__ import annotations

from httpbench.isolate.ports import accepts, ephemeral_ports, free_port, listeners, listening, require_free
from httpbench.isolate.tree import Command, Exit, ProcessTree, Stopped, tail

__all__ = [
    "Command",
    "Exit",
    "ProcessTree",
    "Stopped",
    "accepts",
    "ephemeral_ports",
    "free_port",
    "listeners",
    "listening",
    "require_free",
    "tail",
]
