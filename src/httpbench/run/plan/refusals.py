"""Reasons why a load generator or this machine can't produce a load. ``preflight.py`` checks a whole run for them."""

from __future__ import annotations

from pathlib import Path

from httpbench.host import open_files
from httpbench.isolate import ephemeral_ports
from httpbench.load import Job, LoadGenerator, Tool
from httpbench.model import Load, TrialPlan, Workload
from httpbench.run.trial.start import HOST

OPEN_FILES_SPARE = 64
"""Number of files that a load generator can open in addition to its connections."""


def server_refusal(generator: Tool, planned: TrialPlan, workload: Workload) -> str | None:
    """Return one sentence if a trial's load on a server or proxy is impossible, else ``None``."""
    assert isinstance(generator, LoadGenerator), "the command line chooses by kind"
    job = Job(f"http://{HOST}/", workload, planned.load, planned.cores.generator, Path())
    if workload.parts and not generator.mixes:
        return f"{generator.name} cannot send requests of several kinds; `--load-generator native` can"
    return generator.refuses(job) or _too_many_connections(planned.load)


def client_refusal(timer: Tool, planned: TrialPlan, workload: Workload) -> str | None:
    """Return one sentence if a trial of a client is impossible, else ``None``."""
    load = planned.load
    if load.connections != 1 or load.pipeline != 1 or load.rate_rps is not None or not load.keepalive:
        return "a client makes its requests one after the other: connections, pipeline depth and rate cannot be set"
    return None


def _too_many_connections(load: Load) -> str | None:
    """Return one sentence if there are too few file descriptors, or too few local ports to connect to one address."""
    files, ports = open_files.limit_of_programs() - OPEN_FILES_SPARE, len(ephemeral_ports())
    if load.connections > files:
        return f"{load.connections:,} connections are too many: a program may open {files + OPEN_FILES_SPARE:,} files here (ulimit -Hn)"
    if load.connections > ports:
        return f"{load.connections:,} connections are too many: there are {ports:,} local ports (sysctl net.ipv4.ip_local_port_range)"
    return None
