"""Notes of a table: how the load was made, why rows have no figures, what to consider in a comparison.

Sentences only; the formats decide how to set them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from httpbench.load import TIMERS
from httpbench.model import STEADY_S_MIN, ClientWork, Kind, Learned, Limit, Load, Run, RunStatus, Scaling, Table, Trial, Tuning, VerdictKind
from httpbench.report.numbers import percentage
from httpbench.report.tables.columns import LOWER_BOUND, ODD_SIZE, PARTLY, memory_is_proportional
from httpbench.report.tables.containers import container_notes
from httpbench.report.tables.disturbed import disturbed_notes
from httpbench.report.tables.groups import SIZE_TOLERANCE
from httpbench.report.tables.probes import probe_legend
from httpbench.report.tables.rows import Group, Row
from httpbench.report.words.next_steps import next_step_text
from httpbench.report.words.once import Said, once
from httpbench.report.words.reasons import sentences
from httpbench.stats.figures import P99, THROUGHPUT
from httpbench.stats.next_step import next_step
from httpbench.stats.noise import floor, other_load
from httpbench.text import printable

LIMITS = {
    Limit.NO_ROUTER: "responds to every path alike",
    Limit.NO_METHOD: "responds to every method alike",
    Limit.NO_HEAD: "responds to HEAD with a body",
    Limit.NO_CLOSE: "ignores «Connection: close»",
    Limit.NO_PIPELINING: "responds to only one of several requests that arrive together",
    Limit.NO_SPLIT: "requires a whole request in one read",
    Limit.NO_BODY: "takes the body of a request for further requests",
    Limit.NO_BODY_PIPELINING: "may lose a request that is pipelined behind a body",
    Limit.NO_KEEPALIVE: "opens a new connection for each request",
    Limit.NO_HALF_CLOSE: "closes both directions when one has ended",
    Limit.STALLS: "sometimes keeps the last bytes after the sender has ended",
}

LOG_LINES = 12
"""Of a log's tail below a table; the whole tail is in the JSON export."""


@dataclass(frozen=True, slots=True)
class RowNote:
    """Why a row has the verdict that it has, or why some of its rounds do not count."""

    id: str
    kind: VerdictKind
    reasons: tuple[str, ...]
    log: tuple[str, ...]
    """The last lines of the target's log, where a round failed."""
    next_step: str | None = None
    """What to do if no round is valid."""


def scaling_words(scaling: Scaling, target_cores: int, workers: int | None) -> str:
    """How targets used cores: ``target on 2 cores with 8 workers``, ``one copy of the target on each of 2 cores``."""
    if scaling is Scaling.SINGLE:
        return "target on one core"
    if not target_cores:
        return "target on an unknown number of cores"  # published
    cores = _count(target_cores, "core")
    if scaling is Scaling.MULTI:
        return f"target on {cores}" + (f" with {_count(workers, 'worker')}" if workers else "")
    return f"{_count(workers, 'copy', 'copies')} of the target on {cores}" if workers else f"one copy of the target on each of {cores}"


def title(group: Group) -> str:
    """Workload and load: ``plaintext · target on one core · 64 connections · 10 s``."""
    load = group.load
    if group.client_work is not None:
        return _client_title(group, group.client_work)
    parts = [group.workload, scaling_words(group.scaling, group.target_cores, group.workers), _count(load.connections, "connection")]
    if load.pipeline > 1:
        parts.append(f"{load.pipeline} requests in flight per connection")
    if not load.keepalive:
        parts.append("a new connection for each request")
    if load.requests_per_connection:
        parts.append(f"{load.requests_per_connection} requests per connection")
    if load.rate_rps is not None and load.rate_from_rps is None:
        parts.append(f"offered {load.rate_rps:,.0f} requests/s")
    parts.append(_rising(load) if load.rate_from_rps is not None else f"{load.duration_s:g} s")
    if group.several_generators:
        parts.append(f"by {group.load_generator}")
    if group.scale != 1:
        parts.append(f"scale {group.scale:g} (rates and times of the suite)")
    if group.load_host is not None:
        parts.append(f"load from {group.load_host}")
    if group.cores_shared:
        parts.append("shared cores")
    if group.backend_shared and not group.cores_shared:
        parts.append("backend and load generator share cores")
    if group.database_shared and not group.cores_shared:
        parts.append("database and load generator share cores")
    return " · ".join(parts)


def _rising(load: Load) -> str:
    """``offered 2,000 to 5,000 requests/s, 200 more every 12 s, the last for 12 s``."""
    first, last = load.levels[0], load.levels[-1]
    rise = f"{load.rate_step_rps:,.0f} more every {load.step_s:g} s"
    return f"offered {first.rate_rps:,.0f} to {last.rate_rps:,.0f} requests/s, {rise}, the last for {last.duration_s:g} s"


def method(group: Group) -> str:
    """How it was measured: rounds, warm-up, generator."""
    version = f" {group.generator_version}" if group.generator_version else ""
    if group.client_work is not None:
        rounds = f"mean of {group.rounds} rounds ± standard deviation" if group.rounds > 1 else "1 round"
        return f"{rounds} · timed by {group.load_generator}{version}"
    threads = f", {_count(group.load.threads, 'thread')}" if group.load.threads else ""
    rounds = f"median of {group.rounds} rounds, ± half their range" if group.rounds > 1 else "1 round"
    return f"{rounds} · {_warmup(group.load)} · load generator {group.load_generator}{version}{threads}"


def _warmup(load: Load) -> str:
    if load.warmup_max_s is None:
        return f"warm-up {load.warmup_s:g} s"
    return f"warm-up until steady, {load.warmup_s + STEADY_S_MIN:g} to {load.warmup_max_s:g} s"


def _client_title(group: Group, work: ClientWork) -> str:
    """``client-large · 100 requests for 1,000,000 bytes each, one after the other · one connection``."""
    parts = [group.workload, f"{_count(work.requests, 'request')} for {_count(work.body_bytes, 'byte')} each, one after the other"]
    parts.append("a new connection for each" if work.reconnect else "one connection")
    if group.cores_shared:
        parts.append("shared cores")
    return " · ".join(parts)


def origin(run: Run, trials: Sequence[Trial]) -> list[str]:
    """Where and when the run was made; and whether it is whole."""
    environment = run.environment
    place = f"{environment.hostname}: {environment.cpu_model}, {_count(len(environment.cpus_allowed), 'CPU')}, {environment.os}"
    lines = [f"run {run.id} · {run.started_at[:16].replace('T', ' ')} UTC · httpbench {environment.httpbench_version}"]
    lines.append(f"{place}, kernel {environment.kernel}")
    return [*lines, *status(run, trials), *noise(run, trials)]


def status(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """How much of a run was made, if it is not whole."""
    made = sum(trial.plan.attempt == 0 for trial in trials)
    ended_early = made < len(run.plan) and run.precision is None
    if run.search:
        if run.status is not RunStatus.FINISHED:
            yield f"{run.status} after {_count(made, 'trial')}"
    elif run.status is not RunStatus.FINISHED or ended_early:
        yield f"{run.status}: {made} of {_count(len(run.plan), 'trial')}"


def noise(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """How much identical servers differed on this machine under this load, with as many rounds; or that only another load is known."""
    kinds = {name: workload.kind for name, workload in run.workloads.items()}
    measured = [trial.plan for trial in trials if trial.measurement and kinds.get(trial.plan.workload) is Kind.SERVER]
    if run.noise is None or not measured:
        return
    differences = [other_load(run.noise, plan.load, run.workloads[plan.workload]) for plan in measured]
    alike = [plan for plan, difference in zip(measured, differences, strict=True) if difference is None]
    if not alike:
        yield f"noise under this load is unknown: A/A pairs had another load ({differences[0]})"
        return
    rounds = max(plan.round for plan in alike) + 1
    throughput, p99 = (floor(run.noise, figure.name, rounds) for figure in (THROUGHPUT, P99))
    if throughput is not None:
        also = f", p99 {percentage(p99)}" if p99 is not None else ""
        made = f"A/A of {run.noise.made_at[:10]}, {run.noise.rounds} pairs of {run.noise.duration_s:g} s"
        made += "" if len(alike) == len(measured) else ", for tables under its load only"
        yield f"noise floor with {_count(rounds, 'round')}: throughput {percentage(throughput)}{also} ({made})"


def row_notes(group: Group) -> list[RowNote]:
    """One for each row whose verdict has reasons, in the table's order."""
    return [_row_note(row) for row in group.rows if row.summary.verdict.reasons]


def legend(found: Sequence[Group], table: Table) -> list[str]:
    """What the columns and marks of a run's tables mean, and what to consider; only those that apply."""
    rows = [row for group in found for row in group.rows]
    return [
        *_generators(found),
        *_clients(found),
        *_meanings(found, table, rows),
        *_marks(rows),
        *_struck(rows),
        *disturbed_notes(rows),
        *probe_legend(rows),
        *container_notes(rows),
        *_learned(rows),
        *_limits(rows),
        *_running(rows),
    ]


def _generators(found: Sequence[Group]) -> Iterator[str]:
    measured = {group.load_generator: group for group in found if any(row.latency for row in group.rows)}
    for name, group in measured.items():
        if group.latency_meaning:
            yield f"Latency ({name}): {group.latency_meaning}"
    yield from (_counted(said) for said in once(note for group in found for note in group.generator_notes))


def _counted(said: Said) -> str:
    """With the number of trials, where the trials differ."""
    return f"{said.text.removesuffix('.')} (in {said.count} trials)." if said.varies else said.text


def _clients(found: Sequence[Group]) -> Iterator[str]:
    rows = [row for group in found for row in group.rows if row.summary.client]
    for name in dict.fromkeys(group.load_generator for group in found if rows and group.load_generator in TIMERS):
        yield f"Time ({name}): the whole process, {TIMERS[name].meaning}"
    if rows:
        yield "Relative: mean time in multiples of the shortest; ± σ is that of a ratio of independent figures, as in hyperfine."
        yield "Start-up: the same program with 0 requests. Requests/s and CPU/request (medians over rounds) exclude it."
        yield (
            "Req, Conn, In flight: requests, connections and most requests in flight, counted by the reference server. "
            "A client that did other work than required has no figures."
        )
    if any(row.summary.verdict.kind is VerdictKind.IDLE for row in rows):
        yield "idle: the client used a CPU for less than half of the time, and waited for the rest."


def _meanings(found: Sequence[Group], table: Table, rows: Sequence[Row]) -> Iterator[str]:
    if any(row.summary.cpu_cores for row in rows):
        kind = "shared pages are split among processes" if memory_is_proportional(found) else "shared pages count once per process"
        yield f"{_CPU_AND_MEMORY[table]}; {kind}."
    if any(group.backend_shared and not group.cores_shared for group in found):
        yield "Too few cores: backend and load generator shared theirs, also in the baseline; the proxy had its own."
    if any(group.database_shared and not group.cores_shared for group in found):
        yield "Too few cores: database and load generator shared theirs; the target had its own."
    if any(group.load.rate_from_rps is not None for group in found):
        yield "Rising rate: latencies and requests/s are those at the highest rate; CPU time is over the whole measurement."
    if any(group.load_host for group in found):
        yield "Load from another host: latencies include the network between the two hosts."
    if any(group.backend_there for group in found):
        yield "Backend on the load host: the baseline does not cross the network, so what a proxy adds includes two round trips."
    if any(group.cores_shared for group in found):
        other = "reference server" if any(group.client_work for group in found) else "load generator"
        yield f"Shared cores: target and {other} ran on the same cores, so the figures cover both together."


_CPU_AND_MEMORY = {
    Table.HTTP_SERVERS: "CPU: mean over the measurement; 100 is one core. Memory, Memory mean: peak and mean",
    Table.TCP_PROXIES: (
        "CPU: mean cores over the measurement, and µs per request, of proxy, backend and load generator. "
        "Memory, Memory mean: peak and mean of the proxy"
    ),
    Table.COMMANDS: "CPU: mean over the measurement, of the whole process tree; 100 is one core. Memory, Memory mean: peak and mean",
    Table.APP_SERVERS: (
        "CPU peak, CPU mean: the highest sample, and the mean over the measurement, of the whole process tree; 100 is one core. "
        "RAM, RAM mean: peak and mean, of the whole process tree"
    ),
}


def _marks(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.odd_size for row in rows):
        yield f"{ODD_SIZE} Response size differs from the others' by more than {SIZE_TOLERANCE:.0%}."
    if any(row.is_lower_bound for row in rows):
        yield f"{LOWER_BOUND.strip()} {_limits_named(rows)} the limit: the target can do more, and its rank may be too low."
    if any(row.counts_partly for row in rows):
        yield f"{PARTLY} Some rounds are not valid; the figures come from the others."


def _struck(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.measured and (row.measured.throughput_rps or row.measured.client) for row in rows):
        yield f"(…) Measured in {_not_counting(rows)} rounds: not ranked and not compared."


def _not_counting(rows: Sequence[Row]) -> str:
    kinds = {row.summary.verdict.kind for row in rows if row.measured}
    return " or ".join(kind for kind in (VerdictKind.INVALID, VerdictKind.DISTURBED) if kind in kinds) or "invalid"


def _limits_named(rows: Sequence[Row]) -> str:
    kinds = {row.summary.verdict.kind for row in rows if row.is_lower_bound}
    named = [f"the {kind}" for kind in (VerdictKind.BACKEND, VerdictKind.DATABASE) if kind in kinds]
    subject = " or ".join(["The load generator", *named])
    return f"{subject} was or nearly was" if VerdictKind.BOTH in kinds else f"{subject} was"


def _limits(rows: Sequence[Row]) -> Iterator[str]:
    """What some targets do not do and others do."""
    targets = {row.target.id: row.target for row in rows}
    for limit, meaning in LIMITS.items():
        names = sorted(name for name, target in targets.items() if limit in target.limits)
        if names:
            yield f"{limit} ({meaning}): {', '.join(names)}"
    below = sorted(name for name, target in targets.items() if target.tuning is Tuning.ENGINE)
    if below:
        yield f"engine (written below the framework's public API): {', '.join(below)}"


def _learned(rows: Sequence[Row]) -> Iterator[str]:
    """Which response was correct, where the workload does not say: once for targets that are alike."""
    names: dict[Learned, list[str]] = {}
    for row in rows:
        if found := next((trial.learned for trial in row.trials if trial.learned), None):
            own = names.setdefault(found, [])
            own += [] if row.target.framework in own else [row.target.framework]
    for learned, targets in names.items():
        kept = f"status {learned.status}" + (f", {learned.content_type}" if learned.content_type else "")
        if learned.body_bytes is None:
            yield f"Correct response of {', '.join(targets)}, learned: {kept}. Its body changes, so bodies were not checked."
        else:
            yield f"Correct response of {', '.join(targets)}, learned: {kept}, and one body of {_count(learned.body_bytes, 'byte')}."


def _running(rows: Sequence[Row]) -> Iterator[str]:
    names = sorted({row.target.framework for row in rows if row.target.url is not None})
    if names:
        yield (
            f"{', '.join(names)}: already running, and not restarted between rounds. Effects of that one start are in all figures, "
            "and no interval covers them. CPU time and memory are unknown."
        )


def _row_note(row: Row) -> RowNote:
    verdict = row.summary.verdict
    reasons = tuple("; ".join(printable(line) for line in reason.splitlines()) for reason in sentences(verdict))
    log = tuple(printable(line) for line in _repeated_once((row.log_tail or "").strip().splitlines())[-LOG_LINES:])
    step = next_step(row.trials)
    return RowNote(row.target.id, verdict.kind, reasons, log, next_step_text(step) if step else None)


def _repeated_once(lines: Sequence[str]) -> list[str]:
    """Lines that repeat become one: ``GET / (20 times)``."""
    runs = [(line, len(list(own))) for line, own in groupby(lines)]
    return [line if count == 1 else f"{line} ({count} times)" for line, count in runs]


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"
