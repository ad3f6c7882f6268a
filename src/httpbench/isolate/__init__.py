"""Where a program runs: its process tree, its CPUs, its port."""

from __future__ import annotations

from httpbench.isolate.ports import answers, ephemeral_ports, free_port, listeners, listening, require_free
from httpbench.isolate.tree import Command, Exit, ProcessTree, Stopped, tail

__all__ = [
    "Command",
    "Exit",
    "ProcessTree",
    "Stopped",
    "answers",
    "ephemeral_ports",
    "free_port",
    "listeners",
    "listening",
    "require_free",
    "tail",
]
