"""Options that several verbs share, including those that select targets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, argument, option
from httpbench.cli.options.params import CATEGORIES, DURATION, GATE, INTERLEAVES, KINDS
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.paths import foreign_catalogue, ids

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.model import Gate, Kind, Target

WORKLOADS = "plaintext; clients: client-small-1000; proxies: proxy-10kb"


def complete_target(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete ids of built-in targets, and of targets in folders that ``--targets`` named earlier on the command line."""
    return [name for name in ids(context.params.get("targets") or ()) if name.startswith(incomplete)]


targets_option = partial(
    option,
    "--targets",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Also search this folder for target.toml files, at any depth. techempower:DIR, httparena:DIR, "
    "web-frameworks:DIR: a clone of that project instead of the built-in targets.",
)
jobs_option = partial(option, "--jobs", type=click.IntRange(1, 64), default=2, metavar="N", help="Parallel builds.")
skip_missing_option = partial(option, "--skip-missing", is_flag=True, help="Skip targets whose toolchain is missing, and list them.")
workload_option = partial(option, "--workload", metavar="NAME", default_text=WORKLOADS, help="Workload.")
scaling_option = partial(
    option,
    "--scaling",
    type=click.Choice(["single", "multi"]),
    default_text="single",
    help="Cores for the target: one (single) or its whole share (multi).",
)
rounds_option = partial(option, type=click.IntRange(1, 1000), metavar="N")
seed_option = partial(option, "--seed", type=int, metavar="N", default_text="random", help="Seed of the trial order.")
retries_option = partial(
    option,
    "--retries",
    type=click.IntRange(0, 10),
    default=2,
    metavar="N",
    help="Maximum repeats of a trial that other programs disturbed. 0: never repeat, and count disturbed trials.",
)
interleave_option = partial(
    option,
    "--interleave",
    type=click.Choice(INTERLEAVES),
    default="auto",
    help="How targets alternate: in short slices within each round, where possible, or by whole trials.",
)
name_option = partial(option, metavar="NAME", help="Name of the run, for `report` and `compare`.")
dry_run_option = partial(option, "--dry-run", is_flag=True, help="Print the plan and its duration, and exit.")
port_option = partial(option, "--port", type=click.IntRange(1, 65_535), metavar="PORT", default_text="a free port")
start_timeout_option = partial(option, "--start-timeout", type=DURATION, default="20s", help="Time limit for the first correct response.")


class GateOptions(Options):
    """Options for gates, and for whether an inconclusive gate counts as a failure."""

    all: tuple[Gate, ...] = option(
        "--fail-if",
        type=GATE,
        multiple=True,
        help="Exit with code 3 if a result changes beyond this bound, such as 'rps<-3%' or 'ttfb-p99>10%'.",
    )
    fail_if_inconclusive: bool = option("--fail-if-inconclusive", is_flag=True, help="Exit with code 1 if the rounds don't decide a gate.")

    def check(self, rounds: int | None = None) -> None:
        """Raise :class:`UsageError` if these options can't work, and warn about a gate that probably lacks its sign.

        ``rounds`` is the number of rounds to measure, or ``None`` if they were measured earlier.
        """
        if self.fail_if_inconclusive and not self.all:
            raise UsageError("--fail-if-inconclusive requires a gate", hint="add a gate, such as --fail-if 'rps<-3%'")
        if not self.all:
            return
        from httpbench.stats.interval import ROUNDS_MIN

        if rounds is not None and rounds < ROUNDS_MIN:
            raise UsageError(f"--fail-if requires at least {ROUNDS_MIN} rounds, not {rounds}", hint=f"use --rounds {ROUNDS_MIN} or more")
        for gate in self.all:
            if gate.is_breached_by_no_change:
                meant = gate.model_copy(update={"change": -gate.change})
                console.warn(f"{gate} is breached if nothing changes; did you mean {meant}?")


class Selection(Options):
    """Options that select the targets of a verb."""

    words: tuple[str, ...] = argument(nargs=-1, metavar="[TARGET]...", shell_complete=complete_target)
    kind: str | None = option("--kind", type=click.Choice(KINDS), help="Only targets of this kind.")
    languages: tuple[str, ...] = option("--language", multiple=True, metavar="NAME", help="Only targets in this language.")
    categories: tuple[str, ...] = option("--category", multiple=True, type=click.Choice(CATEGORIES), help="Only targets of this category.")
    ignore: tuple[str, ...] = option("-i", "--ignore", multiple=True, metavar="TARGET", help="Exclude targets.")
    targets: tuple[Path, ...] = targets_option()

    @property
    def is_of_other_project(self) -> bool:
        """Whether another project's catalog replaces the built-in targets. If so, suites can't select targets."""
        return any(foreign_catalogue(folder) for folder in self.targets)

    def catalog(self) -> Catalog:
        """Return the built-in catalog together with the targets in the user's folders.

        If the user names targets, a broken file of another target doesn't matter, and its problems are only printed.
        """
        from httpbench.catalog import load, load_named

        if not self.words:
            return load(self.targets)
        found, broken = load_named(self.targets, self.of)
        for problem in broken:
            console.echo(f"skipped {problem}", err=True)
        return found

    def of(self, known: Catalog, default: tuple[str, ...] = (), kind: Kind | None = None) -> list[Target]:
        """Return the selected targets. ``default`` is used if the user names no target, and ``kind`` if the user gives no kind."""
        from httpbench.catalog import select
        from httpbench.model import Category, Kind

        return select(
            known.targets.values(),
            self.words or default,
            kind=Kind(self.kind) if self.kind else kind,
            languages=self.languages,
            categories=[Category(name) for name in self.categories],
            ignore=self.ignore,
        )
