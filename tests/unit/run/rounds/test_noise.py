"""Tests of this machine's known noise: which noise measurement applies to a run, and whether it is outdated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from httpbench.model import Load, Run, RunStatus
from httpbench.run.rounds.noise import known_noise, noise_for, outdated, pair
from httpbench.store import Store
from tests.factories import make_environment, make_noise, make_pairs, make_rounds, make_run, make_target


def stored(store: Store, name: str, load: Load | None = None, **changes: object) -> None:
    run, trials = make_pairs([0.01, 0.02, 0.03])
    if load is not None:
        trials = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"load": load})}) for trial in trials]
    run = run.model_copy(update={"id": name, "started_at": f"2026-11-{name}T08:00:00.000Z", **changes})
    store.begin(run)
    for number, trial in enumerate(trials):
        store.add(name, trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": number})}))
    store.finish(name, RunStatus.FINISHED, run.started_at)


def test_the_newest_noise_of_this_machine_is_known(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        stored(store, "20")
        stored(store, "21")
        stored(store, "22", environment=make_environment(hostname="elsewhere"))
        stored(store, "23", measures_noise=False)
        found = known_noise(store, make_environment())
        assert found is not None
        assert found.run == "21"
        assert known_noise(store, make_environment(cpu_model="another")) is None


def test_an_unfinished_measurement_is_ignored(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        store.begin(make_pairs([0.01, 0.02, 0.03])[0])
        assert known_noise(store, make_environment()) is None


NOW = "2026-11-25T08:00:00.000Z"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kernel": "6.12.0"}, "kernel 6.1.0-28-amd64 → 6.12.0"),
        ({"httpbench_version": "0.2.0"}, "httpbench 0.1.0 → 0.2.0"),
        ({"cpus_allowed": (0, 1)}, "CPUs allowed 0,1,2,3,4,5,6,7 → 0,1"),
        ({"cpu_quota_cores": 2.0}, "CPU quota none → 2.0"),
        (
            {"tuning": {"governor": "powersave", "turbo": "0"}},
            "governor performance → powersave; turbo absent → 0",
        ),
    ],
)
def test_a_changed_machine_invalidates_it(changed: dict[str, Any], said: str) -> None:
    same = make_environment(tuning={"governor": "performance"})
    known = make_noise([0.01, 0.02, 0.03]).model_copy(update={"tuning": {"governor": "performance"}})
    assert outdated(known, same, NOW) is None
    sentence = f"this machine's noise floor is no longer valid: {said}; hint: run `httpbench noise` again"
    assert outdated(known, same.model_copy(update=changed), NOW) == sentence


def test_it_expires_after_thirty_days() -> None:
    known = make_noise([0.01, 0.02, 0.03])
    assert outdated(known, make_environment(), "2026-12-21T07:00:00.000Z") is None
    assert "no longer valid: it is 31 days old" in (outdated(known, make_environment(), "2026-12-22T08:00:00.000Z") or "")


def test_a_clock_set_back_invalidates_it() -> None:
    known = make_noise([0.01, 0.02, 0.03])
    found = outdated(known, make_environment(), "2026-11-20T08:00:00.000Z")
    assert found is not None
    assert "no longer valid: the clock has been set back since then, so its age is unknown" in found


def later_run(**changes: Any) -> Run:
    run = make_run(make_rounds("c/a", (1000, 1010, 1020), plan={"load": Load(connections=256)}))
    return run.model_copy(update={"started_at": NOW, **changes})


def test_a_run_gets_the_newest_valid_noise_with_its_load(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        assert noise_for(store, later_run()) == (None, None)
        stored(store, "20", load=Load(connections=256))
        stored(store, "21", load=Load(connections=64))
        found, reason = noise_for(store, later_run())
        assert found is not None
        assert (found.run, reason) == ("20", None)
        stored(store, "22", load=Load(connections=256))
        assert "22" in repr(noise_for(store, later_run())[0])
        assert noise_for(store, later_run(environment=make_environment(kernel="6.12.0")))[0] is None
        assert "kernel 6.1" in str(noise_for(store, later_run(environment=make_environment(kernel="6.12.0")))[1])


def test_the_targets_of_a_pair_differ_only_in_name() -> None:
    one, again = pair(make_target("c/epoll/edge"))
    assert (one.id, again.id) == ("c/epoll/edge", "c/epoll/edge-again")
    assert again.model_copy(update={"id": one.id, "variant": one.variant}) == one
