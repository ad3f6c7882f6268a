"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from httpbench.cli import choices
from httpbench.cli.params import COUNT, COUNTS, DURATION, DURATION_OR_NONE, RATE, STEP
from httpbench.folders import default_database
from httpbench.manifests import ids

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.model import Kind, Target

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows a command is about, as it was asked."""

    words: tuple[str, ...]
    kind: str | None
    languages: tuple[str, ...]
    categories: tuple[str, ...]
    ignore: tuple[str, ...]
    folders: tuple[Path, ...]

    def catalog(self) -> Catalog:
        from httpbench.catalog import load

        return load(self.folders)

    def of(self, known: Catalog, default: tuple[str, ...] = (), kind: Kind | None = None) -> list[Target]:
        """The rows selected; ``default``: the words that hold when there are none."""
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


def complete_row(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids for the shell; of the built-in rows and of the folders that were named before."""
    return [name for name in ids(context.params.get("targets") or ()) if name.startswith(incomplete)]


def selection(command: Command) -> Command:
    """Adds the options that select rows; the command gets them as ``selection``."""

    def wrapped(
        *args: Any,
        rows: tuple[str, ...],
        kind: str | None,
        language: tuple[str, ...],
        category: tuple[str, ...],
        ignore: tuple[str, ...],
        targets: tuple[Path, ...],
        **others: Any,
    ) -> Any:
        return command(*args, selection=Selection(rows, kind, language, category, ignore, targets), **others)

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    options = (
        click.argument("rows", nargs=-1, metavar="[ROW]...", shell_complete=complete_row),
        click.option("--kind", type=click.Choice(choices.KINDS), help="Only servers, clients or proxies."),
        click.option("--language", multiple=True, metavar="NAME", help="Only rows written in this language."),
        click.option("--category", multiple=True, type=click.Choice(choices.CATEGORIES), help="Only rows of this category."),
        click.option("-i", "--ignore", multiple=True, metavar="ROW", help="Leave out rows, named as above."),
        click.option(
            "--targets",
            multiple=True,
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="Add the targets of a folder of your own (its target.toml files, at any depth).",
        ),
    )
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def database(command: Command) -> Command:
    """Adds ``--db``; the command gets it as ``db``."""
    return click.option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        default=default_database,
        show_default="the user's data folder",
        metavar="FILE",
        help="Where results are stored.",
    )(command)


def export(command: Command) -> Command:
    """Adds the export options; the command gets ``export_json``, ``export_csv`` and ``export_markdown``."""
    for name, what in (("markdown", "the table as Markdown"), ("csv", "one line per trial"), ("json", "everything, histograms included")):
        command = click.option(
            f"--export-{name}", type=click.Path(dir_okay=False), metavar="FILE", help=f"Write {what}; - is standard output."
        )(command)
    return command


def export_hyperfine(command: Command) -> Command:
    """Adds ``--export-hyperfine``, for verbs that clients are measured or shown by."""
    what = "Write the times of clients as hyperfine's JSON, for its plotting scripts; - is standard output."
    return click.option("--export-hyperfine", type=click.Path(dir_okay=False), metavar="FILE", help=what)(command)


LOAD_FIELDS = {
    "duration": "duration_s",
    "threads": "threads",
    "warmup": "warmup_s",
    "warmup_max": "warmup_max_s",
    "pipeline": "pipeline",
    "keepalive": "keepalive",
    "timeout": "timeout_s",
    "requests_per_connection": "requests_per_connection",
}
"""Option → field of a load."""

LOAD_OPTIONS = (
    click.option("-c", "--connections", type=COUNTS, help="Connections that are kept busy; several make several tables. [default: 64]"),
    click.option(
        "-d",
        "--duration",
        type=DURATION,
        help="How long each trial measures; of a rising rate, how long the highest is held. [default: 10s]",
    ),
    click.option("-t", "--threads", type=COUNT, help="Threads of the load generator. [default: one for each of its cores]"),
    click.option("--warmup", type=DURATION_OR_NONE, help="How long each target is loaded before it is measured. [default: until steady]"),
    click.option(
        "--warmup-max", type=DURATION, help="Warm up until throughput is steady, at most so long. [default: 10s without --warmup]"
    ),
    click.option("--pipeline", type=COUNT, help="Requests in flight on one connection. [default: 1]"),
    click.option("--keepalive/--no-keepalive", default=None, help="Keep connections, or open one for each request. [default: keep]"),
    click.option("--timeout", type=DURATION, help="When an answer counts as lost. [default: 2s]"),
    click.option("--requests-per-connection", type=COUNT, help="Open a new connection after so many. [default: keep it]"),
    click.option(
        "--rate",
        type=RATE,
        metavar="RPS",
        help="Requests per second, sent whatever the answers do; 10k..25k rises. [default: one after the other]",
    ),
    click.option(
        "--step", type=STEP, metavar="RPS/TIME", help="How a rate rises, such as 1k/60s; only how often: 60s. [default: as the suite says]"
    ),
)


def load_options(command: Command) -> Command:
    """Adds the options that say how targets are asked; :func:`given_load` reads them."""
    for option in reversed(LOAD_OPTIONS):
        command = option(command)
    return command


def given_load(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of a :class:`~httpbench.model.Load`, its number of connections aside."""
    given = {name: options[option] for option, name in LOAD_FIELDS.items()}
    if options["rate"]:
        given["rate_from_rps"], given["rate_rps"] = options["rate"]
    if options["step"]:
        given["rate_step_rps"], given["step_s"] = options["step"]  # the former may be left out
    given = {name: value for name, value in given.items() if value is not None}
    if "warmup_s" in given:
        given.setdefault("warmup_max_s", None)  # so long and no longer
    return given
