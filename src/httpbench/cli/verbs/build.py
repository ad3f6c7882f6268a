"""``httpbench build``: build targets before their first use."""

from __future__ import annotations

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group
from httpbench.cli.options.shared import Selection, jobs_option, skip_missing_option
from httpbench.cli.terminal import console
from httpbench.errors import RequirementError


class BuildOptions(Options):
    selection: Selection = group(Selection)
    skip_missing: bool = skip_missing_option()
    jobs: int = jobs_option()


@command(BuildOptions)
def build(options: BuildOptions) -> ExitCode:
    """Build targets ahead of their first use.

    Builds are cached, and repeated only if sources change. Default: all targets. Exit code 1 if a build fails.

    \b
    httpbench build rust --jobs 4   all targets in a language
    """
    from httpbench.run import prepare

    targets = options.selection.of(options.selection.catalog())
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
