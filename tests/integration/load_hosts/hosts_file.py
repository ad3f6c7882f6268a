"""The file that lists the load hosts of a test network."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from httpbench.load import programs
from tests.harness import PYTHON
from tests.namespaces import Network
from tests.programs import program


def hosts_file(folder: Path, network: Network, own_programs: str | None = None) -> Path:
    """Write a hosts.toml, and return its path.

    The Python that the file names has the same packages as this process. If ``own_programs`` is given, it looks for load generators there.
    """
    given = {"PYTHONPATH": os.environ.get("PYTHONPATH"), programs.OVERRIDE: own_programs or os.environ.get(programs.OVERRIDE)}
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in given.items() if value)
    python = program(folder, "python", f'exec env {variables} {PYTHON} "$@"')
    names = [host.name for host in network.load_hosts]
    file = folder / "hosts.toml"
    file.write_text(f"hosts = {json.dumps(names)}\npython = {json.dumps(python)}\nssh_config = {json.dumps(str(network.ssh_config))}\n")
    return file
