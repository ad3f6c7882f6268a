"""Find the container engines that a run uses. Find and remove containers that were left behind when a harness was killed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator

from httpbench.errors import HttpbenchError
from httpbench.host import Finding
from httpbench.isolate import engine as command_line
from httpbench.isolate import freezer, labels, marks
from httpbench.model import Engine, Target


def engines_of(targets: Iterable[Target]) -> list[Engine]:
    """Return the distinct engines of the targets that run in containers."""
    return list(dict.fromkeys(target.isolation.engine for target in targets if target.isolation is not None))


def engines_left() -> list[Engine]:
    """Return the installed engines in which a killed harness may have left a container, without querying the engines."""
    return [engine for engine in marks.engines_left() if shutil.which(engine)]


def remove_leftovers(engine: Engine) -> list[str]:
    """Remove containers that outlived their harness, and return the containers' ids."""
    found = labels.leftovers(engine)
    for id_, pid in found.items():
        freezer.thaw_container(pid, id_)  # in control groups version 1, signals can't end a frozen process
        command_line.ask(engine, "rm", "--force", "--volumes", id_)
    marks.forget(engine)
    return list(found)


def left_behind() -> Iterator[Finding]:
    """Yield a finding for each container that a killed harness left behind. Engines that are missing or don't respond are skipped."""
    for engine in Engine:
        with contextlib.suppress(HttpbenchError):
            for id_ in labels.leftovers(engine):
                yield Finding(
                    name="container",
                    severity="warning",
                    what=f"a container that an earlier httpbench left behind when it was killed: {id_[:12]}",
                    why="it may use CPU time on the measured cores and occupy a port",
                    do=f"{engine} rm --force --volumes {id_[:12]}",
                )
