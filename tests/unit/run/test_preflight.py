"""What a whole run requires is looked for before anything is built."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from httpbench import load
from httpbench.errors import LoadError, RequirementError
from httpbench.host import Topology
from httpbench.load import LoadGenerator
from httpbench.model import Kind, Load, Requirement, Target, TrialPlan, Workload
from httpbench.run.plan import RunPlan
from httpbench.run.preflight import require_programs, with_warmup_of_its_own
from httpbench.run.spec import RunSpec
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


@pytest.mark.usefixtures("no_native")
def test_without_our_load_generator_another_warms_up_for_as_long_as_it_may() -> None:
    spec = spec_of([make_plan(load=UNTIL_STEADY)], load.get("wrk"), [make_target()])
    (planned,) = with_warmup_of_its_own(spec).plan.trials
    assert (planned.load.warmup_s, planned.load.warmup_max_s) == (10, None)


def test_with_our_load_generator_the_warm_up_lasts_until_steady() -> None:
    spec = spec_of([make_plan(load=UNTIL_STEADY)], load.get("wrk"), [make_target()])
    if load.get("native").locate() is None:
        pytest.skip("httpbench-loadgen is not built")
    assert with_warmup_of_its_own(spec) is spec


@pytest.mark.usefixtures("no_native")
def test_a_load_generator_that_is_missing_is_said_once_and_before_any_build() -> None:
    spec = spec_of([make_plan(round_=number) for number in range(5)], load.get("native"), [make_target()])
    with pytest.raises(LoadError, match="not installed"):
        require_programs(spec)


def test_a_backend_whose_toolchain_is_missing_is_said_once() -> None:
    backend = make_target("c/backend", requires=(Requirement(program="no-such-compiler", install="https://example.org/"),))
    proxy = make_target("c/haproxy", kind=Kind.PROXY)
    spec = spec_of([make_plan(proxy.id)], load.get("wrk"), [proxy, backend], backend=backend.id)
    if load.get("wrk").locate() is None:
        pytest.skip("wrk is not installed")
    with pytest.raises(RequirementError, match="c/backend, the server behind the proxies, requires no-such-compiler"):
        require_programs(spec)
