"""Remove a container by name, even if the daemon is restarting or is still creating the container.

A guard runs this module as a program when its harness was killed.
"""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

from httpbench.errors import ContainerError
from httpbench.host import inherited
from httpbench.isolate import engine as command_line
from httpbench.isolate import freezer, marks
from httpbench.isolate.tree import Command
from httpbench.model import Engine

LIMIT_S = 30.0  # long enough for a daemon to restart
RETRY_S = 0.5
CHECKS, LAST_CHECKS = 3, 20
"""How often a container that doesn't exist is looked for, because the daemon may still be creating it for a client that was killed.

The second number applies after the harness was killed, when no one waits.
"""


def remove(engine: Engine, name: str, checks: int = 1) -> bool:
    """Remove the container. If it doesn't exist, check ``checks`` times in all. Return whether it existed.

    Raises :class:`ContainerError` if the engine fails.
    """
    deadline = time.monotonic() + LIMIT_S
    while checks:
        try:
            if command_line.ask(engine, "ps", "--all", "--quiet", "--filter", f"name=^{name}$"):
                command_line.ask(engine, "rm", "--force", "--volumes", name)
                return True
            checks -= 1
        except ContainerError as error:
            if time.monotonic() > deadline:
                hint = f"once it runs again: {engine} rm --force --volumes {name}"
                raise ContainerError(f"{error.message}: container {name} may still exist", hint=hint) from None
        if checks:
            time.sleep(RETRY_S)
    return False


def command(engine: Engine, name: str) -> Command:
    """Return the command that removes the container after its harness has been killed."""
    return Command(inherited.own_program("httpbench.isolate.removal", str(engine), name), Path("/"), command_line.environment())


def main() -> None:
    """Remove the container of the engine and the name that the arguments give, and its mark."""
    engine, name = Engine(sys.argv[1]), sys.argv[2]
    with contextlib.suppress(ContainerError):  # the container isn't running
        id_, pid = command_line.ask(engine, "inspect", "--type", "container", "--format", "{{.Id}} {{.State.Pid}}", name).split()
        freezer.thaw_container(int(pid), id_)  # in control groups version 1, signals can't end a frozen process
    with contextlib.suppress(ContainerError):
        if remove(engine, name, LAST_CHECKS):
            marks.unmark(name)  # otherwise, the next command looks for it again
