from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from httpbench.host.kernel_files import cpu_list, cpu_text


@given(st.sets(st.integers(0, 300), min_size=1))
def test_a_cpu_list_round_trips(cpus: set[int]) -> None:
    assert cpu_list(cpu_text(tuple(cpus))) == tuple(sorted(cpus))


def test_a_cpu_list_is_compact() -> None:
    assert cpu_text((0, 1, 2, 8)) == "0-2,8"
    assert cpu_list("0-2,8\n") == (0, 1, 2, 8)
    assert cpu_list("") == ()
