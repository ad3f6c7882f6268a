"""Tests that a trial is repeated if another program disturbs it, and that a run locks its cores."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from httpbench.host import partition, read_topology
from httpbench.model import Scaling
from tests.harness import TARGETS, Harness
from tests.waiting import SPIN, until

GOOD = "test/misbehaving/good"
SLOW, FAST = (GOOD,), ("c/epoll/edge", "c/epoll/level")
PLANNED = len(SLOW) + len(FAST)
ENDED = re.compile(r"^\[(?P<place>\d+/\d+|repeat \d+)\] (?P<target>\S+) .*, round (?P<round>\d+): (?P<outcome>.*)$")

ROUNDS = ("--interleave", "rounds")

AUTOGROUP = Path("/proc/self/autogroup")

two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="on one core target and load generator disturb each other")


@contextmanager
def spinner(folder: Path, *cpus: int) -> Iterator[int]:
    """Run a busy program called ``spinner`` on these CPUs until the block ends, and yield its process id."""
    program = folder / "spinner"
    if not program.exists():
        program.symlink_to("/bin/sh")
    argv = [str(program), "-c", "while :; do :; done"]
    with subprocess.Popen(argv, preexec_fn=lambda: os.sched_setaffinity(0, cpus)) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@contextmanager
def background_job(cpu: int) -> Iterator[int]:
    """Keep a CPU busy with a program of the lowest priority until the block ends, and yield its process id.

    Kernels that group processes by session apply the priority only within the session, so the session's priority is lowered, too.
    """

    def give_way() -> None:
        os.sched_setaffinity(0, {cpu})
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        if AUTOGROUP.exists():
            AUTOGROUP.write_text("19")

    with subprocess.Popen([sys.executable, "-c", SPIN], preexec_fn=give_way, start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            process.kill()


class Progress:
    """The progress messages that a run has printed on standard error so far."""

    def __init__(self, process: subprocess.Popen[str]):
        self._process = process
        self.ended: list[re.Match[str]] = []
        """Matches of the progress lines that end a trial."""
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(line)
            if match := ENDED.match(line):
                self.ended.append(match)

    def of_round(self, number: int) -> list[re.Match[str]]:
        return [each for each in self.ended if each["round"] == str(number)]

    def is_over(self, number: int, retries: int) -> bool:
        """Return whether a round and its repeats are finished."""
        made = self.of_round(number)
        if len(made) < PLANNED:
            return self._process.poll() is not None
        last = {each["target"]: each for each in made}
        return all(not each["outcome"].startswith("disturbed") or each["place"] == f"repeat {retries}" for each in last.values())


@pytest.mark.slow
@two_cores
def test_a_disturbed_slice_is_dropped_and_repeated(harness: Harness, tmp_path: Path) -> None:
    exported = tmp_path / "run.json"
    load = ("-c", "8", "-d", "1s", "--warmup", "200ms", "--timeout", "5s", "--rounds", "1", "--interleave", "slices", "--retries", "2")
    (cpu, *_) = partition(read_topology(), Scaling.SINGLE).target
    process = harness.start("bench", *FAST, *load, "--export-json", str(exported))
    until(lambda: len(list_of_generators(process.pid)) == len(FAST), limit_s=60)
    with spinner(tmp_path, cpu):
        process.communicate(timeout=120)
    rounds = [result["rounds"][0] for result in json.loads(exported.read_text())["results"]]
    assert sum(each["slices_dropped"] for each in rounds) >= 1
    assert all(len(each["measurement"]["intervals"]) == 10 for each in rounds)


def list_of_generators(pid: int) -> list[psutil.Process]:
    """Return the load generators of a harness."""
    try:
        return [each for each in psutil.Process(pid).children(recursive=True) if each.name().startswith("httpbench-loadg")]
    except psutil.Error:
        return []


@pytest.mark.alone
@two_cores
def test_a_disturbance_in_round_2_is_reported_and_round_2_is_repeated(harness: Harness, tmp_path: Path) -> None:
    retries, exported = 3, tmp_path / "run.json"
    load = ("-c", "8", "-d", "500ms", "--warmup", "200ms", "--timeout", "5s", "--rounds", "3", "--retries", str(retries), *ROUNDS)
    (cpu, *_) = partition(read_topology(), Scaling.SINGLE).target
    process = harness.start("bench", "--targets", str(TARGETS), *SLOW, *FAST, *load, "--export-json", str(exported))
    progress = Progress(process)
    until(lambda: progress.is_over(1, retries), limit_s=120)
    with spinner(tmp_path, cpu) as pid:
        until(lambda: len(progress.of_round(2)) >= PLANNED or process.poll() is not None, limit_s=60)
    process.wait(120)
    assert exported.exists(), progress.lines
    results = json.loads(exported.read_text())["results"]
    disturbed = [first for result in results for first in result["rounds"] if first["round"] == 1 and first["attempt"] == 0]
    for trial in disturbed:
        assert trial["verdict"]["kind"] == "disturbed", trial["verdict"]
        assert pid in {one["pid"] for one in trial["others"]["strangers"]}
    if any(result["summary"]["rounds_counting"] < 3 for result in results):
        pytest.skip(f"other programs disturbed all {retries + 1} attempts at a trial")
    assert process.returncode == 0, progress.lines
    # The test doesn't check ranks. On some machines, the load generator is as busy as the fast targets, which then have no rank.
    medians = {result["target"]: result["summary"]["throughput_rps"]["median"] for result in results}
    assert min(medians[name] for name in FAST) > medians[GOOD], medians
    said = " ".join(harness.run("report", "--explain").stdout.split())
    assert re.search(rf"trials were disturbed and repeated, by .*spinner \(pid {pid}\), up to 0\.\d\d of a core in {PLANNED}", said), said


@pytest.mark.alone
@two_cores
def test_a_program_that_moves_between_the_cores_disturbs_each_trial(harness: Harness, tmp_path: Path) -> None:
    cores = partition(read_topology(), Scaling.SINGLE)
    load = ("-c", "64", "-d", "500ms", "--warmup", "200ms", "--timeout", "5s", "--rounds", "1", "--retries", "0", *ROUNDS)
    with spinner(tmp_path, *cores.measured) as pid:
        done = harness.run("bench", *FAST, *load, "--export-json", "-")
        assert Path(f"/proc/{pid}").exists(), "it ran during all trials"
    trials = [trial for result in json.loads(done.stdout)["results"] for trial in result["rounds"]]
    assert len(trials) == len(FAST)
    for trial in trials:
        assert trial["verdict"]["kind"] == "disturbed", (trial["verdict"], trial["others"])
        assert f"(pid {pid})" in json.dumps(trial["verdict"])


@pytest.mark.alone
@two_cores
def test_a_background_job_does_not_disturb_slow_starts_more_than_fast_ones(harness: Harness) -> None:
    """A background job gets CPU time whenever a slow target is idle, which must not count as a disturbance.

    Otherwise, httpbench would repeat the trials of a target that started slow, but not those of a target that started fast.
    """
    (cpu, *_) = partition(read_topology(), Scaling.SINGLE).target
    load = ("-c", "32", "-d", "1s", "--warmup", "200ms", "--timeout", "5s", "--rounds", "2", "--retries", "0", "--export-json", "-")
    with background_job(cpu) as pid:
        done = harness.run("bench", "--targets", str(TARGETS), "test/varying/fast", "test/varying/slow", *load)
        assert Path(f"/proc/{pid}").exists(), "it ran during all trials"
    results = {result["target"]: result["rounds"] for result in json.loads(done.stdout)["results"]}
    assert all(fact["facts"]["others_cores"] > 0.3 for fact in results["test/varying/slow"]), "the job used the idle time"
    for trial in itertools.chain(*results.values()):
        assert f"(pid {pid})" not in json.dumps(trial["verdict"]), trial["verdict"]


@pytest.mark.alone
@two_cores
def test_a_run_does_not_disturb_itself(harness: Harness) -> None:
    """Neither the harness nor the helper processes of a target count as disturbances.

    With two cores, the harness samples on the load generator's core. The test ignores trials from which another program or virtual machine
    took CPU time.
    """
    load = ("-c", "64", "-d", "1s", "--warmup", "200ms", "--timeout", "5s", "--rounds", "2", "--retries", "2", "--export-json", "-")
    done = harness.run("bench", "--targets", str(TARGETS), "test/misbehaving/leaves-children", "c/epoll/edge", *load)
    trials = [trial for result in json.loads(done.stdout)["results"] for trial in result["rounds"]]
    for trial in trials:
        strangers = trial["others"]["strangers"]
        if sum(one["cores"] for one in strangers) < 0.01 and not any(core["stolen"] > 0.01 for core in trial["occupancy"]):
            assert trial["verdict"]["kind"] != "disturbed", trial["verdict"]
    assert all(trial["others"]["harness_cores"] < 0.2 for trial in trials)


@contextmanager
def measuring(harness: Harness) -> Iterator[subprocess.Popen[str]]:
    """Start a run, wait for its first trial, and kill it when the block ends."""
    process = harness.start("bench", "--targets", str(TARGETS), GOOD, "-d", "60s", "--warmup", "0s", "--rounds", "1")
    try:
        until(lambda: harness.db.exists() and harness.runs(), limit_s=30)
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def test_a_second_run_on_the_same_cores_is_refused_or_waits(harness: Harness, tmp_path: Path) -> None:
    second = Harness(tmp_path / "second")
    env = {**second.env, "HTTPBENCH_LOCKS": str(harness.home)}
    words = ("bench", "--targets", str(TARGETS), GOOD, "-c", "4", "-d", "200ms", "--warmup", "0s", "--rounds", "1", "--retries", "0")
    with measuring(harness) as first:
        refused = second.run(*words, "--no-wait", env=env)
        assert refused.returncode == 1
        assert f"the httpbench run with process id {first.pid} is measuring on the same cores" in refused.stderr
        assert second.runs() == [], "nothing was measured"
        waiting = second.start(*words, env=env)
        assert waiting.stderr is not None
        line = waiting.stderr.readline()
        assert line.startswith(f"warning: waiting until the httpbench run with process id {first.pid} ends, expected at ")
        assert line.endswith(": it is measuring on the same cores; with --no-wait, httpbench would exit instead\n")
        assert waiting.poll() is None
    _, errors = waiting.communicate(timeout=60)
    assert "stored in" in errors, "a lock does not outlive kill -9"
