"""The container engines of a run, and the containers that killed harnesses left in them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable

from httpbench.errors import HttpbenchError
from httpbench.host import Finding
from httpbench.isolate import labels, marks
from httpbench.isolate.engine import requirement as requirement_of
from httpbench.isolate.engine import version as require_engine
from httpbench.isolate.labels import Leftover, leftovers
from httpbench.model import Engine, Target

__all__ = ["engines_left", "engines_of", "left_behind", "remove_leftovers", "require_engine", "requirement_of"]


def engines_of(targets: Iterable[Target]) -> list[Engine]:
    """Return the engines of the targets that run in containers, each once."""
    return list(dict.fromkeys(target.isolation.engine for target in targets if target.isolation is not None))


def engines_left() -> list[Engine]:
    """Return the installed engines in which a killed harness may have left a container. Doesn't ask the engines."""
    return [engine for engine in marks.engines_left() if shutil.which(engine)]


def remove_leftovers(engine: Engine) -> list[str]:
    """Remove containers that outlived their harness. Returns their ids."""
    removed = labels.remove_leftovers(engine)
    marks.forget(engine)
    return removed


def left_behind() -> list[Finding]:
    """Return a finding for each container that a killed harness left behind. Engines that don't respond are skipped."""
    found = []
    for engine in Engine:
        if shutil.which(engine) is None:
            continue
        with contextlib.suppress(HttpbenchError):
            found += [_finding(leftover) for leftover in leftovers(engine)]
    return found


def _finding(leftover: Leftover) -> Finding:
    return Finding(
        name="container",
        severity="warning",
        what=f"a container that an earlier httpbench left behind when it was killed: {leftover.id[:12]}",
        why="it may use CPU time on the measured cores and occupy a port",
        do=leftover.fix,
    )
