"""Learn the correct responses of a running target before the load, and check its responses after the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench import http
from httpbench.model import Expectation, Learned, LearnedRequests, ListedRequest, MixPart, RequestList, Workload
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.running import RunningTarget

LEARNED_MAX = 100
"""Maximum number of requests in a list whose responses are learned."""
CHECKED_MAX = 16
"""Maximum number of requests in a list that are sent once more after the load."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A workload with its correct responses filled in, and what was learned from the target."""

    workload: Workload
    learned: Learned | None = None
    requests: LearnedRequests | None = None
    """What was learned if the workload has several requests, or ``None``."""


def expected(inputs: TrialInputs, running: RunningTarget) -> Expected:
    """Return the workload with its correct responses.

    If the workload accepts any successful response, correct responses must have the properties that three responses of the target have in
    common. If nothing can be learned from these three, correct responses must have the status of the target's first response. Several
    requests are learned one by one. A long list is learned from ``LEARNED_MAX`` of its requests, and correct responses to all requests must
    have the properties that these responses have in common.
    """
    workload = inputs.workload
    if workload.parts:
        return _expected_mix(workload, running)
    if workload.listed is not None:
        return _expected_list(workload, workload.listed, running)
    if http.is_learned(workload) and (found := http.learn(running.host, running.port, workload, inputs.learned, running.transport)):
        return Expected(*found)
    return Expected(http.with_status(workload, running.response.status))


def problems_after(running: RunningTarget, workload: Workload) -> list[str]:
    """Return the problems with one response after the load or, if the workload has several requests, with a response to some of them."""
    named: list[tuple[str, Workload]] = [(f"{each.name}: ", each) for each in workload.each] if workload.parts else [("", workload)]
    if workload.listed is not None:
        each = workload.listed.requests
        named = [(f"request {index + 1}: ", _one(workload, each[index])) for index in _spread(len(each), CHECKED_MAX)]
    found = [(name, http.check(running.host, running.port, each, running.transport)) for name, each in named]
    return [f"{name}{problem}" for name, problems in found for problem in problems]


def _expected_mix(workload: Workload, running: RunningTarget) -> Expected:
    found = _learn([part.workload for part in workload.parts], running)
    parts = [MixPart.of(part.weight, one[0]) if one else part for part, one in zip(workload.parts, found, strict=True)]
    return Expected(workload.model_copy(update={"parts": tuple(parts)}), requests=_summary(len(parts), found))


def _expected_list(workload: Workload, listed: RequestList, running: RunningTarget) -> Expected:
    indices = _spread(listed.count, LEARNED_MAX)
    found = _learn([_one(workload, listed.requests[index]) for index in indices], running)
    if listed.count <= LEARNED_MAX:
        pairs = zip(listed.requests, found, strict=True)
        requests = tuple(each.model_copy(update={"expect": one[0].expect}) if one else each for each, one in pairs)
        updated = workload.model_copy(update={"listed": listed.model_copy(update={"requests": requests})})
        return Expected(updated, requests=_summary(listed.count, found))
    learned = [one for one in found if one]
    common = http.in_common([each for _, each in learned]) if learned else None
    if common is None:
        return Expected(workload, requests=_summary(listed.count, found))
    expect = Expectation(status=common.status, content_type=common.content_type)
    if common.body_sha256 is not None:
        expect = learned[0][0].expect.model_copy(update={"content_type": common.content_type})
    return Expected(workload.model_copy(update={"expect": expect}), requests=_summary(listed.count, found, common))


def _learn(workloads: Sequence[Workload], running: RunningTarget) -> list[tuple[Workload, Learned] | None]:
    """Learn the correct response to each workload that doesn't define it. The result is ``None`` for the others."""
    open_ = [workload for workload in workloads if http.is_learned(workload)]
    learned = iter(http.learn_each(running.host, running.port, open_, running.transport) if open_ else ())
    return [next(learned) if http.is_learned(workload) else None for workload in workloads]


def _summary(count: int, found: Sequence[tuple[Workload, Learned] | None], common: Learned | None = None) -> LearnedRequests | None:
    learned = [one[1] for one in found if one]
    bodies = sum(each.body_sha256 is not None for each in learned)
    return LearnedRequests(count=count, learned=len(learned), bodies=bodies, common=common) if learned else None


def _one(workload: Workload, listed: ListedRequest) -> Workload:
    """Return a workload that consists of one request of the list."""
    return workload.model_copy(update={"request": listed.request, "expect": listed.expect or workload.expect, "listed": None})


def _spread(count: int, most: int) -> list[int]:
    """Return at most ``most`` evenly spread indices of a list with ``count`` elements."""
    taken = min(count, most)
    return [index * count // taken for index in range(taken)]
