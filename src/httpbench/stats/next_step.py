"""What to do about rounds that are invalid: the change that is most likely to make them valid, with the option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from httpbench.model import Trial, VerdictKind
from httpbench.stats.validity import WRONG_RESPONSES

TIMEOUT_FACTOR = 5
CONNECTIONS_DIVISOR = 4
RATE_FACTOR = 0.9
"""Of the rate that was achieved."""


def next_step(trials: Sequence[Trial]) -> str | None:
    """One clause for the rounds of a cell; ``None`` if a round counts, or if none was measured."""
    invalid = [trial for trial in trials if trial.verdict.kind is VerdictKind.INVALID and trial.measurement]
    if not invalid or any(trial.verdict.counts for trial in trials):
        return None
    load, errors = invalid[0].plan.load, _errors(invalid)
    if any("died under the load" in reason for trial in invalid for reason in trial.verdict.reasons):
        return "its last lines of output are below; try `-c 1`"
    if any(errors[kind] for kind in WRONG_RESPONSES) or any(map(_was_wrong, invalid)):
        return _about_wrong_responses(invalid[0])
    lost = any(kind.startswith(("timeout", "connect", "reset", "closed")) for kind in errors)
    queue = min((trial.accept_queue for trial in invalid if trial.accept_queue), default=None)
    if queue is not None and queue < load.connections and (lost or _has_overflowed(invalid)):
        return f"the server accepts {queue} connection{'' if queue == 1 else 's'} at a time: try `-c {queue}`"
    if errors["timeout"]:
        return f"some responses take longer than {load.timeout_s:g} s: try `--timeout {load.timeout_s * TIMEOUT_FACTOR:g}s`"
    achieved = min(trial.measurement.throughput_rps for trial in invalid if trial.measurement)
    if load.rate_rps and not lost and achieved >= 1:
        return f"offer less: try `--rate {float(f'{achieved * RATE_FACTOR:.2g}'):g}`"
    if load.connections > 1:
        return f"use fewer connections: try `-c {max(load.connections // CONNECTIONS_DIVISOR, 1)}`"
    return f"give it more time: try `--timeout {load.timeout_s * TIMEOUT_FACTOR:g}s`"


def _about_wrong_responses(trial: Trial) -> str:
    if trial.learned is not None:
        return f"if the response may change, state what is correct: `--expect-status {trial.learned.status}`"
    if trial.plan.target.startswith("command/"):
        return "compare one response with what is expected: `--expect-status`, `--expect-body`"
    return f"`httpbench verify {trial.plan.target}` shows what is wrong"


def _was_wrong(trial: Trial) -> bool:
    """Whether responses were wrong that no error names: under the load, or after it."""
    sampled = trial.measurement.sampled_bodies if trial.measurement else None
    told = any("responses were" in reason or reason.startswith("after the load") for reason in trial.verdict.reasons)
    return told or bool(sampled and sampled.problems)


def _errors(trials: Sequence[Trial]) -> Counter[str]:
    """All errors of the rounds, by kind."""
    found: Counter[str] = Counter()
    for trial in trials:
        found.update({kind: count for kind, count in (trial.measurement.errors if trial.measurement else {}).items() if count})
    return found


def _has_overflowed(trials: Sequence[Trial]) -> bool:
    return any(trial.network and trial.network.listen_overflows for trial in trials)
