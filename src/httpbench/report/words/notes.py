"""Notes on the tables of a run: why rows have no results, what the columns mean, and which caveats apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from httpbench.analysis.evidence import disturbances, memory_is_proportional
from httpbench.analysis.groups import SIZE_TOLERANCE
from httpbench.analysis.rows import Group, Row
from httpbench.load import GENERATORS, TIMERS
from httpbench.model import Isolation, Learned, LearnedRequests, NetworkMode, Run, Table, Trial, Tuning, VerdictKind
from httpbench.report.words.claims import stood_still
from httpbench.report.words.columns import LOWER_BOUND, ODD_SIZE, PARTLY, UPPER_BOUND
from httpbench.report.words.numbers import percentage, plural
from httpbench.report.words.once import once
from httpbench.report.words.reasons import sentences
from httpbench.report.words.run import status
from httpbench.report.words.targets import LIMITS, label, probe_legend, probe_warnings
from httpbench.stats.delayed_acks import waiting_us
from httpbench.stats.disturbance import disturbers
from httpbench.stats.failover import BAD_SHARE, INTERVAL_S, SLOW_S
from httpbench.stats.next_step import NextStep, StepKind, next_step
from httpbench.stats.stalls import hidden_stalls
from httpbench.text import listed, one_line, printable

LOG_LINES = 12
"""Number of log lines shown below a table. The JSON export contains more lines."""

BRIEF_LINES_MAX = 3
FULL_SHARE_MAX = 0.05
"""Maximum share of full handshakes without a note if sessions may be resumed. The first handshakes are always full."""
DISTURBERS_MAX = 5

NETWORKS = {NetworkMode.HOST: "host network", NetworkMode.BRIDGE: "bridge network"}


@dataclass(frozen=True, slots=True)
class RowNote:
    """The reasons for the verdict of a row, with a log and a hint if its rounds have no results."""

    id: str
    kind: VerdictKind
    reasons: tuple[str, ...]
    log: tuple[str, ...]
    """Last lines of the target's log, if a round failed."""
    next_step: str | None = None
    """What the user can try next, or ``None`` if a round is valid or there is no advice."""


def row_notes(group: Group) -> list[RowNote]:
    """Return a note for each row whose verdict has reasons, in table order."""
    return [_row_note(row) for row in _with_reasons(group)]


def _with_reasons(group: Group) -> list[Row]:
    """Return the rows whose verdict has reasons, with those of the baselines that only single rows are compared with."""
    return [row for row in (*group.rows, *group.own_baselines.values()) if row.summary.verdict.reasons]


def legend(found: Sequence[Group], table: Table) -> list[str]:
    """Explain the columns and marks that occur in a run's tables, and list the caveats that apply."""
    rows = [row for group in found for row in group.rows]
    return [
        *_generators(found),
        *_clients(found),
        *_startup(found),
        *_failover(found),
        *_at_shares(found),
        *_meanings(found, table, rows),
        *_kernel_counts(rows),
        *_marks(rows),
        *_whole_trials(found),
        *_stalls(found),
        *_delayed_acks(found),
        *_full_handshakes(found),
        *disturbed_notes(rows),
        *probe_legend(rows),
        *container_notes(rows),
        *_learned(rows),
        *_learned_requests(rows),
        *_limits(rows),
        *_running(rows),
    ]


def _generators(found: Sequence[Group]) -> Iterator[str]:
    measured = {group.load_generator: group for group in found if any(row.latency for row in group.rows)}
    for name, group in measured.items():
        if group.load_generator in GENERATORS:  # a run from a later version may have used a generator that is unknown here
            yield f"Latency ({name}): {GENERATORS[group.load_generator].latency_meaning}"
    for said in once(note for group in found for note in group.generator_notes):
        yield f"{said.text.removesuffix('.')} (in {said.count} trials)." if said.varies else said.text


def _clients(found: Sequence[Group]) -> Iterator[str]:
    rows = [row for group in found for row in group.rows if row.summary.client]
    for name in dict.fromkeys(group.load_generator for group in found if rows and group.load_generator in TIMERS):
        yield f"Time ({name}): the whole process, {TIMERS[name].meaning}"
    if rows:
        yield "Relative: median time as a multiple of the shortest."
        yield "Start-up: the same program with 0 requests. Requests/s and CPU/request (medians over rounds) exclude it."
        yield (
            "Req, Conn, In flight: requests, connections and maximum requests in flight, counted by the reference server. "
            "A client that did other work than required has no results."
        )
    if any(row.summary.verdict.kind is VerdictKind.IDLE for row in rows):
        yield "idle: the client waited for more than half of the time."


def _startup(found: Sequence[Group]) -> Iterator[str]:
    loads = {group.load for group in found if group.load.is_of_startup}
    if not loads:
        return
    rests = listed(sorted({f"{load.rest_s:g} s" for load in loads}))
    yield "Ready: from the execution of the program to the end of its first correct response. First: service time of that request."
    yield "To steady: from the beginning of the load until throughput is within 5% of its final level, in whole tenths of a second."
    yield f"Memory ready, peak, after: after the first response, during the load, and {rests} after the load."
    yield "Size: files of the build, without caches and without programs of the system; in a container, the image."
    yield "Verdict: what limited the load after the start."


def _failover(found: Sequence[Group]) -> Iterator[str]:
    loads = {group.load for group in found if group.load.fault is not None}
    if not loads:
        return
    yield "Failed: requests without a correct response from the failure of the backend to the end; %: of those due until its return."
    bad = f"more than {BAD_SHARE:.0%} of the requests failed or took {SLOW_S:g} s"
    yield f"Avoided after: from the failure of the backend to the end of the last {INTERVAL_S:g} s in which {bad}, before its return."
    yield "Used again after: from the return of the backend until it handled half as many requests per second as before, and continued."
    yield f"{LOWER_BOUND.strip()} before a time: the backend returned before it was avoided, or the load ended before it was used again."


def _at_shares(found: Sequence[Group]) -> Iterator[str]:
    loads = [group.load for group in found if group.load.share_of_peak is not None]
    if not loads:
        return
    yield "Peak: a target's median requests/s without a rate, in this run. Each target has its own rate, so rows are not ranked."
    if any(group.own_baselines for group in found):
        yield "Added at a share of the peak: difference to the backend alone at the same rate, in turns with the proxy."
    if any(load.is_overload for load in loads):
        yield "Goodput: correct responses/s above the peak. Failed: without a correct response, in percent of those that were sent."
        yield "Latency above the peak: service time, because requests wait longer and longer before they are sent."


def _meanings(found: Sequence[Group], table: Table, rows: Sequence[Row]) -> Iterator[str]:
    if any(row.summary.cpu_cores for row in rows):
        kind = "shared pages are split among processes" if memory_is_proportional(found) else "shared pages count once per process"
        yield f"{_CPU_AND_MEMORY[table]}; {kind}."
    if any(group.backend_shared and not group.cores_shared for group in found):
        yield "Too few cores: backend and load generator shared cores, also for the baseline; the proxy had its own."
    if any(group.database_shared and not group.cores_shared for group in found):
        yield "Too few cores: database and load generator shared cores; the target had its own."
    if any(group.load.rate_from_rps is not None for group in found):
        yield "Rising rate: latencies and requests/s are from the highest rate; CPU time is from the whole measurement."
    if any(group.load_origin for group in found):
        yield "Load from another host: latencies include the network between the hosts."
    if any(group.load_origin and group.load_origin.has_backend for group in found):
        yield "Backend on the load host: the baseline does not cross the network, so the overhead of a proxy includes two round trips."
    if any(group.cores_shared for group in found):
        other = "reference server" if any(group.client_work for group in found) else "load generator"
        yield f"Shared cores: target and {other} ran on the same cores, so the results describe both together."


_CPU_AND_MEMORY = {
    Table.HTTP_SERVERS: "CPU: mean over the measurement; 100 is one core. Memory, Memory mean: peak and mean",
    Table.TCP_PROXIES: (
        "CPU: mean cores over the measurement, and µs per request, of proxy, backend and load generator. "
        "Memory, Memory mean: peak and mean of the proxy"
    ),
    Table.COMMANDS: "CPU: mean over the measurement, of the whole process tree; 100 is one core. Memory, Memory mean: peak and mean",
    Table.STARTUP: "Memory: of the whole process tree",
    Table.FAILOVER: "CPU: mean cores of the proxy over the measurement. Memory: peak of the proxy",
    Table.APP_SERVERS: (
        "CPU peak, CPU mean: the highest sample, and the mean over the measurement, of the whole process tree; 100 is one core. "
        "RAM, RAM mean: peak and mean, of the whole process tree"
    ),
}


def _kernel_counts(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.kernel for row in rows):
        yield "Syscalls/req, Switches/req, Writes/req, B/write, Packets/req, Faults/req: counts of the kernel in the profiled round."
    yield from _uncounted_calls(rows)


def _uncounted_calls(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.kernel and row.kernel.syscalls is None for row in rows):
        yield "System calls were not counted: this requires perf and access to the kernel's tracepoints. Run httpbench as root."


def _marks(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.odd_size for row in rows):
        yield f"{ODD_SIZE} Response size differs from that of the other rows by more than {SIZE_TOLERANCE:.0%}."
    if kinds := {row.summary.verdict.kind for row in rows if row.is_lower_bound}:
        named = [f"the {kind}" for kind in (VerdictKind.BACKEND, VerdictKind.DATABASE) if kind in kinds]
        was = "was or nearly was" if VerdictKind.BOTH in kinds else "was"
        marks, limits = f"{LOWER_BOUND.strip()} {UPPER_BOUND.strip()}", " or ".join(["The load generator", *named])
        yield f"{marks} {limits} {was} the limit: the target may be faster than measured."
    if any(row.counts_partly for row in rows):
        yield f"{PARTLY} Some rounds are not valid; results come from the other rounds."
    yield from _parentheses(rows)


def _parentheses(rows: Sequence[Row]) -> Iterator[str]:
    """Explain results in parentheses."""
    if any(row.measured and (row.measured.throughput_rps or row.measured.client) for row in rows):
        without = {row.summary.verdict.kind for row in rows if row.measured}
        kind = " or ".join(kind for kind in (VerdictKind.INVALID, VerdictKind.DISTURBED) if kind in without) or "invalid"
        yield f"(…) Measured in {kind} rounds: not ranked and not compared."


def _whole_trials(found: Sequence[Group]) -> Iterator[str]:
    """Name the targets that took no turns in a table measured in slices."""
    rows = {row.target.id: row for group in found if group.slices for row in group.rows if _is_whole(row)}
    if rows:
        named = ", ".join(label(row.target) for row in rows.values())
        yield f"Measured in whole trials, because their responses can take longer than a slice: {named}."


def _is_whole(row: Row) -> bool:
    return any(trial.plan.slices is None for trial in row.trials)


def _stalls(found: Sequence[Group]) -> Iterator[str]:
    """Name the targets whose p99 hides stalls."""
    with_p99 = [group for group in found if not group.load.is_of_startup]
    hidden = {row.target.id: (row, stalls) for group in with_p99 for row in group.rows if (stalls := hidden_stalls(row.trials))}
    if hidden:
        named = "; ".join(f"{label(row.target)} {stood_still(stalls)}" for row, stalls in hidden.values())
        yield f"p99 hides stalls, which `--rate` shows: {named}."


def _delayed_acks(found: Sequence[Group]) -> Iterator[str]:
    """Name the targets whose responses wait for delayed acknowledgments."""
    waiting = {row.target.id: (row, time_us) for group in found for row in group.rows if (time_us := waiting_us(row.trials)) is not None}
    if waiting:
        named = ", ".join(f"{label(row.target)} ({time_us / 1000:.0f} ms)" for row, time_us in waiting.values())
        yield f"Probably waiting for delayed ACKs (Nagle's algorithm): {named}. Write head and body at once, or set TCP_NODELAY."


def _full_handshakes(found: Sequence[Group]) -> Iterator[str]:
    """Name the targets that often required a full handshake although the load generator offered to resume a session."""
    shares = {row.target.id: (row, _full_share(row)) for group in found if group.load.tls_resumption for row in group.rows}
    often = [f"{label(row.target)} ({percentage(share)})" for row, share in shares.values() if share > FULL_SHARE_MAX]
    if often:
        yield f"Full handshakes instead of resumed sessions: {', '.join(often)}."


def _full_share(row: Row) -> float:
    """Return the share of full handshakes in all handshakes; 0 if unknown."""
    counts = [trial.measurement.tls_handshakes for trial in row.trials if trial.measurement and trial.measurement.tls_handshakes]
    total = sum(count.full + count.resumed for count in counts)
    return sum(count.full for count in counts) / total if total else 0.0


def _limits(rows: Sequence[Row]) -> Iterator[str]:
    """For each limit, list the targets that have it. Also list the targets that are written below their framework's public API."""
    targets = {row.target.id: row.target for row in rows}
    for limit, meaning in LIMITS.items():
        names = sorted(name for name, target in targets.items() if limit in target.limits)
        if names:
            yield f"{limit} ({meaning}): {', '.join(names)}"
    below = sorted(name for name, target in targets.items() if target.tuning is Tuning.ENGINE)
    if below:
        yield f"engine (written below the framework's public API): {', '.join(below)}"


def _learned(rows: Sequence[Row]) -> Iterator[str]:
    """Describe the correct responses that were learned, grouping targets with the same response."""
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
            yield f"Correct response of {', '.join(targets)}, learned: {kept}, and one body of {plural(learned.body_bytes, 'byte')}."


def _learned_requests(rows: Sequence[Row]) -> Iterator[str]:
    """Describe the correct responses that were learned for several requests, grouping targets for which they are alike."""
    names: dict[LearnedRequests, list[str]] = {}
    for row in rows:
        if found := next((trial.learned_requests for trial in row.trials if trial.learned_requests), None):
            own = names.setdefault(found, [])
            own += [] if row.target.framework in own else [row.target.framework]
    for learned, targets in names.items():
        yield f"Correct responses of {', '.join(targets)}, learned {_of_requests(learned)}"


def _of_requests(learned: LearnedRequests) -> str:
    common, requests = learned.common, plural(learned.count, "request")
    if common is None:
        which = f"for each of {requests}" if learned.learned == learned.count else f"for {learned.learned:,} of {requests}"
        if learned.bodies == 0:
            return f"{which}: status and media type. Their bodies change, so bodies were not checked."
        bodies = "body" if learned.bodies == learned.learned else f"the bodies of {learned.bodies:,} of them, which do not change"
        return f"{which}: status, media type and {bodies}."
    kept = f"from {learned.learned:,} of {requests}: status {common.status}" + (f", {common.content_type}" if common.content_type else "")
    if common.body_bytes is None:
        return f"{kept}. Their bodies differ, so bodies were not checked."
    return f"{kept}, and one body of {plural(common.body_bytes, 'byte')}."


def _running(rows: Sequence[Row]) -> Iterator[str]:
    names = sorted({row.target.framework for row in rows if row.target.url is not None})
    if names:
        yield (
            f"{', '.join(names)}: already running and not restarted between rounds, so no interval covers the effects of that one start. "
            "CPU time and memory are unknown."
        )


def _row_note(row: Row) -> RowNote:
    verdict = row.summary.verdict
    reasons = tuple("; ".join(printable(line) for line in reason.splitlines()) for reason in sentences(verdict))
    log = tuple(printable(line) for line in _repeated_once((row.log_tail or "").strip().splitlines())[-LOG_LINES:])
    step = next_step(row.trials)
    return RowNote(row.target.id, verdict.kind, reasons, log, next_step_text(step) if step else None)


def _repeated_once(lines: Sequence[str]) -> list[str]:
    """Replace consecutive equal lines with a single line and a count: ``GET / (20 times)``."""
    runs = [(line, len(list(own))) for line, own in groupby(lines)]
    return [line if count == 1 else f"{line} ({count} times)" for line, count in runs]


# --- in brief -------------------------------------------------------------------------------------------------------------------


def explaining(source: str) -> str:
    """Return the command that shows every note of a run. ``source`` contains the words that name the run."""
    return f"httpbench report {source} --explain"


def brief_notes(run: Run, trials: Sequence[Trial], found: Sequence[Group], source: str = "") -> list[str]:
    """Return at most three lines about missing trials, disturbances, stalls, rows without results, and canned targets.

    ``source`` contains the words that name the run on the command line. If it is empty, the run's id names it.

    If there is room, results in parentheses are explained, too.
    """
    rows = [row for group in found for row in group.rows]
    lines = [
        *status(run, trials),
        *filter(None, [disturbed_note(rows)]),
        *_delayed_acks(found),
        *_full_handshakes(found),
        *_stalls(found),
        *_without_results(found),
        *_warnings(found),
    ]
    if len(lines) < BRIEF_LINES_MAX:
        lines += [*_parentheses(rows), *_uncounted_calls(rows)]
    if len(lines) <= BRIEF_LINES_MAX:
        return lines
    return [*lines[: BRIEF_LINES_MAX - 1], f"{len(lines) - BRIEF_LINES_MAX + 1} more notes: {explaining(source or run.id)}"]


def _without_results(found: Sequence[Group]) -> Iterator[str]:
    """Say why targets have no results, listing each reason once."""
    seen = set()
    for group in found:
        for row in _with_reasons(group):
            if not row.counts and (line := _reason(_row_note(row))) not in seen:
                seen.add(line)
                yield line


def _reason(note: RowNote) -> str:
    parts = ["; ".join(note.reasons), f"hint: {note.next_step}" if note.next_step else "", f"log: {note.log[-1]}" if note.log else ""]
    return f"{note.id} {note.kind}: {' · '.join(filter(None, parts))}"


def _warnings(found: Sequence[Group]) -> Iterator[str]:
    if warnings := probe_warnings(row for group in found for row in group.rows):
        yield f"warning: {'; '.join(warnings)}"


# --- disturbed trials -----------------------------------------------------------------------------------------------------------


def disturbed_notes(rows: Sequence[Row]) -> Iterator[str]:
    """Count the disturbed trials of these rows, and list the programs that disturbed them."""
    found = disturbances(rows)
    repeated, lost, accepted = found.repeated, found.lost, found.accepted
    if repeated:
        yield f"{_were(repeated)} disturbed and repeated{_by(repeated)}."
    if lost:
        yield f"{_were(lost)} disturbed in the last attempt and {'does' if len(lost) == 1 else 'do'} not count{_by(lost)}."
    if accepted:
        yield f"{_were(accepted)} disturbed but {'counts' if len(accepted) == 1 else 'count'} because of `--retries 0`{_by(accepted)}."
    if any(not row.counts and row.summary.verdict.kind is VerdictKind.DISTURBED for row in rows):
        yield "For undisturbed results, run again on a quiet machine or with more `--retries`. `--retries 0` counts disturbed trials."


def disturbed_note(rows: Sequence[Row]) -> str | None:
    """Return a clause with the number of disturbed trials in these rows, or ``None`` if there are none."""
    found = disturbances(rows)
    repeated, lost = found.repeated, found.lost
    if not repeated and not lost:
        return None
    parts = [f"{_were(repeated)} disturbed and repeated"] if repeated else []
    parts += [f"{_were(lost)} disturbed in the last attempt and not counted"] if lost else []
    names = [one_line(each.name) for each in disturbers([*repeated, *lost])]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return ", ".join([*parts, *(f"by {name}{more}" for name in names[:1])])


def _were(trials: Sequence[Trial]) -> str:
    return f"{plural(len(trials), 'trial')} {'was' if len(trials) == 1 else 'were'}"


def _by(trials: Sequence[Trial]) -> str:
    """Return the disturbers as the end of a clause: ``, by spin (pid 4711), up to 0.50 of a core in 3; 2 more``."""
    found = disturbers(trials)
    counted = "" if len(trials) == 1 else " in {}"
    named = [f"{one_line(each.name)}, up to {each.cores:.2f} of a core{counted.format(each.trials)}" for each in found[:DISTURBERS_MAX]]
    if len(found) > DISTURBERS_MAX:
        named.append(f"{len(found) - DISTURBERS_MAX} more")
    return f", by {'; '.join(named)}" if named else ""


# --- containers -----------------------------------------------------------------------------------------------------------------


def container_notes(rows: Sequence[Row]) -> Iterator[str]:
    """Describe each target's container: its limits, how they were checked, and the counters of its control groups."""
    for name, isolation in {row.target.id: row.target.isolation for row in rows if row.target.isolation}.items():
        trials = [trial for row in rows if row.target.id == name for trial in row.trials]
        yield f"{name}: {'; '.join([_container_limits(isolation, trials), *_container_usage(isolation, trials)])}."


def _container_limits(isolation: Isolation, trials: Sequence[Trial]) -> str:
    """Describe limits and their checks: ``docker 20.10.24, --cpus 1, --memory 512m, host network; limits read and tried``."""
    known = [trial.container for trial in trials if trial.container]
    engine = f"{isolation.engine} {known[0].engine_version}" if known else str(isolation.engine)
    memory = f"{isolation.memory_bytes / (1 << 20):g}m"
    parts = f"{engine}, --cpus {isolation.cpus:g}, --memory {memory}, {NETWORKS[isolation.network]}"
    if not known:
        return parts
    burned = [each.burned_cpus for each in known if each.burned_cpus is not None]
    if not burned:
        return f"{parts}; limits read, but not tried, which requires root"
    if not any(each.was_tried for each in known):
        return f"{parts}; limits read; the CPU limit was not tried, because a burn reached only {max(burned):.2f} cores"
    return f"{parts}; limits read, and tried by a burn ({max(burned):.2f} cores)"


def _container_usage(isolation: Isolation, trials: Sequence[Trial]) -> Iterator[str]:
    usages = [trial.observed.target_usage for trial in trials if trial.observed.target_usage]
    if throttled := [usage for usage in usages if usage.throttled_s]:
        share, stopped_s = max((usage.throttled_share or 0, usage.throttled_s or 0) for usage in throttled)
        worst = " (worst round)" if len(usages) > 1 else ""
        yield f"its CPU limit stopped it in {share:.0%} of periods, {stopped_s:.1f} s in all{worst}"
    if peaks := [usage.group_bytes_peak for usage in usages if usage.group_bytes_peak]:
        yield f"peak memory, page cache included, {max(peaks) / 1e6:,.1f} of {isolation.memory_bytes / 1e6:,.0f} MB"


# --- what to try next -----------------------------------------------------------------------------------------------------------


def next_step_text(step: NextStep) -> str:
    """Return the text of a hint, without a period at its end."""
    return NEXT_STEPS[step.step](step)


def _fit_queue(step: NextStep) -> str:
    return f"the server accepts {plural(step.connections or 0, 'connection')} at a time: try `-c {step.connections}`"


NEXT_STEPS: dict[StepKind, Callable[[NextStep], str]] = {
    StepKind.READ_LOG: lambda step: f"its last lines of output are below; try `-c {step.connections}`",
    StepKind.ASK_DATABASE: lambda step: "the target responds from memory: let it query the database for each request",
    StepKind.EXPECT_STATUS: lambda step: f"if the response may change, state what is correct: `--expect-status {step.status}`",
    StepKind.COMPARE_RESPONSE: lambda step: "compare one response with what is expected: `--expect-status`, `--expect-body`",
    StepKind.VERIFY: lambda step: f"`httpbench verify {step.target}` shows what is wrong",
    StepKind.FIT_ACCEPT_QUEUE: _fit_queue,
    StepKind.ALLOW_LATE: lambda step: f"some responses take longer than {step.timeout_now_s:g} s: try `--timeout {step.timeout_s:g}s`",
    StepKind.OFFER_LESS: lambda step: f"offer less: try `--rate {float(f'{step.rate_rps:.2g}'):g}`",
    StepKind.FEWER_CONNECTIONS: lambda step: f"use fewer connections: try `-c {step.connections}`",
    StepKind.ALLOW_MORE_TIME: lambda step: f"give it more time: try `--timeout {step.timeout_s:g}s`",
}
