"""A machine that others keep busy is not an idle target."""

from __future__ import annotations

import pytest

from httpbench.model import CoreOccupancy, Cores, Load, VerdictKind
from httpbench.stats.verdict import Evidence, judge
from tests.factories import make_measurement, make_usage


def verdict(busy: float, stolen: float) -> tuple[VerdictKind, str]:
    evidence = Evidence(
        measurement=make_measurement(),
        load=Load(connections=64),
        cores=Cores(target=(0,), generator=(1,), harness=(1,), shared=False),
        target_usage=make_usage(0.4),
        generator_usage=make_usage(0.3),
        occupancy=tuple(CoreOccupancy(cpu=cpu, busy=busy, stolen=stolen) for cpu in (0, 1)),
    )
    found = judge(evidence)
    return found.kind, "; ".join(found.reasons)


@pytest.mark.parametrize(("busy", "stolen"), [(0.9, 0.0), (0.35, 0.2)])
def test_strangers_are_named(busy: float, stolen: float) -> None:
    kind, reason = verdict(busy, stolen)
    assert kind is VerdictKind.UNKNOWN
    assert f"other programs took {max(2 * busy - 0.7, 0):.2f} and other virtual machines {2 * stolen:.2f} of the 2 measured cores" in reason


def test_without_strangers_it_was_idle() -> None:
    assert verdict(0.36, 0.01)[0] is VerdictKind.IDLE
