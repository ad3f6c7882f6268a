"""The form in which a run and its trials are stored, shown and exported: without secrets of the command line, with long bodies cut.

Values of ``--env`` count as secret, and so do those of headers that are not known to be harmless: only their names are kept. Logs,
responses and reasons that repeat such a value are redacted too. A user and a password in a URL are always redacted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from httpbench.model import (
    Commands,
    Expectation,
    Measurement,
    MixPart,
    Probed,
    Reason,
    Request,
    Run,
    SampledResponse,
    Target,
    Trial,
    Workload,
)

REDACTED = "<redacted>"
BODY_CHARACTERS = 2000
SECRET_CHARACTERS_MIN = 8
"""Minimum length of a value that is redacted in other texts. There, a shorter one such as ``1`` means something else."""

HARMLESS_HEADERS = frozenset(
    (
        *("accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection", "content-encoding"),
        *("content-language", "content-length", "content-type", "date", "expect", "host", "if-match", "if-modified-since"),
        *("if-none-match", "if-range", "if-unmodified-since", "keep-alive", "origin", "pragma", "priority", "range", "te", "trailer"),
        *("transfer-encoding", "upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    )
)
PAIR_OPTIONS = {"--env": "=", "-H": ":", "--header": ":", "--headers": ":"}
"""Ours, and those of load generators."""
USER_IN_URL = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)")


@dataclass(frozen=True, slots=True)
class Secrets:
    """Values that must not be stored, the longest first."""

    values: tuple[str, ...]

    @classmethod
    def of(cls, targets: Iterable[Target], workloads: Iterable[Workload]) -> Secrets:
        """The secrets that the command line gave for them."""
        found = {value for target in targets if not target.is_declared for value in target.env.values() if "{" not in value}
        for request in (each.request for workload in workloads for each in (workload, *workload.each)):
            for name, value in request.headers.items():
                if not _is_harmless(name):
                    found |= {value, *re.split(r"[\s;,=]+", value)}
        return cls(tuple(sorted((value for value in found if len(value) >= SECRET_CHARACTERS_MIN), key=len, reverse=True)))

    def out_of(self, text: str) -> str:
        """The text without them."""
        for value in self.values:
            text = text.replace(value, REDACTED)
        return USER_IN_URL.sub(REDACTED, text)

    def out_of_all(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.out_of, texts))


def kept_run(run: Run, secrets: Secrets) -> Run:
    """The run without secrets."""
    return run.model_copy(
        update={
            "command": secrets.out_of_all(_redacted_pairs(run.command)),
            "targets": {name: _kept_target(target, secrets) for name, target in run.targets.items()},
            "workloads": {name: _kept_workload(workload) for name, workload in run.workloads.items()},
        }
    )


def kept_trial(trial: Trial, secrets: Secrets) -> Trial:
    """The trial without secrets, and with the sampled body cut."""
    verdict = trial.verdict.model_copy(update={"reasons": tuple(_kept_reason(each, secrets) for each in trial.verdict.reasons)})
    incidents = tuple(_kept_reason(each, secrets) for each in trial.observed.incidents)
    return trial.model_copy(
        update={
            "verdict": verdict,
            "measurement": trial.measurement and _kept_measurement(trial.measurement, secrets),
            "observed": trial.observed.model_copy(update={"incidents": incidents}),
            "log_tail": trial.log_tail and secrets.out_of(trial.log_tail),
            "response": trial.response and _kept_response(trial.response, secrets),
            "probed": trial.probed and _kept_probe(trial.probed, secrets),
            "commands": trial.commands and _kept_commands(trial.commands, secrets),
        }
    )


def _kept_measurement(measurement: Measurement, secrets: Secrets) -> Measurement:
    sampled = measurement.sampled_bodies
    if sampled is None or not sampled.problems:
        return measurement
    return measurement.model_copy(update={"sampled_bodies": sampled.model_copy(update={"problems": secrets.out_of_all(sampled.problems)})})


def _kept_reason(reason: Reason, secrets: Secrets) -> Reason:
    return reason.model_copy(update={"data": _kept_data(reason.data, secrets)})


def _kept_data(value: JsonValue, secrets: Secrets) -> JsonValue:
    if isinstance(value, str):
        return secrets.out_of(value)
    if isinstance(value, list):
        return [_kept_data(each, secrets) for each in value]
    return {name: _kept_data(each, secrets) for name, each in value.items()} if isinstance(value, dict) else value


def _kept_target(target: Target, secrets: Secrets) -> Target:
    if target.is_declared:  # a manifest is public
        return target
    env = dict.fromkeys(target.env, REDACTED)
    return target.model_copy(update={"env": env, "run": secrets.out_of_all(target.run), "prepare": secrets.out_of_all(target.prepare)})


def _kept_workload(workload: Workload) -> Workload:
    parts = tuple(MixPart.of(part.weight, _kept_workload(part.workload)) for part in workload.parts)
    kept = {"request": _kept_request(workload.request), "expect": _kept_expectation(workload.expect), "parts": parts}
    return workload.model_copy(update=kept)


def _kept_request(request: Request) -> Request:
    headers = {name: value if _is_harmless(name) else REDACTED for name, value in request.headers.items()}
    body = request.body
    if len(body) > BODY_CHARACTERS:
        body = f"{body[:BODY_CHARACTERS]}… ({len(body):,} characters, SHA-256 {_sha256(body)})"
    return request.model_copy(update={"headers": headers, "body": body})


def _kept_expectation(expect: Expectation) -> Expectation:
    """With the hash of a long body instead of the body."""
    if expect.body is None or len(expect.body) <= BODY_CHARACTERS:
        return expect
    return expect.model_copy(update={"body": None, "body_sha256": _sha256(expect.body), "body_bytes": len(expect.body.encode())})


def _kept_response(response: SampledResponse, secrets: Secrets) -> SampledResponse:
    headers = tuple((name, secrets.out_of(value)) for name, value in response.headers)
    return response.model_copy(update={"headers": headers, "body": secrets.out_of(response.body)[:BODY_CHARACTERS]})


def _kept_probe(probed: Probed, secrets: Secrets) -> Probed:
    seen = [each.model_copy(update={"sent": secrets.out_of(each.sent), "came": secrets.out_of(each.came)}) for each in probed.observations]
    return probed.model_copy(update={"reasons": secrets.out_of_all(probed.reasons), "observations": tuple(seen)})


def _kept_commands(commands: Commands, secrets: Secrets) -> Commands:
    load = secrets.out_of_all(_redacted_pairs(commands.load))
    return commands.model_copy(update={"target": secrets.out_of_all(commands.target), "load": load})


def _redacted_pairs(command: tuple[str, ...]) -> list[str]:
    """The command line, in which options that set a value keep only its name."""
    words: list[str] = []
    option: str | None = None
    for word in command:
        if option is not None:
            words.append(_redacted_pair(word, PAIR_OPTIONS[option]))
            option = None
            continue
        glued = re.fullmatch(r"(--env|--headers?)=(.*)|(-[A-Za-z]*H)(.+)", word, re.DOTALL)
        if glued and glued[1]:
            words.append(f"{glued[1]}={_redacted_pair(glued[2], PAIR_OPTIONS[glued[1]])}")
        elif glued and not word.startswith("--"):
            words.append(glued[3] + _redacted_pair(glued[4], ":"))
        else:
            words.append(word)
            option = "-H" if re.fullmatch(r"-[A-Za-z]*H", word) else word if word in PAIR_OPTIONS else None
    return words


def _redacted_pair(pair: str, mark: str) -> str:
    name, found, _ = pair.partition(mark)
    if not found or (mark == ":" and _is_harmless(name)):
        return pair
    return f"{name}{mark}{REDACTED}" if mark == "=" else f"{name}{mark} {REDACTED}"


def _is_harmless(header: str) -> bool:
    return header.strip().lower() in HARMLESS_HEADERS


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
