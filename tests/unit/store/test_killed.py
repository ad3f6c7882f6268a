"""Tests that a killed writer loses nothing that it reported as stored."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from httpbench.model import RunStatus, Trial
from httpbench.store import Store
from tests.factories import make_distribution, make_histogram, make_measurement, make_plan, make_run, make_trial

KILLS = 60
TRIALS_BEFORE = 3
LONGEST_S = 0.01
TRIALS = 1000


def trial_of(number: int) -> Trial:
    histogram = make_histogram(range(1_000, 200_000, 100))
    return make_trial(make_plan(number=number), measurement=make_measurement(service_time_us=make_distribution(histogram=histogram)))


def write(path: Path, run_id: str, trial: Trial, said: int) -> None:
    """Store trials until this process is killed, and report each trial once it is stored."""
    with Store(path) as store:
        store.begin(make_run([trial], id=run_id, status=RunStatus.RUNNING))
        for number in range(TRIALS):
            store.add(run_id, trial.model_copy(update={"plan": make_plan(number=number)}))
            os.write(said, b".")


def killed_after(trials: int, delay_s: float, path: Path, run_id: str, trial: Trial) -> int:
    """Return how many trials a writer had reported as stored by the time it was killed.

    The writer is killed ``delay_s`` seconds after it has reported ``trials`` trials.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        write(path, run_id, trial, writer)
        os._exit(0)
    os.close(writer)
    said = b"".join(os.read(reader, 1) for _ in range(trials))
    time.sleep(delay_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        return len(said + pipe.read())


def test_a_killed_run_loses_at_most_the_trial_in_progress(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    trial = trial_of(0)
    chance = random.Random(60)
    said = {
        f"run-{kill}": killed_after(chance.randint(0, TRIALS_BEFORE), chance.uniform(0, LONGEST_S), path, f"run-{kill}", trial)
        for kill in range(KILLS)
    }
    with Store(path) as store:
        stored = {line.id: line for line in store.runs(limit=KILLS)}
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for run_id, count in said.items():
        if run_id in stored:
            assert stored[run_id].trials_done in (count, count + 1)
            assert stored[run_id].status is RunStatus.INTERRUPTED
        else:
            assert count == 0
