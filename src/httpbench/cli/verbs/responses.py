"""``httpbench responses``: responses of servers and requests of clients, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group
from httpbench.cli.options.shared import Selection, jobs_option, workload_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import HttpbenchError

if TYPE_CHECKING:
    from httpbench.model import SampledRequest, SampledResponse


class ResponsesOptions(Options):
    selection: Selection = group(Selection)
    workload: str | None = workload_option()
    transport: TransportOptions = group(TransportOptions)
    jobs: int = jobs_option()


@command(ResponsesOptions)
def responses(options: ResponsesOptions) -> ExitCode:
    """Show a response from each server, byte for byte.

    For a client, shows its request. Default: all servers.

    \b
    httpbench responses c/nginx golang   nginx, and all servers in Go
    httpbench responses client:c/curl    the request of a client
    """
    from httpbench import host
    from httpbench.cli.targets import surroundings, with_backends, workloads_of
    from httpbench.model import Kind, Scaling
    from httpbench.report.words.targets import render_responses
    from httpbench.run import CHECKS, database_of, prepare

    selection, known = options.selection, options.selection.catalog()
    targets = selection.of(known, kind=None if selection.words else Kind.SERVER)
    targets = options.transport.serving(targets, named=bool(selection.words))
    workloads = workloads_of(known, targets, options.workload)
    targets = [options.transport.built(target, workloads[target.kind]) for target in targets]
    with console.observer() as observer:
        built = prepare(with_backends(known, targets, workloads), observer, options.jobs)
    found: dict[str, SampledResponse | SampledRequest] = {}
    topology, transport = host.read_topology(), options.transport.transport()
    for target in targets:
        try:
            checks, workload = CHECKS[target.kind], workloads[target.kind]
            database = database_of(target, workload)
            if missing := [
                name for name in (target.build_name, workload.backend, database.id if database else None) if name in built.errors
            ]:
                raise built.errors[missing[0]]
            cores, backend = surroundings(target, workload, Scaling.SINGLE, known, built, topology)
            found[target.id] = checks.sample(
                target, target.scaling[0], workload, built.folders[target.build_name], cores, backend, transport
            )
        except HttpbenchError as error:
            built.errors[target.build_name] = error
    console.stdout().print(render_responses(found), markup=False)
    for name, problem in built.errors.items():
        console.problem(name, problem)
    return ExitCode.FAILED if built.errors else ExitCode.OK
