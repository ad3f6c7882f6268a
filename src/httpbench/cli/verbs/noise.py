"""``httpbench noise``: measure the noise floor of this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.output import Exports, StoreOptions
from httpbench.cli.options.params import COUNT, DURATION
from httpbench.cli.options.shared import interleave_option, retries_option
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError

if TYPE_CHECKING:
    from httpbench.model import Noise
    from httpbench.run import RunSpec

PAIRS = 20
SHOWN = (3, 5, 10, 20)
WORKLOAD = "plaintext"


class NoiseOptions(Options):
    rounds: int = option("--rounds", type=click.IntRange(3, 1000), default=PAIRS, metavar="N", help="Number of A/A pairs.")
    duration: float = option("-d", "--duration", type=DURATION, default="1s", help="Measured duration of each trial.")
    connections: int = option("-c", "--connections", type=COUNT, default=64, help="Connections.")
    retries: int = retries_option()
    interleave: str = interleave_option()
    show: bool = option("--show", is_flag=True, help="Print the stored noise floor; measure nothing.")
    store: StoreOptions = group(StoreOptions)


@command(NoiseOptions)
def noise(options: NoiseOptions) -> ExitCode | None:
    """Measure this machine's noise floor: one server against itself.

    Identical servers differ only by noise. Later runs under the same load mark differences within the noise floor. They warn if the kernel,
    the tuning, the CPUs, the quota or httpbench has changed since then, or after 30 days.

    \b
    httpbench noise                    20 pairs of 1 s: a minute and a half
    httpbench noise --rounds 40 -d 5s  more pairs, longer trials
    httpbench noise --show             the stored noise floor
    """
    from httpbench import catalog, host
    from httpbench.cli.measure import build_and_run
    from httpbench.cli.results import exit_code, report
    from httpbench.run.clock import now
    from httpbench.run.rounds.noise import known_noise, outdated
    from httpbench.store import Store

    if not options.show:
        outcome = build_and_run(_plan(options), options.store)
        report(outcome, options.store.db, Exports({}))
        if code := exit_code(outcome):
            return code
    with Store(options.store.db, reading=True) as store:
        environment = host.read_environment(catalog.root(), {})
        known = known_noise(store, environment)
    if known is None:
        raise SelectionError(f"{options.store.db} has no A/A pairs from this machine", hint="run `httpbench noise`")
    _print(known)
    if reason := outdated(known, environment, now()):
        console.warn(reason)
    return None


def _plan(options: NoiseOptions) -> RunSpec:
    """Return the specification of a run of A/A pairs, which compare one server with itself."""
    from httpbench import catalog, load
    from httpbench.cli.measure import make_spec
    from httpbench.model import Load, Scaling
    from httpbench.run import Interleave, Matrix, with_slices
    from httpbench.run.rounds.noise import TARGET, pair

    known = catalog.load()
    targets = pair(known.targets[TARGET])
    duration_s = options.duration
    closed_loop = Load(connections=options.connections, duration_s=duration_s, warmup_s=min(duration_s, 0.5))
    matrix = Matrix(targets, [Scaling.SINGLE], [WORKLOAD], [closed_loop], ["native"], options.rounds)
    spec = make_spec(matrix, {"native": load.get("native")}, targets, {WORKLOAD: known.workload(WORKLOAD)})
    spec = replace(spec, baseline=TARGET, measures_noise=True, retries=options.retries)
    return with_slices(spec, Interleave(options.interleave))


def _print(known: Noise) -> None:
    from rich.table import Column, Table

    from httpbench.report.words.numbers import percentage
    from httpbench.stats.figures import CPU, P99, THROUGHPUT
    from httpbench.stats.noise import floor

    columns = (Column(title, justify="right") for title in ("Rounds", "Throughput", "p99", "CPU per request"))
    table = Table(*columns, box=None, pad_edge=False)
    for rounds in SHOWN:
        floors = (floor(known, figure.name, rounds) for figure in (THROUGHPUT, P99, CPU))
        table.add_row(str(rounds), *("" if least is None else percentage(least) for least in floors))
    console.echo("\nNoise floor of this machine: identical servers differ by up to this much.\n")
    console.stdout().print(table)
    made = f"{known.rounds} pairs of {known.duration_s:g} s over {known.connections} connections, {known.target} against itself"
    console.echo(f"\n{made}; kernel {known.kernel}; {known.made_at[:10]}, run {known.run}")
