"""Tests that the observations from several slices are combined."""

from __future__ import annotations

import pytest

from httpbench.model import CoreOccupancy, LinkUse, Load, LoadHostUse, Network, Observed, Others, Requests, Sample, Stranger, Usage
from httpbench.stats.slices import Slice, are_too_short, combined, is_disturbed
from tests.factories import make_distribution, make_measurement, make_plan, make_trial


def usage(cpu_s: float, ran_s: float, **more: float) -> Usage:
    fields = {"cpu_cores_peak": cpu_s / ran_s, "rss_bytes_peak": 1000, "processes_peak": 1}
    return Usage.model_validate({"cpu_s": cpu_s, "cpu_cores_mean": cpu_s / ran_s, **fields, **more})


def test_cpu_time_counts_in_proportion_to_the_responses_that_count() -> None:
    slices = [
        Slice(Observed(target_usage=usage(0.28, 0.28)), 0.28, 0.28, 0.25 / 0.28),
        Slice(Observed(target_usage=usage(0.15, 0.3)), 0.3, 0.3, 0.5),
    ]
    found = combined(slices).target_usage
    assert found is not None
    assert found.cpu_s == pytest.approx(0.25 + 0.075)
    assert found.cpu_cores_mean == pytest.approx(0.43 / 0.58)


def test_the_peak_is_over_about_a_second_because_ticks_are_coarse() -> None:
    busy = [0.29, 0.29, 0.29, 0.29, 0.14, 0.14, 0.14, 0.14]
    found = combined([Slice(Observed(target_usage=usage(cpu_s, 0.28)), 0.28, 0.28, 1.0) for cpu_s in busy]).target_usage
    assert found is not None
    assert found.cpu_cores_peak == pytest.approx(4 * 0.29 / (4 * 0.28))


def test_memory_is_a_peak_and_its_mean_is_weighted_by_time() -> None:
    parts = [usage(0.1, 0.1, rss_bytes_peak=10, rss_bytes_mean=8.0), usage(0.3, 0.3, rss_bytes_peak=40, rss_bytes_mean=16.0)]
    found = combined(
        [Slice(Observed(target_usage=parts[0]), 0.1, 0.1, 1.0), Slice(Observed(target_usage=parts[1]), 0.3, 0.3, 1.0)]
    ).target_usage
    assert found is not None
    assert found.rss_bytes_peak == 40
    assert found.rss_bytes_mean == pytest.approx(14.0)


def test_a_value_that_one_slice_lacks_is_unknown() -> None:
    parts = [usage(0.1, 0.1, cpu_wait_cores_mean=0.5), usage(0.1, 0.1)]
    found = combined([Slice(Observed(generator_usage=part), 0.1, 0.1, 1.0) for part in parts]).generator_usage
    assert found is not None
    assert found.cpu_wait_cores_mean is None


def test_stolen_time_is_zero_in_slices_without_any() -> None:
    sample = Sample(at_s=0.1, cpu_cores=1.0, rss_bytes=1, processes=1)
    stolen = usage(0.1, 0.1).model_copy(update={"samples": (sample, sample), "stolen_samples_s": (0.0, 0.04)})
    free = usage(0.1, 0.1).model_copy(update={"samples": (sample,)})
    found = combined([Slice(Observed(target_usage=part), 0.1, 0.1, 1.0) for part in (free, stolen)]).target_usage
    assert found is not None
    assert found.stolen_samples_s == (0.0, 0.0, 0.04)
    half = combined([Slice(Observed(target_usage=part), 0.05, 0.1, 1.0) for part in (free, stolen)]).target_usage
    assert half is not None
    assert [each.at_s for each in half.samples] == pytest.approx([0.05, 0.1, 0.1]), "times and stolen times fit windows of 50 ms"
    assert half.stolen_samples_s == pytest.approx((0.0, 0.0, 0.02))
    none = combined([Slice(Observed(target_usage=free), 0.1, 0.1, 1.0)]).target_usage
    assert none is not None
    assert none.stolen_samples_s == ()


def test_occupancy_is_a_mean_and_counters_are_sums() -> None:
    def seen(busy: float, sent: int, bits_per_s: float) -> Observed:
        link = LinkUse(name="eth0", bits_per_s=bits_per_s, capacity_bits_per_s=100)
        core = CoreOccupancy(cpu=0, busy=busy, stolen=0.0)
        return Observed(occupancy=(core,), network=Network(segments_sent=sent, fullest_link=link))

    found = combined([Slice(seen(1.0, 5, 80), 0.3, 0.3, 1.0), Slice(seen(0.0, 7, 40), 0.1, 0.1, 1.0)])
    assert found.occupancy[0].busy == pytest.approx(0.75)
    assert found.network is not None
    assert found.network.segments_sent == 12
    assert found.network.fullest_link is not None
    assert found.network.fullest_link.bits_per_s == pytest.approx(70)


def test_a_load_host_is_observed_in_every_slice() -> None:
    def seen(busy: float, sent: int) -> Observed:
        core = CoreOccupancy(cpu=0, busy=busy, stolen=0.0)
        return Observed(load_host=LoadHostUse(name="load1", cores=2, occupancy=(core,), network=Network(segments_sent=sent)))

    found = combined([Slice(seen(1.0, 5), 0.3, 0.3, 1.0), Slice(seen(0.0, 7), 0.1, 0.1, 1.0)]).load_host
    assert found is not None and found.network is not None
    assert (found.name, found.cores, found.network.segments_sent) == ("load1", 2, 12)
    assert found.occupancy[0].busy == pytest.approx(0.75)


def test_a_stranger_of_one_slice_used_less_over_all_of_them() -> None:
    others = [Others(strangers=(Stranger(name="cc", pid=7, cores=0.6, cpus=(0,)),)), Others()]
    found = combined([Slice(Observed(others=each), 0.2, 0.2, 1.0) for each in others], dropped=3)
    assert found.others is not None
    (stranger,) = found.others.strangers
    assert stranger.name == "cc"
    assert stranger.cores == pytest.approx(0.3)
    assert found.slices_dropped == 3


def test_a_slice_is_disturbed_by_what_others_took_from_its_core() -> None:
    plan = make_plan("c/epoll/edge")
    (cpu,) = plan.cores.target

    def seen(busy: float) -> Observed:
        own = usage(0.15, 0.3, cpu_wait_cores_mean=busy - 0.5)
        return Observed(target_usage=own, generator_usage=own, occupancy=(CoreOccupancy(cpu=cpu, busy=busy, stolen=0.0),), others=Others())

    assert is_disturbed(Slice(seen(1.0), 0.3, 0.3, 1.0), plan)
    assert not is_disturbed(Slice(seen(0.52), 0.3, 0.3, 1.0), plan)


@pytest.mark.parametrize(
    ("stranger", "waited", "is_expected"),
    [
        (Stranger(name="cc", pid=7, cores=0.11, cpus=(0,)), 0.06, True),
        (Stranger(name="cc", pid=7, cores=0.11, cpus=(0,)), 0.03, False),
        (Stranger(name="cc", pid=7, cores=0.03, cpus=(0,)), 0.06, False),
        (Stranger(name="cc", pid=7, cores=0.11, cpus=(99,)), 0.06, False),
        (Stranger(name="ksoftirqd/0", pid=7, cores=0.11, cpus=(0,), is_kernel=True), 0.06, False),
        (Stranger(name="sh", pid=7, cores=0.11, cpus_allowed=(0, 99), is_of_children=True), 0.06, True),
    ],
)
def test_a_slice_is_disturbed_by_a_known_stranger_for_which_the_target_waited(stranger: Stranger, waited: float, is_expected: bool) -> None:
    """The counters of the cores can't show such a disturbance, because they can be off by 0.03 s."""
    plan = make_plan("c/epoll/edge")
    (cpu,) = plan.cores.target
    assert cpu == 0
    own = usage(0.27, 0.3, cpu_wait_cores_mean=waited)
    core = CoreOccupancy(cpu=cpu, busy=0.95, stolen=0.0)
    seen = Observed(target_usage=own, generator_usage=usage(0.2, 0.3), occupancy=(core,), others=Others(strangers=(stranger,)))
    assert is_disturbed(Slice(seen, 0.3, 0.3, 1.0), plan) is is_expected


@pytest.mark.parametrize(("stolen", "is_expected"), [(0.09, True), (0.04, False)])
def test_a_slice_is_disturbed_by_a_tick_of_stolen_time(stolen: float, is_expected: bool) -> None:
    plan = make_plan("c/epoll/edge")
    own = usage(0.1, 0.11)
    core = CoreOccupancy(cpu=plan.cores.target[0], busy=0.9, stolen=stolen)
    seen = Observed(target_usage=own, generator_usage=own, occupancy=(core,), others=Others())
    assert is_disturbed(Slice(seen, 0.1, 0.11, 1.0), plan) is is_expected


@pytest.mark.parametrize(
    ("mean_us", "max_ms", "slices", "completed", "is_expected"),
    [
        (1700, 300, 8, 40_000, True),
        (1850, 300, 8, 40_000, False),
        (2300, 300, 8, 40_000, True),
        (1700, 200, 8, 40_000, False),
        (1700, 300, None, 40_000, False),
        (1700, 300, 8, 300, False),
    ],
    ids=["85% in flight", "92% in flight", "115% in flight", "no response is longer than a slice", "not in slices", "few requests"],
)
def test_slices_are_too_short_if_long_responses_are_missing_or_too_many(
    mean_us: float, max_ms: float, slices: int | None, completed: int, is_expected: bool
) -> None:
    """At 20,000 requests/s, 40 requests in flight take 2 ms on average. A slice takes 250 ms."""
    load = Load(connections=10, pipeline=4, duration_s=2)
    requests = Requests(completed=completed, ok=completed)
    times = make_distribution(1000, mean=mean_us, max=max_ms * 1000)
    measured = make_measurement(20_000, 2.0, requests=requests, service_time_us=times)
    assert are_too_short(make_trial(make_plan(load=load, slices=slices), measurement=measured)) is is_expected


@pytest.mark.parametrize(
    ("achieved_rps", "max_ms", "is_expected"),
    [(390.0, 500, True), (399.0, 500, False), (390.0, 90, False)],
    ids=["late responses are missing", "the rate is reached", "the target is too slow"],
)
def test_slices_are_too_short_if_late_responses_are_missing_at_a_fixed_rate(achieved_rps: float, max_ms: float, is_expected: bool) -> None:
    """Each of the 40 slices takes 100 ms."""
    times = make_distribution(1600, mean=12_000, max=max_ms * 1000)
    measured = make_measurement(achieved_rps, 4.0, service_time_us=times)
    plan = make_plan(load=Load(rate_rps=400, duration_s=4), slices=40)
    assert are_too_short(make_trial(plan, measurement=measured)) is is_expected
