"""Suggest a change that is likely to make the rounds of a cell valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from httpbench.model import Frozen, ReasonKind, Trial, VerdictKind
from httpbench.stats.validity import WRONG_RESPONSES

TIMEOUT_FACTOR = 5
CONNECTIONS_DIVISOR = 4
RATE_FACTOR = 0.9
"""Rate to offer next, as a fraction of the achieved rate."""

WRONG = frozenset((ReasonKind.WRONG_RESPONSES, ReasonKind.WRONG_SAMPLES, ReasonKind.TRUNCATED, ReasonKind.WRONG_AFTER_LOAD))
"""Kinds of reasons that report wrong responses."""

FROM_MEMORY = frozenset((ReasonKind.DATABASE_NOT_ASKED, ReasonKind.DATABASE_NOT_READ, ReasonKind.DATABASE_NOT_WRITTEN))
"""Kinds of reasons that report responses for which the target didn't run the required queries."""


class StepKind(StrEnum):
    """The kind of a suggested change."""

    READ_LOG = "read_log"  # the target died
    ASK_DATABASE = "ask_database"  # the target responded without its database
    EXPECT_STATUS = "expect_status"
    COMPARE_RESPONSE = "compare_response"
    VERIFY = "verify"
    FIT_ACCEPT_QUEUE = "fit_accept_queue"
    ALLOW_LATE = "allow_late"  # some responses exceed the timeout
    OFFER_LESS = "offer_less"
    FEWER_CONNECTIONS = "fewer_connections"
    ALLOW_MORE_TIME = "allow_more_time"


class NextStep(Frozen):
    """A suggested change. If it changes an option, the field for this option contains the new value."""

    step: StepKind
    """The kind of the change."""
    connections: int | None = None
    """Value of ``-c``."""
    rate_rps: float | None = None
    """Value of ``--rate``, in requests/s."""
    timeout_s: float | None = None
    """Value of ``--timeout``, in seconds."""
    timeout_now_s: float | None = None
    """Current timeout, in seconds."""
    status: int | None = None
    """Value of ``--expect-status``."""
    target: str | None = None
    """Target to verify."""


def next_step(trials: Sequence[Trial]) -> NextStep | None:
    """Return what to try next if every round of a cell is invalid, else ``None``."""
    invalid = [trial for trial in trials if trial.verdict.kind is VerdictKind.INVALID and trial.measurement]
    if not invalid or any(trial.verdict.counts for trial in trials):
        return None
    load = invalid[0].plan.load
    measured = [trial.measurement for trial in invalid if trial.measurement]
    errors = sum((Counter(each.errors) for each in measured), Counter[str]())
    reasons = {reason.kind for trial in invalid for reason in trial.verdict.reasons}
    if ReasonKind.TARGET_DIED_UNDER_LOAD in reasons:
        return NextStep(step=StepKind.READ_LOG, connections=1)
    if reasons & FROM_MEMORY:
        return NextStep(step=StepKind.ASK_DATABASE, target=invalid[0].plan.target)
    has_wrong_samples = any(each.sampled_bodies and each.sampled_bodies.problems for each in measured)
    if errors.keys() & WRONG_RESPONSES or reasons & WRONG or has_wrong_samples:
        return _about_wrong_responses(invalid[0])
    lost = any(kind.startswith(("timeout", "connect", "reset", "closed")) for kind in errors)
    queue = min((trial.accept_queue for trial in invalid if trial.accept_queue), default=None)
    has_overflowed = any(trial.observed.network and trial.observed.network.listen_overflows for trial in invalid)
    if queue is not None and queue < load.connections and (lost or has_overflowed):
        return NextStep(step=StepKind.FIT_ACCEPT_QUEUE, connections=queue)
    if errors["timeout"]:
        return NextStep(step=StepKind.ALLOW_LATE, timeout_now_s=load.timeout_s, timeout_s=load.timeout_s * TIMEOUT_FACTOR)
    achieved = min(each.throughput_rps for each in measured)
    if load.rate_rps and not lost and achieved >= 1:
        return NextStep(step=StepKind.OFFER_LESS, rate_rps=achieved * RATE_FACTOR)
    if load.connections > 1:
        return NextStep(step=StepKind.FEWER_CONNECTIONS, connections=max(load.connections // CONNECTIONS_DIVISOR, 1))
    return NextStep(step=StepKind.ALLOW_MORE_TIME, timeout_s=load.timeout_s * TIMEOUT_FACTOR)


def _about_wrong_responses(trial: Trial) -> NextStep:
    if trial.learned is not None:
        return NextStep(step=StepKind.EXPECT_STATUS, status=trial.learned.status)
    if trial.plan.target.startswith("command/"):
        return NextStep(step=StepKind.COMPARE_RESPONSE)
    return NextStep(step=StepKind.VERIFY, target=trial.plan.target)
