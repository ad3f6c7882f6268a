"""The environment of a run: facts that must match before two runs can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from httpbench import __version__
from httpbench.host import open_files
from httpbench.host.control_groups import groups_of
from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.facts import machine
from httpbench.host.facts.git import git_commit
from httpbench.host.kernel_files import CPU, cpu_list, read_text
from httpbench.host.knobs.all_knobs import tuned
from httpbench.model import Environment

STATISTICS = ("numpy", "scipy")
"""The libraries behind the statistics."""


def read_environment(folder: Path, versions: Mapping[str, str], root: Path = Path("/"), topology: Topology | None = None) -> Environment:
    """Return the current environment.

    ``folder`` contains the targets. ``versions`` are those of the targets' toolchains and libraries; ours are added. ``topology`` avoids
    reading it twice.
    """
    cpus = (topology or read_topology(root)).cpus
    groups = groups_of(root=root)
    return Environment(
        hostname=read_text(root / "proc/sys/kernel/hostname") or "localhost",
        cpu_model=machine.cpu_model(root),
        cpus_online=len(cpu_list(read_text(root / CPU / "online") or "")) or len(cpus),
        cpus_allowed=cpus,
        smt=machine.smt(root),
        governor=machine.governor(root, cpus),
        turbo=machine.turbo(root),
        mitigations=machine.mitigations(root),
        memory_bytes=machine.memory_bytes(root),
        kernel=read_text(root / "proc/sys/kernel/osrelease") or "unknown",
        os=_system(root),
        virtualization=machine.virtualization(root),
        container=machine.container(root),
        load_average_1m=float((read_text(root / "proc/loadavg") or "0").split()[0]),
        open_files_limit=open_files.hard_limit(root),
        cgroup_version=groups.version if groups else None,
        cpu_quota_cores=groups.cpus() if groups else None,
        memory_limit_bytes=groups.memory_bytes() if groups else None,
        git_commit=git_commit(folder),
        httpbench_version=__version__,
        versions={**{name: version(name) for name in STATISTICS}, **versions},
        tuning=tuned(root),
    )


def _system(root: Path) -> str:
    found = re.search(r"^PRETTY_NAME=(.*)$", read_text(root / "etc/os-release") or "", re.MULTILINE)
    return found[1].strip("\"'") if found else "unknown"
