"""Start a target according to its manifest, and wait for its first correct response."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from httpbench import http
from httpbench.databases import HOST_NAME as DATABASE_HOST
from httpbench.errors import HttpbenchError, StartError
from httpbench.host.certificates import write_certificate
from httpbench.host.scratch import scratch_folder
from httpbench.isolate import (
    SCRATCH,
    Command,
    Container,
    Launch,
    ProcessTree,
    free_port,
    require_free,
    tail,
)
from httpbench.isolate.image import exposed_port
from httpbench.model import (
    PLACEHOLDER,
    UNIX,
    USUAL_CAPABILITIES,
    Isolation,
    Load,
    NetworkMode,
    Scaling,
    Target,
    Trust,
    Workload,
    uses_certificate,
)
from httpbench.run.builds.image import image_of
from httpbench.run.trial.context import HOST, StartContext
from httpbench.run.trial.first_response import LOOPBACK_IPV6, first_response
from httpbench.run.trial.running import RunningTarget, sampler_of, usage_now
from httpbench.run.trial.startup import Started, WaitingRequest

DATABASE_URL = "DATABASE_URL"
"""Environment variable with the address of a target's database."""
EVERY_ADDRESS = "0.0.0.0"  # address to listen on inside a container with its own network
CERT, KEY = "/tls/cert.pem", "/tls/key.pem"
"""Paths of the target's certificate and its key inside a container."""
PREPARE_LIMIT_S = 600.0


@contextmanager
def start(target: Target, scaling: Scaling, workload: Workload, place: StartContext) -> Iterator[RunningTarget]:
    """Start the target, and keep it running until the block ends.

    Raises :class:`StartError` with the tail of the target's log if the target doesn't start.
    """
    if target.prepare:
        _prepare(target, place)
    if target.url is not None:
        yield _already_running(target.url, workload, place)
        return
    run = _as_processes if target.isolation is None else _in_container
    with _certified(target, place) as certified, run(target, scaling, workload, certified) as running:
        yield running


@contextmanager
def _certified(target: Target, place: StartContext) -> Iterator[StartContext]:
    """Yield the place with a new certificate, which the load generator trusts, if the target's command uses one."""
    trust = place.transport.trust
    if trust is None or not uses_certificate(*command_of(target, place)):
        yield place
        return
    with scratch_folder() as folder:
        files = write_certificate(folder, tuple({place.address, LOOPBACK_IPV6}))
        own = trust if trust != Trust() else Trust(ca_file=str(files.cert))
        yield replace(place, certificate=files, transport=replace(place.transport, trust=own))


@contextmanager
def _as_processes(target: Target, scaling: Scaling, workload: Workload, place: StartContext) -> Iterator[RunningTarget]:
    port = free_port(place.address) if place.port is None else place.port
    require_free(port, place.address)
    log = place.scratch / "target.log"
    commands = [replace(command, timer=_timer(place)) for command in commands_of(target, scaling, place, port)]
    with explained_by(log), _request_waiting(place, port) as request, ProcessTree(commands, stdout=log, stderr=log) as tree:
        started = _started(request, tree, tree, place.start_limit_s)
        address, response = first_response(tree, port, workload, len(commands), place, target)
        argv, copies = tuple(commands[0].argv), len(commands)
        yield RunningTarget(tree, address, port, response, log, argv=argv, copies=copies, transport=place.transport, started=started)


def _request_waiting(place: StartContext, port: int) -> AbstractContextManager[WaitingRequest | None]:
    """Let the request that measures the start of a target wait for it, if the start is to be measured."""
    return nullcontext() if place.first_request is None else place.first_request.waiting(place.address, port, place.transport)


def _timer(place: StartContext) -> str | None:
    """Return the program that reports when the target is executed, or ``None`` if start-up isn't measured."""
    return None if place.first_request is None else place.first_request.timer


def _started(request: WaitingRequest | None, program: ProcessTree | Container, tree: ProcessTree, limit_s: float) -> Started | None:
    """Wait for the response to the request. Return ``None`` if start-up isn't measured or if the program ended.

    ``tree`` contains the program or, for a container, the engine's client.
    """
    found = request.response(program, tree, limit_s) if request else None
    executed_ns = tree.executed_ns[0]
    return Started.of(found, executed_ns, usage_now(sampler_of(program))) if found and executed_ns is not None else None


@contextmanager
def explained_by(log: Path) -> Iterator[None]:
    """Add the last lines of a log to an error that has no log lines."""
    try:
        yield
    except HttpbenchError as error:
        error.log_tail = error.log_tail or tail(log)
        raise


def commands_of(target: Target, scaling: Scaling, place: StartContext, port: int) -> list[Command]:
    """Return one command or, for prefork, one command per core or worker, each pinned to one core."""
    count = place.workers or len(place.cores)
    shares = [place.cores[number % len(place.cores)] for number in range(count)] if scaling is Scaling.PREFORK else [place.cpus]
    workers = count if scaling is Scaling.MULTI else 1
    certificate = place.certificate
    tls = (str(certificate.cert), str(certificate.key)) if certificate else None
    argv, env = filled(target, place, Inside(place.address, port, workers, str(place.scratch), tls))
    return [Command(argv, place.folder, env, cpus) for cpus in shares]


@dataclass(frozen=True, slots=True)
class Inside:
    """Values of the placeholders in a command line. In a container, these are the values that are valid inside it."""

    host: str
    port: int
    workers: int
    scratch: str
    certificate: tuple[str, str] | None = None
    """Paths of the certificate and its key."""


def command_of(target: Target, place: StartContext) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command line and environment of a target for the transport and the number of backends, with placeholders."""
    if place.second_backend is not None:
        assert target.two_backends is not None, "the plan contains no other proxies"
        return target.two_backends.run, {**target.env, **target.two_backends.env}
    if target.https is None or place.transport.trust is None:
        return target.run, target.env
    return target.https.run, {**target.env, **target.https.env}


def filled(target: Target, place: StartContext, inside: Inside) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command line and environment of a target, with their placeholders filled in."""
    values = {"host": inside.host, "port": str(inside.port), "workers": str(inside.workers), "scratch": inside.scratch}
    if place.backend is not None:
        values |= {"backend_host": place.backend[0], "backend_port": str(place.backend[1])}
    if place.second_backend is not None:
        values |= {"second_host": place.second_backend[0], "second_port": str(place.second_backend[1])}
    if inside.certificate is not None:
        values |= {"cert": inside.certificate[0], "key": inside.certificate[1]}
    run, given = command_of(target, place)
    argv = tuple(fill(word, values) for word in run)
    env = {name: fill(value, values) for name, value in given.items()}
    return argv, env if place.database is None else {**env, DATABASE_URL: place.database.url}


def transport_of(target: Target, load: Load) -> http.Transport:
    """Return how the requests of a load reach a target."""
    return http.Transport(target.trust if load.tls else None, load.http2, target.unix_socket)


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host and port of a URL; the default port is that of the scheme. For a Unix socket, they only appear in requests."""
    if url.startswith(UNIX):
        return "localhost", 80
    parts = urlsplit(url)
    return parts.hostname or HOST, parts.port or (443 if parts.scheme == "https" else 80)


def _already_running(url: str, workload: Workload, place: StartContext) -> RunningTarget:
    """Wait for a server at a URL, and return it.

    The server may be restarting, so it gets the same time as a server that the harness starts.
    """
    host, port = host_and_port(url)
    response = http.wait_until_correct(host, port, workload, place.start_limit_s, lambda: True, place.transport)
    return RunningTarget(None, host, port, response, place.scratch / "target.log", transport=place.transport)


@contextmanager
def _in_container(target: Target, scaling: Scaling, workload: Workload, place: StartContext) -> Iterator[RunningTarget]:
    """Start the target in a container, and test the container's limits. Raises :class:`LimitError` if a limit isn't in force."""
    isolation = target.isolation
    assert isolation is not None, "the caller starts other targets as processes"
    if place.certificate is not None and isolation.network is not NetworkMode.HOST:
        raise StartError("its certificate requires an address that is known before it starts", hint="use --network host")
    if isolation.image is not None and isolation.port is None:
        isolation = isolation.model_copy(update={"port": _exposed(isolation)})
    launch, port = launch_of(target, isolation, scaling, place)
    if isolation.network is NetworkMode.HOST:
        require_free(port, place.address)
    log = place.scratch / "target.log"
    with explained_by(log), _request_waiting(place, port) as request, Container(launch, log, _timer(place)) as container:
        started = _started(request, container, container.tree, place.start_limit_s)
        host = place.address if isolation.network is NetworkMode.HOST else container.address
        if host is None:
            raise StartError("its container has no address that this machine can reach", hint="use --network host")
        try:
            limit_s = place.start_limit_s
            response = http.wait_until_correct(host, port, workload, limit_s, lambda: container.death() is None, place.transport)
        except StartError as error:
            death = container.death()
            raise StartError(f"{error.message} ({death})" if death else error.message, hint=error.hint) from None
        yield RunningTarget(container, host, port, response, log, container.prove_limits(), transport=place.transport, started=started)


def launch_of(target: Target, isolation: Isolation, scaling: Scaling, place: StartContext) -> tuple[Launch, int]:
    """Return the definition of the target's container, and the port on which the target listens."""
    allowed = max(min(len(place.cores), math.ceil(isolation.cpus)), 1)
    workers = (place.workers or allowed) if scaling is Scaling.MULTI else 1
    if isolation.network is NetworkMode.HOST:
        own = target.container.port if target.container.fixed_port else place.port
        host, port = place.address, isolation.port or own or free_port(place.address)
    else:
        host, port = EVERY_ADDRESS, isolation.port or target.container.port
    files = place.certificate
    mounts = {**target.mounts, **({CERT: str(files.cert), KEY: str(files.key)} if files else {})}
    argv, env = filled(target, place, Inside(host, port, workers, SCRATCH, (CERT, KEY) if files else None))
    public, secret = (env, {}) if target.is_declared else ({}, env)
    hosts = {DATABASE_HOST: place.database.host} if place.database else {}
    capabilities = target.container.capabilities if isolation.image is None else USUAL_CAPABILITIES
    launch = Launch(isolation, image_of(target), place.cpus, argv, public, secret, mounts, place.run_id, capabilities, hosts)
    return launch, port


def container_command(target: Target, scaling: Scaling, place: StartContext) -> str | None:
    """Return the shell command that would start the target's container, or ``None`` if the target runs as a process."""
    if target.isolation is None:
        return None
    launch, _ = launch_of(target, target.isolation, scaling, place)
    return shlex.join(replace(launch, name="NAME").command())


def _exposed(isolation: Isolation) -> int:
    """Return the port on which the user's image listens. Raises :class:`StartError` if the image doesn't declare one."""
    assert isolation.image is not None
    port = exposed_port(isolation.engine, isolation.image)
    if port is None:
        raise StartError(f"image {isolation.image} does not expose one port", hint="name the port inside it with --port")
    return port


def _prepare(target: Target, place: StartContext) -> None:
    """Run the target's preparation command. Raises :class:`StartError` if it fails or takes too long."""
    log = place.scratch / "prepare.log"
    command = " ".join(target.prepare)
    with ProcessTree([Command(target.prepare, place.folder, target.env)], stdout=log, stderr=log) as tree:
        end = tree.wait(PREPARE_LIMIT_S)
        if end is None:
            raise StartError(f"its preparation took longer than {PREPARE_LIMIT_S:g} s: {command}", log_tail=tail(log))
        if end.code != 0:
            raise StartError(f"its preparation failed, {end}: {command}", log_tail=tail(log))


def fill(text: str, values: dict[str, str]) -> str:
    """Replace the known placeholders in a text with their values."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
