"""Combine the observations of slices into the observations of a trial.

Shares and rates are averaged, weighted by the time for which the target ran. Counts are added up. Peaks are the maximum over slices. In
each slice, the target also responds to requests before and after the window. The CPU time for these responses doesn't count. It is
subtracted in proportion to the number of responses, on the assumption that all responses take the same CPU time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from httpbench.model import (
    STRANGERS_MAX,
    CoreOccupancy,
    LinkUse,
    LoadHostUse,
    Measurement,
    Network,
    Observed,
    Others,
    Requests,
    SharedQuota,
    Stranger,
    Trial,
    TrialPlan,
    Usage,
)
from httpbench.stats.disturbance import is_disturbed_slice
from httpbench.stats.evidence import Evidence, evidence_of
from httpbench.stats.validity import little_ratio, reaches_rate

PEAK_S = 0.95
"""Minimum time over which a peak of CPU use is averaged, in seconds. Over a shorter time, the value could be too high, because the kernel
counts in ticks of 10 ms."""

IN_FLIGHT_MIN, IN_FLIGHT_MAX = 0.9, 1.1
"""Allowed range of throughput × mean service time / requests in flight in slices. By Little's law the ratio is 1 if the mean includes all
requests. Where the ratio was 0.75 to 0.9, the p99 in slices was up to 20% below the p99 in whole trials."""

ROUND_TRIPS_MIN = 10
"""Minimum number of requests per connection and pipeline slot for this ratio. With fewer requests, their random number in flight at the
edges of the windows changes the ratio by more than 10%."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The observations of one slice."""

    observed: Observed
    window_s: float
    """Length of the window, in seconds."""
    ran_s: float
    """Time from the target's first request in the slice to its last response, in seconds."""
    counted_share: float
    """Share of the responses during ``ran_s`` that were inside the window and therefore count, 0 to 1."""

    @property
    def window_share(self) -> float:
        """Length of the window, as a share of ``ran_s``."""
        return self.window_s / self.ran_s


def is_disturbed(part: Slice, plan: TrialPlan) -> bool:
    """Return whether other programs disturbed a slice."""
    requests = Requests(sent=0, completed=0, ok=0)
    window = Measurement(generator=plan.load_generator, generator_version="", duration_s=part.ran_s, requests=requests, throughput_rps=0.0)
    return is_disturbed_slice(Evidence(window, plan.load, plan.cores, part.observed, plan.scaling))


def are_too_short(trial: Trial) -> bool:
    """Return whether responses take so long that slices count too many or too few of the slow ones.

    A server can leave some connections waiting while it responds on others. If they wait for longer than a window, waits that begin before
    the window are missing, and each slice adds waits of its own, because all connections send at its start. At a fixed rate, a response
    that takes longer than the lead-in and the window is never received inside a window, so the target seems to miss the rate.
    """
    evidence = evidence_of(trial)
    times = evidence.measurement.service_time_us if evidence else None
    if evidence is None or evidence.slices is None or times is None or times.max is None:
        return False
    if times.max <= evidence.measurement.duration_s / evidence.windows * 1e6:
        return False
    ratio = little_ratio(evidence, ROUND_TRIPS_MIN)
    return not reaches_rate(evidence) or (ratio is not None and not IN_FLIGHT_MIN <= ratio <= IN_FLIGHT_MAX)


def combined(slices: Sequence[Slice], dropped: int = 0) -> Observed:
    """Return the observations of a trial, combined from its slices. There must be at least one slice."""
    seen = [part.observed for part in slices]
    return Observed(
        target_usage=_usage(slices, lambda one: one.target_usage),
        generator_usage=_usage(slices, lambda one: one.generator_usage),
        backend_usage=_usage(slices, lambda one: one.backend_usage),
        database_usage=_usage(slices, lambda one: one.database_usage),
        occupancy=_occupancy([one.occupancy for one in seen], slices),
        others=_others(slices),
        network=_network([one.network for one in seen if one.network], slices),
        load_host=_load_host([one.load_host for one in seen if one.load_host], slices),
        slices_dropped=dropped,
    )


def _usage(slices: Sequence[Slice], of: Callable[[Observed], Usage | None]) -> Usage | None:
    found = [(part, usage) for part in slices if (usage := of(part.observed))]
    if not found:
        return None
    weights, usages = [part.ran_s for part, _ in found], [usage for _, usage in found]
    samples, elapsed_s = [], 0.0
    for part, usage in found:  # samples also cover lead-ins and drains, but their times must fit the intervals, which are windows
        samples += [sample.model_copy(update={"at_s": elapsed_s + sample.at_s * part.window_share}) for sample in usage.samples]
        elapsed_s += part.window_s
    return Usage(
        cpu_s=sum(usage.cpu_s * part.counted_share for part, usage in found),
        cpu_cores_mean=sum(usage.cpu_s for usage in usages) / sum(weights),
        cpu_cores_peak=_cores_peak([usage.cpu_s for usage in usages], weights),
        rss_bytes_peak=max(usage.rss_bytes_peak for usage in usages),
        pss_bytes_peak=_highest(usage.pss_bytes_peak for usage in usages),
        rss_bytes_mean=_mean([usage.rss_bytes_mean for usage in usages], weights),
        pss_bytes_mean=_mean([usage.pss_bytes_mean for usage in usages], weights),
        processes_peak=max(usage.processes_peak for usage in usages),
        cpu_wait_cores_mean=_mean([usage.cpu_wait_cores_mean for usage in usages], weights),
        threads=_highest(usage.threads for usage in usages),
        thread_cores_max=_mean([usage.thread_cores_max for usage in usages], weights),
        throttled_share=_mean([usage.throttled_share for usage in usages], weights),
        throttled_s=_total([usage.throttled_s for usage in usages]),
        group_bytes_peak=_highest(usage.group_bytes_peak for usage in usages),
        oom_kills=_highest(usage.oom_kills for usage in usages),
        samples=tuple(samples),
        throttled_samples_s=tuple(each * part.window_share for part, usage in found for each in usage.throttled_samples_s),
        stolen_samples_s=_stolen(found),
    )


def _stolen(found: Sequence[tuple[Slice, Usage]]) -> tuple[float, ...]:
    if not any(usage.stolen_samples_s for _, usage in found):
        return ()
    return tuple(each * part.window_share for part, usage in found for each in usage.stolen_samples_s or [0.0] * len(usage.samples))


def _cores_peak(cpu_s: Sequence[float], ran_s: Sequence[float]) -> float:
    """Return the highest CPU use over about a second of running time, in cores."""
    peak, used, elapsed = sum(cpu_s) / sum(ran_s), 0.0, 0.0
    for cpu, ran in zip(cpu_s, ran_s, strict=True):
        used, elapsed = used + cpu, elapsed + ran
        if elapsed >= PEAK_S:
            peak, used, elapsed = max(peak, used / elapsed), 0.0, 0.0
    return peak


def _load_host(uses: Sequence[LoadHostUse], slices: Sequence[Slice]) -> LoadHostUse | None:
    if len(uses) < len(slices):
        return None
    return uses[0].model_copy(
        update={
            "occupancy": _occupancy([use.occupancy for use in uses], slices),
            "network": _network([use.network for use in uses if use.network], slices),
        }
    )


def _occupancy(seen: Sequence[Sequence[CoreOccupancy]], slices: Sequence[Slice]) -> tuple[CoreOccupancy, ...]:
    weights = [part.ran_s for part in slices]
    found: dict[int, list[CoreOccupancy]] = {}
    for core in (core for cores in seen for core in cores):
        found.setdefault(core.cpu, []).append(core)
    return tuple(
        CoreOccupancy(
            cpu=cpu,
            busy=_weighted([core.busy for core in cores], weights),
            interrupts=_weighted([core.interrupts for core in cores], weights),
            stolen=_weighted([core.stolen for core in cores], weights),
        )
        for cpu, cores in found.items()
        if len(cores) == len(slices)  # omit a CPU that the kernel didn't list in every slice
    )


def _others(slices: Sequence[Slice]) -> Others | None:
    seen = [part.observed.others for part in slices]
    found = [others for others in seen if others]
    if len(found) < len(slices):
        return None
    weights = [part.ran_s for part in slices]
    strangers: dict[tuple[int, bool], list[tuple[Stranger, float]]] = {}
    for others, weight in zip(found, weights, strict=True):
        for each in others.strangers:
            strangers.setdefault((each.pid, each.is_of_children), []).append((each, weight))
    merged = [_stranger(parts, sum(weights)) for parts in strangers.values()]
    return Others(
        strangers=tuple(sorted(merged, key=lambda one: -one.cores)[:STRANGERS_MAX]),
        harness_cores=_weighted([others.harness_cores for others in found], weights),
        all_visible=all(others.all_visible for others in found),
        quota=_quota([others.quota for others in found], weights),
    )


def _stranger(parts: Sequence[tuple[Stranger, float]], total: float) -> Stranger:
    cores = sum(one.cores * weight for one, weight in parts) / total  # in other slices, the process used no CPU time
    cpus = sorted({cpu for one, _ in parts for cpu in one.cpus})
    return parts[-1][0].model_copy(update={"cores": cores, "cpus": tuple(cpus)})


def _quota(quotas: Sequence[SharedQuota | None], weights: Sequence[float]) -> SharedQuota | None:
    found = [(quota, weight) for quota, weight in zip(quotas, weights, strict=True) if quota]
    if not found:
        return None
    own = [weight for _, weight in found]
    return SharedQuota(
        throttled_share=_weighted([quota.throttled_share for quota, _ in found], own),
        used_cores=_weighted([quota.used_cores for quota, _ in found], own),
    )


def _network(found: Sequence[Network], slices: Sequence[Slice]) -> Network | None:
    if not found:
        return None
    counters = [name for name in Network.model_fields if name != "fullest_link"]
    counts = {name: [getattr(each, name) for each in found] for name in counters}
    links = [each.fullest_link for each in found if each.fullest_link]
    return Network(
        **{name: _total(values) for name, values in counts.items()},
        fullest_link=_link(links, [part.ran_s for part in slices]) if len(links) == len(slices) else None,
    )


def _link(links: Sequence[LinkUse], weights: Sequence[float]) -> LinkUse:
    """Return the mean use of the fullest link, or the highest use if the fullest link isn't the same in all slices."""
    if len({link.name for link in links}) > 1:
        return max(links, key=lambda link: link.share)
    return links[0].model_copy(update={"bits_per_s": _weighted([link.bits_per_s for link in links], weights)})


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean; ``None`` if a value is unknown."""
    known = [value for value in values if value is not None]
    return _weighted(known, weights) if len(known) == len(values) else None


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum; ``None`` if a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _highest(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known, default=None)
