"""Tests that a trial counts as disturbed because of what other programs did, never because of its result."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import CoreOccupancy, Cores, Load, Others, Scaling, SharedQuota, Trial, Verdict, VerdictKind
from httpbench.report.words.reasons import joined
from httpbench.stats.disturbance import disturbance as disturbed_by
from httpbench.stats.disturbance import disturbers
from tests.factories import (
    APART,
    SHARED,
    make_disturbed,
    make_load_host_use,
    make_measurement,
    make_plan,
    make_stranger,
    make_trial,
    make_usage,
)

FOUR = Cores(target=(0, 1, 2, 3), generator=(4, 5), harness=(6,), shared=False)
SMT = Cores(target=(0, 8), generator=(1, 9), harness=(2, 10), shared=False, siblings=((0, 8), (1, 9), (2, 10)))
HALF_SMT = SMT.model_copy(update={"target": (0,), "generator": (1,), "harness": (2,)})
BESIDE = APART.model_copy(update={"harness": (1,)})


def occupied(*busy: float, interrupts: float = 0.0, stolen: float = 0.0) -> tuple[CoreOccupancy, ...]:
    return tuple(CoreOccupancy(cpu=cpu, busy=share, interrupts=interrupts, stolen=stolen) for cpu, share in enumerate(busy))


def trial(target_core: float = 0.85, generator_core: float = 0.85, waited: float | None = None, **changes: Any) -> Trial:
    """Make a trial of ten seconds on two measured cores. The target and the generator use 0.85 of a core each."""
    stolen, interrupts = changes.pop("stolen", 0.0), changes.pop("interrupts", 0.0)
    values: dict[str, Any] = {
        "measurement": make_measurement(),
        "target_usage": make_usage(0.85),
        "generator_usage": make_usage(0.85, cpu_wait_cores_mean=waited),
        "occupancy": occupied(target_core, generator_core, interrupts=interrupts, stolen=stolen),
    }
    return make_trial(changes.pop("plan", make_plan()), **{**values, **changes})


def disturbance(trial: Trial) -> str | None:
    """Return how other programs disturbed a trial, in words."""
    return joined(disturbed_by(trial)) or None


@pytest.mark.parametrize(
    ("quantities", "said"),
    [
        ({}, None),
        ({"target_core": 0.88}, None),  # another program took 3%
        ({"target_core": 1.0}, "other programs took 0.15 of the target's core"),
        ({"generator_core": 1.0}, "other programs took 0.15 of the load generator's core"),
        ({"stolen": 0.04}, None),
        ({"waited": 0.09}, None),
        ({"waited": 0.35}, "the load generator waited for a CPU 35% of the time"),
        ({"waited": None}, None),
    ],
)
def test_cpu_time_of_other_programs_disturbs_a_trial(quantities: dict[str, float], said: str | None) -> None:
    assert disturbance(trial(**quantities)) == said


def test_steal_is_reported_for_each_program() -> None:
    said = "other virtual machines took 0.06 of the target's core and 0.06 of the load generator's core"
    assert disturbance(trial(stolen=0.06)) == said


@pytest.mark.parametrize(
    ("waited", "said"),
    [
        (0.0, None),
        (0.04, None),
        (0.1, "other programs took 0.10 of the target's core"),
        (0.9, "other programs took 0.70 of the target's core"),
    ],
)
def test_programs_that_ran_while_the_target_slept_took_nothing(waited: float, said: str | None) -> None:
    """Another program used the rest of the target's full core. Only the time for which the target waited counts as taken."""
    seen = make_usage(0.3, cpu_wait_cores_mean=waited, threads=4)
    assert disturbance(trial(target_core=1.0, target_usage=seen)) == said


def test_a_program_that_yields_took_nothing_although_many_threads_waited_for_each_other() -> None:
    """The threads of a slow target wait for each other. A program of the idle class uses only the time that they leave."""
    for yields, said in ((True, None), (False, "other programs took 0.72 of the target's core: spin (pid 4711) 0.72")):
        others = Others(strangers=(make_stranger("spin", 0.72, yields=yields),))
        seen = make_usage(0.28, cpu_wait_cores_mean=4.1, threads=33)
        assert disturbance(trial(target_core=1.0, target_usage=seen, others=others)) == said


def test_a_program_that_yields_is_not_blamed_for_what_another_one_took() -> None:
    others = Others(strangers=(make_stranger("idler", 0.4, pid=1, yields=True), make_stranger("spin", 0.3)))
    seen = make_usage(0.3, cpu_wait_cores_mean=0.5)
    said = disturbance(trial(target_core=1.0, target_usage=seen, others=others))
    assert said == "other programs took 0.30 of the target's core: spin (pid 4711) 0.30"


def test_a_program_on_the_sibling_thread_takes_time_although_nobody_waits() -> None:
    seen = (CoreOccupancy(cpu=0, busy=1.0, stolen=0), CoreOccupancy(cpu=8, busy=0.2, stolen=0), CoreOccupancy(cpu=1, busy=0.85, stolen=0))
    usage = make_usage(0.3, cpu_wait_cores_mean=0.0)
    said = disturbance(trial(plan=make_plan(cores=HALF_SMT), occupancy=seen, target_usage=usage))
    assert said == "other programs took 0.20 of the target's core"


def test_a_taken_core_counts_the_same_on_a_large_machine() -> None:
    """The other program takes 0.15 cores: only 2% of the seven measured cores, but 15% of the target's core."""
    cores = Cores(target=(0,), generator=(1, 2, 3, 4, 5, 6), harness=(7,), shared=False)
    many = trial(plan=make_plan(cores=cores), occupancy=occupied(1.0, 0.85, 0, 0, 0, 0, 0))
    assert disturbance(many) == "other programs took 0.15 of the target's core"


def test_short_trials_have_higher_thresholds_because_of_ticks() -> None:
    assert disturbance(trial(target_core=0.94)) is not None
    assert disturbance(trial(target_core=0.94, measurement=make_measurement(duration_s=0.3))) is None
    assert disturbance(trial(target_core=1.04, measurement=make_measurement(duration_s=0.3))) is not None


def test_all_disturbing_programs_are_reported() -> None:
    said = disturbance(trial(target_core=1.0, stolen=0.07, waited=0.35))
    assert said is not None and said.count("; ") == 2


def test_a_wait_explained_by_other_programs_is_not_repeated() -> None:
    said = disturbance(trial(generator_core=1.0, waited=0.35))
    assert said == "other programs took 0.15 of the load generator's core"


def test_processes_are_reported_with_their_shares() -> None:
    strangers = (make_stranger("cc1", 0.9, 12, cpus=(1,)), make_stranger("spin", 0.1, 11), make_stranger("sshd", 0.03, 13))
    said = disturbance(trial(target_core=1.0, others=Others(strangers=strangers)))
    assert said == "other programs took 0.15 of the target's core: spin (pid 11) 0.10, sshd (pid 13) 0.03, processes that have ended 0.02"


def test_a_process_seen_on_the_core_comes_before_one_allowed_there() -> None:
    strangers = (
        make_stranger("elsewhere", 0.9, 12, cpus_allowed=(0, 1, 2), cpus=(2,)),
        make_stranger("here", 0.15, 13, cpus_allowed=(0, 1, 2)),
    )
    said = disturbance(trial(target_core=1.0, others=Others(strangers=strangers)))
    assert said == "other programs took 0.15 of the target's core: here (pid 13) 0.15"


def test_a_moving_process_is_blamed_for_at_most_its_cpu_time() -> None:
    strangers = (make_stranger("moves", 0.2, 12, cpus=(0, 1)),)
    said = disturbance(trial(target_core=1.0, generator_core=1.0, others=Others(strangers=strangers)))
    places = "0.15 of the target's core and 0.15 of the load generator's core"
    assert said == f"other programs took {places}: moves (pid 12) 0.20, processes that have ended 0.10"


def test_only_the_largest_of_many_processes_are_listed() -> None:
    strangers = tuple(make_stranger(f"cc{number}", 0.02 + number / 1000, number) for number in range(5))
    said = disturbance(trial(target_core=0.96, others=Others(strangers=strangers)))
    assert said == "other programs took 0.11 of the target's core: cc4 (pid 4) 0.02, cc3 (pid 3) 0.02, cc2 (pid 2) 0.02, 2 others 0.04"


def test_invisible_processes_are_reported_as_hidden() -> None:
    said = disturbance(trial(target_core=1.0, others=Others(all_visible=False)))
    assert said == "other programs took 0.15 of the target's core: processes that have ended or are hidden from httpbench 0.15"


def test_kernel_threads_and_ended_children_are_labeled() -> None:
    strangers = (
        make_stranger("ksoftirqd/0", 0.1, 16, is_kernel=True),
        make_stranger("make", 0.5, 20, cpus=(), cpus_allowed=(0, 1), is_of_children=True),
    )
    said = disturbance(trial(target_core=1.05, others=Others(strangers=strangers)))
    assert said is not None
    assert "kernel thread ksoftirqd/0 (pid 16, softirq) 0.10" in said
    assert "ended children of make (pid 20) 0.10" in said


def test_another_program_on_the_sibling_thread_disturbs() -> None:
    """The run may use only one of the core's two threads."""
    seen = (CoreOccupancy(cpu=0, busy=0.85, stolen=0), CoreOccupancy(cpu=8, busy=0.9, stolen=0), CoreOccupancy(cpu=1, busy=0.85, stolen=0))
    others = Others(strangers=(make_stranger(cores=0.9, cpus=(8,)),))
    said = disturbance(trial(plan=make_plan(cores=HALF_SMT), occupancy=seen, others=others))
    assert said == "other programs took 0.90 of the target's core: spin (pid 4711, on an SMT sibling) 0.90"


def test_capacity_counts_physical_cores() -> None:
    """Programs that take 0.08 of a core with two threads take 8% of the core, not 4%."""
    seen = tuple(CoreOccupancy(cpu=cpu, busy=busy, stolen=0) for cpu, busy in ((0, 0.85), (8, 0.08), (1, 0.85), (9, 0.0)))
    assert disturbance(trial(plan=make_plan(cores=SMT), occupancy=seen)) == "other programs took 0.08 of the target's core"


def test_several_cores_are_judged_together() -> None:
    """The scheduler moves programs between the cores, so only the total over all cores counts."""
    usage: dict[str, Any] = {"target_usage": make_usage(3.4), "generator_usage": make_usage(1.0)}
    for each, is_disturbed in ((0.89, False), (0.91, True)):
        seen = occupied(each, each, each, each, 0.5, 0.5)
        said = disturbance(trial(plan=make_plan(cores=FOUR, scaling=Scaling.MULTI), occupancy=seen, **usage))
        assert (said is not None) is is_disturbed
        assert said is None or "the target's 4 cores" in said


def test_the_harness_does_not_disturb_on_shared_cores() -> None:
    busy: dict[str, Any] = {"generator_core": 0.95, "waited": 0.11, "others": Others(harness_cores=0.1)}
    assert disturbance(trial(plan=make_plan(cores=BESIDE), **busy)) is None
    assert disturbance(trial(**busy)) is not None, "it has a core of its own"


def test_waits_with_a_known_cause_do_not_disturb() -> None:
    waiting: dict[str, Any] = {"cpu_wait_cores_mean": 0.6}
    alone = trial(target_usage=make_usage(0.85, threads=1, **waiting))
    assert disturbance(alone) == "the target waited for a CPU 60% of the time"
    assert disturbance(trial(target_usage=make_usage(0.85, threads=8, **waiting))) is None
    assert disturbance(trial(target_usage=make_usage(0.85, threads=1, throttled_share=0.9, **waiting))) is None
    assert disturbance(trial(target_usage=make_usage(0.85, threads=1, **waiting), plan=make_plan(cores=SHARED))) is None


def test_the_targets_own_quota_does_not_disturb() -> None:
    assert disturbance(trial(target_core=0.3, target_usage=make_usage(0.3, throttled_share=0.9))) is None


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        (SharedQuota(throttled_share=0.3, used_cores=1.8), None),  # target, load generator and httpbench used all of it
        (SharedQuota(throttled_share=0.04, used_cores=2.2), None),
        (SharedQuota(throttled_share=0.3, used_cores=2.2), "0.45 of the 2.20 cores of a CPU quota, which stopped all of them in 30%"),
    ],
)
def test_other_programs_that_exhaust_a_shared_quota_disturb(quota: SharedQuota, said: str | None) -> None:
    found = disturbance(trial(others=Others(quota=quota, harness_cores=0.05)))
    assert (found is None) == (said is None)
    assert said is None or said in (found or "")


def test_a_generator_with_more_threads_than_cpus_waits_for_itself() -> None:
    assert disturbance(trial(generator_usage=make_usage(0.85, cpu_wait_cores_mean=0.5, threads=2))) is not None, "one coordinates"
    assert disturbance(trial(generator_usage=make_usage(0.85, cpu_wait_cores_mean=0.5, threads=6))) is None


def test_interrupts_charged_to_processes_do_not_hide_other_programs() -> None:
    """Interrupts took 0.2 of the core, but the kernel charged this time to the target, which therefore seems to use the whole core."""
    quiet: dict[str, Any] = {"target_core": 0.8, "interrupts": 0.2, "target_usage": make_usage(1.0)}
    assert disturbance(trial(**quiet, generator_core=0.65)) is None
    spinning = {**quiet, "target_usage": make_usage(0.8), "others": Others(strangers=(make_stranger(cores=0.2),))}
    said = disturbance(trial(**spinning, generator_core=0.65))
    assert said == "other programs took 0.20 of the target's core: spin (pid 4711) 0.20"


@pytest.mark.parametrize(
    ("waited", "interrupts", "changes", "said"),
    [
        (0.148, 0.25, {}, "other programs took 0.14 of the target's core: spin (pid 4711) 0.14"),
        (0.148, 0.25, {"cpus": (0, 1)}, "other programs took 0.14 of the target's core: spin (pid 4711) 0.14"),
        (0.148, 0.25, {"cpus": (1,)}, None),  # it was never seen on the target's core
        (0.04, 0.25, {}, None),  # it ran while the target slept
        (0.148, 0.25, {"yields": True}, None),
        (0.148, 0.25, {"is_kernel": True}, None),  # it may have worked for the target
        (0.148, 0.04, {}, None),  # it ran elsewhere, because the target had all but 4% of its core
    ],
)
def test_interrupts_do_not_hide_a_program_that_moves(waited: float, interrupts: float, changes: dict[str, Any], said: str | None) -> None:
    """The kernel charged the interrupts to the target, which therefore seems to have used the whole core."""
    moving: dict[str, Any] = {"cores": 0.139, "cpus_allowed": (0, 1), **changes}
    others = Others(strangers=(make_stranger(**moving),))
    target_usage = make_usage(1.0, cpu_wait_cores_mean=waited, threads=8)
    usages: dict[str, Any] = {"target_usage": target_usage, "generator_usage": make_usage(0.5, cpu_wait_cores_mean=0.01)}
    found = disturbance(trial(target_core=1.0, generator_core=0.5, interrupts=interrupts, others=others, **usages))
    assert found == said


def test_disturbances_do_not_depend_on_the_result() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("no correct response",))
    assert disturbance(trial().model_copy(update={"verdict": invalid})) is None
    for rps in (1.0, 1e6):
        assert disturbance(trial(target_core=1.0, measurement=make_measurement(rps))) is not None


def test_a_target_on_shared_cores_does_not_disturb_the_generator() -> None:
    assert disturbance(trial(waited=0.8, plan=make_plan(cores=SHARED))) is None
    others = Others(strangers=(make_stranger(cores=0.3),))
    said = disturbance(trial(target_core=1.0, generator_core=1.0, plan=make_plan(cores=SHARED), others=others))
    assert said == "other programs took 0.30 of the 2 cores of target and load generator: spin (pid 4711) 0.30"


def test_unwatched_trials_are_not_disturbed() -> None:
    assert disturbance(make_trial(measurement=None)) is None
    assert disturbance(trial(occupancy=())) is None
    assert disturbance(trial(target_usage=None, target_core=1.0)) is None
    assert disturbance(trial(plan=make_plan(load=Load(rate_rps=100)))) is None


def test_an_already_running_server_does_not_disturb() -> None:
    """A server that httpbench didn't start isn't pinned, so it may have run on the load generator's core."""
    others = Others(strangers=(make_stranger("nginx", 0.5, 80, cpus=(1,)),))
    assert disturbance(trial(target_usage=None, generator_core=1.0, waited=0.4, others=others)) is None
    assert disturbance(trial(target_usage=None, stolen=0.1, others=others)) is not None


def test_waiting_for_kernel_network_work_does_not_disturb() -> None:
    """The kernel thread ksoftirqd runs on the core of the program whose packets it handles."""
    usage = make_usage(0.85, cpu_wait_cores_mean=0.2, threads=1)
    assert disturbance(trial(target_core=0.85, target_usage=usage, interrupts=0.15, generator_core=0.7)) is None
    assert disturbance(trial(target_core=0.85, target_usage=usage, interrupts=0.05, generator_core=0.8)) is not None


def test_disturbers_count_once_per_trial() -> None:
    spin = [make_disturbed(stranger=make_stranger(cores=cores)) for cores in (0.3, 0.5, 0.4)]
    found = disturbers([*spin, make_disturbed(stranger=make_stranger("cc1", 0.9, 12)), make_trial()])
    assert [(one.name, round(one.cores, 2), one.trials) for one in found] == [("spin (pid 4711)", 0.5, 3), ("cc1 (pid 12)", 0.9, 1)]


@pytest.mark.parametrize(
    ("busy", "waited", "stolen", "said"),
    [
        ((0.85,), 0.0, 0.0, None),
        ((0.88,), 0.0, 0.0, None),
        ((1.0,), 0.0, 0.0, None),  # other programs ran, but only while the load generator slept
        ((1.0,), 0.3, 0.0, "other programs took 0.15 of the core of load host load1"),
        ((1.0,), None, 0.0, "other programs took 0.15 of the core of load host load1"),
        ((0.85, 0.5), 0.6, 0.0, "other programs took 0.50 of the 2 cores of load host load1"),
        ((0.85,), 0.35, 0.0, "the load generator waited for a CPU 35% of the time on load host load1"),
        ((0.85,), 0.0, 0.2, "other virtual machines took 0.20 of the core of load host load1"),
    ],
)
def test_a_load_host_can_be_disturbed_like_this_machine(
    busy: tuple[float, ...], waited: float | None, stolen: float, said: str | None
) -> None:
    there = make_load_host_use(busy)
    there = there.model_copy(update={"occupancy": tuple(core.model_copy(update={"stolen": stolen}) for core in there.occupancy)})
    elsewhere = make_plan(cores=APART.model_copy(update={"generator": ()}))
    assert disturbance(trial(plan=elsewhere, generator_core=0.0, waited=waited, load_host=there)) == said
