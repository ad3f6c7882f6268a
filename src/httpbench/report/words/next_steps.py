"""Hints on what to try next when no round is valid."""

from __future__ import annotations

from collections.abc import Callable

from httpbench.stats.next_step import NextStep, StepKind


def next_step_text(step: NextStep) -> str:
    """Return a hint, without a period."""
    return _TEXTS[step.step](step)


def _queue(step: NextStep) -> str:
    plural = "" if step.connections == 1 else "s"
    return f"the server accepts {step.connections} connection{plural} at a time: try `-c {step.connections}`"


_TEXTS: dict[StepKind, Callable[[NextStep], str]] = {
    StepKind.READ_LOG: lambda step: f"its last lines of output are below; try `-c {step.connections}`",
    StepKind.ASK_DATABASE: lambda step: "the target responds from memory: let it query the database for each request",
    StepKind.EXPECT_STATUS: lambda step: f"if the response may change, state what is correct: `--expect-status {step.status}`",
    StepKind.COMPARE_RESPONSE: lambda step: "compare one response with what is expected: `--expect-status`, `--expect-body`",
    StepKind.VERIFY: lambda step: f"`httpbench verify {step.target}` shows what is wrong",
    StepKind.FIT_ACCEPT_QUEUE: _queue,
    StepKind.ALLOW_LATE: lambda step: f"some responses take longer than {step.timeout_now_s:g} s: try `--timeout {step.timeout_s:g}s`",
    StepKind.OFFER_LESS: lambda step: f"offer less: try `--rate {float(f'{step.rate_rps:.2g}'):g}`",
    StepKind.FEWER_CONNECTIONS: lambda step: f"use fewer connections: try `-c {step.connections}`",
    StepKind.ALLOW_MORE_TIME: lambda step: f"give it more time: try `--timeout {step.timeout_s:g}s`",
}
