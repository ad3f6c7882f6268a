"""The command line that starts a container, in a form that users can paste into a shell."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from httpbench.host import open_files
from httpbench.isolate.labels import OWNER, RUN, owner_label
from httpbench.model import Isolation

SCRATCH = "/scratch"
"""Path of an empty in-memory folder inside the container."""

PIDS_MAX = 32_768
"""Maximum number of processes and threads in a container.

It stops a fork bomb, and is enough for one thread per connection in TechEmpower's largest test, which has 16,384 connections.
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start in a container, and its settings."""

    isolation: Isolation
    image: str
    cpuset: tuple[int, ...]
    """Logical CPUs that the container may use."""
    argv: tuple[str, ...] = ()
    """Command to run inside the container, or empty for the image's own command."""
    env: Mapping[str, str] = field(default_factory=dict)
    passed_env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables whose values must not appear in the command line."""
    mounts: Mapping[str, str] = field(default_factory=dict)
    """Files and folders on this machine that the container can read, by absolute path inside the container."""
    run_id: str | None = None
    capabilities: tuple[str, ...] = ()
    """Linux capabilities of the container, such as ``SETUID``."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Additional host names inside the container, with their addresses."""
    name: str = field(default_factory=lambda: f"httpbench-{secrets.token_hex(4)}")

    def labeled_command(self) -> tuple[str, ...]:
        """Return the words of the command line that httpbench runs, including labels."""
        run = ("--label", f"{RUN}={self.run_id}") if self.run_id else ()
        return self.command("--label", f"{OWNER}={owner_label()}", *run)

    def command(self, *labels: str) -> tuple[str, ...]:
        """Return the words of the command line with these labels. Without labels, the result is the command that a user would type."""
        own, files = self.isolation, open_files.limit_of_programs()
        memory = size_text(own.memory_bytes)
        return (
            *(str(own.engine), "run", "--name", self.name, "--init", *labels),
            *("--cpus", f"{own.cpus:g}", "--memory", memory, "--memory-swap", memory),
            *("--cpuset-cpus", ",".join(map(str, self.cpuset))),
            *("--network", str(own.network), "--ulimit", f"nofile={files}:{files}"),
            *("--tmpfs", f"{SCRATCH}:mode=1777,exec", "--log-driver", "none", "--no-healthcheck"),
            *("--cap-drop", "ALL", *(word for name in self.capabilities for word in ("--cap-add", name))),
            *("--security-opt", "no-new-privileges", "--pids-limit", str(PIDS_MAX)),
            *(word for inside, path in self.mounts.items() for word in ("--mount", mount_text(path, inside))),
            *(word for name, address in self.hosts.items() for word in ("--add-host", f"{name}:{address}")),
            *(word for name, value in self.env.items() for word in ("--env", f"{name}={value}")),
            *(word for name in self.passed_env for word in ("--env", name)),
            self.image,
            *self.argv,
        )


def mount_text(path: str, inside: str) -> str:
    """Return the value of ``--mount`` that makes a file or folder readable inside the container. The fields are quoted as in CSV."""
    fields = ("type=bind", f"source={path}", f"target={inside}", "readonly")
    return ",".join('"{}"'.format(text.replace('"', '""')) if set(text) & set(',"') else text for text in fields)


def size_text(size_bytes: int) -> str:
    """Format a size for the engine's options, such as ``512m``, or in bytes if the size isn't a whole number of MiB."""
    return f"{size_bytes >> 20}m" if size_bytes % (1 << 20) == 0 else str(size_bytes)
