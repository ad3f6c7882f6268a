"""Run programs in a process tree or a container, on given CPUs and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.isolate.container import Container
    from httpbench.isolate.launch import SCRATCH, Launch
    from httpbench.isolate.ports import accepts, ephemeral_ports, free_port, is_only_on_ipv6, listeners, listening, require_free
    from httpbench.isolate.tree import Command, Exit, ProcessTree, Stopped, tail
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
