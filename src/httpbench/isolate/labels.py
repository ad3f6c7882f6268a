"""Labels on httpbench's containers and images. With them, httpbench finds and removes those that a killed harness left behind."""

from __future__ import annotations

from pathlib import Path

from httpbench.errors import ContainerError
from httpbench.host import owner
from httpbench.host.owner import Owner
from httpbench.isolate import engine as command_line
from httpbench.model import Engine

OWNER, RUN, TARGET = "httpbench.owner", "httpbench.run", "httpbench.target"
"""Names of the labels for the harness (its machine, boot, namespace, process id and start), the run, and the target of an image."""


def owner_label() -> str:
    """Return the value of the owner label for this process."""
    own = owner.this_process()
    return f"{owner.machine_id()}/{own.boot_id}/{_namespace()}/{own.pid}/{own.start_ticks}"


def leftovers(engine: Engine) -> dict[str, int]:
    """Return the containers that outlived their harness.

    The result maps the id of each container to the process id of its init process, which is 0 if the container isn't running.

    Raises :class:`ContainerError` if the engine doesn't respond.
    """
    ids = command_line.ask(engine, "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={OWNER}").split()
    if not ids:
        return {}
    form = f'{{{{.Id}}}} {{{{.State.Pid}}}} {{{{index .Config.Labels "{OWNER}"}}}}'
    try:
        lines = command_line.ask(engine, "inspect", "--type", "container", "--format", form, *ids).splitlines()
    except ContainerError:
        return {}  # another harness removed one of the containers in the meantime
    return {id_: int(pid) for id_, pid, label in (line.split(" ", 2) for line in lines) if is_gone(label)}


def is_gone(label: str) -> bool:
    """Return whether the harness that a label identifies has ended.

    We can't see processes in another PID namespace or on another machine that uses the same engine, so a harness in such a place counts as
    running.
    """
    try:
        machine_id, boot_id, namespace, pid, start_ticks = label.split("/")
        known = Owner(boot_id, int(pid), int(start_ticks))
    except ValueError:
        return False  # httpbench didn't write this label
    if machine_id != owner.machine_id():
        return False
    if boot_id == owner.this_process().boot_id and namespace != _namespace():
        return False
    return not owner.is_alive(known)


def _namespace() -> str:
    """Return the PID namespace of this process. A process id is unique only within a namespace."""
    try:
        return Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return "unknown"
