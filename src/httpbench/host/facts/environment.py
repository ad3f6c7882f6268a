"""The environment of a run: facts that must match before two runs can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from httpbench import __version__
from httpbench.host import open_files
from httpbench.host.commands import capture
from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.facts import machine
from httpbench.host.facts.cgroup import read_limits
from httpbench.host.kernel_files import CPU, cpu_list, read_text
from httpbench.host.knobs.all_knobs import tuned
from httpbench.model import Environment


def read_environment(folder: Path, versions: Mapping[str, str], root: Path = Path("/"), topology: Topology | None = None) -> Environment:
    """Return the current environment.

    ``folder`` contains the targets. ``versions`` are those of the targets' toolchains and libraries; ours are added. ``topology`` avoids
    reading it twice.
    """
    cpus = (topology or read_topology(root)).cpus
    limits = read_limits(root)
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
        cgroup_version=limits.version,
        cpu_quota_cores=limits.cpu_cores,
        memory_limit_bytes=limits.memory_bytes,
        git_commit=git_commit(folder),
        httpbench_version=__version__,
        versions={**_libraries(), **versions},
        tuning=tuned(root),
    )


def git_commit(folder: Path) -> str | None:
    """Return the commit of a folder, with ``+changes`` if the folder has uncommitted changes.

    Returns ``None`` if the folder isn't in a repository or if git ignores it (such as an installed package in a project's ``.venv``).
    """
    head = capture(("git", "-C", str(folder), "rev-parse", "--verify", "HEAD"))
    if head is None or head.code != 0:
        return None
    ignored = capture(("git", "-C", str(folder), "check-ignore", "--quiet", "."))
    if ignored is None or ignored.code == 0:
        return None
    changes = capture(("git", "-C", str(folder), "status", "--porcelain", "--", "."))
    if changes is None or changes.code != 0:
        return None
    return head.stdout.strip() + ("+changes" if changes.stdout else "")


def _libraries() -> dict[str, str]:
    """Return the versions of the libraries behind the statistics."""
    return {name: version(name) for name in ("numpy", "scipy")}


def _system(root: Path) -> str:
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip("\"'")
    return "unknown"
