"""Tests that a load host counts as silent if it sends nothing for 2 s."""

from __future__ import annotations

from httpbench.cluster.dask.conductor import LOOKS_MAX, Silence

BOTH = ("load1", "load2")


def test_a_load_host_that_is_silent_for_too_long_is_named() -> None:
    silence = Silence(BOTH)
    for _ in range(LOOKS_MAX):
        silence.heard("load1")
        assert silence.look(BOTH) == []
    silence.heard("load1")
    assert silence.look(BOTH) == ["load2"]


def test_a_sign_of_life_restarts_the_time_limit() -> None:
    silence = Silence(BOTH)
    for _ in range(2):
        for _ in range(LOOKS_MAX):
            assert silence.look(BOTH) == []
        silence.heard("load1")
        silence.heard("load2")


def test_only_watched_load_hosts_count() -> None:
    silence = Silence(BOTH)
    for _ in range(LOOKS_MAX + 1):
        found = silence.look(("load1",))
    assert found == ["load1"]
    silence.heard("a stranger")
