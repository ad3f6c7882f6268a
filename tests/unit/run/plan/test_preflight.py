"""Tests of the checks of a whole run before anything is built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from httpbench.errors import LoadError, RequirementError, UsageError
from httpbench.host import Topology
from httpbench.load import LoadGenerator
from httpbench.model import Kind, Load, Requirement, Target, TrialPlan, Workload
from httpbench.run.plan.commands import Servers, targets_of
from httpbench.run.plan.preflight import refusals, require_programs, with_warmup_of_its_own, without_refused
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.plan.spec import RunSpec
from tests.factories import make_plan, make_target

UNTIL_STEADY = Load(connections=64, warmup_s=1, warmup_max_s=10)


def spec_of(plans: Sequence[TrialPlan], generator: LoadGenerator, targets: Sequence[Target], backend: str | None = None) -> RunSpec:
    return RunSpec(
        plan=RunPlan(tuple(plans), {}),
        targets={target.id: target for target in targets},
        workloads={"plaintext": Workload(name="plaintext", description="Hello", backend=backend)},
        generators={generator.name: generator},
        topology=Topology(()),
        command=("httpbench", "bench"),
    )


@pytest.fixture
def no_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(load.get("native")), "locate", lambda _: None)


@pytest.mark.parametrize(
    ("name", "reasons"), [("native", []), ("wrk", ["wrk cannot connect to Unix sockets here; `--load-generator native` can"])]
)
def test_only_some_load_generators_connect_to_unix_sockets(name: str, reasons: list[str]) -> None:
    (target,) = targets_of(Servers(urls=("unix:/run/app.sock",)))
    assert refusals(spec_of([make_plan(target.id, load_generator=name)], load.get(name), [target])) == reasons


@pytest.mark.usefixtures("no_native")
def test_without_the_native_generator_a_warm_up_lasts_as_long_as_allowed() -> None:
    spec = spec_of([make_plan(load=UNTIL_STEADY)], load.get("wrk"), [make_target()])
    (planned,) = with_warmup_of_its_own(spec).plan.trials
    assert (planned.load.warmup_s, planned.load.warmup_max_s) == (10, None)


def test_with_the_native_generator_the_warm_up_ends_when_steady() -> None:
    spec = spec_of([make_plan(load=UNTIL_STEADY)], load.get("wrk"), [make_target()])
    if load.get("native").locate() is None:
        pytest.skip("httpbench-loadgen is not built")
    assert with_warmup_of_its_own(spec) is spec


@pytest.mark.usefixtures("no_native")
def test_a_missing_load_generator_is_reported_once_before_any_build() -> None:
    spec = spec_of([make_plan(round_=number) for number in range(5)], load.get("native"), [make_target()])
    with pytest.raises(LoadError, match="not installed"):
        require_programs(spec)


def command(tmp_path: Path, text: str, **changes: Any) -> RunSpec:
    """Return a run of one command in the folder."""
    (target,) = targets_of(Servers(commands=(text,), folder=tmp_path, **changes))
    return spec_of([make_plan(target.id)], load.get("wrk"), [target])


@pytest.mark.parametrize(
    ("text", "program", "hint"),
    [
        ("./nosuch {port}", "./nosuch", "--cwd"),
        ("nosuch-program {port}", "nosuch-program", "write ./nosuch-program"),
        ("./text {port}", "./text", "build it"),
        ("./servre {port}", "./servre", "did you mean ./server?"),
        ("bin/servre {port}", "bin/servre", "did you mean bin/server?"),
        ("server {port}", "server", "did you mean ./server?"),
        ("snehll x.py {port}", "snehll", "write ./snehll"),
        ("pyhton-for-tests x.py {port}", "pyhton-for-tests", "did you mean python-for-tests?"),
    ],
)
def test_a_missing_command_is_reported_before_any_trial(
    tmp_path: Path, text: str, program: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("not executable")
    for name in ("server", "bin/server", "path/python-for-tests"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", f"/nowhere:{tmp_path / 'path'}")
    with pytest.raises(UsageError, match=f"^{re.escape(program)} is missing, or is not a program$") as raised:
        require_programs(command(tmp_path, text))
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("./server {port}", {}),
        ("sh -c 'exec nosuch {port}'", {}),
        ("./nosuch {port}", {"prepare": ("make nosuch",)}),
        ("nosuch {port}", {"env": {"PATH": "/elsewhere"}}),
        ("nosuch {port}", {"shell": True}),
    ],
)
def test_a_command_that_exists_or_may_be_built_is_accepted(
    tmp_path: Path, text: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(load.get("wrk")), "locate", lambda _: Path("/bin/true"))
    (tmp_path / "server").write_text("#!/bin/sh\n")
    (tmp_path / "server").chmod(0o755)
    require_programs(command(tmp_path, text, **changes))


def test_a_missing_toolchain_of_a_backend_is_reported_once() -> None:
    backend = make_target("c/backend", requires=(Requirement(program="no-such-compiler", install="https://example.org/"),))
    proxy = make_target("c/haproxy", kind=Kind.PROXY)
    spec = spec_of([make_plan(proxy.id)], load.get("wrk"), [proxy, backend], backend=backend.id)
    if load.get("wrk").locate() is None:
        pytest.skip("wrk is not installed")
    with pytest.raises(RequirementError, match="c/backend, the server behind the proxies, requires no-such-compiler"):
        require_programs(spec)


RISING = Load(connections=100, rate_from_rps=500, rate_rps=3_500, rate_step_rps=500, step_s=1, duration_s=7)


def test_impossible_loads_are_left_out_with_a_sentence_per_reason() -> None:
    plans = [
        make_plan(number=number, round_=number // 3, load=load_, load_generator="perf-gauge")
        for number, load_ in enumerate([Load(connections=100), RISING, Load(connections=100, pipeline=4)] * 2)
    ]
    kept, sentences = without_refused(spec_of(plans, load.get("perf-gauge"), [make_target()]))
    assert [(planned.number, planned.round, planned.load) for planned in kept.plan.trials] == [
        (0, 0, Load(connections=100)),
        (1, 1, Load(connections=100)),
    ]
    assert refusals(kept) == []
    assert sentences == [
        "left out 2 of 6 trials (100 connections, 500 to 3,500 requests/s): rising rates of perf-gauge are not supported: "
        "use one rate, or none",
        "left out 2 of 6 trials (100 connections): perf-gauge cannot pipeline requests",
    ]


def test_a_run_without_possible_trials_stays_whole_and_is_refused() -> None:
    spec = spec_of([make_plan(load=RISING, load_generator="perf-gauge")], load.get("perf-gauge"), [make_target()])
    assert without_refused(spec) == (spec, [])
    assert refusals(spec) == ["rising rates of perf-gauge are not supported: use one rate, or none"]
