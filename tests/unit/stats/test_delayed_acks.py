"""Tests that targets whose responses wait for delayed acknowledgments are found."""

from __future__ import annotations

import pytest

from httpbench.model import Network, Observed, Trial, Verdict, VerdictKind
from httpbench.stats.delayed_acks import waiting_us
from tests.factories import make_distribution, make_measurement, make_trial


def trial(p50_us: float, acks: int | None, kind: VerdictKind = VerdictKind.IDLE) -> Trial:
    """Return a trial with 1,000 responses."""
    measured = make_measurement(100.0)
    requests = measured.requests.model_copy(update={"completed": 1000})
    times = make_distribution().model_copy(update={"p50": p50_us})
    measured = measured.model_copy(update={"requests": requests, "service_time_us": times})
    observed = Observed(network=None if acks is None else Network(delayed_acks=acks))
    made = make_trial(verdict=Verdict(kind=kind), measurement=measured)
    return made.model_copy(update={"observed": observed})


@pytest.mark.parametrize(
    ("p50_us", "acks", "kind", "waits"),
    [
        (44_000, 1000, VerdictKind.IDLE, True),
        (44_000, 1000, VerdictKind.TARGET, True),  # the counter is better evidence than idle cores
        (44_000, None, VerdictKind.IDLE, True),
        (44_000, None, VerdictKind.TARGET, False),
        (44_000, 20, VerdictKind.IDLE, False),  # the server is slow for another reason
        (300, 1000, VerdictKind.IDLE, False),
        (200_000, 1000, VerdictKind.IDLE, False),
        (44_000, 1000, VerdictKind.INVALID, False),
    ],
)
def test_the_time_the_counter_and_the_verdict_decide(p50_us: float, acks: int | None, kind: VerdictKind, waits: bool) -> None:
    assert waiting_us([trial(p50_us, acks, kind)]) == (p50_us if waits else None)


def test_most_rounds_decide() -> None:
    waiting, other = trial(44_000, 1000), trial(300, 0)
    assert waiting_us([waiting, other]) is None
    assert waiting_us([waiting, waiting, other]) == 44_000
    assert waiting_us([]) is None
