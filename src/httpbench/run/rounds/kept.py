"""The stored, shown and exported form of a run and its trials, without secrets from the command line and with shortened bodies.

Values of ``--env`` and values of headers that aren't known to be harmless count as secrets; only their names are kept. If a log, response
or reason contains a secret, the secret is redacted there too. A user and a password in a URL are always redacted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from httpbench.model import PLACEHOLDER, Expectation, MixPart, Request, Run, Target, Trial, Workload

REDACTED = "<redacted>"
BODY_CHARACTERS = 2000
SECRET_CHARACTERS_MIN = 8
"""Minimum length of a secret that is redacted in logs and other texts. A shorter value, such as ``1``, might occur there by chance."""

HARMLESS_HEADERS = frozenset(
    (
        *("accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection", "content-encoding"),
        *("content-language", "content-length", "content-type", "date", "expect", "host", "if-match", "if-modified-since"),
        *("if-none-match", "if-range", "if-unmodified-since", "keep-alive", "origin", "pragma", "priority", "range", "te", "trailer"),
        *("transfer-encoding", "upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    )
)
PAIR_OPTIONS = {"--env": "=", "-H": ":", "--header": ":", "--headers": ":"}
"""Options of httpbench and of load generators that take a name and a value, each with the separator between name and value."""
Value = TypeVar("Value")
USER_IN_URL = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)")


@dataclass(frozen=True, slots=True)
class Secrets:
    """Values that must not be stored, longest first."""

    values: tuple[str, ...]

    @classmethod
    def of(cls, targets: Iterable[Target], workloads: Iterable[Workload]) -> Secrets:
        """Return the secrets from the command line that these targets and workloads contain."""
        found = {value for target in targets if not target.is_declared for value in target.env.values() if not PLACEHOLDER.search(value)}
        for request in (request for workload in workloads for request in _requests(workload)):
            for name, value in request.headers.items():
                if not _is_harmless(name):
                    found |= {value, *re.split(r"[\s;,=]+", value)}
        return cls(tuple(sorted((value for value in found if len(value) >= SECRET_CHARACTERS_MIN), key=len, reverse=True)))

    def out_of(self, text: str) -> str:
        """Return the text with its secrets redacted."""
        for value in self.values if len(text) >= SECRET_CHARACTERS_MIN else ():
            text = text.replace(value, REDACTED)
        return USER_IN_URL.sub(REDACTED, text)

    def out_of_all(self, value: Value) -> Value:
        """Return a value with the secrets redacted in all strings that it contains, at any depth."""
        found: Any = value
        match value:
            case Enum():
                pass
            case str():
                found = self.out_of(value)
            case tuple() | list():
                found = type(value)(map(self.out_of_all, value))
            case dict():
                found = {name: self.out_of_all(each) for name, each in value.items()}
            case BaseModel():
                found = value.model_copy(update={name: self.out_of_all(each) for name, each in value})
        return cast("Value", found)


def kept_run(run: Run, secrets: Secrets) -> Run:
    """Return the run without secrets."""
    return run.model_copy(
        update={
            "command": secrets.out_of_all(_redacted_pairs(run.command)),
            "targets": {name: _kept_target(target, secrets) for name, target in run.targets.items()},
            "workloads": {name: _kept_workload(workload) for name, workload in run.workloads.items()},
        }
    )


def kept_trial(trial: Trial, secrets: Secrets) -> Trial:
    """Return the trial without secrets, and with the body of its sampled response shortened."""
    measured, commands, response = trial.measurement, trial.commands, secrets.out_of_all(trial.response)
    return trial.model_copy(
        update={
            "verdict": secrets.out_of_all(trial.verdict),
            "measurement": measured and measured.model_copy(update={"sampled_bodies": secrets.out_of_all(measured.sampled_bodies)}),
            "observed": trial.observed.model_copy(update={"incidents": secrets.out_of_all(trial.observed.incidents)}),
            "log_tail": secrets.out_of_all(trial.log_tail),
            "response": response and response.model_copy(update={"body": response.body[:BODY_CHARACTERS]}),
            "probed": secrets.out_of_all(trial.probed),
            "commands": commands and secrets.out_of_all(commands.model_copy(update={"load": _redacted_pairs(commands.load)})),
        }
    )


def _kept_target(target: Target, secrets: Secrets) -> Target:
    if target.is_declared:  # values in a manifest are public
        return target
    env = dict.fromkeys(target.env, REDACTED)
    return target.model_copy(update={"env": env, "run": secrets.out_of_all(target.run), "prepare": secrets.out_of_all(target.prepare)})


def _kept_workload(workload: Workload) -> Workload:
    parts = tuple(MixPart.of(part.weight, _kept_workload(part.workload)) for part in workload.parts)
    request, listed = workload.request, workload.listed
    if listed is not None:
        template = listed.template and _kept_request(listed.template)
        request, listed = template or request, listed.model_copy(update={"template": template, "requests": ()})
    kept = {"request": _kept_request(request), "expect": _kept_expectation(workload.expect), "parts": parts, "listed": listed}
    return workload.model_copy(update=kept)


def _requests(workload: Workload) -> Iterator[Request]:
    """Yield all requests of a workload."""
    yield workload.request
    yield from (part.request for part in workload.parts)
    if workload.listed is not None:
        yield from (each.request for each in workload.listed.requests)


def _kept_request(request: Request) -> Request:
    headers = {name: value if _is_harmless(name) else REDACTED for name, value in request.headers.items()}
    body = request.body
    if len(body) > BODY_CHARACTERS:
        body = f"{body[:BODY_CHARACTERS]}… ({len(body):,} characters, SHA-256 {_sha256(body)})"
    return request.model_copy(update={"headers": headers, "body": body})


def _kept_expectation(expect: Expectation) -> Expectation:
    """Replace a long body with its hash and its size."""
    if expect.body is None or len(expect.body) <= BODY_CHARACTERS:
        return expect
    return expect.model_copy(update={"body": None, "body_sha256": _sha256(expect.body), "body_bytes": len(expect.body.encode())})


def _redacted_pairs(command: Sequence[str]) -> tuple[str, ...]:
    """Return the command line with the values of the pairs in :data:`PAIR_OPTIONS` redacted."""
    return tuple(_redacted_word(before, word) for before, word in pairwise(("", *command)))


def _redacted_word(before: str, word: str) -> str:
    """Redact the value in a word that follows an option in :data:`PAIR_OPTIONS`, or that starts with such an option (``--env=A=1``)."""
    option = "-H" if re.fullmatch(r"-[A-Za-z]*H", before) else before
    if option in PAIR_OPTIONS:
        return _redacted_pair(word, PAIR_OPTIONS[option])
    glued = re.fullmatch(r"((--env|--headers?)=|-[A-Za-z]*H)(.+)", word, re.DOTALL)
    return glued[1] + _redacted_pair(glued[3], PAIR_OPTIONS[glued[2] or "-H"]) if glued else word


def _redacted_pair(pair: str, mark: str) -> str:
    name, found, _ = pair.partition(mark)
    if not found or (mark == ":" and _is_harmless(name)):
        return pair
    return f"{name}{mark}{REDACTED}" if mark == "=" else f"{name}{mark} {REDACTED}"


def _is_harmless(header: str) -> bool:
    return header.strip().lower() in HARMLESS_HEADERS


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
