"""Tests of profiles, with servers whose function ``burn`` uses a set share of their CPU time."""

from __future__ import annotations

import math
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from httpbench.analysis.profiles import Profiled, grown_in
from httpbench.errors import HttpbenchError
from httpbench.model import Profile, Run
from httpbench.profile import Profilers, PySpy
from httpbench.store import Store
from tests.harness import PYTHON, Harness

MAPS = Path("/tmp")
"""Folder in which runtimes name their functions for perf."""

BURNING = Path(__file__).parents[1] / "burning"
SERVER_JS, SERVER_PY, SAMPLER = (shlex.quote(str(BURNING / name)) for name in ("server.js", "server.py", "sampler.py"))
SHARES = (0.25, 0.40)
"""Shares of ``burn``, first that of the baseline. At 40%, ``burn`` takes about twice as much CPU time per request as at 25%."""
MORE_SHARES = {"c": (0.10, 0.60), "python": (0.10, 0.60)}
"""More shares for one language of each profiler. Languages differ in how functions are named, not in how they are sampled."""
POINTS = 0.03
"""Maximum error of a share, in addition to twice its sampling error."""

COST_ERROR = 0.15
"""Maximum error of the CPU time per request of the function that grew."""

PY_SPY_LACKS = 0.2
"""Maximum share of a function's samples that py-spy lacks if this user can't give it a real-time priority."""


def skip_without_perf() -> None:
    try:
        Profilers.found(None)
    except HttpbenchError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def built(folder: Path, *compiler: str) -> str:
    """Compile a server, and return its command. Skip the test without the compiler."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is missing")
    subprocess.run([*compiler], check=True, cwd=folder, capture_output=True)
    return shlex.quote(str(folder / "server"))


COMMANDS: dict[str, Callable[[Path], str]] = {
    "c": lambda folder: built(folder, "gcc", "-O2", "-o", "server", str(BURNING / "server.c")),
    "go": lambda folder: built(folder, "go", "build", "-o", "server", str(BURNING / "server.go")),
    "rust": lambda folder: built(folder, "rustc", "-O", "-o", "server", str(BURNING / "server.rs")),
    # Samples of a function that is inlined belong to its caller.
    "node": lambda folder: f"node --no-turbo-inlining {SERVER_JS}" if shutil.which("node") else pytest.skip("node is missing"),
    "python": lambda folder: f"{PYTHON} {SERVER_PY}",
}


def profiled(harness: Harness, *words: str) -> Run:
    """Run httpbench with a temporary folder of its own, which it must leave empty."""
    temporary = harness.home / "temporary"
    temporary.mkdir()
    done = harness.run(
        "run", *words, "-c", "4", "--warmup", "100ms", "--rounds", "1", env={**harness.env, "TMPDIR": str(temporary)}, timeout_s=240
    )
    assert done.returncode == 0, done.stderr
    if "was not profiled: its responses take too long for slices" in done.stderr:  # these servers respond within milliseconds
        pytest.skip(f"other programs stopped a server for longer than a slice: {done.stderr}")
    assert "was not profiled" not in done.stderr
    assert not list(temporary.iterdir()), "the samples are removed"
    with Store(harness.db, reading=True) as store:
        run, trials = store.run("latest")
    assert len(trials) == len(run.targets), "the profiled round is no trial"
    return run


def burned(profile: Profile) -> float:
    """Return the share of ``burn`` itself, as reports show it."""
    return sum(one.share for one in Profiled(profile).functions if is_burn(one.name))


def has_real_time_priority() -> bool:
    found = PySpy.found()
    return isinstance(found, PySpy) and bool(found.before)


def is_burn(name: str) -> bool:
    return name.split()[0].rpartition("::")[2].rpartition(".")[2] == "burn"


@pytest.mark.alone
@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", COMMANDS)
def test_the_share_of_a_function_is_the_set_one_and_what_doubled_is_named_first(harness: Harness, language: str) -> None:
    skip_without_perf()
    if language == "python" and shutil.which("py-spy") is None and not Path(sys.executable).with_name("py-spy").exists():
        pytest.skip("py-spy is missing")
    command, maps = COMMANDS[language](harness.home), set(MAPS.glob("perf-*.map"))
    shares = (*SHARES, *MORE_SHARES.get(language, ()))
    names = (word for share in shares for word in ("--name", f"share-{share}"))
    # Slices of a profile take at least 0.25 s each, however short the trials are.
    duration = "4s" if language == "python" else "300ms"
    run = profiled(harness, *(f"{command} {{port}} {share}" for share in shares), *names, "-d", duration, "--profile")
    found = {}
    for profile in run.profiles:
        samples, share = Profiled(profile).samples, float(profile.target.rpartition("-")[2])
        lacks = PY_SPY_LACKS * share if profile.profiler == "py-spy" and not has_real_time_priority() else 0.0
        found[share] = (burned(profile), POINTS + lacks + 2 * math.sqrt(share * (1 - share) / samples))
    assert set(found) == set(shares)
    assert set(MAPS.glob("perf-*.map")) == maps, "the names that runtimes wrote there are removed"
    assert all(abs(measured - share) <= allowed for share, (measured, allowed) in found.items()), found
    doubled = next(grown for grown in grown_in(run) if grown.head.profile.target.endswith("0.4"))
    first = doubled.functions[0]
    assert is_burn(first.key)
    cost_us = 0.4 * doubled.head.own.total_us
    assert first.head_us == pytest.approx(cost_us, rel=COST_ERROR + (PY_SPY_LACKS if language == "python" else 0))


def test_a_profile_is_stored_with_its_run(harness: Harness) -> None:
    """Each slice has its CPU time and its requests, so that CPU time per request has an interval."""
    skip_without_perf()
    run = profiled(harness, f"{PYTHON} {SERVER_PY} {{port}} 0.5", "-d", "300ms", "--profile", "--rounds", "1")
    (profile,) = run.profiles
    assert profile.target == next(iter(run.targets))
    assert len(profile.slices) == 8
    assert all(part.requests > 0 for part in profile.slices)
    assert sum(part.cpu_s for part in profile.slices) > 0
    assert Profiled(profile).samples > 0


def test_another_profiler_samples_each_slice(harness: Harness) -> None:
    command = f"{PYTHON} {SAMPLER} {{pid}} {{seconds}}"
    run = profiled(harness, f"{PYTHON} {SERVER_PY} {{port}} 0.5", "-d", "300ms", "--profiler", command, "--rounds", "1")
    (profile,) = run.profiles
    assert [part.stacks for part in profile.slices] == [{"main;seen": 10}] * 8
    assert profile.frequency_hz == pytest.approx(80 / sum(part.cpu_s for part in profile.slices))


def test_what_cannot_be_profiled_is_refused_before_the_run(harness: Harness) -> None:
    for words, reason in (
        (("--url", "http://127.0.0.1:9/"), "a server that was already running cannot be frozen"),
        ((f"{PYTHON} {SERVER_PY} {{port}} 0.5", "--startup"), "each start is measured by itself"),
    ):
        done = harness.run("run", *words, "--profiler", "sampler {pid}")
        assert done.returncode == 2, done.stderr
        assert f"cannot be profiled: {reason}" in done.stderr
    assert not harness.db.exists()
