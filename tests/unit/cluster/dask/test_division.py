"""Tests that all connections are divided evenly among the load hosts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.cluster.dask.orders import divided
from httpbench.errors import UsageError


@settings(max_examples=40)
@given(hosts=st.integers(1, 300), more=st.integers(0, 100_000))
def test_any_number_of_connections_is_divided_evenly_and_completely(hosts: int, more: int) -> None:
    shares = [each.connections for each in divided(hosts + more, None, [1] * hosts)]
    assert sum(shares) == hosts + more
    assert max(shares) - min(shares) <= 1


def test_parts_are_numbered_from_one() -> None:
    assert [each.part for each in divided(9, None, [1, 1, 1])] == ["1/3", "2/3", "3/3"]


@settings(max_examples=40)
@given(threads=st.none() | st.integers(1, 64), cpus=st.lists(st.integers(1, 128), min_size=1, max_size=20), more=st.integers(0, 500))
def test_a_load_host_has_a_thread_per_cpu_by_default_and_at_most_one_per_connection(
    threads: int | None, cpus: list[int], more: int
) -> None:
    for each, own in zip(divided(len(cpus) + more, threads, cpus), cpus, strict=True):
        assert each.threads == min(threads or own, each.connections) >= 1


def test_fewer_connections_than_load_hosts_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        divided(3, None, [1] * 4)
    assert caught.value.message == "4 load hosts require at least 4 connections"
    assert caught.value.hint == "use -c 4 or more"
