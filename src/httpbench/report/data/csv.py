"""CSV with one line for each trial, for spreadsheets and data frames. The names and the order of the columns are stable.

A trial that doesn't count keeps its counts and errors, but has no throughput, bytes or latencies, so that the mean of a column ignores it.

Spreadsheets evaluate text that looks like a formula, such as ``=1+1``, which can occur in a log line. A leading apostrophe prevents this.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from httpbench.model import (
    Distribution,
    Failover,
    KernelCounts,
    Label,
    LinkUse,
    Load,
    Network,
    Run,
    Scaling,
    Startup,
    Table,
    Target,
    Trial,
    Usage,
    WorkDone,
)
from httpbench.report.words.reasons import joined
from httpbench.stats.facts import Facts, facts
from httpbench.stats.overhead import FIGURES as ADDED
from httpbench.stats.overhead import added_us
from httpbench.stats.summary import cpu_us_per_request, last_attempts
from httpbench.stats.validity import failed_requests, rate_held

Way = tuple[int, Scaling, str, str, Load]

_NOT_IN_COLUMNS = ("count", "histogram", "p2_5", "p97_5", "resolution_us")
_FIGURES = tuple(name for name in Distribution.model_fields if name not in _NOT_IN_COLUMNS)
_NOT_IN_USAGE = (
    *("samples", "throttled_samples_s", "stolen_samples_s", "cpu_wait_cores_mean", "threads", "thread_cores_max", "throttled_share"),
    *("throttled_s", "group_bytes_peak", "oom_kills", "rss_bytes_mean", "pss_bytes_mean"),
)
_USAGE = tuple(name for name in Usage.model_fields if name not in _NOT_IN_USAGE)

FORMULA_MARKS = ("=", "+", "-", "@", "\t")
"""First characters of formulas (OWASP, "CSV Injection")."""


@dataclass(frozen=True, slots=True)
class Line:
    """A trial, with all other data that its line in the file contains."""

    run: Run
    trial: Trial
    label: Label | None
    """Result of the target's probe."""
    facts: Facts | None
    added_us: Mapping[str, float]
    """Differences between a proxy's latencies and the baseline's in the same round, in µs. Empty for other targets."""

    @property
    def target(self) -> Target:
        """The target of the trial."""
        return self.run.targets[self.trial.plan.target]

    @property
    def kernel(self) -> KernelCounts | None:
        """What the kernel counted in the profiled round, which is none of the rounds in the file."""
        plan = self.trial.plan
        profile = self.run.profile_of(plan.target, plan.scaling, plan.workload, plan.load)
        return profile.counts if profile else None

    @property
    def valid(self) -> Trial | None:
        """The trial, or ``None`` if it doesn't count."""
        return self.trial if self.trial.verdict.counts else None

    @property
    def contained(self) -> Line | None:
        """This line, or ``None`` if the target did not run in a container."""
        return self if self.target.isolation and self.trial.container else None


Value = Callable[[Line], object]
"""Function that reads the value of a column."""


def _at(path: str) -> Value:
    """Return a function that reads a path such as ``trial.measurement.duration_s``.

    The value is ``None`` if any attribute on the path is ``None``.
    """
    return lambda line: reduce(lambda found, name: None if found is None else getattr(found, name), path.split("."), line)


def _fields(path: str, names: Iterable[str], prefix: str = "") -> dict[str, Value]:
    """Return a column for each named attribute of the object at ``path``."""
    return {f"{prefix}{name}": _at(f"{path}.{name}") for name in names}


def _times(name: str) -> dict[str, Value]:
    path = f"valid.measurement.{name}_us"
    return {**_fields(path, ("count",), f"{name}_"), **_fields(path, _FIGURES, f"{name}_us_")}


def _generator_version(line: Line) -> object:
    return _at("trial.client.timer_version" if line.trial.client else "trial.measurement.generator_version")(line)


def _errors(line: Line) -> int | None:
    return failed_requests(line.trial.measurement) if line.trial.measurement else None


def _error_kinds(line: Line) -> str:
    counts = line.trial.measurement.errors if line.trial.measurement else {}
    return " ".join(f"{name}={count}" for name, count in sorted(counts.items()) if count)


def _throughput(line: Line) -> object:
    return _at("valid.client.requests_rps" if line.trial.client else "valid.measurement.throughput_rps")(line)


def _rate_held(line: Line) -> float | None:
    return rate_held(line.trial.measurement.steps, line.trial.plan.load.arrivals) if line.trial.measurement else None


def _at_highest_rate(name: str) -> Value:
    """Return a function that reads a response time at the highest offered rate."""

    def value(line: Line) -> object:
        steps = line.trial.measurement.steps if line.valid and line.trial.measurement else ()
        return getattr(steps[-1].response_time_us, name) if steps else None

    return value


def _added(name: str) -> Value:
    return lambda line: line.added_us.get(name)


def _strangers(line: Line) -> str:
    found = line.trial.observed.others.strangers if line.trial.observed.others else ()
    return "; ".join(f"{each.name} {each.pid} {each.cores:g}" for each in found)


LATER = ("arrivals", "rest_s", "fault", "fault_at_s", "fault_s", "share_of_peak", "peak_of")
"""Fields of a load whose columns are near the end, because they were added later."""

COLUMNS: Mapping[str, Value] = {
    "run": _at("run.id"),
    "trial": _at("trial.plan.number"),
    "round": _at("trial.plan.round"),
    "started_at": _at("trial.started_at"),
    "target": _at("target.id"),
    **_fields("target", ("language", "framework", "variant", "category", "tuning", "limits")),
    **_fields("trial.plan", ("scaling", "workload", "load_generator")),
    "generator_version": _generator_version,
    **_fields("trial.plan.load", (name for name in Load.model_fields if name not in LATER)),
    **_fields("trial.plan.cores", ("target", "generator", "shared"), "cores_"),
    "verdict": _at("trial.verdict.kind"),
    "verdict_reasons": lambda line: joined(line.trial.verdict.reasons),
    "measured_s": _at("trial.measurement.duration_s"),
    **_fields("trial.measurement.requests", ("sent", "completed", "ok", "unsent"), "requests_"),
    "errors": _errors,
    "error_kinds": _error_kinds,
    "throughput_rps": _throughput,
    "bytes_received": _at("valid.measurement.bytes_received"),
    **_times("service_time"),
    **_times("response_time"),
    **_times("connect_time"),
    **_fields("trial.observed.target_usage", _USAGE, "target_"),
    "cpu_us_per_request": lambda line: cpu_us_per_request(line.trial) if line.valid else None,
    **_fields("trial.observed.generator_usage", _USAGE, "generator_"),
    "response_bytes": _at("trial.response.size_bytes"),
    "overhead_s": _at("trial.overhead_s"),
    "probe": _at("label"),
    **_fields("facts", (name for name in Facts.model_fields if name != "network")),
    **_fields("trial.observed.network", (name for name in Network.model_fields if name != "fullest_link")),
    "cores_backend": _at("trial.plan.cores.backend"),
    **_fields("trial.observed.backend_usage", _USAGE, "backend_"),
    "rate_held_rps": _rate_held,
    **{f"at_highest_rate_us_{name}": _at_highest_rate(name) for name in _FIGURES},
    **{f"added_us_{name}": _added(name) for name in ADDED},
    **_fields("valid.client.whole", ("wall_s", "user_s", "system_s", "rss_bytes_peak"), "client_"),
    **_fields("valid.client.startup", ("wall_s", "cpu_s"), "client_startup_"),
    # These columns are filled even if the trial doesn't count, because they may show why it doesn't count.
    **_fields("trial.client.done", (name for name in WorkDone.model_fields if name != "first_request"), "client_"),
    **_fields("contained.target.isolation", ("engine", "network"), "container_"),
    **_fields("contained.trial.container", ("cpus", "memory_bytes"), "container_"),
    **_fields("contained.trial.observed.target_usage", ("throttled_s", "group_bytes_peak", "oom_kills"), "container_"),
    **_fields("trial.observed.target_usage", ("rss_bytes_mean", "pss_bytes_mean"), "target_"),
    "workers": _at("trial.plan.workers"),
    "attempt": _at("trial.plan.attempt"),
    "harness_cores": _at("trial.observed.others.harness_cores"),
    "strangers": _strangers,
    "load_host": _at("run.load_host.name"),
    "database": _at("trial.database.system"),
    **_fields("trial.database", ("version", "rows_read", "rows_scanned", "rows_written", "selects"), "database_"),
    "cores_database": _at("trial.plan.cores.database"),
    **_fields("trial.observed.database_usage", _USAGE, "database_"),
    "arrivals": _at("trial.plan.load.arrivals"),
    "backend_requests": _at("trial.observed.backend_requests"),
    "backend_connections": _at("trial.observed.backend_connections"),
    **_fields("trial.observed.network.fullest_link", LinkUse.model_fields, "fullest_link_"),
    "rest_s": _at("trial.plan.load.rest_s"),
    **_fields("valid.startup", Startup.model_fields, "startup_"),
    **_times("first_byte"),
    **_fields("trial.measurement.events", ("count", "streams", "numbered_streams", "lost"), "events_"),
    **_fields("valid.measurement.events.first_us", ("count", *_FIGURES), "first_event_us_"),
    **_fields("valid.measurement.events.between_us", ("count", *_FIGURES), "between_events_us_"),
    **_fields("trial.plan.load", ("fault", "fault_at_s", "fault_s")),
    **_fields("valid.failover", Failover.model_fields, "failover_"),
    **_fields("trial.plan.load", ("share_of_peak", "peak_of")),
    **_fields("kernel", KernelCounts.model_fields, "kernel_"),
}
"""The columns, in order."""


def render_csv(run: Run, trials: Sequence[Trial]) -> str:
    """Render CSV as RFC 4180 specifies, except that lines end with a bare line feed, as in most tools. Missing values are empty."""
    last = last_attempts(trials) if run.table is Table.TCP_PROXIES else []
    baselines = {_way(trial): trial for trial in last if trial.plan.target == run.baseline}
    labels = {trial.plan.target: trial.probed.label for trial in trials if trial.probed}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for trial in trials:
        baseline = baselines.get(_way(trial), trial)
        added = added_us(trial, baseline) if baseline is not trial else {}
        line = Line(run, trial, labels.get(trial.plan.target), facts(trial), added)
        writer.writerow(_text(value(line)) for value in COLUMNS.values())
    return out.getvalue()


def _way(trial: Trial) -> Way:
    """Return the properties that a proxy's trial has in common with the matching trial of the baseline."""
    plan = trial.plan
    scaling = Scaling.MULTI if plan.scaling is Scaling.PREFORK else plan.scaling
    return (plan.round, scaling, plan.workload, plan.load_generator, plan.load)


def _text(value: object) -> object:
    """Return a value as it appears in the file, never as a formula.

    Booleans are ``true`` and ``false``, which JSON, TOML and most CSV readers understand. The items of a tuple are separated by
    spaces.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_MARKS) else value
