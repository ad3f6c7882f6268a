"""A cell's rounds in one summary: the median of each figure over the rounds that count, and how far these lie apart.

The unit of replication is the round, not the request: a million requests to one started process share its memory layout, its place
in the cache and the machine's mood, so an interval over requests would be narrow and wrong. Rounds that do not count (invalid,
failed or disturbed) are never mixed in; the summary says how many count. No figure is the best of anything.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from httpbench.model import (
    ENDINGS,
    Distribution,
    Frozen,
    Load,
    Measurement,
    Reason,
    ReasonKind,
    Scaling,
    Trial,
    Usage,
    Verdict,
    VerdictKind,
)
from httpbench.stats.clients import ClientSummary, summarise_clients
from httpbench.stats.evidence import evidence_of
from httpbench.stats.histogram import merged, merged_intervals
from httpbench.stats.interval import ConfidenceInterval, interval
from httpbench.stats.steady import not_shown_steady, unsteady
from httpbench.stats.validity import failed_requests, rate_held
from httpbench.stats.withheld import WITHHELD, withheld, withheld_in_rounds

NOT_THE_TARGETS_ALONE = (VerdictKind.GENERATOR, VerdictKind.BOTH)
"""Verdicts of which one round is enough for the row: its median is then no longer the target's alone."""


WORST_FIRST = (VerdictKind.INVALID, VerdictKind.FAILED, VerdictKind.DISTURBED)
"""Verdicts of rounds that do not count, in the order in which one of them is the row's."""


class Estimate(Frozen):
    """One figure over the rounds that have it."""

    median: float
    """Median over rounds."""
    min: float
    """Lowest round."""
    max: float
    """Highest round."""
    spread: float | None
    """(max − min) / 2 / median: the column ±. Null: a single round, or a median of 0."""
    rounds: int
    """Rounds that have the figure."""
    interval: ConfidenceInterval | None = None
    """95% confidence interval of the geometric mean over rounds. Null: fewer than three rounds."""

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Estimate | None:
        """``None`` where no round has the figure; rounds without it are left out."""
        present = [float(value) for value in values if value is not None]
        if not present:
            return None
        median, low, high = statistics.median(present), min(present), max(present)
        spread = (high - low) / 2 / median if len(present) > 1 and median > 0 else None
        return cls(median=median, min=low, max=high, spread=spread, rounds=len(present), interval=interval(sorted(present)))


OverRounds = Annotated[Estimate | None, Field(description="Estimate over rounds. Null: a round lacks it.")]


class Latency(Frozen):
    """Times in µs: an estimate over rounds for each figure of a distribution, and the samples of all rounds as one distribution."""

    min: OverRounds
    mean: OverRounds
    stddev: OverRounds
    max: OverRounds
    tm99_9: OverRounds
    """Mean without the lowest and the highest 0.1% of samples. Null: a round lacks it."""
    p25: OverRounds
    p50: OverRounds
    p75: OverRounds
    p90: OverRounds
    p95: OverRounds
    p99: OverRounds
    p99_9: OverRounds
    p99_99: OverRounds
    merged: Distribution | None
    """All samples of the rounds that count, as one distribution. Null: a round kept no histogram."""
    merged_intervals: dict[str, ConfidenceInterval]
    """95% confidence intervals of the percentiles of ``merged``, by their names there."""


class Summary(Frozen):
    """One cell of a run: what its rounds have in common, and their figures. ``None``: not measured, or no round counts."""

    target: str
    """Id of the target."""
    scaling: Scaling
    """How the target used cores."""
    workload: str
    """Name of the workload."""
    load_generator: str
    """Name of the load generator; for clients of the timer."""
    load: Load
    """How the requests were made."""
    rounds: int
    """Rounds made, whether they count or not."""
    rounds_counting: int
    """Rounds that count."""
    verdict: Verdict
    """The most common verdict of the rounds that count, but ``generator`` if one of them has it; or why none counts."""
    client: ClientSummary | None = None
    """Times of a client, in place of latencies. Null: the target is no client, or no round counts."""
    throughput_rps: Estimate | None
    """Correct responses per second: of a rising rate, at the highest; of a client, without its start-up."""
    bytes_per_s: Estimate | None
    """Bytes received per second, as the load generator counts them; most count headers."""
    requests: Estimate | None
    """Complete responses of one round."""
    errors: Estimate | None
    """Requests of one round without a correct response."""
    service_time_us: Latency | None
    """Service times, in µs."""
    response_time_us: Latency | None
    """Response times, in µs: of a rising rate, at the highest. Null: closed loop."""
    rate_held_rps: Estimate | None = None
    """Highest rate of a rising rate that was held, in requests/s; also of rounds that do not count because the last rate was not
    held. Null: the rate does not rise."""
    cpu_cores: Estimate | None
    """Mean CPU use of the target, whole process tree, in cores' worth."""
    cpu_cores_peak: Estimate | None
    """Highest CPU use of the target in a sample, in cores' worth."""
    cpu_us_per_request: Estimate | None
    """CPU time of the target per complete response, in µs; of a client, without its start-up."""
    generator_cpu_cores: Estimate | None
    """Mean CPU use of the load generator, in cores' worth."""
    generator_cpu_us_per_request: Estimate | None = None
    """CPU time of the load generator per complete response, in µs."""
    backend_cpu_cores: Estimate | None = None
    """Mean CPU use of the server behind a proxy, in cores' worth. Null: no proxy."""
    backend_cpu_us_per_request: Estimate | None = None
    """CPU time of the server behind a proxy per complete response, in µs. Null: no proxy."""
    database_cpu_cores: Estimate | None = None
    """Mean CPU use of the target's database, in cores' worth. Null: no database."""
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

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """What its rounds have in common, as in their plans."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)


def cells(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials by what they have in common, in the order in which they first appear; rounds ascending, and the attempts of each."""
    found: dict[tuple[str, Scaling, str, str, Load], list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.plan.cell, []).append(trial)
    return [sorted(rounds, key=lambda trial: (trial.plan.round, trial.plan.attempt)) for rounds in found.values()]


def summarise(trials: Sequence[Trial], *, invalid: bool = False) -> Summary:
    """The summary of one cell. ``trials``: of each of its rounds the last attempt, at least one, of one cell only.

    ``invalid``: with figures of all rounds that were measured, although they do not count; never to be compared.
    """
    if len({trial.plan.cell for trial in trials}) != 1:
        raise ValueError("summarise takes the rounds of exactly one cell")
    plan = trials[0].plan
    counting = [trial for trial in trials if trial.measurement or trial.client] if invalid else _counting(trials)
    clients = [trial.client for trial in counting if trial.client is not None]
    return Summary(
        target=plan.target,
        scaling=plan.scaling,
        workload=plan.workload,
        load_generator=plan.load_generator,
        load=plan.load,
        rounds=len(trials),
        rounds_counting=len(_counting(trials)),
        verdict=overall(trials),
        client=summarise_clients(clients),
        throughput_rps=Estimate.of(_throughput_rps(trial) for trial in counting),
        bytes_per_s=_measured(counting, bytes_per_s),
        requests=_measured(counting, lambda measurement: measurement.requests.completed),
        errors=_measured(counting, failed_requests),
        service_time_us=_latency(_service_times_us(counting)),
        response_time_us=_latency(_response_times_us(counting)),
        rate_held_rps=Estimate.of(_rate_held_rps(trial) for trial in trials),
        cpu_cores=_used(counting, lambda usage: usage.cpu_cores_mean),
        cpu_cores_peak=_used(counting, lambda usage: usage.cpu_cores_peak),
        cpu_us_per_request=Estimate.of(cpu_us_per_request(trial) for trial in counting),
        generator_cpu_cores=Estimate.of(trial.generator_usage.cpu_cores_mean for trial in counting if trial.generator_usage),
        generator_cpu_us_per_request=Estimate.of(_us_per_request(trial.generator_usage, trial) for trial in counting),
        backend_cpu_cores=Estimate.of(trial.backend_usage.cpu_cores_mean for trial in counting if trial.backend_usage),
        backend_cpu_us_per_request=Estimate.of(_us_per_request(trial.backend_usage, trial) for trial in counting),
        database_cpu_cores=Estimate.of(trial.database_usage.cpu_cores_mean for trial in counting if trial.database_usage),
        database_cpu_us_per_request=Estimate.of(_us_per_request(trial.database_usage, trial) for trial in counting),
        rss_bytes_peak=Estimate.of(rss_bytes_peak(trial) for trial in counting),
        pss_bytes_peak=_used(counting, lambda usage: usage.pss_bytes_peak),
        rss_bytes_mean=_used(counting, lambda usage: usage.rss_bytes_mean),
        pss_bytes_mean=_used(counting, lambda usage: usage.pss_bytes_mean),
    )


def with_merged(summary: Summary, trials: Sequence[Trial]) -> Summary:
    """The summary of these trials with the histograms of all rounds merged: milliseconds for each, so only for what shows them."""
    counting = _counting(trials)
    return summary.model_copy(
        update={
            "service_time_us": _with_merged(summary.service_time_us, _service_times_us(counting)),
            "response_time_us": _with_merged(summary.response_time_us, _response_times_us(counting)),
        }
    )


def overall(trials: Sequence[Trial]) -> Verdict:
    """One verdict for a cell: the most common one of the rounds that count, but ``generator``, or else ``both``, if one round has it.

    A median over rounds of which some are the generator's limit is no longer the target's alone. The reasons name
    rounds with another verdict, rounds that were not (shown to be) steady, and rounds that are not valid.
    """
    counting = [trial.verdict for trial in trials if trial.verdict.counts]
    dropped = [trial.verdict for trial in trials if not trial.verdict.counts]
    if not counting:
        kind = next(kind for kind in WORST_FIRST if kind in {verdict.kind for verdict in dropped})
        reasons = _notes_on_dropped(dropped, len(trials)) if any(map(_is_disturbed, dropped)) else _reasons(dropped)
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
    of_kind = [trial for trial in trials if trial.verdict.kind is kind]
    own = _own_reasons(of_kind)
    return Verdict(kind=kind, reasons=(*notes, *own[:1], *(reason for reason in own[1:] if _first_of(reason).kind in ENDINGS)))


def bytes_per_s(measurement: Measurement) -> float | None:
    """``None`` where the generator does not count bytes."""
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
    return trial.target_usage.rss_bytes_peak if trial.target_usage else None


def cpu_us_per_request(trial: Trial) -> float | None:
    """µs of the target's CPU time for each completed response of a trial; of a client without start-up."""
    if trial.client is not None:
        return trial.client.cpu_us_per_request
    return _us_per_request(trial.target_usage, trial)


def throughput_rps(measurement: Measurement) -> float:
    """Correct responses per second; of a rising rate, responses per second at the highest."""
    if measurement.steps:
        return measurement.steps[-1].completed / measurement.steps[-1].duration_s
    return measurement.throughput_rps


def _us_per_request(usage: Usage | None, trial: Trial) -> float | None:
    if trial.measurement is None or usage is None or trial.measurement.requests.completed == 0:
        return None
    return usage.cpu_s * 1e6 / trial.measurement.requests.completed


def _counting(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.verdict.counts and (trial.measurement or trial.client)]


def _service_times_us(trials: Sequence[Trial]) -> list[Distribution | None]:
    return [trial.measurement.service_time_us for trial in trials if trial.measurement]


def _response_times_us(trials: Sequence[Trial]) -> list[Distribution | None]:
    measurements = [trial.measurement for trial in trials if trial.measurement]
    return [measurement.times_us if measurement.steps else measurement.response_time_us for measurement in measurements]


def _rate_held_rps(trial: Trial) -> float | None:
    measurement = trial.measurement
    if measurement is None or measurement.requests.ok < measurement.requests.completed:
        return None
    if _is_disturbed(trial.verdict) and not trial.verdict.counts:
        return None
    return rate_held(measurement.steps)


def _measured(trials: Sequence[Trial], figure: Callable[[Measurement], float | None]) -> Estimate | None:
    return Estimate.of(figure(trial.measurement) for trial in trials if trial.measurement is not None)


def _used(trials: Sequence[Trial], figure: Callable[[Usage], float | None]) -> Estimate | None:
    return Estimate.of(figure(trial.target_usage) for trial in trials if trial.target_usage is not None)


def _latency(rounds: Sequence[Distribution | None]) -> Latency | None:
    present = [distribution for distribution in rounds if distribution is not None]
    if not present:
        return None
    values = {name: [getattr(each, name) for each in present] for name in Distribution.model_fields if name in Latency.model_fields}
    # A slow round has few requests, and so no high percentile: that of the other rounds would be a choice of the best.
    figures = {name: None if None in found else Estimate.of(found) for name, found in values.items()}
    return Latency(**figures, merged=None, merged_intervals={})


def _with_merged(latency: Latency | None, rounds: Sequence[Distribution | None]) -> Latency | None:
    if latency is None:
        return None
    return latency.model_copy(update={"merged": merged(rounds), "merged_intervals": merged_intervals(rounds)})


def _notes_on_dropped(dropped: Sequence[Verdict], rounds: int) -> Iterator[Reason]:
    """Explain why rounds do not count. Of disturbed rounds, one example: a note below the tables names all disturbers."""
    lost, disturbed = ([one for one in dropped if _is_disturbed(one) is wanted] for wanted in (False, True))
    if lost:
        reasons = [reason.dumped for reason in _reasons(lost, len(lost))]
        yield Reason.of(ReasonKind.ROUNDS_INVALID, found=len(lost), rounds=rounds, reasons=reasons)
    if disturbed:
        example = disturbed[0].reasons[0].dumped if disturbed[0].reasons else None
        yield Reason.of(ReasonKind.ROUNDS_DISTURBED, found=len(disturbed), rounds=rounds, reason=example)


def _is_disturbed(verdict: Verdict) -> bool:
    return verdict.kind is VerdictKind.DISTURBED


def _own_reasons(trials: Sequence[Trial]) -> tuple[Reason, ...]:
    """Return each reason once, in order, without those that a note states for all rounds together."""
    own = [trial.verdict.model_copy(update={"reasons": tuple(_without_withheld(trial))}) for trial in trials]
    return _reasons(own, len(own))


def _without_withheld(trial: Trial) -> Sequence[Reason]:
    """Drop the reasons about withheld CPU time. Earlier versions stored them as text, after the other reasons."""
    reasons = trial.verdict.reasons
    if all(reason.kind is ReasonKind.TEXT for reason in reasons) and (evidence := evidence_of(trial)):
        return reasons[: max(len(reasons) - len(withheld(evidence)), 0)]
    return [reason for reason in reasons if reason.kind not in WITHHELD]


def _reasons(verdicts: Sequence[Verdict], rounds: int | None = None) -> tuple[Reason, ...]:
    """Return each reason once, in order, with the number of rounds that have it unless that is ``rounds``.

    Reasons that differ only in their numbers become one.
    """
    families: dict[str, list[Reason]] = {}
    for reason in (reason for verdict in verdicts for reason in verdict.reasons):
        families.setdefault(reason.family, []).append(reason)
    return tuple(_repeated(found, known=len(found) == rounds) for found in families.values())


def _repeated(reasons: Sequence[Reason], *, known: bool) -> Reason:
    """Make one reason of several that differ only in their numbers. ``known``: the reader knows in how many rounds they are."""
    if all(reason == reasons[0] for reason in reasons) and (known or len(reasons) == 1):
        return reasons[0]
    distinct = [reason.dumped for place, reason in enumerate(reasons) if reason not in reasons[:place]]
    return Reason.of(ReasonKind.REPEATED, reasons=distinct, rounds=None if known else len(reasons))


def _first_of(reason: Reason) -> Reason:
    """Return the first of the reasons that became one."""
    repeated = reason.data.get("reasons")
    return Reason.model_validate(repeated[0]) if reason.kind is ReasonKind.REPEATED and isinstance(repeated, list) else reason
