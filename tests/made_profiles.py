"""Synthetic profiles, sampled like real ones: each slice draws its samples from the set costs of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from httpbench.model import Load, Profile, ProfiledSlice, Run, Scaling, Trial
from tests.factories import make_rounds, make_run

COSTS_US: Mapping[str, float] = {
    "main;handle": 5.0,
    "main;handle;parse": 10.0,
    "main;handle;render": 15.0,
    "main;handle;render;malloc": 6.0,
    "main;pthread_mutex_lock;do_syscall_64_[k];futex_wait_[k]": 4.0,
    "main;write;do_syscall_64_[k];vfs_write_[k]": 3.0,
    "main;write;do_syscall_64_[k];vfs_write_[k];sock_write_iter_[k];tcp_sendmsg_[k]": 25.0,
    "main;read;do_syscall_64_[k];tcp_recvmsg_[k]": 17.0,
    "main;epoll_wait;do_syscall_64_[k];ep_poll_[k]": 8.0,
    **{f"main;rare_{number}": 0.4 for number in range(20)},
}
"""CPU time per request of stacks in µs, about 100 µs in total."""


def make_profile(
    costs_us: Mapping[str, float], seed: int, *, slices: int = 8, cpu_s: float = 1.0, noise: float = 0.02, **changes: Any
) -> Profile:
    """Return a profile whose functions have these costs. ``noise`` is the relative standard deviation of all costs between slices."""
    chance = np.random.default_rng(seed)
    total_us = sum(costs_us.values())
    shares = np.array(list(costs_us.values())) / total_us
    found = []
    for _ in range(slices):
        drawn = chance.multinomial(round(cpu_s * 199), shares)
        stacks = {stack: int(count) for stack, count in zip(costs_us, drawn, strict=True) if count}
        found.append(ProfiledSlice(requests=round(cpu_s * 1e6 / total_us * chance.normal(1, noise)), cpu_s=cpu_s, stacks=stacks))
    return make_profile_of(found, **changes)


def make_profiled_run(extra: Mapping[str, float] | None = None, **changes: Any) -> tuple[Run, list[Trial]]:
    """Return a run in which a function of c/b costs twice as much as in its baseline c/a, another is new, and one is gone.

    ``extra`` adds functions to both.
    """
    trials = [*make_rounds("c/a", (1000, 1001, 1002)), *make_rounds("c/b", (900, 901, 902))]
    base = {**COSTS_US, **(extra or {})}
    head = {**base, "main;handle;parse": 20.0, "main;handle;validate": 8.0}
    del head["main;handle;render;malloc"]
    load = trials[0].plan.load
    profiles = (
        make_profile(base, 1, target="c/a", throughput_rps=970.0, load=load),
        make_profile(head, 2, target="c/b", throughput_rps=905.0, load=load),
    )
    return make_run(trials, baseline="c/a", profiles=profiles, **changes), trials


def make_profile_of(slices: Sequence[ProfiledSlice], **changes: Any) -> Profile:
    """Return a profile with these slices."""
    values: dict[str, Any] = {
        "target": "c/epoll/level",
        "scaling": Scaling.SINGLE,
        "workload": "plaintext",
        "load": Load(),
        "profiler": "perf (cpu-clock)",
        "frequency_hz": 199.0,
        "throughput_rps": 390_000.0,
        "slices": tuple(slices),
    }
    return Profile(**{**values, **changes})
