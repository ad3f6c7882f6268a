"""The command line that starts a container: one that a user can paste."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from httpbench.host import open_files
from httpbench.isolate.labels import OWNER, RUN, owner_label
from httpbench.model import Isolation

SCRATCH = "/scratch"
"""The empty folder inside, in memory."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start in a container, and how."""

    isolation: Isolation
    image: str
    cpuset: tuple[int, ...]
    """Logical CPUs that it may use."""
    argv: tuple[str, ...] = ()
    """Command inside; empty: the image's own."""
    env: Mapping[str, str] = field(default_factory=dict)
    passed_env: Mapping[str, str] = field(default_factory=dict)
    """Variables whose values must not stand in the command line."""
    mounts: Mapping[str, str] = field(default_factory=dict)
    """Files and folders of this machine that it can read, by their absolute paths inside."""
    run_id: str | None = None
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Addresses of names that the program inside may ask for."""
    name: str = field(default_factory=lambda: f"httpbench-{secrets.token_hex(4)}")

    def command(self) -> tuple[str, ...]:
        """The words of the command line, without labels: what a user would type."""
        return self._words(())

    def labelled_command(self) -> tuple[str, ...]:
        """The words of the command line that is run."""
        labels = [f"{OWNER}={owner_label()}", *([f"{RUN}={self.run_id}"] if self.run_id else [])]
        return self._words([word for label in labels for word in ("--label", label)])

    def _words(self, labels: Sequence[str]) -> tuple[str, ...]:
        own, files = self.isolation, open_files.limit_of_programs()
        memory = size_text(own.memory_bytes)
        return (
            *(str(own.engine), "run", "--name", self.name, "--init", *labels),
            *("--cpus", f"{own.cpus:g}", "--memory", memory, "--memory-swap", memory),
            *("--cpuset-cpus", ",".join(map(str, self.cpuset))),
            *("--network", str(own.network), "--ulimit", f"nofile={files}:{files}"),
            *("--tmpfs", f"{SCRATCH}:mode=1777,exec", "--log-driver", "none", "--no-healthcheck"),
            *(word for inside, path in self.mounts.items() for word in ("--mount", mount_text(path, inside))),
            *(word for name, address in self.hosts.items() for word in ("--add-host", f"{name}:{address}")),
            *(word for name, value in self.env.items() for word in ("--env", f"{name}={value}")),
            *(word for name in self.passed_env for word in ("--env", name)),
            self.image,
            *self.argv,
        )


def mount_text(path: str, inside: str) -> str:
    """As ``--mount`` takes a file or a folder that must be there and is not written to: fields as in CSV."""
    fields = ("type=bind", f"source={path}", f"target={inside}", "readonly")
    return ",".join('"{}"'.format(text.replace('"', '""')) if set(text) & set(',"') else text for text in fields)


def size_text(size_bytes: int) -> str:
    """As the engine's options take it: ``512m``; a number of bytes that is no whole number of MiB as it is."""
    return f"{size_bytes >> 20}m" if size_bytes % (1 << 20) == 0 else str(size_bytes)
