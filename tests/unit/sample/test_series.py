from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.sample.series import KEPT, SampleSeries

MIB = 1 << 20
samples = st.lists(
    st.tuples(st.floats(0.01, 2), st.floats(0, 4), st.integers(0, 1 << 40), st.integers(0, 5000)),
    min_size=1,
    max_size=3000,
)


@given(samples)
def test_merging_samples_loses_nothing(taken: list[tuple[float, float, int, int]]) -> None:
    series, now = SampleSeries(100.0), 100.0
    for duration_s, cores, rss_bytes, processes in taken:
        now += duration_s
        series.add(now, cores * duration_s, rss_bytes, processes)
    usage = series.usage()
    total_s = sum(duration_s * cores for duration_s, cores, _, _ in taken)
    assert usage.cpu_s == pytest.approx(total_s)
    assert usage.cpu_cores_mean == pytest.approx(total_s / (now - 100))
    assert usage.rss_bytes_peak == max(part[2] for part in taken) == max(sample.rss_bytes for sample in usage.samples)
    assert usage.rss_bytes_mean == pytest.approx(sum(duration_s * size for duration_s, _, size, _ in taken) / (now - 100))
    assert usage.processes_peak == max(part[3] for part in taken) == max(sample.processes for sample in usage.samples)
    assert usage.cpu_cores_mean <= usage.cpu_cores_peak <= max(cores for _, cores, _, _ in taken) + 1e-6
    assert 1 <= len(usage.samples) <= KEPT
    assert usage.samples[-1].at_s == pytest.approx(now - 100)
    begins = [0.0, *(sample.at_s for sample in usage.samples)]
    drawn_s = sum(sample.cpu_cores * (sample.at_s - begin) for begin, sample in zip(begins, usage.samples, strict=False))
    assert drawn_s == pytest.approx(total_s)


def test_throttled_time_of_merged_samples_adds_up_and_is_missing_without_a_quota() -> None:
    series, free = SampleSeries(0), SampleSeries(0)
    for number in range(1, 2 * KEPT + 1):
        series.add(number / 10, 0.05, MIB, 1, 0.01)
        free.add(number / 10, 0.05, MIB, 1)
    usage = series.usage()
    assert len(usage.throttled_samples_s) == len(usage.samples) <= KEPT
    assert sum(usage.throttled_samples_s) == pytest.approx(2 * KEPT * 0.01)
    assert free.usage().throttled_samples_s == ()


def test_stolen_time_of_merged_samples_adds_up_and_is_missing_if_there_was_none() -> None:
    series, free = SampleSeries(0), SampleSeries(0)
    for number in range(1, 2 * KEPT + 1):
        series.add(number / 10, 0.05, MIB, 1, stolen_s=0.02)
        free.add(number / 10, 0.05, MIB, 1)
    assert len(series.usage().stolen_samples_s) == len(series.usage().samples)
    assert sum(series.usage().stolen_samples_s) == pytest.approx(2 * KEPT * 0.02)
    assert free.usage().stolen_samples_s == ()


def test_memory_is_bounded_however_long_it_takes() -> None:
    series = SampleSeries(0)
    for number in range(1, 36_001):
        series.add(number / 10, 0.1 if number == 20_000 else 0.05, MIB, 1)
    usage = series.usage()
    assert KEPT / 2 <= len(usage.samples) <= KEPT
    assert usage.cpu_s == pytest.approx(36_000 * 0.05 + 0.05)


def test_the_peak_covers_a_second_not_a_tick() -> None:
    series = SampleSeries(0)
    for number in range(1, 51):
        series.add(number / 10, 0.11 if number % 2 else 0.09, MIB, 1)  # one core, as measured with coarse ticks
    assert series.usage().cpu_cores_peak == pytest.approx(1.0, abs=0.011)


def test_a_busy_second_among_idle_ones_is_the_peak() -> None:
    series = SampleSeries(0)
    for number in range(1, 101):
        series.add(number / 10, 0.2 if 40 < number <= 50 else 0.0, MIB, 1)
    usage = series.usage()
    assert usage.cpu_cores_peak == pytest.approx(2.0)
    assert usage.cpu_cores_mean == pytest.approx(0.2)


def test_a_short_last_slice_is_merged_with_the_previous_one() -> None:
    series = SampleSeries(0)
    series.add(0.1, 0.05, MIB, 1)
    series.add(0.101, 0.01, MIB, 1)
    (only,) = series.usage().samples
    assert (only.at_s, only.cpu_cores) == pytest.approx((0.101, 0.06 / 0.101))


def test_memory_counted_by_pages_is_a_peak_or_unknown() -> None:
    series = SampleSeries(0)
    series.add(1, 0, 5 * MIB, 1)
    series.pages(7 * MIB, 0)
    assert series.usage().rss_bytes_peak == 7 * MIB
    assert series.usage().pss_bytes_peak is None
    series.pages(6 * MIB, 4 * MIB)
    series.pages(6 * MIB, 3 * MIB)
    assert series.usage().pss_bytes_peak == 4 * MIB
    assert series.usage().pss_bytes_mean == 3.5 * MIB


def test_mean_memory_weights_each_sample_by_its_time() -> None:
    series = SampleSeries(0)
    series.add(3, 0, 2 * MIB, 1)
    series.add(4, 0, 6 * MIB, 1)
    usage = series.usage()
    assert (usage.rss_bytes_mean, usage.rss_bytes_peak, usage.pss_bytes_mean) == (3 * MIB, 6 * MIB, None)


def test_a_window_without_samples() -> None:
    usage = SampleSeries(5).usage()
    assert (usage.cpu_s, usage.cpu_cores_mean, usage.samples) == (0, 0, ())
