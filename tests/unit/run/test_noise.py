"""What is known of this machine's noise, and whether it still holds."""

from __future__ import annotations

from pathlib import Path

from httpbench.model import RunStatus
from httpbench.run.noise import known_noise, outdated, pair
from httpbench.store import Store
from tests.factories import make_environment, make_noise, make_pairs, make_target


def stored(store: Store, name: str, **changes: object) -> None:
    run, trials = make_pairs([0.01, 0.02, 0.03])
    run = run.model_copy(update={"id": name, "started_at": f"2026-11-{name}T08:00:00.000Z", **changes})
    store.begin(run)
    for number, trial in enumerate(trials):
        store.add(name, trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": number})}))
    store.finish(name, RunStatus.FINISHED, run.started_at)


def test_the_newest_of_this_machine_is_known(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        stored(store, "20")
        stored(store, "21")
        stored(store, "22", environment=make_environment(hostname="elsewhere"))
        stored(store, "23", measures_noise=False)
        found = known_noise(store, make_environment())
        assert found is not None
        assert found.run == "21"
        assert known_noise(store, make_environment(cpu_model="another")) is None


def test_one_that_is_not_over_is_not_known(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        store.begin(make_pairs([0.01, 0.02, 0.03])[0])
        assert known_noise(store, make_environment()) is None


def test_another_kernel_or_tuning_outdates_it() -> None:
    known = make_noise([0.01, 0.02, 0.03]).model_copy(update={"tuning": {"governor": "performance"}})
    same = make_environment(tuning={"governor": "performance"})
    assert outdated(known, same) is None
    assert "with kernel 6.1.0-28-amd64, which is now 6.12.0" in (outdated(known, same.model_copy(update={"kernel": "6.12.0"})) or "")
    said = outdated(known, same.model_copy(update={"tuning": {"governor": "powersave", "turbo": "0"}}))
    assert said is not None
    assert "governor was performance and is now powersave; turbo was absent and is now 0" in said


def test_a_pair_differs_in_its_name_alone() -> None:
    one, again = pair(make_target("c/epoll/edge"))
    assert (one.id, again.id) == ("c/epoll/edge", "c/epoll/edge-again")
    assert again.model_copy(update={"id": one.id, "variant": one.variant}) == one
