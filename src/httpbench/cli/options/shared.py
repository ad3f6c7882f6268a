"""Options that several verbs share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.exports import Exports
from httpbench.cli.options import choices
from httpbench.cli.options.fields import argument, option
from httpbench.cli.options.params import COUNT, COUNTS, DURATION, DURATION_OR_NONE, GATE, RATE, STEP
from httpbench.errors import UsageError
from httpbench.paths import default_database, foreign_catalogue, ids

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.host import Topology
    from httpbench.model import Kind, Scaling, Target

FILE = click.Path(dir_okay=False)
WORKLOADS = "plaintext; clients: client-small-1000; proxies: proxy-10kb"
WORKERS_MAX = 1024
RETRIES = 2
LOAD_THREADS = "one per core of its share"


def complete_target(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids for the shell: of built-in targets, and of those in the folders named before."""
    return [name for name in ids(context.params.get("targets") or ()) if name.startswith(incomplete)]


def targets_option() -> Any:
    return option(
        "--targets",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Also search this folder for target.toml files, at any depth. techempower:DIR, httparena:DIR, "
        "web-frameworks:DIR: a clone of that project instead of the built-in targets.",
    )


def db_option() -> Any:
    return option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        default=default_database,
        default_text="httpbench.db in the user's data folder",
        metavar="FILE",
        help="Results database.",
    )


def charts_option() -> Any:
    return option(
        "--charts",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Write charts to DIR (SVG and PNG, light and dark).",
    )


def jobs_option() -> Any:
    return option("--jobs", type=click.IntRange(1, 64), default=2, metavar="N", help="Parallel builds.")


def skip_missing_option() -> Any:
    return option("--skip-missing", is_flag=True, help="Skip targets whose toolchain is missing, and list them.")


def workload_option() -> Any:
    return option("--workload", metavar="NAME", default_text=WORKLOADS, help="Workload.")


def json_option() -> Any:
    return option("--json", is_flag=True, help="Print JSON.")


def seed_option() -> Any:
    return option("--seed", type=int, metavar="N", default_text="random", help="Seed of the trial order.")


def retries_option() -> Any:
    text = "Repeat a trial that other programs disturbed, at most this often. 0: never, and disturbed trials count."
    return option("--retries", type=click.IntRange(0, 10), default=RETRIES, metavar="N", help=text)


def no_wait_option() -> Any:
    return option("--no-wait", is_flag=True, help="If another run measures on the same cores, exit instead of waiting for it.")


def name_option(flag: str) -> Any:
    return option(flag, metavar="NAME", help="Name of the run, for `report` and `compare`.")


def tags_option() -> Any:
    return option("--tag", multiple=True, metavar="TAG", help="Tag of the run, for the search of `serve`.")


def dry_run_option() -> Any:
    return option("--dry-run", is_flag=True, help="Print the plan and its duration, and exit.")


def quiet_option() -> Any:
    return option("-q", "--quiet", is_flag=True, help="Show no progress.")


def port_option(help_text: str) -> Any:
    return option("--port", type=click.IntRange(1, 65_535), metavar="PORT", default_text="a free port", help=help_text)


def start_timeout_option() -> Any:
    return option("--start-timeout", type=DURATION, default="20s", help="Time allowed until the first correct response.")


def gates_option() -> Any:
    text = "Exit with code 3 if a figure changes beyond this bound, such as 'rps<-3%'."
    return option("--fail-if", type=GATE, multiple=True, help=text)


def export_option(name: str, what: str) -> Any:
    return option(f"--export-{name}", type=FILE, metavar="FILE", help=f"Write {what} to FILE, or - for standard output.")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which targets a verb is about."""

    words: tuple[str, ...] = argument(nargs=-1, metavar="[TARGET]...", shell_complete=complete_target)
    kind: str | None = option("--kind", type=click.Choice(choices.KINDS), help="Only targets of this kind.")
    languages: tuple[str, ...] = option("--language", multiple=True, metavar="NAME", help="Only targets in this language.")
    categories: tuple[str, ...] = option(
        "--category", multiple=True, type=click.Choice(choices.CATEGORIES), help="Only targets of this category."
    )
    ignore: tuple[str, ...] = option("-i", "--ignore", multiple=True, metavar="TARGET", help="Exclude targets.")
    targets: tuple[Path, ...] = targets_option()

    @property
    def is_of_other_project(self) -> bool:
        """Whether the catalogue of another project takes the place of the built-in targets, which suites name."""
        return any(foreign_catalogue(folder) for folder in self.targets)

    def catalog(self) -> Catalog:
        """The built-in catalog and the targets of the user's folders."""
        from httpbench.catalog import load

        return load(self.targets)

    def of(self, known: Catalog, default: tuple[str, ...] = (), kind: Kind | None = None) -> list[Target]:
        """The targets selected; ``default`` and ``kind`` hold where the user names none."""
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


@dataclass(frozen=True, slots=True)
class ShareOptions:
    """How many cores a target that fills cores gets, and how many workers fill them. ``None``: its share, and one per core."""

    cores: int | None = option(
        "--cores", type=COUNT, default_text="its share", metavar="N", help="Physical cores for the target; implies --scaling multi."
    )
    workers: int | None = option(
        "--workers",
        type=click.IntRange(1, WORKERS_MAX),
        default_text="one per core",
        metavar="N",
        help="Workers that the target starts, such as puma's processes; implies --scaling multi.",
    )

    def scalings(self, named: Sequence[str], usual: Sequence[Scaling]) -> list[Scaling]:
        """Those that were named, or else the usual ones. Raises :class:`UsageError` if they have one core and one worker."""
        from httpbench.model import Scaling

        name = "--cores" if self.cores else "--workers" if self.workers else None
        if name is None:
            return [Scaling(word) for word in named] or list(usual)
        if "single" in named:
            raise UsageError(f"{name} requires --scaling multi: single gives a target one core and one worker")
        return [Scaling.MULTI]

    def cores_of(self, topology: Topology) -> int | None:
        """The number of cores that was given. Raises :class:`UsageError` if this machine has fewer."""
        count = len(topology.cores)
        if self.cores and self.cores > count:
            raise UsageError(f"--cores {self.cores} is more than the {count} physical cores that httpbench may use here")
        return self.cores


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How the requests are made. ``None``: not given."""

    connections: tuple[int, ...] | None = option(
        "-c", "--connections", type=COUNTS, default_text="64", help="Connections; a list makes one table per value."
    )
    duration: float | None = option(
        "-d",
        "--duration",
        type=DURATION,
        default_text="10s",
        help="Measured duration of each trial; with a rising rate, of its last step.",
    )
    threads: int | None = option("-t", "--threads", type=COUNT, default_text=LOAD_THREADS, help="Threads of the load generator.")
    warmup: float | None = option("--warmup", type=DURATION_OR_NONE, default_text="until steady", help="Warm-up duration.")
    warmup_max: float | None = option(
        "--warmup-max",
        type=DURATION,
        default_text="10s without --warmup",
        help="Warm up until throughput is steady, for at most this long.",
    )
    pipeline: int | None = option("-p", "--pipeline", type=COUNT, default_text="1", help="Requests in flight on each connection.")
    keepalive: bool | None = option(
        "--keepalive/--no-keepalive", default=None, default_text="keepalive", help="Keep connections alive, or open one per request."
    )
    timeout: float | None = option("--timeout", type=DURATION, default_text="2s", help="Request timeout.")
    requests_per_connection: int | None = option(
        "--requests-per-connection", type=COUNT, default_text="unlimited", help="Requests per connection before reconnecting."
    )
    rate: tuple[int | None, int] | None = option(
        "--rate",
        type=RATE,
        metavar="RATE",
        default_text="closed loop",
        help="Open loop at this rate, in requests per second, or rising: 10k..25k.",
    )
    step: tuple[int | None, float] | None = option(
        "--step",
        type=STEP,
        metavar="RATE/TIME",
        default_text="the suite's",
        help="Step of a rising rate, such as 1k/60s. For a suite, 60s alone changes only the time.",
    )

    def given(self) -> dict[str, Any]:
        """What was given, as fields of :class:`~httpbench.model.Load`, its number of connections aside."""
        rate_from, rate = self.rate or (None, None)
        rise, step_s = self.step or (None, None)
        fields = {
            "duration_s": self.duration,
            "threads": self.threads,
            "warmup_s": self.warmup,
            "warmup_max_s": self.warmup_max,
            "pipeline": self.pipeline,
            "keepalive": self.keepalive,
            "timeout_s": self.timeout,
            "requests_per_connection": self.requests_per_connection,
            "rate_from_rps": rate_from,
            "rate_rps": rate,
            "rate_step_rps": rise,
            "step_s": step_s,
        }
        found: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
        if "warmup_s" in found:
            found.setdefault("warmup_max_s", None)  # a fixed warm-up ends after its time
        return found


@dataclass(frozen=True, slots=True)
class ExportOptions:
    export_json: str | None = export_option("json", "everything, with histograms,")
    export_csv: str | None = export_option("csv", "one line per trial")
    export_markdown: str | None = export_option("markdown", "the table as Markdown")
    export_html: str | None = export_option("html", "the report, with charts, as one HTML file")
    export_autocannon: str | None = export_option("autocannon", "latencies, requests and bytes per second as autocannon's tables")
    export_junit: str | None = export_option("junit", "rows and gates as JUnit XML")
    export_openmetrics: str | None = export_option("openmetrics", "the figures as OpenMetrics text")

    @property
    def files(self) -> Exports:
        """The files by format."""
        return Exports.of(**{each.name.removeprefix("export_"): getattr(self, each.name) for each in dataclasses.fields(self)})


@dataclass(frozen=True, slots=True)
class ClientExportOptions(ExportOptions):
    """For verbs that measure or show clients too."""

    export_hyperfine: str | None = export_option("hyperfine", "the times of clients as hyperfine's JSON")
