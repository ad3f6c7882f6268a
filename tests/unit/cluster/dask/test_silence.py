"""A load host that is silent for 2 s is noticed, and one that is heard of is not."""

from __future__ import annotations

from httpbench.cluster.dask.silence import LOOKS_MAX, Silence

BOTH = ("load1", "load2")


def test_who_is_silent_for_too_long_is_named() -> None:
    silence = Silence(BOTH)
    for _ in range(LOOKS_MAX):
        silence.heard("load1")
        assert silence.look(BOTH) == []
    silence.heard("load1")
    assert silence.look(BOTH) == ["load2"]


def test_who_is_heard_of_again_begins_anew() -> None:
    silence = Silence(BOTH)
    for _ in range(2):
        for _ in range(LOOKS_MAX):
            assert silence.look(BOTH) == []
        silence.heard("load1")
        silence.heard("load2")


def test_only_those_that_are_watched_count() -> None:
    silence = Silence(BOTH)
    for _ in range(LOOKS_MAX + 1):
        found = silence.look(("load1",))
    assert found == ["load1"]
    silence.heard("a stranger")
