"""``httpbench build``: build targets before their first use."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.shared import Selection, jobs_option, skip_missing_option, workload_option
from httpbench.cli.options.transport import ProtocolOptions
from httpbench.cli.terminal import console
from httpbench.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Target


class BuildOptions(Options):
    selection: Selection = group(Selection)
    protocol: ProtocolOptions = group(ProtocolOptions)
    workload: str | None = workload_option()
    suites: tuple[str, ...] = option("--suite", metavar="NAME", multiple=True, help="Build what the trials of this suite need.")
    skip_missing: bool = skip_missing_option()
    jobs: int = jobs_option()


@command(BuildOptions)
def build(options: BuildOptions) -> ExitCode:
    """Build targets ahead of their first use.

    Builds are cached, and repeated only if sources change. Optional features of targets, such as TLS, are built only if a load needs them:
    --tls, --http2 and --workload select them as for `bench`. Default: all targets. Exit code 1 if a build fails.

    \b
    httpbench build rust --jobs 4           all targets in a language
    httpbench build rust/hyper --tls        as for bench --tls
    httpbench build rust --workload db      as for queries of a database
    httpbench build --suite quick           as for bench --suite quick
    """
    from httpbench.run import prepare

    if options.suites and (options.workload or options.protocol.tls or options.protocol.http2):
        raise UsageError("--suite already determines workloads and protocols", hint="remove --workload, --tls and --http2, or --suite")
    targets = _of_suites(options) if options.suites else _selected(options)
    with console.observer() as observer:
        built = prepare(targets, observer, options.jobs)
    failed = False
    for name, error in built.errors.items():
        is_missing = isinstance(error, RequirementError)
        skipped = is_missing and options.skip_missing
        failed = failed or not skipped
        hint = f"; {'fix' if is_missing else 'hint'}: {error.hint}" if error.hint else ""
        console.echo(f"{'skipped' if skipped else 'failed'} {name}: {error.message}{hint}")
    console.echo(f"{len(built.folders)} of {len(targets)} targets are built")
    return ExitCode.FAILED if failed else ExitCode.OK


def _selected(options: BuildOptions) -> list[Target]:
    from httpbench.cli.targets import workloads_of

    selection, known = options.selection, options.selection.catalog()
    kind = known.workload(options.workload).kind if options.workload else None
    targets = options.protocol.serving(selection.of(known, kind=kind), named=bool(selection.words))
    workloads = workloads_of(known, targets, options.workload)
    served = [target for target in targets if options.workload is None or workloads[target.kind].is_served_by(target)]
    return [options.protocol.built(target, workloads[target.kind]) for target in served]


def _of_suites(options: BuildOptions) -> list[Target]:
    """Return each target of the suites once with each set of features that its trials need."""
    from httpbench.run import built_for

    known = options.selection.catalog()
    found: dict[str, Target] = {}
    for suite in map(known.suite, options.suites):
        targets = options.selection.of(known, suite.targets, suite.kind)
        for target, name, load in product(targets, suite.workloads, suite.load):
            if (workload := known.workload(name)).is_served_by(target):
                built = built_for(target, workload, tls=load.tls, http2=load.http2)
                found[built.build_name] = built
    return list(found.values())
