"""A search for the commit that made a server slower, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from httpbench.analysis.bisection import Bisection, BisectionStep, Effect
from httpbench.model import Commit
from httpbench.report.words.gates import interval_text, ratio_text
from httpbench.report.words.numbers import plural
from httpbench.stats.bisection import Answer, Ending

SHOWN_MAX = 10
"""Maximum number of suspects to list."""


def step_text(commit: Commit, step: BisectionStep) -> str:
    """Describe a measurement: ``0123456789ab Parse headers twice: bad, -5.1% (-5.9% to -4.3%, 10 rounds)``."""
    measured = f", {effect_text(step.effect)}" if step.effect and step.effect.interval else ""
    return f"{commit.short} {commit.subject}: {step.answer}{measured}" + ("" if step.answer.decides else f": {_reason(step)}")


def _reason(step: BisectionStep) -> str:
    return step.reason or "the interval contains the bound"


def effect_text(effect: Effect) -> str:
    """Format an effect with its interval: ``-5.1% (-5.9% to -4.3%, 10 rounds)``."""
    rounds = plural(effect.rounds, "round")
    return f"{ratio_text(effect.ratio)} ({interval_text(effect.interval)}, {rounds})" if effect.interval else f"unknown ({rounds})"


def bisection_lines(found: Bisection) -> Iterator[str]:
    """Describe the result of a search: the commit, its effect, the number of measurements, and the bound of bad commits."""
    match found.ending:
        case Ending.FOUND:
            yield from _found(found)
        case Ending.NONE:
            yield f"No commit to find: {found.bad.short} passes {found.gate} against {found.good.short}.{_last_effect(found)}"
        case Ending.UNDECIDED:
            yield from _undecided(found)
    yield _counts(found)


def _found(found: Bisection) -> Iterator[str]:
    *others, culprit = found.suspects
    if others:
        yield f"The first bad commit is one of {len(found.suspects)}. All but the last could not be judged:"
        yield from _listed(found)
    else:
        yield f"{culprit.id} is the first bad commit"
        yield f"Author: {culprit.author}"
        yield f"Date:   {culprit.date or 'unknown'}"
        yield f"\n    {culprit.subject}\n"
    if found.confirmation and found.before:
        what = "Together, they change" if others else "It changes"
        yield f"{what} {found.gate.figure} by {effect_text(found.confirmation)} against {found.before.short} before it."
        if not found.confirmation.worsens(found.gate):
            yield "This comparison alone shows no change for the worse: smaller changes in earlier commits add up."
        if found.is_bad_before:
            yield f"{found.before.short} breaches {found.gate} as well. To find its cause, search again up to this commit."


def _undecided(found: Bisection) -> Iterator[str]:
    newest = next((step for step in found.steps if step.commit == found.bad.id), None)
    if newest and not newest.newest_answer(found.gate).decides:
        yield f"Undecided: {found.bad.short} could not be judged against {found.good.short}: {_reason(newest)}"
        return
    yield f"Undecided: the first bad commit is one of {len(found.suspects)}, or none:"
    yield from _listed(found)


def _listed(found: Bisection) -> Iterator[str]:
    """List the suspects, oldest first, each with why it could not be judged."""
    reasons = {step.commit: f" ({step.answer}: {_reason(step)})" for step in found.steps if not step.answer.decides}
    shown = found.suspects if len(found.suspects) <= SHOWN_MAX else found.suspects[: SHOWN_MAX - 1]
    yield from (f"  {commit.short} {commit.subject}{reasons.get(commit.id, '')}" for commit in shown)
    if len(shown) < len(found.suspects):
        yield f"  … and {len(found.suspects) - len(shown)} more, up to {found.suspects[-1].short}"


def _last_effect(found: Bisection) -> str:
    effect = next((step.effect for step in reversed(found.steps) if step.commit == found.bad.id and step.effect), None)
    return f" It changes {found.gate.figure} by {effect_text(effect)}." if effect else ""


def _counts(found: Bisection) -> str:
    measured = sum(step.answer is not Answer.SKIPPED for step in found.steps)
    skipped = len(found.steps) - measured
    parts = [f"{plural(measured, 'measurement')} of {found.measured} of {plural(found.commits, 'commit')}"]
    parts += [f"{skipped} skipped"] if skipped else []
    bad = f", bad: {found.bound}" if found.bound != found.gate else ""
    right = "" if found.ending is Ending.UNDECIDED else f"; right with a probability of {_rounded_down(found.probability)}"
    return f"{', '.join(parts)}{bad}{right}"


def _rounded_down(probability: float) -> str:
    """Format a probability without rounding it up to 100%: ``99.9%``."""
    return f"{min(math.floor(probability * 1000) / 10, 99.9):g}%"
