"""``httpbench setup``: install the requirements of targets and load generators."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.shared import Selection
from httpbench.cli.terminal import console
from httpbench.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.model import Requirement, Suite
    from httpbench.run import Missing


class SetupOptions(Options):
    selection: Selection = group(Selection)
    suites: tuple[str, ...] = option("--suite", metavar="NAME", multiple=True, help="Install what this suite requires.")
    generators: tuple[str, ...] = option(
        "--load-generator", metavar="NAME", multiple=True, help="Install what this load generator requires."
    )
    workloads: tuple[str, ...] = option(
        "--workload", metavar="NAME", multiple=True, default_text="all", help="Install databases only if this workload queries one."
    )
    only_print: bool = option("--print", is_flag=True, help="Print the commands (for a root shell) and exit.")
    yes: bool = option("--yes", is_flag=True, help="Install without asking.")


@command(SetupOptions)
def setup(options: SetupOptions) -> ExitCode | None:
    """Install the Debian packages that targets require.

    Asks for confirmation first. Default: all targets, their databases and load generators. Anything Debian lacks is listed with its
    source; the exit code is then 1.

    \b
    httpbench setup c/nginx --load-generator wrk   a target and a load generator
    httpbench setup --load-generator autocannon    installed into your cache
    httpbench setup --suite quick --print          the commands, as a script
    """
    from httpbench.host import forget
    from httpbench.host.tools.packages import script
    from httpbench.run import missing_of, packages_of

    required = _required(options)
    lacks = missing_of(required)
    packages = packages_of(lacks)
    if options.only_print:
        _list(lack for lack in lacks if not lack.packages)
        if packages:
            console.echo(script(packages))
        return None
    if packages:
        _install(packages, yes=options.yes)
        forget()
        lacks = missing_of(required)
    if built := _build(_generators(options), yes=options.yes):
        lacks = [lack for lack in lacks if lack.requirement not in built]
    _list(lacks)
    if lacks:
        return ExitCode.FAILED
    console.echo("nothing is missing", err=True)
    return None


def _required(options: SetupOptions) -> Mapping[str, Sequence[Requirement]]:
    """Return the requirements of each selected target and load generator."""
    from httpbench import load

    selection, known = options.selection, options.selection.catalog()
    suites = tuple(known.suite(name) for name in options.suites)
    names = _generators(options)
    workloads = [name for suite in suites for name in suite.workloads] or options.workloads
    asks_database = not workloads or any(known.workload(name).asks_database for name in workloads)
    everything = not names and not selection.words
    required: dict[str, Sequence[Requirement]] = {}
    if selection.words or suites or everything:
        for suite in suites or (None,):
            for name, needed in _of_targets(selection, known, suite, asks_database=asks_database):
                required[name] = tuple(dict.fromkeys((*required.get(name, ()), *needed)))
    for generator in map(load.tool, [*load.GENERATORS, *load.TIMERS] if everything else names):
        installation = None if everything else generator.installation()
        needed = (*([installation.requires] if installation else []), generator.requirement)
        required[f"load generator {generator.name}"] = () if generator.locate() else needed
    return required


def _of_targets(
    selection: Selection, known: Catalog, suite: Suite | None, *, asks_database: bool
) -> Iterator[tuple[str, Sequence[Requirement]]]:
    """Yield the name and requirements of each target and of its database.

    If the user selected no targets, these are the targets of the suite. In a container, a target requires only the container engine.
    """
    from httpbench.databases import SYSTEMS
    from httpbench.model import Engine, Runtime
    from httpbench.run import requirement_of

    places = suite.isolate if suite else (Runtime.PROCESS,)
    engines = [requirement_of(Engine(place)) for place in places if place is not Runtime.PROCESS]
    for target in selection.of(known, suite.targets if suite else (), suite.kind if suite else None):
        yield target.id, (*(target.requires if Runtime.PROCESS in places else ()), *engines)
        if asks_database and target.database is not None and target.database in SYSTEMS and Runtime.PROCESS in places:
            yield f"database of {target.id}", (SYSTEMS[target.database].requirement,)


def _generators(options: SetupOptions) -> list[str]:
    """Return the load generators that the user named, and those of the suites."""
    known = options.selection.catalog()
    return list(dict.fromkeys([*options.generators, *(name for suite in options.suites for name in known.suite(suite).load_generator)]))


def _install(packages: Sequence[str], *, yes: bool) -> None:
    """Show the commands for root, ask for confirmation, and run them."""
    from httpbench.host.tools.packages import becoming_root, install, script

    prefix = becoming_root(packages)
    if not yes and not sys.stdin.isatty():
        raise UsageError("setup requires a terminal to confirm", hint="--yes or --print")
    console.echo(f"as root{' (through sudo)' if prefix else ''}:", err=True)
    for line in script(packages).splitlines():
        console.echo(f"  {line}", err=True)
    if not yes and not click.confirm("Run these commands?", err=True):
        raise RequirementError("nothing was installed: not confirmed")
    install(packages)


def _build(names: Iterable[str], *, yes: bool) -> list[Requirement]:
    """Install load generators that Debian lacks into the user's cache, and return the requirements that are now met."""
    from httpbench import load

    missing = [(generator, found) for generator in map(load.tool, names) if not generator.locate() and (found := generator.installation())]
    for generator, installation in missing:
        argv = installation.argv
        for file in installation.files:
            console.echo(f"as you: cp {shlex.quote(str(file))} {shlex.quote(str(installation.folder))}", err=True)
        console.echo(f"as you: {shlex.join(argv)}", err=True)
        if not yes and not (sys.stdin.isatty() and click.confirm("Run this command?", err=True)):
            raise RequirementError(f"load generator {generator.name} was not built: not confirmed", hint="--yes")
        if shutil.which(argv[0]) is None:
            hint = installation.requires.install
            raise RequirementError(f"load generator {generator.name} is missing; building it requires {argv[0]}", hint=hint)
        installation.folder.mkdir(parents=True, exist_ok=True)
        for file in installation.files:
            shutil.copy(file, installation.folder)
        if subprocess.run(argv, check=False).returncode != 0:
            raise RequirementError(f"the build of load generator {generator.name} failed: {shlex.join(argv)}")
    return [generator.requirement for generator, _ in missing]


def _list(lacks: Iterable[Missing]) -> None:
    for lack in lacks:
        console.echo(f"install by hand: {lack.text}", err=True)
