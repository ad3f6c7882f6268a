"""Start a database for one trial, from a fresh copy of its data, and query its counters.

Each trial starts with the same rows, no matter what an earlier trial wrote. A database that runs as a process gets a copy of the built
folder, and a database in a container starts from its image. Each database listens on its own loopback address, or on its container's
address, so that databases don't conflict with each other.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from httpbench.databases import SYSTEMS, Counts, System, tables_of
from httpbench.databases.systems import DATA, INSIDE, counts
from httpbench.errors import ContainerError, StartError
from httpbench.host import capture
from httpbench.host.scratch import scratch_folder
from httpbench.isolate import Command, Container, Launch, ProcessTree, free_port, require_free
from httpbench.isolate import engine as command_line
from httpbench.model import DatabaseRun, NetworkMode, Workload
from httpbench.run.builds.image import image_of
from httpbench.run.load.place import Sampler
from httpbench.run.trial.context import Reachable
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.running import sampler_of
from httpbench.run.trial.start import explained_by

START_LIMIT_S = 60.0
ASK_LIMIT_S = 15.0
SESSIONS_LIMIT_S = 3.0
"""Maximum time to wait until a stopped target's connections are closed, in seconds. The database's counters aren't final until then."""
STOP_GRACE_S = 5.0
POLL_S = 0.05
EVERY_ADDRESS = "0.0.0.0"  # address to listen on inside a container with its own network


@dataclass(slots=True)
class RunningDatabase:
    """A database that responds to queries.

    Call ``mark()`` just before the load, and ``record()`` after the target has stopped.
    """

    system: System
    host: str
    """Address at which the target reaches the database."""
    port: int
    program: ProcessTree | Container
    folder: Path
    """Folder of the database's scripts and data. For a container, a path inside the container."""
    log: Path
    _tables: tuple[str, ...] = ()
    _before: Counts = field(default_factory=lambda: Counts(0, 0, 0, 0))

    @property
    def reachable(self) -> Reachable:
        """The database's address and URL for a target."""
        return Reachable(self.host, self.system.url(self.host, self.port))

    def sampler(self) -> Sampler:
        """Return a sampler of the database's CPU time and memory."""
        return sampler_of(self.program)

    def ask(self, query: str) -> str:
        """Return the output of a query. Raises :class:`StartError` if the query fails."""
        argv = self.system.ask(self.folder, self.port, query)
        if isinstance(self.program, Container):
            launch = self.program.launch
            try:
                return command_line.ask(launch.isolation.engine, "exec", launch.name, *argv, timeout_s=ASK_LIMIT_S)
            except ContainerError as error:
                raise StartError(error.message) from None
        done = capture(argv, ASK_LIMIT_S)
        if done is None:
            raise StartError(f"{self.system.title} did not respond to a query within {ASK_LIMIT_S:g} s")
        if done.returncode != 0:
            raise StartError(f"{self.system.title} refused a query: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout.strip()

    def mark(self, workload: Workload) -> None:
        """Begin to count the work for a workload. Work that was done before doesn't count."""
        self._tables = tables_of(workload)
        self._before = self._counts()

    def record(self) -> DatabaseRun:
        """Wait until targets have closed their connections, and return the database's record in a trial, with the work since the mark."""
        deadline = time.monotonic() + SESSIONS_LIMIT_S
        while int(self.ask(self.system.sessions_query)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        counted = self._counts().since(self._before)
        version = self.ask(self.system.version_query).split()[0]
        return DatabaseRun(
            system=self.system.name,
            version=version,
            rows_read=counted.read,
            rows_scanned=counted.scanned,
            rows_written=counted.written,
            selects=counted.selects,
        )

    def _counts(self) -> Counts:
        return counts(self.ask(self.system.counting(self._tables)))


@contextmanager
def started(database: Upstream, scratch: Path, *, port_is_fixed: bool, run_id: str | None = None) -> Iterator[RunningDatabase]:
    """Run the database on its cores until the block ends, with its log in the empty folder ``scratch``.

    With ``port_is_fixed``, the database listens on its usual port, as other projects' frameworks expect. Raises :class:`StartError` if
    the database doesn't start.
    """
    system = next(each for each in SYSTEMS.values() if str(each.name) == database.target.framework)
    log = scratch / "database.log"
    with explained_by(log), contextlib.ExitStack() as stack:
        running = (_process if database.target.isolation is None else _container)(stack, system, database, log, port_is_fixed, run_id)
        _wait(running)
        yield running


def _process(
    stack: contextlib.ExitStack, system: System, database: Upstream, log: Path, port_is_fixed: bool, run_id: str | None
) -> RunningDatabase:
    outer = stack.enter_context(scratch_folder("database-"))
    outer.chmod(0o711)  # the database's own user can enter it
    room = outer / "database"
    room.mkdir(mode=0o700)
    shutil.copytree(database.folder / DATA, room / DATA)
    for script in database.folder.glob("*.sh"):
        shutil.copy(script, room)
    address, port = _own_address(system, port_is_fixed)
    argv = (*_becoming(system, room), *system.serve(room, address, port))
    cpus = tuple(cpu for core in database.cores for cpu in core)
    # A killed database would leave its shared memory behind.
    tree = stack.enter_context(ProcessTree([Command(argv, room, {}, cpus)], stdout=log, stderr=log, orphan_grace_s=STOP_GRACE_S))
    stack.callback(tree.stop, STOP_GRACE_S)
    return RunningDatabase(system, address, port, tree, room, log)


def _becoming(system: System, room: Path) -> tuple[str, ...]:
    """Return a prefix that runs a command as the database's own user, because databases refuse to run as root.

    Also make this user the owner of all files in ``room``. If the harness doesn't run as root, do nothing and return an empty prefix.
    """
    if os.geteuid() != 0:
        return ()
    try:
        user = pwd.getpwnam(system.owner)
    except KeyError:
        raise StartError(f"there is no user {system.owner}, which Debian's package of {system.title} creates") from None
    for path in (room, *room.rglob("*")):
        os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    return ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")


def _container(
    stack: contextlib.ExitStack, system: System, database: Upstream, log: Path, port_is_fixed: bool, run_id: str | None
) -> RunningDatabase:
    assert database.target.isolation is not None
    cpus = tuple(cpu for core in database.cores for cpu in core)
    isolation = database.target.isolation.model_copy(update={"cpus": float(len(cpus))})
    is_bridge = isolation.network is NetworkMode.BRIDGE
    address, port = (EVERY_ADDRESS, system.port) if is_bridge else _own_address(system, port_is_fixed)
    launch = Launch(isolation, image_of(database.target), cpus, system.serve(INSIDE, address, port), run_id=run_id)
    container = stack.enter_context(Container(launch, log))
    if is_bridge and container.address is None:
        raise StartError(f"the container of {system.title} has no address that targets can reach", hint="use --network host")
    host = container.address if is_bridge and container.address else address
    return RunningDatabase(system, host, port, container, INSIDE, log)


def _own_address(system: System, port_is_fixed: bool) -> tuple[str, int]:
    """Return a loopback address that no other program uses, and a port on it."""
    address = ".".join(str(part) for part in (127, 64 + secrets.randbelow(64), secrets.randbelow(256), 1 + secrets.randbelow(254)))
    port = system.port if port_is_fixed else free_port(address)
    require_free(port, address)
    return address, port


def _wait(running: RunningDatabase) -> None:
    """Wait until the database responds to a query. Raises :class:`StartError` if the database exits or takes too long."""
    deadline = time.monotonic() + START_LIMIT_S
    while (death := running.program.death()) is None:
        try:
            running.ask(running.system.sessions_query)
            return
        except StartError:
            if time.monotonic() > deadline:
                raise StartError(f"{running.system.title} did not respond within {START_LIMIT_S:g} s") from None
            time.sleep(POLL_S)
    raise StartError(f"{running.system.title} ended before it responded ({death})")
