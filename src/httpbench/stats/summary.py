"""Summarize the rounds of a cell: the median of each result over the valid rounds, and their spread.

The unit of replication is the round, not the request. A million requests to the same process share its memory layout, its cache placement
and the state of the machine, so an interval over requests would be narrow but wrong. Rounds that don't count (invalid, failed or disturbed)
are never part of a median. The summary contains the number of rounds that count. Results are never the best of several rounds.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field, ValidationError

from httpbench.model import (
    ENDINGS,
    Distribution,
    Events,
    Failover,
    Frozen,
    Load,
    Measurement,
    Reason,
    ReasonKind,
    Scaling,
    Startup,
    Trial,
    Usage,
    Verdict,
    VerdictKind,
)
from httpbench.stats.clients import ClientSummary, summarize_clients
from httpbench.stats.evidence import evidence_of
from httpbench.stats.histogram import merged, merged_intervals
from httpbench.stats.interval import ConfidenceInterval, interval
from httpbench.stats.steady import not_shown_steady, unsteady
from httpbench.stats.validity import failed_requests, rate_held
from httpbench.stats.withheld import WITHHELD, withheld, withheld_in_rounds

NOT_THE_TARGETS_ALONE = (VerdictKind.GENERATOR, VerdictKind.BOTH)
"""Verdicts that apply to the whole row even if only one round has them, because then the median no longer describes the target alone."""


WORST_FIRST = (VerdictKind.INVALID, VerdictKind.FAILED, VerdictKind.DISTURBED)
"""Verdicts of rounds that don't count. If no round counts, the row gets the first of these verdicts that any round has."""

FAILOVER_FIGURES = ("failed", "failed_share", "slow", "avoided_s", "used_again_s", "worst_us")
"""Results that are copied from :class:`Failover`."""

USED = ("cpu_cores_peak", "pss_bytes_peak", "rss_bytes_mean", "pss_bytes_mean")
"""Results that are copied from the target's :class:`Usage`."""


class Estimate(Frozen):
    """The statistics of a result over the rounds that have it."""

    median: float
    """Median over rounds."""
    min: float
    """Lowest value of any round."""
    max: float
    """Highest value of any round."""
    spread: float | None
    """(max − min) / 2 / median, shown in the Range column. Null: a single round, or a median of 0."""
    rounds: int
    """Number of rounds that have the result."""
    interval: ConfidenceInterval | None = None
    """95% confidence interval of the geometric mean over rounds. Null: fewer than three rounds."""

    @property
    def margin(self) -> float | None:
        """Smallest relative margin around the median that covers the interval: 0.02 is "± 2%". ``None``: no interval.

        It is half the interval's width if the median is in the middle of the interval, on a logarithmic scale.
        """
        if self.interval is None:
            return None
        if self.interval.low <= 0 or self.median <= 0:
            return math.inf
        return max(self.interval.high / self.median, self.median / self.interval.low, 1.0) - 1

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Estimate | None:
        """Return the estimate from one value per round, ignoring ``None``; ``None`` if no round has a value."""
        present = [float(value) for value in values if value is not None]
        if not present:
            return None
        median, low, high = statistics.median(present), min(present), max(present)
        spread = (high - low) / 2 / median if len(present) > 1 and median > 0 else None
        return cls(median=median, min=low, max=high, spread=spread, rounds=len(present), interval=interval(sorted(present)))


Cell = tuple[str, Scaling, str, str, Load]

OverRounds = Annotated[Estimate | None, Field(description="Estimate over rounds. Null: a round lacks this statistic.")]


class Latency(Frozen):
    """Times in µs: an estimate over rounds for each statistic, and one distribution of the samples of all rounds."""

    min: OverRounds
    mean: OverRounds
    stddev: OverRounds
    max: OverRounds
    tm99_9: OverRounds
    """Mean without the lowest and the highest 0.1% of samples. Null: a round lacks this mean."""
    p25: OverRounds
    p50: OverRounds
    p75: OverRounds
    p90: OverRounds
    p95: OverRounds
    p99: OverRounds
    p99_9: OverRounds
    p99_99: OverRounds
    merged: Distribution | None
    """Distribution of all samples of the rounds that count. Null: a round kept no histogram."""
    merged_intervals: dict[str, ConfidenceInterval]
    """95% confidence intervals of the percentiles in ``merged``, by name."""


class FailoverSummary(Frozen):
    """How a proxy handled the failure of one of its two backends, over the rounds that count."""

    failed: Estimate
    """Number of failed requests."""
    failed_share: Estimate
    """``failed``, relative to the number of requests that were due while the backend was broken."""
    slow: Estimate
    """Number of slow responses."""
    avoided_s: Estimate
    """Time until the proxy avoided the failed backend, in seconds. In rounds in which it didn't, the time until the backend's return."""
    rounds_avoided: int
    """Number of rounds in which the proxy avoided the failed backend."""
    used_again_s: Estimate
    """Time until the proxy used the returned backend again, in seconds. In rounds in which it didn't, the time until the end."""
    rounds_used_again: int
    """Number of rounds in which the proxy used the returned backend again."""
    worst_us: Estimate | None
    """Longest response time, in µs. Null: not reported."""

    @classmethod
    def of(cls, rounds: Sequence[Failover]) -> FailoverSummary | None:
        """Return the summary of the rounds, or ``None`` if there are none."""
        estimates = {name: Estimate.of(getattr(each, name) for each in rounds) for name in FAILOVER_FIGURES}
        if None in [estimates[name] for name in FAILOVER_FIGURES if name != "worst_us"]:
            return None
        counts = {"rounds_avoided": sum(each.avoided for each in rounds), "rounds_used_again": sum(each.used_again for each in rounds)}
        return cls.model_validate(estimates | counts)


class Summary(Frozen):
    """The results of one cell of a run. ``None``: not measured, or no round counts."""

    target: str
    """Id of the target."""
    scaling: Scaling
    """Scaling of the target over its cores."""
    workload: str
    """Name of the workload."""
    load_generator: str
    """Name of the load generator, or of the timer for clients."""
    load: Load
    """Load of the trials."""
    rounds: int
    """Number of rounds that were run, including rounds that don't count."""
    rounds_counting: int
    """Number of rounds that count."""
    verdict: Verdict
    """Most common verdict of the rounds that count, or ``generator`` or ``both`` if a round has it. If no round counts, the verdict shows
    why."""
    client: ClientSummary | None = None
    """Times of a client, in place of latencies. Null: the target isn't a client, or no round counts."""
    throughput_rps: Estimate | None
    """Correct responses per second. Of event streams: events per second. If the rate rises, only the highest step counts. A client's
    start-up time is excluded."""
    bytes_per_s: Estimate | None
    """Bytes received per second, as the load generator counts them. Most load generators include headers."""
    requests: Estimate | None
    """Number of complete responses per round."""
    errors: Estimate | None
    """Number of requests without a correct response per round."""
    service_time_us: Latency | None
    """Service times, in µs."""
    response_time_us: Latency | None
    """Response times, in µs. If the rate rises, only the highest step counts. Null: closed loop."""
    first_byte_us: Latency | None = None
    """Times to the first byte, in µs. Null: not reported, or the rate rises."""
    first_event_us: Latency | None = None
    """Times to the first event of a stream, in µs. Null: the responses aren't event streams."""
    between_events_us: Latency | None = None
    """Times between successive events of a stream, in µs. Null: the responses aren't event streams."""
    events_lost: Estimate | None = None
    """Number of lost events per round. Null: the responses aren't event streams, or the ids don't show lost events."""
    rate_held_rps: Estimate | None = None
    """Highest step of a rising rate that the target held, in requests/s. The estimate includes rounds that don't count because the target
    missed the last step. Null: the rate doesn't rise."""
    cpu_cores: Estimate | None
    """Mean CPU use of the target's whole process tree, in cores."""
    cpu_cores_peak: Estimate | None
    """Highest CPU use of the target in one sample, in cores."""
    cpu_us_per_request: Estimate | None
    """CPU time of the target per complete response, in µs. The CPU time of a client's start-up is excluded."""
    generator_cpu_cores: Estimate | None
    """Mean CPU use of the load generator, in cores."""
    generator_cpu_us_per_request: Estimate | None = None
    """CPU time of the load generator per complete response, in µs."""
    backend_cpu_cores: Estimate | None = None
    """Mean CPU use of the server behind a proxy, in cores. Null: no proxy."""
    backend_cpu_us_per_request: Estimate | None = None
    """CPU time of the server behind a proxy per complete response, in µs. Null: no proxy."""
    database_cpu_cores: Estimate | None = None
    """Mean CPU use of the target's database, in cores. Null: no database."""
    database_cpu_us_per_request: Estimate | None = None
    """CPU time of the target's database per complete response, in µs. Null: no database."""
    rss_bytes_peak: Estimate | None
    """Peak resident memory of the target, summed over its processes, in bytes."""
    pss_bytes_peak: Estimate | None
    """Peak memory of the target with shared pages split among processes, in bytes. Null: the kernel does not report it."""
    rss_bytes_mean: Estimate | None = None
    """Mean resident memory of the target, summed over its processes, in bytes. Null: not measured."""
    pss_bytes_mean: Estimate | None = None
    """Mean memory of the target with shared pages split among processes, in bytes. Null: the kernel does not report it."""
    ready_s: Estimate | None = None
    """Time from the execution of a server to the end of its first correct response, in seconds. Null: start-up wasn't measured."""
    first_us: Estimate | None = None
    """Service time of a server's first request, in µs. Null: start-up wasn't measured."""
    steady_s: Estimate | None = None
    """Time from the beginning of the load until throughput was within 5% of its final level, in seconds. Null: start-up wasn't measured, or
    no round shows this time."""
    rss_bytes_ready: Estimate | None = None
    """Resident memory after the first response, summed over processes, in bytes. Null: start-up wasn't measured."""
    pss_bytes_ready: Estimate | None = None
    """Memory after the first response, with shared pages split among processes, in bytes. Null: start-up wasn't measured, or the kernel
    does not report it."""
    rss_bytes_rest: Estimate | None = None
    """Resident memory after the load and a rest, summed over processes, in bytes. Null: start-up wasn't measured."""
    pss_bytes_rest: Estimate | None = None
    """Memory after the load and a rest, with shared pages split among processes, in bytes. Null: start-up wasn't measured, or the kernel
    does not report it."""
    installed_bytes: Estimate | None = None
    """Size of the target's image or of the files of its build, in bytes. Null: start-up wasn't measured, or nothing was built."""
    failover: FailoverSummary | None = None
    """How a proxy handled the failure of one of its two backends. Null: no backend failed, or no round counts."""


def cells(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Group trials by cell in order of first appearance, sorted by round and then by attempt."""
    found: dict[Cell, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.plan.cell, []).append(trial)
    return [sorted(rounds, key=lambda trial: (trial.plan.round, trial.plan.attempt)) for rounds in found.values()]


def last_attempts(trials: Iterable[Trial]) -> list[Trial]:
    """Return the last attempt of each cell and round, in the order of the first attempts. Only disturbed attempts are repeated."""
    found: dict[tuple[Cell, int], Trial] = {}
    for trial in trials:
        place = (trial.plan.cell, trial.plan.round)
        if place not in found or trial.plan.attempt > found[place].plan.attempt:
            found[place] = trial
    return list(found.values())


def summarize(trials: Sequence[Trial], *, invalid: bool = False) -> Summary:
    """Return the summary of one cell.

    Args:
        trials: The last attempt of each round. There must be at least one, and all must belong to the same cell.
        invalid: Include measured rounds that don't count. Such a summary must never be compared with another one.
    """
    if len({trial.plan.cell for trial in trials}) != 1:
        raise ValueError("summarize takes the rounds of exactly one cell")
    plan = trials[0].plan
    counting = [trial for trial in trials if trial.measurement or trial.client] if invalid else _counting(trials)
    clients = [trial.client for trial in counting if trial.client is not None]
    usages = [trial.observed.target_usage for trial in counting if trial.observed.target_usage is not None]
    return Summary(
        target=plan.target,
        scaling=plan.scaling,
        workload=plan.workload,
        load_generator=plan.load_generator,
        load=plan.load,
        rounds=len(trials),
        rounds_counting=len(_counting(trials)),
        verdict=overall(trials),
        client=summarize_clients(clients),
        throughput_rps=Estimate.of(_throughput_rps(trial) for trial in counting),
        bytes_per_s=_measured(counting, bytes_per_s),
        requests=_measured(counting, lambda measurement: measurement.requests.completed),
        errors=_measured(counting, failed_requests),
        service_time_us=_latency(_service_times_us(counting)),
        response_time_us=_latency(_response_times_us(counting)),
        first_byte_us=_latency(_first_byte_us(counting)),
        first_event_us=_latency([each.first_us for each in _events(counting)]),
        between_events_us=_latency([each.between_us for each in _events(counting)]),
        events_lost=Estimate.of(each.lost for each in _events(counting)),
        rate_held_rps=Estimate.of(_rate_held_rps(trial) for trial in trials),
        cpu_cores=Estimate.of(_cores(trial.observed.target_usage) for trial in counting),
        cpu_us_per_request=Estimate.of(cpu_us_per_request(trial) for trial in counting),
        generator_cpu_cores=Estimate.of(_cores(trial.observed.generator_usage) for trial in counting),
        generator_cpu_us_per_request=Estimate.of(_us_per_request(trial.observed.generator_usage, trial) for trial in counting),
        backend_cpu_cores=Estimate.of(_cores(trial.observed.backend_usage) for trial in counting),
        backend_cpu_us_per_request=Estimate.of(_us_per_request(trial.observed.backend_usage, trial) for trial in counting),
        database_cpu_cores=Estimate.of(_cores(trial.observed.database_usage) for trial in counting),
        database_cpu_us_per_request=Estimate.of(_us_per_request(trial.observed.database_usage, trial) for trial in counting),
        rss_bytes_peak=Estimate.of(rss_bytes_peak(trial) for trial in counting),
        **{name: Estimate.of(getattr(usage, name) for usage in usages) for name in USED},
        **{name: Estimate.of(getattr(trial.startup, name, None) for trial in counting) for name in Startup.model_fields},
        failover=FailoverSummary.of([trial.failover for trial in counting if trial.failover is not None]),
    )


def with_merged(summary: Summary, trials: Sequence[Trial]) -> Summary:
    """Return the summary with the merged histograms of all rounds.

    Merging takes milliseconds per summary, so call this function only if the merged histograms are shown.
    """
    counting = _counting(trials)
    update = {
        name: latency.model_copy(update={"merged": merged(rounds), "merged_intervals": merged_intervals(rounds)})
        for name, latency, rounds in (
            ("service_time_us", summary.service_time_us, _service_times_us(counting)),
            ("response_time_us", summary.response_time_us, _response_times_us(counting)),
            ("first_byte_us", summary.first_byte_us, _first_byte_us(counting)),
            ("first_event_us", summary.first_event_us, [each.first_us for each in _events(counting)]),
            ("between_events_us", summary.between_events_us, [each.between_us for each in _events(counting)]),
        )
        if latency is not None
    }
    return summary.model_copy(update=update)


def overall(trials: Sequence[Trial]) -> Verdict:
    """Return the verdict of a cell: the most common verdict of its valid rounds, or ``generator`` or ``both`` if a single round has it.

    If the generator limited some rounds, the median no longer describes the target alone. The reasons list rounds with another verdict,
    rounds that weren't steady or weren't shown to be steady, and rounds that don't count.
    """
    counting = [trial.verdict for trial in trials if trial.verdict.counts]
    dropped = [trial.verdict for trial in trials if not trial.verdict.counts]
    if not counting:
        kind = next(kind for kind in WORST_FIRST if kind in {verdict.kind for verdict in dropped})
        has_disturbed = any(map(_is_disturbed, dropped))
        reasons = _notes_on_dropped(dropped, len(trials)) if has_disturbed else _reasons(verdict.reasons for verdict in dropped)
        return Verdict(kind=kind, reasons=tuple(reasons))
    kinds = Counter(verdict.kind for verdict in counting)
    kind = next((kind for kind in NOT_THE_TARGETS_ALONE if kind in kinds), kinds.most_common(1)[0][0])
    notes: list[Reason] = []
    if len(kinds) > 1:
        notes.append(Reason.of(ReasonKind.ROUNDS_DIFFER, verdicts={str(name): count for name, count in kinds.most_common()}))
    for how, why in ((ReasonKind.NOT_STEADY, unsteady), (ReasonKind.NOT_SHOWN_STEADY, not_shown_steady)):
        found = [reason for trial in trials if trial.verdict.counts and (reason := why(trial))]
        if found:
            notes.append(Reason.of(how, reason=found[0].dumped, found=len(found), rounds=len(counting)))
    notes += _notes_on_dropped(dropped, len(trials))
    notes += withheld_in_rounds([trial for trial in trials if trial.verdict.counts])
    of_kind = [_without_withheld(trial) for trial in trials if trial.verdict.kind is kind]
    own = _reasons(of_kind, len(of_kind))
    return Verdict(kind=kind, reasons=(*notes, *own[:1], *(reason for reason in own[1:] if _first_of(reason).kind in ENDINGS)))


def bytes_per_s(measurement: Measurement) -> float | None:
    """Return the bytes received per second; ``None`` if the generator doesn't count bytes."""
    if measurement.bytes_received is None or measurement.duration_s <= 0:
        return None
    return measurement.bytes_received / measurement.duration_s


def _throughput_rps(trial: Trial) -> float | None:
    if trial.client is not None:
        return trial.client.requests_rps
    return throughput_rps(trial.measurement) if trial.measurement else None


def rss_bytes_peak(trial: Trial) -> int | None:
    if trial.client is not None:
        return trial.client.whole.rss_bytes_peak
    return trial.observed.target_usage.rss_bytes_peak if trial.observed.target_usage else None


def cpu_us_per_request(trial: Trial) -> float | None:
    """Return the target's CPU time per complete response or event of a trial, in µs, excluding a client's start-up."""
    if trial.client is not None:
        return trial.client.cpu_us_per_request
    return _us_per_request(trial.observed.target_usage, trial)


def throughput_rps(measurement: Measurement) -> float:
    """Return correct responses per second; for a rising rate, responses per second at the highest step."""
    if measurement.steps:
        return measurement.steps[-1].completed / measurement.steps[-1].duration_s
    return measurement.throughput_rps


def _cores(usage: Usage | None) -> float | None:
    return usage.cpu_cores_mean if usage else None


def _us_per_request(usage: Usage | None, trial: Trial) -> float | None:
    if trial.measurement is None:
        return None
    work = trial.measurement.events.count if trial.measurement.events else trial.measurement.requests.completed
    return None if usage is None or work == 0 else usage.cpu_s * 1e6 / work


def _counting(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.verdict.counts and (trial.measurement or trial.client)]


def _service_times_us(trials: Sequence[Trial]) -> list[Distribution | None]:
    return [trial.measurement.service_time_us for trial in trials if trial.measurement]


def _response_times_us(trials: Sequence[Trial]) -> list[Distribution | None]:
    measurements = [trial.measurement for trial in trials if trial.measurement]
    return [measurement.times_us if measurement.steps else measurement.response_time_us for measurement in measurements]


def _first_byte_us(trials: Sequence[Trial]) -> list[Distribution | None]:
    return [trial.measurement.first_byte_us for trial in trials if trial.measurement]


def _events(trials: Sequence[Trial]) -> list[Events]:
    return [trial.measurement.events for trial in trials if trial.measurement and trial.measurement.events]


def _rate_held_rps(trial: Trial) -> float | None:
    measurement = trial.measurement
    if measurement is None or measurement.requests.ok < measurement.requests.completed:
        return None
    if _is_disturbed(trial.verdict) and not trial.verdict.counts:
        return None
    return rate_held(measurement.steps, trial.plan.load.arrivals)


def _measured(trials: Sequence[Trial], figure: Callable[[Measurement], float | None]) -> Estimate | None:
    return Estimate.of(figure(trial.measurement) for trial in trials if trial.measurement is not None)


def _latency(rounds: Sequence[Distribution | None]) -> Latency | None:
    present = [distribution for distribution in rounds if distribution is not None]
    if not present:
        return None
    values = {name: [getattr(each, name) for each in present] for name in Distribution.model_fields if name in Latency.model_fields}
    # A slow round has fewer requests and may lack a high percentile. A median over the remaining rounds would make the target look better.
    figures = {name: None if None in found else Estimate.of(found) for name, found in values.items()}
    return Latency(**figures, merged=None, merged_intervals={})


def _notes_on_dropped(dropped: Sequence[Verdict], rounds: int) -> Iterator[Reason]:
    """Explain why rounds don't count. One example is enough for disturbed rounds, because a note lists all programs that disturbed them."""
    lost, disturbed = ([one for one in dropped if _is_disturbed(one) is wanted] for wanted in (False, True))
    if lost:
        reasons = [reason.dumped for reason in _reasons((verdict.reasons for verdict in lost), len(lost))]
        yield Reason.of(ReasonKind.ROUNDS_INVALID, found=len(lost), rounds=rounds, reasons=reasons)
    if disturbed:
        example = disturbed[0].reasons[0].dumped if disturbed[0].reasons else None
        yield Reason.of(ReasonKind.ROUNDS_DISTURBED, found=len(disturbed), rounds=rounds, reason=example)


def _is_disturbed(verdict: Verdict) -> bool:
    return verdict.kind is VerdictKind.DISTURBED


def _without_withheld(trial: Trial) -> Sequence[Reason]:
    """Return the reasons for a trial's verdict, except those about withheld CPU time, which another note reports for all rounds together.

    Earlier versions of httpbench stored reasons as text, with those about withheld CPU time at the end.
    """
    reasons = trial.verdict.reasons
    if all(reason.kind is ReasonKind.TEXT for reason in reasons) and (evidence := evidence_of(trial)):
        return reasons[: max(len(reasons) - len(withheld(evidence)), 0)]
    return [reason for reason in reasons if reason.kind not in WITHHELD]


def _reasons(by_round: Iterable[Sequence[Reason]], rounds: int | None = None) -> tuple[Reason, ...]:
    """Return each reason once, in order of appearance, with the number of rounds that have it unless all ``rounds`` have it.

    Reasons that differ only in their numbers are merged.
    """
    families: dict[str, list[Reason]] = {}
    for reason in (reason for reasons in by_round for reason in reasons):
        families.setdefault(reason.family, []).append(reason)
    return tuple(_repeated(found, known=len(found) == rounds) for found in families.values())


def _repeated(reasons: Sequence[Reason], *, known: bool) -> Reason:
    """Merge reasons that differ only in their numbers. If ``known``, the reader already knows how many rounds have them."""
    if all(reason == reasons[0] for reason in reasons) and (known or len(reasons) == 1):
        return reasons[0]
    distinct = [reason.dumped for place, reason in enumerate(reasons) if reason not in reasons[:place]]
    return Reason.of(ReasonKind.REPEATED, reasons=distinct, rounds=None if known else len(reasons))


def _first_of(reason: Reason) -> Reason:
    """Return the first of several merged reasons, or the reason itself if it isn't merged or a file contains something else."""
    repeated = reason.data.get("reasons")
    if reason.kind is not ReasonKind.REPEATED or not isinstance(repeated, list) or not repeated:
        return reason
    try:
        return Reason.model_validate(repeated[0])
    except ValidationError:
        return reason
