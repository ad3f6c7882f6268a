"""Starts a target as its manifest says, and waits for its first correct response."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from httpbench import http
from httpbench.errors import HttpbenchError, StartError, TargetDiedError
from httpbench.isolate import Command, Exit, ProcessTree, Stopped, accepts, free_port, listeners, listening, require_free, tail
from httpbench.model import SampledResponse, Scaling, Target, Workload

HOST = "127.0.0.1"
PREPARE_LIMIT_S = 600.0
START_LIMIT_S = 20.0
STOP_GRACE_S = 2.0
RELEASE_LIMIT_S = 2.0  # the kernel closes the sockets of an io_uring some time after the process is gone


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
    """Time allowed until the first correct response."""
    backend: tuple[str, int] | None = None
    """Host and port of what a proxy relays to."""


@dataclass(frozen=True, slots=True)
class RunningTarget:
    """A target that has responded correctly."""

    tree: ProcessTree | None
    """``None``: it was already running, and is left running."""
    host: str
    port: int
    response: SampledResponse
    log: Path

    def url(self, path: str) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}{path}"

    def death(self) -> str | None:
        """How it ended, if it has."""
        exits = self.tree.exits() if self.tree else []
        return str(exits[0]) if exits else None

    def require_alive(self, when: str) -> None:
        """Raises :class:`~httpbench.errors.TargetDiedError` if it has ended."""
        exits = self.tree.exits() if self.tree else []
        if exits:
            raise TargetDiedError(f"the target died {when} ({exits[0]})", hint=_hint(exits[0]))

    @property
    def guard_pid(self) -> int | None:
        """The parent of its processes; ``None`` if the harness did not start them."""
        return self.tree.guard_pid if self.tree else None

    def stop(self) -> Stopped:
        """Stops it and proves that it is gone, unless it was already running. Raises :class:`~httpbench.errors.StopError`."""
        if self.tree is None:
            return Stopped(ignored_sigterm=(), left_behind=(), cpu_s=0.0)
        stopped = self.tree.stop(STOP_GRACE_S)
        ended = time.monotonic()
        while accepts(self.port, HOST):
            if time.monotonic() - ended > RELEASE_LIMIT_S:
                # Everything below the guard is dead: either the server escaped from it, or another program shared the port.
                raise StartError(f"port {self.port} still accepts connections: another program than the target was measured")
            time.sleep(0.01)
        return replace(stopped, port_held_s=time.monotonic() - ended)


@contextmanager
def start(target: Target, scaling: Scaling, workload: Workload, place: Place) -> Iterator[RunningTarget]:
    """The target, running until the block ends. Raises :class:`StartError` with the tail of its log."""
    if target.prepare:
        _prepare(target, place)
    if target.url is not None:
        yield _already_running(target.url, workload, place)
        return
    port = free_port(HOST) if place.port is None else place.port
    require_free(port, HOST)
    log = place.scratch / "target.log"
    commands = commands_of(target, scaling, place, port)
    try:
        with ProcessTree(commands, stdout=log, stderr=log) as tree:
            response = _first_response(tree, port, workload, len(commands), place.start_limit_s)
            yield RunningTarget(tree, HOST, port, response, log)
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
    """Of an ``http`` URL; port 80 if it has none."""
    parts = urlsplit(url)
    return parts.hostname or HOST, parts.port or 80


def _already_running(url: str, workload: Workload, place: Place) -> RunningTarget:
    """A server at a URL. It may be restarting, so it is given the same time as one that the harness starts."""
    host, port = host_and_port(url)
    response = http.wait_until_correct(host, port, workload, place.start_limit_s, lambda: True)
    return RunningTarget(None, host, port, response, place.scratch / "target.log")


def _prepare(target: Target, place: Place) -> None:
    """Runs the target's preparation. Raises :class:`StartError` if it fails or takes too long."""
    log = place.scratch / "prepare.log"
    command = " ".join(target.prepare)
    with ProcessTree([Command(target.prepare, place.folder, target.env)], stdout=log, stderr=log) as tree:
        end = tree.wait(PREPARE_LIMIT_S)
        if end is None:
            raise StartError(f"its preparation took longer than {PREPARE_LIMIT_S:g} s: {command}", log_tail=tail(log))
        if end.code != 0:
            raise StartError(f"its preparation failed, {end}: {command}", log_tail=tail(log))


def _fill(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1], match[0]), text)


def _first_response(tree: ProcessTree, port: int, workload: Workload, copies: int, limit_s: float) -> SampledResponse:
    """The first correct response, once each copy listens: a late copy would get no load."""
    deadline = time.monotonic() + limit_s
    try:
        response = http.wait_until_correct(HOST, port, workload, limit_s, lambda: not tree.exits())
        if tree.exits():  # a daemon may respond when the command that started it has ended
            raise StartError("ended before it responded")
        while copies > 1 and listeners(port) < copies:
            if tree.exits() or time.monotonic() > deadline:
                raise StartError(
                    f"only {listeners(port)} of {copies} copies listen on port {port}",
                    hint="a target that scales as prefork must set SO_REUSEPORT before it binds",
                )
            time.sleep(0.005)
    except StartError as error:
        raise _explained(error, tree, port) from None
    return response


def _hint(end: Exit) -> str | None:
    return "a target must stay in the foreground" if end.code == 0 else None


def _explained(error: StartError, tree: ProcessTree, port: int) -> StartError:
    """With what can be seen from outside of why there was no correct response."""
    exits = tree.exits()
    is_served = accepts(port, HOST)
    places = listening(tree.guard_pid)
    if exits and is_served and not any(place.endswith(f":{port}") for place in places):
        return StartError(f"{error.message} ({exits[0]}); another program took port {port} meanwhile", hint=error.hint)
    if exits:
        return StartError(f"{error.message} ({exits[0]})", hint=error.hint or _hint(exits[0]))
    if places and f"{HOST}:{port}" not in places:
        return StartError(f"{error.message}; it listens on {', '.join(places)}", hint=f"it must listen on {HOST}, or on all addresses")
    return error
