"""Labels on containers and images of ours, by which what a killed harness left behind is found and removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import ContainerError
from httpbench.host import owner
from httpbench.host.owner import Owner
from httpbench.isolate import engine as command_line
from httpbench.model import Engine

OWNER, RUN, TARGET = "httpbench.host.owner", "httpbench.run", "httpbench.target"
"""Who made it: process, its namespace and its boot. The run. The target of an image."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A container whose harness is gone."""

    engine: Engine
    id: str

    @property
    def fix(self) -> str:
        """The command that removes it."""
        return f"{self.engine} rm --force --volumes {self.id[:12]}"


def owner_label() -> str:
    """This process, as the value of a label."""
    own = owner.this_process()
    return f"{own.boot_id}/{_namespace()}/{own.pid}/{own.start_ticks}"


def leftovers(engine: Engine) -> list[Leftover]:
    """Containers of ours whose harness is gone. Raises :class:`ContainerError` if the engine does not respond."""
    ids = command_line.ask(engine, "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={OWNER}").split()
    if not ids:
        return []
    form = f'{{{{.Id}}}} {{{{index .Config.Labels "{OWNER}"}}}}'
    try:
        lines = command_line.ask(engine, "inspect", "--type", "container", "--format", form, *ids).splitlines()
    except ContainerError:
        return []  # another harness has removed one of them meanwhile
    return [Leftover(engine, id_) for id_, label in (line.split(" ", 1) for line in lines) if is_gone(label)]


def remove_leftovers(engine: Engine) -> list[str]:
    """Removes the containers of harnesses that are gone. Returns their ids."""
    found = leftovers(engine)
    for each in found:
        command_line.ask(engine, "rm", "--force", "--volumes", each.id)
    return [each.id for each in found]


def is_gone(label: str) -> bool:
    """Whether the process of a label has ended. One of another process namespace cannot be seen from here, and counts as running."""
    try:
        boot_id, namespace, pid, start_ticks = label.split("/")
        known = Owner(boot_id, int(pid), int(start_ticks))
    except ValueError:
        return False  # not written by httpbench
    if boot_id == owner.this_process().boot_id and namespace != _namespace():
        return False
    return not owner.is_alive(known)


def _namespace() -> str:
    """The process namespace: process ids mean something only within one."""
    try:
        return Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return "unknown"
