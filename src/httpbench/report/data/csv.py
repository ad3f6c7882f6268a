"""One line for each trial, for spreadsheets and data frames. Names and order of the columns are stable.

A trial that doesn't count keeps its counts and errors, but has no throughput, bytes or latencies, so that the mean of a column ignores it.

A spreadsheet would evaluate text like ``=1+1``, which may occur in a log line. A leading apostrophe prevents that.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from httpbench.model import (
    DatabaseRun,
    Distribution,
    Label,
    LinkUse,
    Load,
    Measurement,
    Network,
    Others,
    Run,
    Scaling,
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
Value = str | int | float | bool | None

_NOT_IN_COLUMNS = ("count", "histogram", "p2_5", "p97_5", "resolution_us")
_FIGURES = tuple(name for name in Distribution.model_fields if name not in _NOT_IN_COLUMNS)
_TIMES = ("service_time", "response_time", "connect_time")
_LOAD = tuple(name for name in Load.model_fields if name != "arrivals")
_USAGE_OF_VERDICTS = ("samples", "throttled_samples_s", "cpu_wait_cores_mean", "threads", "thread_cores_max", "throttled_share")
_USAGE_OF_CONTAINERS = ("throttled_s", "group_bytes_peak", "oom_kills")
_MEMORY_MEAN = ("rss_bytes_mean", "pss_bytes_mean")
_USAGE = tuple(name for name in Usage.model_fields if name not in (*_USAGE_OF_VERDICTS, *_USAGE_OF_CONTAINERS, *_MEMORY_MEAN))
_FACTS = tuple(name for name in Facts.model_fields if name != "network")
_NETWORK = tuple(name for name in Network.model_fields if name != "fullest_link")
_LINK = tuple(f"fullest_link_{name}" for name in LinkUse.model_fields)

_CLIENT = tuple(f"client_{name}" for name in ("wall_s", "user_s", "system_s", "rss_bytes_peak", "startup_wall_s", "startup_cpu_s"))
_WORK_DONE = tuple(name for name in WorkDone.model_fields if name != "first_request")
_CONTAINER = tuple(f"container_{name}" for name in ("engine", "network", "cpus", "memory_bytes"))

HEADER = (
    *("run", "trial", "round", "started_at"),
    *("target", "language", "framework", "variant", "category", "tuning", "limits"),
    *("scaling", "workload", "load_generator", "generator_version", *_LOAD),
    *("cores_target", "cores_generator", "cores_shared", "verdict", "verdict_reasons"),
    *("measured_s", "requests_sent", "requests_completed", "requests_ok", "requests_unsent", "errors", "error_kinds"),
    *("throughput_rps", "bytes_received"),
    *(column for times in _TIMES for column in (f"{times}_count", *(f"{times}_us_{name}" for name in _FIGURES))),
    *(f"target_{name}" for name in _USAGE),
    *("cpu_us_per_request", *(f"generator_{name}" for name in _USAGE), "response_bytes", "overhead_s"),
    "probe",
    *_FACTS,
    *_NETWORK,
    *("cores_backend", *(f"backend_{name}" for name in _USAGE)),
    *("rate_held_rps", *(f"at_highest_rate_us_{name}" for name in _FIGURES)),
    *(f"added_us_{name}" for name in ADDED),
    *_CLIENT,
    *(f"client_{name}" for name in _WORK_DONE),
    *_CONTAINER,
    *(f"container_{name}" for name in _USAGE_OF_CONTAINERS),
    *(f"target_{name}" for name in _MEMORY_MEAN),
    "workers",
    *("attempt", "harness_cores", "strangers"),
    "load_host",
    *("database", "database_version", "database_rows_read", "database_rows_scanned", "database_rows_written"),
    *("cores_database", *(f"database_{name}" for name in _USAGE)),
    *("arrivals", "backend_requests"),
    *_LINK,
)
"""The columns, in order."""


FORMULA_MARKS = ("=", "+", "-", "@", "\t")
"""First characters of formulas (OWASP, "CSV Injection")."""


def render_csv(run: Run, trials: Sequence[Trial]) -> str:
    """Render CSV as in RFC 4180, but with bare line feeds, as most tools write it. Missing values are empty."""
    baselines = _baselines(run, trials)
    labels = {trial.plan.target: trial.probed.label for trial in trials if trial.probed}
    lines = [_line(run, trial, labels) | _added(trial, baselines.get(_way(trial))) for trial in trials]
    out = io.StringIO()
    writer = csv.DictWriter(out, HEADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _not_a_formula(value) for name, value in line.items()} for line in lines)
    return out.getvalue()


def _line(run: Run, trial: Trial, labels: Mapping[str, Label | None]) -> dict[str, Value]:
    plan = trial.plan
    return {
        "run": run.id,
        "trial": plan.number,
        "round": plan.round,
        "started_at": trial.started_at,
        **_of_target(run.targets[plan.target]),
        "scaling": plan.scaling,
        "workload": plan.workload,
        "load_generator": plan.load_generator,
        "generator_version": trial.measurement.generator_version if trial.measurement else None,
        **{name: _plain(value) for name, value in plan.load},
        "cores_target": _numbers(plan.cores.target),
        "cores_generator": _numbers(plan.cores.generator),
        "cores_shared": _plain(plan.cores.shared),
        "verdict": trial.verdict.kind,
        "verdict_reasons": joined(trial.verdict.reasons),
        **_of_measurement(trial.measurement, counts=trial.verdict.counts),
        **_of_usage("target", trial.observed.target_usage),
        "cpu_us_per_request": cpu_us_per_request(trial) if trial.verdict.counts else None,
        **_of_usage("generator", trial.observed.generator_usage),
        "response_bytes": trial.response.size_bytes if trial.response else None,
        "overhead_s": trial.overhead_s,
        "probe": labels.get(plan.target),
        **_of_facts(trial),
        "cores_backend": _numbers(plan.cores.backend),
        **_of_usage("backend", trial.observed.backend_usage),
        **_of_steps(trial),
        **_of_client(trial),
        **_of_container(run.targets[plan.target], trial),
        **{f"target_{name}": getattr(trial.observed.target_usage, name, None) for name in _MEMORY_MEAN},
        "workers": plan.workers,
        "attempt": plan.attempt,
        **_of_others(trial.observed.others),
        "load_host": run.load_host.name if run.load_host else None,
        **_of_database(trial.database),
        "cores_database": _numbers(plan.cores.database),
        **_of_usage("database", trial.observed.database_usage),
        "backend_requests": trial.observed.backend_requests,
    }


def _of_database(database: DatabaseRun | None) -> dict[str, Value]:
    if database is None:
        return {}
    return {
        "database": database.system,
        "database_version": database.version,
        "database_rows_read": database.rows_read,
        "database_rows_scanned": database.rows_scanned,
        "database_rows_written": database.rows_written,
    }


def _of_others(others: Others | None) -> dict[str, Value]:
    strangers = others.strangers if others else ()
    return {
        "harness_cores": others.harness_cores if others else None,
        "strangers": "; ".join(f"{one.name} {one.pid} {one.cores:g}" for one in strangers),
    }


def _of_container(target: Target, trial: Trial) -> dict[str, Value]:
    """Return the limits in force and the counters of the control groups."""
    if target.isolation is None or trial.container is None:
        return {}
    limits = (target.isolation.engine, target.isolation.network, trial.container.cpus, trial.container.memory_bytes)
    counted = {f"container_{name}": getattr(trial.observed.target_usage, name, None) for name in _USAGE_OF_CONTAINERS}
    return {**dict(zip(_CONTAINER, limits, strict=True)), **counted}


def _of_client(trial: Trial) -> dict[str, Value]:
    """Return the times if the trial counts, and the client's work in any case, because it may be why the trial doesn't count."""
    client = trial.client
    if client is None:
        return {}
    whole, startup = client.whole, client.startup
    figures = (whole.wall_s, whole.user_s, whole.system_s, whole.rss_bytes_peak, startup.wall_s, startup.cpu_s)
    return {
        "generator_version": client.timer_version,
        "throughput_rps": client.requests_rps if trial.verdict.counts else None,
        **(dict(zip(_CLIENT, figures, strict=True)) if trial.verdict.counts else {}),
        **{f"client_{name}": getattr(client.done, name) for name in _WORK_DONE},
    }


def _way(trial: Trial) -> Way:
    """Return what a proxy's trial shares with its baseline."""
    plan = trial.plan
    scaling = Scaling.MULTI if plan.scaling is Scaling.PREFORK else plan.scaling
    return (plan.round, scaling, plan.workload, plan.load_generator, plan.load)


def _baselines(run: Run, trials: Sequence[Trial]) -> dict[Way, Trial]:
    """Return the trials of the proxies' baseline."""
    last = last_attempts(trials)
    return {_way(trial): trial for trial in last if run.table is Table.TCP_PROXIES and trial.plan.target == run.baseline}


def _added(trial: Trial, baseline: Trial | None) -> dict[str, Value]:
    found = added_us(trial, baseline) if baseline is not None and baseline is not trial else {}
    return {f"added_us_{name}": found.get(name) for name in ADDED}


def _of_steps(trial: Trial) -> dict[str, Value]:
    """Return the highest rate that was held, and the response times at the highest rate that was offered."""
    steps = trial.measurement.steps if trial.measurement else ()
    highest = steps[-1].response_time_us if steps and trial.verdict.counts else None
    return {
        "rate_held_rps": rate_held(steps, trial.plan.load.arrivals),
        **{f"at_highest_rate_us_{name}": getattr(highest, name, None) for name in _FIGURES},
    }


def _of_target(target: Target) -> dict[str, Value]:
    return {
        "target": target.id,
        "language": target.language,
        "framework": target.framework,
        "variant": target.variant,
        "category": target.category,
        "tuning": target.tuning,
        "limits": " ".join(target.limits),
    }


def _of_measurement(measurement: Measurement | None, *, counts: bool) -> dict[str, Value]:
    shown = measurement if counts else None
    requests = measurement.requests if measurement else None
    return {
        "measured_s": measurement.duration_s if measurement else None,
        "requests_sent": requests.sent if requests else None,
        "requests_completed": requests.completed if requests else None,
        "requests_ok": requests.ok if requests else None,
        "requests_unsent": requests.unsent if requests else None,
        "errors": failed_requests(measurement) if measurement else None,
        "error_kinds": _pairs(measurement.errors) if measurement else None,
        "throughput_rps": shown.throughput_rps if shown else None,
        "bytes_received": shown.bytes_received if shown else None,
        **{column: value for times in _TIMES for column, value in _of_times(times, shown).items()},
    }


def _of_times(times: str, measurement: Measurement | None) -> dict[str, Value]:
    distribution: Distribution | None = getattr(measurement, f"{times}_us", None)
    figures = {f"{times}_us_{name}": getattr(distribution, name, None) for name in _FIGURES}
    return {f"{times}_count": distribution.count if distribution else None, **figures}


def _of_usage(who: str, usage: Usage | None) -> dict[str, Value]:
    return {f"{who}_{name}": getattr(usage, name, None) for name in _USAGE}


def _of_facts(trial: Trial) -> dict[str, Value]:
    known = facts(trial)
    link = trial.observed.network.fullest_link if trial.observed.network else None
    return {
        **{name: getattr(known, name, None) for name in _FACTS},
        **{name: getattr(trial.observed.network, name, None) for name in _NETWORK},
        **{f"fullest_link_{name}": getattr(link, name, None) for name in LinkUse.model_fields},
    }


def _not_a_formula(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_MARKS) else value


def _pairs(counts: Mapping[str, int]) -> str:
    return " ".join(f"{name}={count}" for name, count in sorted(counts.items()) if count)


def _numbers(cpus: Sequence[int]) -> str:
    return " ".join(map(str, cpus))


def _plain(value: Value) -> Value:
    """Format Booleans as ``true`` and ``false``, which JSON, TOML and most CSV readers understand."""
    return str(value).lower() if isinstance(value, bool) else value
