"""Start a Dask cluster on load hosts by ssh, and stop it.

Dask's ``SSHCluster`` runs the scheduler on the first load host, and a worker on every load host. It reads the user's ssh configuration.
"""

from __future__ import annotations

import logging
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import SSHCluster
from pydantic import Field, ValidationError

from httpbench.errors import LoadError, UsageError
from httpbench.model import Frozen

SUFFIX = ".toml"

START_S = 60
"""Time limit for workers to register with the scheduler, in seconds. Dask can return before they register, once they have started."""


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

    Raise :class:`UsageError` if the file is invalid, or if other names are given with it.
    """
    files = [name for name in names if name.endswith(SUFFIX)]
    if not files:
        return SshHosts(hosts=tuple(names))
    if len(names) > 1:
        raise UsageError(f"{files[0]} lists load hosts, so no other names can be given", hint=f"add them to {files[0]}")
    try:
        return SshHosts.model_validate(tomllib.loads(Path(files[0]).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the load hosts in {files[0]}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"the load hosts in {files[0]} are invalid: {place}: {first['msg']}") from None


def connections(ssh_hosts: SshHosts) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the host names without ``user@``, which asyncssh doesn't accept, and each host's asyncssh options, including the user."""
    common: dict[str, Any] = {} if ssh_hosts.ssh_config is None else {"config": [str(Path(ssh_hosts.ssh_config).expanduser())]}
    parts = [host.rpartition("@") for host in ssh_hosts.hosts]
    return [name for _, _, name in parts], [{**common, "username": user} if user else common for user, _, _ in parts]


@contextmanager
def started(ssh_hosts: SshHosts) -> Iterator[str]:
    """Start a cluster; yield the address of its scheduler. Raise :class:`LoadError` if it does not start."""
    for name in ("distributed", "asyncssh"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    names, connect_options = connections(ssh_hosts)
    try:
        cluster = SSHCluster(
            [names[0], *names],
            connect_options=[connect_options[0], *connect_options],
            scheduler_options={"port": 0, "dashboard": False},
            worker_options={"nthreads": 1, "memory_limit": 0, "dashboard": False},
            worker_class="distributed.Worker",
            remote_python=ssh_hosts.python,
        )
    except Exception as error:  # asyncssh and Dask raise many types of errors
        raise LoadError(
            f"cannot start a Dask cluster on {', '.join(ssh_hosts.hosts)}: {error}",
            hint="check `ssh HOST PYTHON -m distributed.cli.dask_spec --help`",
        ) from error
    with cluster:
        try:
            cluster.wait_for_workers(len(names), timeout=START_S)
        except TimeoutError as error:
            raise LoadError(f"the Dask cluster on {', '.join(ssh_hosts.hosts)} is incomplete: {error}") from error
        yield str(cluster.scheduler_address)
