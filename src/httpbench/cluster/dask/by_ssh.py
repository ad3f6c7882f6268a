"""Start a Dask cluster on load hosts by ssh, and stop it.

All connections of the cluster use TLS with a certificate that is made for the run. Members end when their ssh session ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from pydantic import Field, ValidationError

from httpbench.cluster.dask.credentials import Credentials, Scheduler, make_credentials
from httpbench.errors import LoadError, UsageError
from httpbench.isolate.ssh import SshConnection, end
from httpbench.model import Frozen

SUFFIX = ".toml"
NODE = "httpbench.cluster.dask.node"
HINT = "on the load host: pip install 'httpbench[cluster]', for the same Python as here"

START_S = 60
"""Time limit for the members of the cluster to start, in seconds."""
BEAT_S = 5.0
END_S = 8.0
"""Time limit for a member to end, in seconds. It is longer than the member's own."""
CONNECTIONS_AT_ONCE = 16


class SshHosts(Frozen):
    """Load hosts, reached by ssh."""

    hosts: tuple[str, ...] = Field(min_length=1)
    """Names or addresses that ssh accepts, with ``user@`` if necessary."""
    python: str | None = None
    """Path of the Python interpreter that has httpbench on the load hosts. Null: the path of the current interpreter."""
    ssh_config: str | None = None
    """File with the ssh configuration. Null: the user's own."""


def read_hosts(names: Sequence[str]) -> SshHosts:
    """Return the load hosts with these names. If the only name is the path of a TOML file, return the load hosts that the file lists.

    Raise :class:`UsageError` if the file is invalid, if other names are given with it, or if a host is listed twice.
    """
    files = [name for name in names if name.endswith(SUFFIX)]
    if files and len(names) > 1:
        raise UsageError(f"{files[0]} lists load hosts, so no other names can be given", hint=f"add them to {files[0]}")
    found = _read_file(files[0]) if files else SshHosts(hosts=tuple(names))
    if twice := next((host for host in found.hosts if found.hosts.count(host) > 1), None):
        raise UsageError(f"load host {twice} is listed twice", hint="one worker uses all CPUs of a load host")
    return found


def _read_file(name: str) -> SshHosts:
    try:
        return SshHosts.model_validate(tomllib.loads(Path(name).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the load hosts in {name}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"the load hosts in {name} are invalid: {place}: {first['msg']}") from None


@contextmanager
def started(ssh_hosts: SshHosts) -> Iterator[Scheduler]:
    """Start a cluster, and yield its scheduler. The scheduler runs on the first load host, and a worker on each load host.

    Raise :class:`UsageError` if ssh can't connect to a load host, and :class:`LoadError` if the cluster doesn't start.
    """
    credentials = make_credentials()
    with ExitStack() as stack:
        connections = [stack.enter_context(SshConnection(host, ssh_hosts.ssh_config)) for host in ssh_hosts.hosts]
        with ThreadPoolExecutor(CONNECTIONS_AT_ONCE) as pool:
            list(pool.map(lambda connection: connection.open(prompts=False), connections))
        python, deadline = ssh_hosts.python or sys.executable, time.monotonic() + START_S
        first = stack.enter_context(_member(connections[0], python, credentials))
        scheduler = Scheduler(first.address(deadline), credentials)
        workers = [stack.enter_context(_member(each, python, credentials, scheduler.address)) for each in connections]
        for worker in workers:
            worker.address(deadline)
        stack.enter_context(_beating([first, *workers]))
        yield scheduler


class _Member:
    """A process on a load host that belongs to the cluster."""

    def __init__(self, host: str, process: subprocess.Popen[bytes], errors: IO[bytes]):
        self._host, self._process, self._errors = host, process, errors

    def send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended, which its closed output or the lost load host shows
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def address(self, deadline: float) -> str:
        """Wait for the address that the process prints when it's ready. The host's start-up files may print other lines first."""
        assert self._process.stdout is not None
        output, said = self._process.stdout, b""
        while select.select([output], [], [], max(deadline - time.monotonic(), 0))[0]:
            if not (data := os.read(output.fileno(), 4096)):
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").split("\n")
                reason = next((line for line in reversed(lines) if line.strip()), "it ended")
                raise LoadError(f"Dask does not start on load host {self._host}: {reason}", hint=HINT)
            said += data
            for line in said.split(b"\n")[:-1]:
                if line.startswith(b'{"address"'):
                    return str(json.loads(line)["address"])
        raise LoadError(f"Dask did not start on load host {self._host} within {START_S} s", hint="check that load hosts reach each other")


@contextmanager
def _member(connection: SshConnection, python: str, credentials: Credentials, scheduler: str | None = None) -> Iterator[_Member]:
    """Start a member of the cluster: a worker of ``scheduler``, or the scheduler itself if that is ``None``. End it after the block."""
    with tempfile.TemporaryFile() as errors:
        process = connection.launch(f"{shlex.quote(python)} -m {NODE}", stderr=errors)
        member = _Member(connection.host, process, errors)
        name = connection.host.rpartition("@")[2]
        member.send(json.dumps({"scheduler": scheduler, "name": name, "credentials": asdict(credentials)}).encode() + b"\n")
        try:
            yield member
        finally:
            end(process, END_S)


@contextmanager
def _beating(members: Sequence[_Member]) -> Iterator[None]:
    """Send each member a byte every ``BEAT_S`` while the block runs, because members end when this process is silent."""
    has_ended = threading.Event()

    def beat() -> None:
        while not has_ended.wait(BEAT_S):
            for member in members:
                member.send(b"\n")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
