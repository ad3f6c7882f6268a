"""Start a target according to its manifest, and wait for its first correct response."""

from __future__ import annotations

import math
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from httpbench import http
from httpbench.databases import HOST_NAME as DATABASE_HOST
from httpbench.errors import HttpbenchError, StartError, TargetDiedError
from httpbench.host import inherited
from httpbench.host.certificates import CertificateFiles, write_certificate
from httpbench.host.scratch import scratch_folder
from httpbench.http.server import Server
from httpbench.isolate import (
    SCRATCH,
    Command,
    Container,
    Exit,
    Launch,
    ProcessTree,
    Stopped,
    accepts,
    free_port,
    is_only_on_ipv6,
    listeners,
    listening,
    require_free,
    tail,
)
from httpbench.isolate.image import exposed_port
from httpbench.model import (
    UNIX,
    USUAL_CAPABILITIES,
    ContainerRun,
    Isolation,
    Load,
    NetworkMode,
    SampledResponse,
    Scaling,
    Target,
    Trust,
    Workload,
    uses_certificate,
)
from httpbench.run.builds.image import image_of
from httpbench.run.load.place import Sampler, ServerThere
from httpbench.sample import TreeSampler

HOST = "127.0.0.1"
LOOPBACK_IPV6 = "::1"
LATE_S = 0.5
"""Time for a target that listens on ``::1`` to listen on 127.0.0.1, too, in seconds."""
DATABASE_URL = "DATABASE_URL"
"""Environment variable with the address of a target's database."""
EVERY_ADDRESS = "0.0.0.0"  # address to listen on inside a container with its own network
CERT, KEY = "/tls/cert.pem", "/tls/key.pem"
"""Paths of the target's certificate and its key inside a container."""
PREPARE_LIMIT_S = 600.0
START_LIMIT_S = 20.0
STOP_GRACE_S = 2.0
RELEASE_LIMIT_S = 2.0  # the kernel closes the sockets of an io_uring some time after the process ends


@dataclass(frozen=True, slots=True)
class Reachable:
    """The address and URL at which a target reaches its database."""

    host: str
    """IP address."""
    url: str


@dataclass(frozen=True, slots=True)
class StartContext:
    """The place where a target runs, with its resources."""

    folder: Path
    """Folder of the target's build."""
    scratch: Path
    """Folder that is empty before the target starts and exists while it runs."""
    cores: Sequence[tuple[int, ...]]
    """Physical cores of the target, each as a tuple of its logical CPUs."""
    port: int | None = None
    """Port, or ``None`` for any free port."""
    start_limit_s: float = START_LIMIT_S
    """Time limit for the first correct response, in seconds."""
    backend: tuple[str, int] | None = None
    """Host and port to which a proxy relays."""
    database: Reachable | None = None
    """Database that the target uses."""
    workers: int | None = None
    """Number of workers or copies, or ``None`` for one per core."""
    run_id: str | None = None
    """Id of the run."""
    address: str = HOST
    """The only address on which the target listens."""
    transport: http.Transport = http.PLAIN
    """How requests reach the target."""
    certificate: CertificateFiles | None = None
    """Certificate of the target, or ``None`` if its command doesn't use one."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """Logical CPUs of the target."""
        return tuple(cpu for core in self.cores for cpu in core)


@dataclass(frozen=True, slots=True)
class RunningTarget:
    """A target that has responded correctly."""

    program: ProcessTree | Container | None
    """The target's processes, or ``None`` if the target was already running or runs on another host."""
    host: str
    port: int
    response: SampledResponse
    log: Path
    contained: ContainerRun | None = None
    """Record of the target's container and of the limits in force."""
    there: ServerThere | None = None
    """Server on another host, or ``None`` if the target runs on this machine."""
    argv: tuple[str, ...] = ()
    """Command line, which is empty if the target was already running or runs in a container."""
    copies: int = 1
    """Number of processes with this command line."""
    transport: http.Transport = http.PLAIN
    """How requests reach the target."""
    is_shared: bool = False
    """Whether several trials share this target. A shared target is neither frozen between turns nor stopped at the end of a trial."""

    def url(self, path: str) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport.scheme}://{name}:{self.port}{path}"

    def server(self, workload: Workload) -> Server:
        """Return the target as a server that responds to a workload."""
        return Server(self.host, self.port, workload, transport=self.transport)

    def death(self) -> str | None:
        """Return how the target ended, or ``None`` while it runs."""
        running = self.there or self.program
        return running.death() if running else None

    def require_alive(self, when: str) -> None:
        """Raise :class:`~httpbench.errors.TargetDiedError` if the target has ended."""
        if (death := self.death()) is not None:
            exits = self.program.exits() if isinstance(self.program, ProcessTree) else []
            raise TargetDiedError(f"the target died {when} ({death})", hint=_hint(exits[0]) if exits else None)

    def sampler(self) -> Sampler | None:
        """Return a sampler of the target's CPU time and memory, or ``None`` if the harness didn't start the target."""
        if self.there is not None:
            return self.there.sampler()
        return sampler_of(self.program) if self.program else None

    def log_tail(self) -> str | None:
        """Return the last lines of the target's output, or ``None`` if there are none."""
        if self.there is not None:
            self.log.write_text(self.there.log())
        return tail(self.log)

    def freeze(self) -> None:
        """Suspend the target's processes until :meth:`thaw`.

        Does nothing if the target is shared, or if the harness didn't start it on this machine.
        """
        if self.program and not self.is_shared:
            self.program.freeze()

    def thaw(self) -> None:
        """Let the target's processes run again."""
        if self.program and not self.is_shared:
            self.program.thaw()

    def stop(self) -> Stopped:
        """Stop the target and prove that it is gone, unless it is shared or was already running before the trial.

        Raises :class:`~httpbench.errors.StopError` if the target can't be stopped.
        """
        if self.there is not None and not self.is_shared:
            self.there.stop(STOP_GRACE_S)
        if self.program is None or self.is_shared:
            return Stopped(ignored_sigterm=(), left_behind=(), cpu_s=0.0)
        stopped = self.program.stop(STOP_GRACE_S)
        ended = time.monotonic()
        while accepts(self.port, self.host):
            if time.monotonic() - ended > RELEASE_LIMIT_S:
                # All processes under the guard have ended, so the server has escaped from the guard, or another program shares the port.
                raise StartError(f"port {self.port} still accepts connections: a program other than the target was measured")
            time.sleep(0.01)
        return replace(stopped, port_held_s=time.monotonic() - ended)


def sampler_of(program: ProcessTree | Container) -> TreeSampler:
    """Return a sampler of a program's CPU time and memory."""
    if isinstance(program, Container):
        return TreeSampler(program.pid, groups=program.groups)
    return TreeSampler(program.guard_pid)


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
    commands = commands_of(target, scaling, place, port)
    with explained_by(log), ProcessTree(commands, stdout=log, stderr=log) as tree:
        address, response = _first_response(tree, port, workload, len(commands), place, target)
        argv = tuple(commands[0].argv)
        yield RunningTarget(tree, address, port, response, log, argv=argv, copies=len(commands), transport=place.transport)


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
    """Return the command line and environment of a target for the transport, with placeholders."""
    if target.https is None or place.transport.trust is None:
        return target.run, target.env
    return target.https.run, {**target.env, **target.https.env}


def filled(target: Target, place: StartContext, inside: Inside) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command line and environment of a target, with their placeholders filled in."""
    values = {"host": inside.host, "port": str(inside.port), "workers": str(inside.workers), "scratch": inside.scratch}
    if place.backend is not None:
        values |= {"backend_host": place.backend[0], "backend_port": str(place.backend[1])}
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
    with explained_by(log), Container(launch, log) as container:
        host = place.address if isolation.network is NetworkMode.HOST else container.address
        if host is None:
            raise StartError("its container has no address that this machine can reach", hint="use --network host")
        try:
            limit_s = place.start_limit_s
            response = http.wait_until_correct(host, port, workload, limit_s, lambda: container.death() is None, place.transport)
        except StartError as error:
            death = container.death()
            raise StartError(f"{error.message} ({death})" if death else error.message, hint=error.hint) from None
        yield RunningTarget(container, host, port, response, log, container.prove_limits(), transport=place.transport)


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
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1], match[0]), text)


def _first_response(
    tree: ProcessTree, port: int, workload: Workload, copies: int, place: StartContext, target: Target
) -> tuple[str, SampledResponse]:
    """Wait until every copy listens, because a late copy might get no connections. Return the address and the first correct response.

    The address is ``::1`` if a target from the command line doesn't listen on 127.0.0.1.
    """
    address, limit_s = place.address, place.start_limit_s
    deadline = time.monotonic() + limit_s
    ipv6 = _OnlyOnIpv6(port, is_possible=address == HOST and not target.is_declared)
    try:
        try:
            response = http.wait_until_correct(address, port, workload, limit_s, lambda: not (tree.exits() or ipv6), place.transport)
        except StartError:
            if not ipv6 or tree.exits():
                raise
            address, left_s = LOOPBACK_IPV6, max(deadline - time.monotonic(), LATE_S)
            response = http.wait_until_correct(address, port, workload, left_s, lambda: not tree.exits(), place.transport)
        if tree.exits():  # a daemon may respond after the command that started it has ended
            raise StartError("ended before it responded")
        while copies > 1 and listeners(port) < copies:
            if tree.exits() or time.monotonic() > deadline:
                raise StartError(
                    f"only {listeners(port)} of {copies} copies listen on port {port}",
                    hint="a target that scales as prefork must set SO_REUSEPORT before it binds",
                )
            time.sleep(0.005)
    except StartError as error:
        raise _explained(error, tree, address, port, _hint_about(target)) from None
    return address, response


class _OnlyOnIpv6:
    """A condition that is true once a target has listened on ``::1``, but not on 127.0.0.1, for ``LATE_S``.

    Some targets listen on both addresses, one after the other. If the target must listen on 127.0.0.1 or on another address, so that this
    isn't possible, the condition is always false.
    """

    def __init__(self, port: int, *, is_possible: bool):
        self._port, self._is_possible = port, is_possible
        self._since_s: float | None = None

    def __bool__(self) -> bool:
        if not self._is_possible or not is_only_on_ipv6(self._port):
            self._since_s = None
            return False
        now_s = time.monotonic()
        self._since_s = self._since_s or now_s
        return now_s - self._since_s >= LATE_S


def _hint(end: Exit) -> str | None:
    return "a target must stay in the foreground" if end.code == 0 else None


def _hint_about(target: Target) -> str | None:
    """Return why a user's command may fail although it works in the user's shell, or ``None`` if it gets the shell's whole environment."""
    if target.is_declared or not inherited.withheld(target.env):
        return None
    return "a server gets only basic variables such as PATH; pass on others with --env NAME, or all with --env-all"


def _explained(error: StartError, tree: ProcessTree, address: str, port: int, hint: str | None) -> StartError:
    """Return the error, with observations added that may explain why the target didn't respond."""
    exits = tree.exits()
    is_served = accepts(port, address)
    places = listening(tree.guard_pid)
    if exits and is_served and not any(place.endswith(f":{port}") for place in places):
        return StartError(f"{error.message} ({exits[0]}); another program took port {port} in the meantime", hint=error.hint)
    if exits:
        return StartError(f"{error.message} ({exits[0]})", hint=error.hint or _hint(exits[0]) or hint)
    name = f"[{address}]" if ":" in address else address
    if places and f"{name}:{port}" not in places:
        return StartError(f"{error.message}; it listens on {', '.join(places)}", hint=f"it must listen on {name}, or on all addresses")
    return error
