"""``httpbench noise``: what this machine can tell apart."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.exports import exports
from httpbench.cli.options import database
from httpbench.cli.params import COUNT, DURATION
from httpbench.errors import SelectionError

if TYPE_CHECKING:
    from httpbench.model import Noise

ROUNDS = 20
SHOWN = (3, 5, 10, 20)
WORKLOAD = "plaintext"


@click.command()
@click.option("--rounds", type=click.IntRange(3, 1000), default=ROUNDS, show_default=True, help="How many pairs are made.")
@click.option("-d", "--duration", type=DURATION, default=1.0, show_default="1s", help="How long each trial measures.")
@click.option("-c", "--connections", type=COUNT, default=64, show_default=True, help="Connections that are kept busy.")
@click.option("--show", is_flag=True, help="Print what is known already, and measure nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@database
def noise(rounds: int, duration: float, connections: int, show: bool, quiet: bool, db: Path) -> None:
    """Find out what this machine can tell apart: measure one server against itself.

    What equals differ by is noise. It is stored with kernel and tuning; later runs say below their tables which differences are less
    than that, and warn when kernel or tuning have changed since.

    \b
    httpbench noise                    twenty pairs of a second each: a minute and a half
    httpbench noise --rounds 40 -d 5s  more pairs, longer trials
    httpbench noise --show             what is known already
    """
    from httpbench import catalog, host
    from httpbench.run.noise import known_noise, outdated
    from httpbench.store import Store

    if not show:
        _measure(rounds, duration, connections, quiet, db)
    with Store(db, reading=True) as store:
        environment = host.read_environment(catalog.root(), {})
        known = known_noise(store, environment)
    if known is None:
        raise SelectionError(f"the noise of this machine is not known: {db} has no A/A pairs of it", hint="httpbench noise measures it")
    _print(known)
    if reason := outdated(known, environment):
        click.echo(f"warning: {reason}", err=True)


def _measure(rounds: int, duration_s: float, connections: int, quiet: bool, db: Path) -> None:
    from httpbench import catalog, host, load
    from httpbench.cli.make import make
    from httpbench.model import Load, Scaling
    from httpbench.run import Matrix, RunSpec, make_plan
    from httpbench.run.noise import TARGET, pair

    known = catalog.load()
    targets = pair(known.targets[TARGET])
    asked = Load(connections=connections, duration_s=duration_s, warmup_s=min(duration_s, 0.5))
    matrix = Matrix(targets, [Scaling.SINGLE], [WORKLOAD], [asked], "native", rounds)
    topology = host.read_topology()
    spec = RunSpec(
        plan=make_plan(matrix, lambda scaling: host.partition(topology, scaling), random.randrange(2**32)),
        targets={target.id: target for target in targets},
        workloads={WORKLOAD: known.workload(WORKLOAD)},
        generator=load.get(matrix.load_generator),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        baseline=TARGET,
        measures_noise=True,
    )
    make(spec, db, exports(None, None, None), console.stdout(), console.stderr(), quiet=quiet)


def _print(known: Noise) -> None:
    from rich.table import Table

    from httpbench.report.printable import percentage
    from httpbench.stats.figures import CPU, P99, THROUGHPUT
    from httpbench.stats.noise import floor

    table = Table(box=None, pad_edge=False)
    for column in ("Rounds", "Throughput", "p99", "CPU per request"):
        table.add_column(column, justify="right")
    for rounds in SHOWN:
        floors = (floor(known, figure.name, rounds) for figure in (THROUGHPUT, P99, CPU))
        table.add_row(str(rounds), *("" if least is None else percentage(least) for least in floors))
    output = console.stdout()
    output.print("\nWhat equals differ by on this machine; differences below are noise:\n", markup=False)
    output.print(table)
    made = f"{known.rounds} pairs of {known.duration_s:g} s over {known.connections} connections, {known.target} against itself"
    output.print(f"\n{made}; kernel {known.kernel}; {known.made_at[:10]}, run {known.run}", markup=False, soft_wrap=True)
