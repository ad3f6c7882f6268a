"""Reasons why a load generator or this machine can't produce a load. ``preflight.py`` checks a whole run for them."""

from __future__ import annotations

from pathlib import Path

from httpbench.host import open_files
from httpbench.isolate import ephemeral_ports
from httpbench.load import Job, LoadGenerator, Native, Tool
from httpbench.model import Load, Target, TrialPlan, Workload
from httpbench.run.trial.context import HOST

OPEN_FILES_SPARE = 64
"""Number of file descriptors that are reserved for a load generator in addition to its connections."""


def server_refusal(generator: Tool, planned: TrialPlan, workload: Workload, target: Target) -> str | None:
    """Return why a trial's load on a server or proxy is impossible, or ``None`` if it is possible."""
    assert isinstance(generator, LoadGenerator), "the command line chooses by kind"
    if target.unix_socket is not None and not generator.connects_to_unix_sockets:
        return f"{generator.name} cannot connect to Unix sockets here; `--load-generator native` can"
    if planned.load.fault is not None and not isinstance(generator, Native):
        return f"{generator.name} does not count slow responses, which show the failure of a backend; `--load-generator native` does"
    if planned.load.share_of_peak is not None and not isinstance(generator, Native):
        return f"{generator.name} sends no load relative to a target's own peak here; `--load-generator native` does"
    if (planned.load.tls or planned.load.http2) and not generator.speaks_tls_and_http2:
        return f"{generator.name} sends plain HTTP/1.1 only here; `--load-generator native` also sends HTTPS and HTTP/2"
    job = Job(f"{'https' if planned.load.tls else 'http'}://{HOST}/", workload, planned.load, planned.cores.generator, Path())
    if not workload.has_one_request and not generator.mixes:
        return f"{generator.name} cannot send requests of several kinds; `--load-generator native` can"
    if workload.sse and not generator.reads_event_streams:
        return f"{generator.name} cannot measure event streams; `--load-generator native` can"
    if workload.sse and planned.load.is_of_startup:
        return "start-up is measured with whole responses, which event streams don't have"
    return generator.refuses(job) or _too_many_connections(planned.load, generator)


def client_refusal(timer: Tool, planned: TrialPlan, workload: Workload, target: Target) -> str | None:
    """Return why a trial of a client is impossible, or ``None`` if it is possible."""
    load = planned.load
    if load.connections != 1 or load.pipeline != 1 or load.rate_rps is not None or not load.keepalive:
        return "a client makes its requests one after the other: connections, pipeline depth and rate cannot be set"
    return None


def _too_many_connections(load: Load, generator: LoadGenerator) -> str | None:
    """Return a sentence if there are too few file descriptors or local ports for the load's connections, else ``None``."""
    files, ports = open_files.limit_of_programs() - OPEN_FILES_SPARE, len(ephemeral_ports())
    if load.connections > files:
        return f"{load.connections:,} connections are too many: a program may open {files + OPEN_FILES_SPARE:,} files here (ulimit -Hn)"
    if load.connections > ports and not generator.uses_source_addresses:
        return (
            f"{load.connections:,} connections are too many for {generator.name}: an address has {ports:,} ports "
            "(sysctl net.ipv4.ip_local_port_range); `--load-generator native` uses several addresses"
        )
    return None
