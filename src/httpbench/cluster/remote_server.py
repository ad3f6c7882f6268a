"""A server at a load host: the backend of proxies, where it does not run on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.isolate.remote_tree import RemoteTree
from httpbench.model import Usage
from httpbench.sample.remote import seen_there


class RemoteServer:
    """A server that was started there."""

    def __init__(self, tree: RemoteTree, host: str, port: int, cpus: Sequence[int]):
        self._tree, self._cpus = tree, cpus
        self.host, self.port = host, port

    def death(self) -> str | None:
        """How it ended, if it has. Raises :class:`~httpbench.errors.LostHostError` if its host is lost; call it often."""
        exits = self._tree.exits()
        return str(exits[0]) if exits else None

    def log(self) -> str:
        """What it printed."""
        return self._tree.stdout()

    def sampler(self) -> RemoteSampler:
        return RemoteSampler(self._tree, self._cpus)

    def stop(self, grace_s: float) -> None:
        self._tree.stop(grace_s)


class RemoteSampler:
    """What a server there costs; its agent watches it."""

    current = None
    """The cost at this moment is not known here."""

    def __init__(self, tree: RemoteTree, cpus: Sequence[int]):
        self._tree, self._cpus = tree, cpus

    def start(self) -> None:
        self._tree.mark()

    def mark(self) -> None:
        self._tree.mark()

    def stop(self) -> Usage:
        return seen_there(self._tree.close(), self._cpus).usage
