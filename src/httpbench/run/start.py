"""Starts a target as its manifest says, and does not return before it answers rightly."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from httpbench import probe
from httpbench.errors import HttpbenchError, StartError
from httpbench.isolate import Command, ProcessTree, Stopped, answers, free_port, listeners, listening, require_free, tail
from httpbench.model import SampledResponse, Scaling, Target, Workload

HOST = "127.0.0.1"
PREPARE_LIMIT_S = 600.0
START_LIMIT_S = 20.0
STOP_GRACE_S = 2.0
RELEASE_LIMIT_S = 2.0  # the kernel closes the sockets of an io_uring some time after its process is gone


@dataclass(frozen=True, slots=True)
class Place:
    """Where a target runs."""

    folder: Path
    """Its build."""
    scratch: Path
    """An empty folder that lasts as long as it runs."""
    cores: Sequence[tuple[int, ...]]
    """Its physical cores, each with the logical CPUs that are its hardware threads."""
    port: int | None = None
    """``None``: a free one."""
    start_limit_s: float = START_LIMIT_S
    """How long it may take to answer rightly."""
    backend: tuple[str, int] | None = None
    """Host and port of what a proxy relays to."""


@dataclass(frozen=True, slots=True)
class Served:
    """A target that answers rightly."""

    tree: ProcessTree | None
    """``None``: it ran before us, and goes on."""
    host: str
    port: int
    response: SampledResponse
    log: Path

    def url(self, path: str) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}{path}"

    def death(self) -> str | None:
        """How it ended, if it did."""
        exits = self.tree.exits() if self.tree else []
        return str(exits[0]) if exits else None

    @property
    def guard_pid(self) -> int | None:
        """The parent of its processes; ``None`` where they are not ours."""
        return self.tree.guard_pid if self.tree else None

    def stop(self) -> Stopped:
        """Ends it, and proves that it is gone; not what ran before us. Raises :class:`~httpbench.errors.StopError`."""
        if self.tree is None:
            return Stopped(ignored_sigterm=(), left_behind=(), cpu_s=0.0)
        stopped = self.tree.stop(STOP_GRACE_S)
        deadline = time.monotonic() + RELEASE_LIMIT_S
        while answers(self.port, HOST):
            if time.monotonic() > deadline:
                # Everything below the guard is dead: so it got out from under it, or the port was shared with a stranger all along.
                raise StartError(f"port {self.port} still answers after the target was ended: it is not the target that was measured")
            time.sleep(0.01)
        return stopped


@contextmanager
def serve(target: Target, scaling: Scaling, workload: Workload, place: Place) -> Iterator[Served]:
    """The target, answering. Raises :class:`StartError` with the tail of its log. Everything is ended at the end."""
    if target.prepare:
        _prepare(target, place)
    if target.url is not None:
        yield _running(target.url, workload, place)
        return
    port = free_port(HOST) if place.port is None else place.port
    require_free(port, HOST)
    log = place.scratch / "target.log"
    commands = commands_of(target, scaling, place, port)
    try:
        with ProcessTree(commands, stdout=log, stderr=log) as tree:
            response = _wait(tree, port, workload, len(commands), place.start_limit_s)
            yield Served(tree, HOST, port, response, log)
    except HttpbenchError as error:
        error.log_tail = error.log_tail or tail(log)
        raise


def commands_of(target: Target, scaling: Scaling, place: Place, port: int) -> list[Command]:
    """One command; for prefork one for each core, pinned to it."""
    all_cpus = tuple(cpu for core in place.cores for cpu in core)
    shares = list(place.cores) if scaling is Scaling.PREFORK else [all_cpus]
    workers = len(place.cores) if scaling is Scaling.MULTI else 1
    values = {"host": HOST, "port": str(port), "workers": str(workers), "scratch": str(place.scratch)}
    if place.backend is not None:
        values |= {"backend_host": place.backend[0], "backend_port": str(place.backend[1])}
    argv = tuple(_fill(word, values) for word in target.run)
    env = {name: _fill(value, values) for name, value in target.env.items()}
    return [Command(argv, place.folder, env, cpus) for cpus in shares]


def host_and_port(url: str) -> tuple[str, int]:
    """Of an ``http`` URL; port 80 where it has none."""
    parts = urlsplit(url)
    return parts.hostname or HOST, parts.port or 80


def _running(url: str, workload: Workload, place: Place) -> Served:
    """What runs already. It may restart itself, so it is given the same time as one that we start."""
    host, port = host_and_port(url)
    response = probe.wait_until_right(host, port, workload, place.start_limit_s, lambda: True)
    return Served(None, host, port, response, place.scratch / "target.log")


def _prepare(target: Target, place: Place) -> None:
    """Runs what must be done before the target starts. Raises :class:`StartError` when it fails or goes on too long."""
    log = place.scratch / "prepare.log"
    said = " ".join(target.prepare)
    with ProcessTree([Command(target.prepare, place.folder, target.env)], stdout=log, stderr=log) as tree:
        end = tree.wait(PREPARE_LIMIT_S)
        if end is None:
            raise StartError(f"its preparation took longer than {PREPARE_LIMIT_S:g} s: {said}", log_tail=tail(log))
        if end.code != 0:
            raise StartError(f"its preparation failed, {end}: {said}", log_tail=tail(log))


def _fill(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1], match[0]), text)


def _wait(tree: ProcessTree, port: int, workload: Workload, copies: int, limit_s: float) -> SampledResponse:
    """Until it answers rightly, and each copy listens: one that is late would be left out of the load."""
    deadline = time.monotonic() + limit_s
    try:
        response = probe.wait_until_right(HOST, port, workload, limit_s, lambda: not tree.exits())
        while copies > 1 and listeners(port) < copies:
            if tree.exits() or time.monotonic() > deadline:
                raise StartError(
                    f"only {listeners(port)} of {copies} copies listen on port {port}",
                    hint="a target that scales as prefork sets SO_REUSEPORT before it binds",
                )
            time.sleep(0.005)
    except StartError as error:
        raise _explained(error, tree, port) from None
    return response


def _explained(error: StartError, tree: ProcessTree, port: int) -> StartError:
    """With what can be seen from outside of why it did not answer."""
    exits = tree.exits()
    if exits:
        hint = "a target stays in the foreground and does not make itself a daemon" if exits[0].code == 0 else None
        return StartError(f"{error.message} ({exits[0]})", hint=error.hint or hint)
    places = listening(tree.guard_pid)
    if places and f"{HOST}:{port}" not in places:
        return StartError(f"{error.message}; it listens on {', '.join(places)}", hint=f"it is to listen on {HOST}, or on all addresses")
    return error
