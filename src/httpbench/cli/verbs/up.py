"""``httpbench up``: start one target for load that another program generates."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench.cli.options.fields import Options, argument, command, group
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.request import RequestOptions
from httpbench.cli.options.servers import ServerOptions, one_target
from httpbench.cli.options.shared import complete_target, targets_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, StartError, UsageError

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.model import Target, Workload
    from httpbench.run.up import Up

REFRESH_S = 0.5
LINE_EVERY_S = 10.0
"""Interval between lines if standard error is not a terminal, in seconds."""


class UpOptions(Options):
    server: str | None = argument(required=False, metavar="[TARGET|CMD]", shell_complete=complete_target)
    servers: ServerOptions = group(ServerOptions)
    request: RequestOptions = group(RequestOptions)
    isolation: IsolationOptions = group(IsolationOptions)
    transport: TransportOptions = group(TransportOptions)
    targets: tuple[Path, ...] = targets_option()


@command(UpOptions)
def up(options: UpOptions) -> None:
    """Start one target for load that you generate yourself.

    Builds the target, starts it on the cores that a run would give it, waits for its first correct response, and shows its CPU and
    memory usage. Ctrl-C stops it and leaves nothing behind. A proxy is started with its backend, and a server with the database
    that its workload queries.

    \b
    httpbench up c/nginx --port 8080              a target
    httpbench up './server {port}'                a command
    httpbench up proxy:c/haproxy --scaling multi  a proxy, on all its cores
    """
    from httpbench import catalog, host
    from httpbench.cli.targets import prepare_engines, with_backends
    from httpbench.host.scratch import scratch_folder
    from httpbench.model import Kind
    from httpbench.run import KINDS, StartContext, backend_of, cores_beside_database, prepare, scaling_of
    from httpbench.run.up import up as running

    if options.servers.urls:
        raise UsageError("--url names a server that is already running", hint="name a target, or a command with {port}")
    target = one_target("up", options.server, options.servers, options.isolation, options.targets, kind=None)
    (target,) = options.transport.serving([options.request.applied(target)], named=True)
    if target.kind is Kind.CLIENT:
        raise SelectionError(f"{target.id} is a client, which cannot get a load", hint="name a server or a proxy")
    servers = options.servers
    scaling = scaling_of(target, servers.chosen_scaling)
    if scaling is None:
        raise SelectionError(f"{target.id} does not scale as {servers.chosen_scaling}")
    known = catalog.load(options.targets)
    workload = _workload(known, target, options.request).of(target)
    target = options.transport.built(target, workload)
    prepare_engines([target])
    with console.observer() as observer:
        built = prepare(with_backends(known, [target], {target.kind: workload}), observer, 1)
    for error in built.errors.values():
        raise error
    topology = host.read_topology()
    cores = KINDS[target.kind].partition(topology, scaling, servers.share.cores_of(topology))
    cores = cores_beside_database(target, workload, topology, cores)
    backend = backend_of(target, workload, known.targets, built, cores, topology)
    try:
        with scratch_folder() as scratch:
            place = StartContext(
                built.folders[target.build_name],
                scratch,
                topology.groups(cores.target),
                servers.port,
                servers.start_timeout,
                workers=servers.share.workers,
                transport=options.transport.transport([target]),
            )
            with running(target, scaling, workload, place, backend) as instance:
                console.echo(instance.running.url(workload.request.path))
                on = f"CPU{'' if len(cores.target) == 1 else 's'} {', '.join(map(str, cores.target))}"
                console.echo(f"{target.id} responds, on {on}; its log: {instance.running.log}; Ctrl-C stops it", err=True)
                _watch(target, instance)
    except KeyboardInterrupt:
        console.echo(f"stopped {target.id}", err=True)


def _workload(known: Catalog, target: Target, request: RequestOptions) -> Workload:
    """Return the workload that checks the first response.

    By default, a target is checked with its usual workload, and a command may send any successful response.
    """
    from httpbench.cli.targets import workloads_of
    from httpbench.model import Kind
    from httpbench.run import KINDS

    if target.kind is Kind.PROXY:
        return workloads_of(known, [target], request.workload)[target.kind]
    return request.as_workload((), default=KINDS[target.kind].workload if target.is_declared else None)


def _watch(target: Target, instance: Up) -> None:
    """Show the usage of the target until Ctrl-C. Raise :class:`StartError` if the target exits on its own."""
    from rich.live import Live
    from rich.text import Text

    from httpbench.isolate import tail

    with Live(console=console.stderr(), auto_refresh=False, transient=True) as live:
        shown_at = time.monotonic()
        while (death := instance.running.death()) is None:
            time.sleep(REFRESH_S)
            text = f"{target.id} · {instance.sampler.current()}"
            if live.console.is_terminal:
                live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
            elif time.monotonic() - shown_at >= LINE_EVERY_S:
                shown_at = time.monotonic()
                console.echo(text, err=True)
    raise StartError(f"{target.id} exited on its own ({death})", log_tail=tail(instance.running.log))
