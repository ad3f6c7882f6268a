"""``httpbench setup``: install what rows and load generators need."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from httpbench.cli.options import Selection, selection
from httpbench.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Requirement
    from httpbench.run import Missing


@click.command()
@selection
@click.option("--suite", metavar="NAME", help="What the rows and the load generator of a suite need.")
@click.option("--load-generator", "generators", metavar="NAME", multiple=True, help="What a load generator needs.")
@click.option("--print", "only_print", is_flag=True, help="Print the commands, for a shell that is root, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def setup(selection: Selection, suite: str | None, generators: tuple[str, ...], only_print: bool, yes: bool) -> None:
    """Install from Debian's packages what rows need and this machine lacks. Asks first.

    Without anything named: what all rows and load generators need. What is not to be had from Debian is told, with where to get it;
    the exit code is 1 then.

    \b
    httpbench setup c/nginx --load-generator wrk   what a row and a load generator need
    httpbench setup --load-generator perf-gauge    one that no package brings, built into your cache
    httpbench setup --suite quick --print          what would be done, as a script
    """
    from httpbench import host
    from httpbench.run import missing_of, packages_of

    needs = _needs(selection, suite, generators)
    lacks = missing_of(needs)
    packages = packages_of(lacks)
    if only_print:
        _tell(lack for lack in lacks if not lack.packages)
        if packages:
            click.echo(host.packages.script(packages))
        return
    if packages:
        _install(packages, yes=yes)
        host.forget()
        lacks = missing_of(needs)
    if built := _build(generators, yes=yes):
        lacks = [lack for lack in lacks if lack.requirement not in built]
    _tell(lacks)
    if lacks:
        sys.exit(1)
    click.echo("nothing is missing", err=True)


def _needs(selection: Selection, suite_name: str | None, generators: Iterable[str]) -> Mapping[str, Sequence[Requirement]]:
    """What each row and load generator that was asked for needs."""
    from httpbench import load

    known = selection.catalog()
    suite = known.suite(suite_name) if suite_name else None
    names = [*generators, *([suite.load_generator] if suite else [])]
    everything = not names and not selection.words
    needs: dict[str, Sequence[Requirement]] = {}
    if selection.words or suite or everything:
        for target in selection.of(known, suite.targets if suite else (), suite.kind if suite else None):
            needs[target.id] = target.requires
    for generator in map(load.tool, [*load.GENERATORS, *load.TIMERS] if everything else names):
        needs[f"load generator {generator.name}"] = () if generator.locate() else (generator.requirement,)
    return needs


def _install(packages: Sequence[str], *, yes: bool) -> None:
    """Says what root is about to do, asks, and does it."""
    from httpbench import host

    prefix = host.packages.becoming_root(packages)
    if not yes and not sys.stdin.isatty():
        raise UsageError("setup asks before it installs, and there is no terminal to ask on", hint="--yes does not ask, --print only tells")
    click.echo(f"as root{' (through sudo)' if prefix else ''}:", err=True)
    for line in host.packages.script(packages).splitlines():
        click.echo(f"  {line}", err=True)
    if not yes and not click.confirm("Run these commands?", err=True):
        raise RequirementError("nothing was installed")
    host.packages.install(packages)


def _build(names: Iterable[str], *, yes: bool) -> list[Requirement]:
    """Builds the load generators that were named and that no package brings into the user's cache; what they would have needed."""
    from httpbench import load

    missing = [(generator, argv) for generator in map(load.tool, names) if not generator.locate() and (argv := generator.install_argv())]
    for generator, argv in missing:
        click.echo(f"as you: {shlex.join(argv)}", err=True)
        if not yes and not (sys.stdin.isatty() and click.confirm("Run this command?", err=True)):
            raise RequirementError(f"load generator {generator.name} was not built", hint="--yes does not ask")
        if shutil.which(argv[0]) is None:
            raise RequirementError(f"load generator {generator.name} needs {argv[0]} to be built", hint="https://rustup.rs")
        if subprocess.run(argv, check=False).returncode != 0:
            raise RequirementError(f"load generator {generator.name} could not be built: {shlex.join(argv)}")
    return [generator.requirement for generator, _ in missing]


def _tell(lacks: Iterable[Missing]) -> None:
    for lack in lacks:
        click.echo(f"to be installed by hand: {lack.text}", err=True)
