"""Tests of CPU time per request: shares, changes with their intervals, areas and names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import ProfiledSlice
from httpbench.stats.frames import Area, areas, frame_name, frames
from httpbench.stats.profiles import growths, path_samples, self_samples
from tests.made_profiles import COSTS_US, make_profile, make_profile_of

STACKS = st.dictionaries(
    st.sampled_from(["main", "main;parse", "main;write", "main;write;tcp_sendmsg_[k]", "main;parse;parse"]), st.integers(1, 500)
)
SLICES = st.lists(st.builds(ProfiledSlice, requests=st.integers(0, 10_000), cpu_s=st.floats(0.01, 10), stacks=STACKS), max_size=6)


@given(SLICES)
def test_functions_add_up_to_the_whole_and_so_do_the_outermost_paths(slices: list[ProfiledSlice]) -> None:
    profile = make_profile_of(slices)
    own, paths = self_samples(profile), path_samples(profile)
    assert sum(own.us(name) for name in own.counts) == pytest.approx(own.total_us)
    assert sum(paths.us(path) for path in paths.counts if len(path) == 1) == pytest.approx(own.total_us)


@pytest.mark.parametrize(
    ("stack", "found"),
    [
        ("main;asm_sysvec_apic_timer_interrupt_[k];schedule_[k]", "main"),
        ("main;send;tcp_ack_[k];asm_sysvec_apic_timer_interrupt_[k]", "main;send;tcp_ack_[k]"),
        ("main;asm_sysvec_apic_timer_interrupt_[k];handle_softirqs_[k];net_rx_action_[k]", None),
        ("asm_sysvec_apic_timer_interrupt_[k];schedule_[k]", None),
    ],
    ids=["preempted", "in the kernel", "packets", "nothing interrupted"],
)
def test_a_timer_counts_for_the_function_that_it_interrupts(stack: str, found: str | None) -> None:
    assert ";".join(frames(stack)) == (found or stack)


@given(SLICES, st.booleans())
def test_a_profile_has_no_changes_from_itself(slices: list[ProfiledSlice], in_turns: bool) -> None:
    own = self_samples(make_profile_of(slices))
    assert not [growth for growth in growths(own, own, in_turns=in_turns) if growth.is_significant]


@pytest.mark.parametrize("in_turns", [True, False])
def test_a_function_that_doubled_is_first_and_its_cost_is_right(in_turns: bool) -> None:
    for seed in range(20):
        doubled = {**COSTS_US, "main;handle;parse": 20.0}
        base, head = make_profile(COSTS_US, seed, slices=16), make_profile(doubled, seed + 1000, slices=16)
        found = growths(self_samples(base), self_samples(head), in_turns=in_turns)
        assert found[0].key == "parse"
        assert found[0].is_significant
        assert found[0].low_us > 0
        assert found[0].head_us == pytest.approx(20, rel=0.15)


def test_equal_programs_rarely_have_a_significant_change() -> None:
    runs, wrong = 300, 0
    for seed in range(runs):
        sides = [self_samples(make_profile(COSTS_US, 2 * seed + side, slices=4)) for side in range(2)]
        wrong += any(growth.is_significant for growth in growths(*sides, in_turns=True))
    assert wrong / runs <= 0.05


def test_one_sample_in_each_slice_is_not_a_change() -> None:
    base = make_profile_of([ProfiledSlice(requests=1000, cpu_s=1, stacks={"main": 50})] * 4)
    head = make_profile_of([ProfiledSlice(requests=1000, cpu_s=1, stacks={"main": 49, "new": 1})] * 4)
    found = {growth.key: growth for growth in growths(self_samples(base), self_samples(head), in_turns=True)}
    assert found["new"].head_us == pytest.approx(20)
    assert not found["new"].is_significant


def test_two_slices_are_too_few() -> None:
    own = self_samples(make_profile(COSTS_US, 1, slices=2))
    assert growths(own, own, in_turns=True) == []


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("app::parse::h0123456789abcdef", "app::parse"),
        ("parse.part.0", "parse"),
        ("parse.constprop.0.isra.1", "parse"),
        ("tcp_ack.part.0_[k]", "tcp_ack_[k]"),
        ("0x7f0012345678", "[unknown]"),
        ("", "[unknown]"),
        ("[unknown]_[k]", "[unknown]_[k]"),
        ("JS:*handler /srv/a1b2/server.js:12:3", "JS:handler server.js"),
        ("handler (/home/me/app/server.py:12)", "handler (server.py)"),
        ("net/http.(*conn).serve", "net/http.(*conn).serve"),
        ("github.com/a/b.Parse", "github.com/a/b.Parse"),
        ("(anonymous) (server.js:12)", "(anonymous) (server.js:12)"),
        ("operator/", "operator/"),
        ("std::map<int, char>::find", "std::map<int, char>::find"),
    ],
)
def test_names_are_the_same_in_two_builds(frame: str, name: str) -> None:
    assert frame_name(frame) == name
    assert frame_name(name) == name


def test_the_kernel_calls_no_program() -> None:
    assert frames("[kernel]_[k];main;write;vfs_write_[k]") == ("main", "write", "vfs_write_[k]")
    assert frames("ret_from_fork_[k];kthread_[k]") == ("ret_from_fork_[k]", "kthread_[k]")


@pytest.mark.parametrize(
    ("stack", "area"),
    [
        ("main;parse", Area.USER),
        ("main;write;entry_SYSCALL_64_[k];do_syscall_64_[k]", Area.KERNEL),
        ("main;write;do_syscall_64_[k];sock_write_iter_[k];__memcpy_[k]", Area.NETWORK),
        ("main;ip_rcv_[k]", Area.NETWORK),
        ("main;__local_bh_enable_ip_[k]", Area.KERNEL),
        ("main;tcp_sendmsg_[k];_raw_spin_lock_bh_[k]", Area.LOCKS),
        ("main;tcp_sendmsg_[k];_raw_spin_unlock_bh_[k]", Area.NETWORK),
        ("main;pthread_mutex_lock;do_syscall_64_[k];schedule_[k]", Area.LOCKS),
        ("main;pthread_mutex_unlock", Area.USER),
        ("main;send_packet", Area.USER),
    ],
)
def test_the_area_of_the_innermost_frame(stack: str, area: Area) -> None:
    assert list(areas(stack.split(";")))[-1] is area


def test_slices_without_requests_do_not_count() -> None:
    good = ProfiledSlice(requests=1000, cpu_s=1, stacks={"main": 50})
    own = self_samples(make_profile_of([good, ProfiledSlice(requests=0, cpu_s=1, stacks={"main": 50}), good]))
    assert own.slices == 2
    assert own.total_us == pytest.approx(1000)
    assert np.isnan(own.unit_us[1])
