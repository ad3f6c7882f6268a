"""Verdicts on trials, and the reasons for the verdicts.

A verdict states what limited a trial, or why the trial has no results. A reason has a kind and data, and ``report/words/reasons.py``
turns it into a sentence. Other code must check the kind of a reason, never the text of its sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, JsonValue, model_validator

from httpbench.model.frozen import Frozen

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


class ReasonKind(StrEnum):
    TEXT = "text"  # a sentence from a store or export of an earlier version

    # Reasons why results are invalid.
    NO_CORRECT_RESPONSE = "no_correct_response"
    NO_EVENT = "no_event"
    EVENTS_LOST = "events_lost"
    WRONG_RESPONSES = "wrong_responses"
    WRONG_SAMPLES = "wrong_samples"
    REQUESTS_FAILED = "requests_failed"
    TRUNCATED = "truncated"
    RATE_NOT_REACHED = "rate_not_reached"
    GENERATOR_SHORT = "generator_short"  # the rate wasn't reached, possibly because the load generator was full
    RATE_NOT_HELD = "rate_not_held"
    STALLED = "stalled"
    IMPOSSIBLE_THROUGHPUT = "impossible_throughput"

    # Reasons that explain what limited the trial.
    NOT_SAMPLED = "not_sampled"
    TARGET_NOT_SAMPLED = "target_not_sampled"
    GENERATOR_BOUND = "generator_bound"
    BOTH_BUSY = "both_busy"  # stored only by earlier versions
    BOTH_NEARLY_FULL = "both_nearly_full"
    QUOTA_STOPPED_BOTH = "quota_stopped_both"
    TARGET_QUOTA_USED = "target_quota_used"
    THREAD_FULL = "thread_full"
    POLLS = "polls"
    RETRANSMISSIONS = "retransmissions"
    LINK_FULL = "link_full"
    BACKEND_BOUND = "backend_bound"
    BACKEND_SHARED = "backend_shared"
    DATABASE_BOUND = "database_bound"
    DATABASE_THROTTLED = "database_throttled"
    DATABASE_SHARED = "database_shared"
    SHARED_CORES_FULL = "shared_cores_full"
    RATE_LEFT_IDLE = "rate_left_idle"
    NEITHER_BUSY = "neither_busy"
    QUOTA_STOPPED_TARGET = "quota_stopped_target"
    STEAL = "steal"

    # Ways in which other programs disturbed the trial.
    OTHERS_TOOK = "others_took"
    STOLEN = "stolen"
    SHARED_QUOTA = "shared_quota"
    WAITED = "waited"
    OTHERS_TOOK_ON_HOST = "others_took_on_host"
    STOLEN_ON_HOST = "stolen_on_host"
    WAITED_ON_HOST = "waited_on_host"

    # Reasons why throughput wasn't steady.
    RATE_CHANGED = "rate_changed"
    WARMUP_STILL_CHANGED = "warmup_still_changed"
    WARMUP_TOO_SHORT = "warmup_too_short"

    # The target, or a program it depends on, misbehaved.
    TARGET_DIED_UNDER_LOAD = "target_died_under_load"
    BACKEND_DIED_UNDER_LOAD = "backend_died_under_load"
    DATABASE_DIED_UNDER_LOAD = "database_died_under_load"
    OUT_OF_MEMORY = "out_of_memory"
    WRONG_AFTER_LOAD = "wrong_after_load"
    DATABASE_NOT_ASKED = "database_not_asked"
    DATABASE_NOT_READ = "database_not_read"
    DATABASE_NOT_WRITTEN = "database_not_written"
    BYTES_DIFFER = "bytes_differ"
    BACKEND_NOT_ASKED = "backend_not_asked"
    BACKEND_NOT_CONNECTED = "backend_not_connected"
    FAILED_BEFORE_FAULT = "failed_before_fault"
    SECOND_BACKEND_UNUSED = "second_backend_unused"
    BYTES_MAY_BE_LOST = "bytes_may_be_lost"
    CRASHED_ON_SIGTERM = "crashed_on_sigterm"
    IGNORED_SIGTERM = "ignored_sigterm"
    LEFT_PROCESSES = "left_processes"
    HELD_PORT = "held_port"
    FILLED_LOG = "filled_log"

    # A client didn't do exactly the required work.
    CLIENT_REQUESTS = "client_requests"
    CLIENT_IN_FLIGHT = "client_in_flight"
    CLIENT_PIPELINED = "client_pipelined"
    CLIENT_CONNECTIONS = "client_connections"
    CLIENT_WRONG_REQUESTS = "client_wrong_requests"
    CLIENT_BYTES = "client_bytes"
    CLIENT_PRINTED = "client_printed"

    # An exception ended the trial. There is one kind per exception class.
    FAILED = "failed"
    USAGE = "usage"
    NOT_BUILT = "not_built"
    REQUIREMENT_MISSING = "requirement_missing"
    NOT_STARTED = "not_started"
    TARGET_DIED = "target_died"
    NOT_STOPPED = "not_stopped"
    CONTAINER_FAILED = "container_failed"
    LIMIT_NOT_IN_FORCE = "limit_not_in_force"
    LOAD_FAILED = "load_failed"
    LOAD_HOST_LOST = "load_host_lost"
    CORES_IN_USE = "cores_in_use"
    NOT_STORED = "not_stored"

    # The trial didn't meet the service level.
    NOT_MEASURED = "not_measured"
    TOO_FEW_RESPONSES = "too_few_responses"
    LATENCY_MISSED = "latency_missed"

    # Reasons that apply to several rounds or trials.
    REPEATED = "repeated"
    WORST_ROUND = "worst_round"
    ROUNDS_DIFFER = "rounds_differ"
    LOST_ROUNDS = "lost_rounds"
    NOT_STEADY = "not_steady"
    NOT_SHOWN_STEADY = "not_shown_steady"
    ROUNDS_INVALID = "rounds_invalid"
    ROUNDS_DISTURBED = "rounds_disturbed"
    HOPELESS = "hopeless"


ENDINGS = frozenset(
    (
        ReasonKind.CRASHED_ON_SIGTERM,
        ReasonKind.IGNORED_SIGTERM,
        ReasonKind.LEFT_PROCESSES,
        ReasonKind.HELD_PORT,
        ReasonKind.FILLED_LOG,
    )
)
"""Kinds of misbehavior that httpbench detects when it stops a target. The results stay valid."""


class Reason(Frozen):
    """A reason for a trial's verdict."""

    kind: ReasonKind
    """Kind of reason."""
    data: dict[str, JsonValue] = {}
    """Numbers and names for the reason's sentence, by key. Keys of quantities end with their units."""

    @classmethod
    def of(cls, kind: ReasonKind, **data: Any) -> Self:
        """Create a reason without the data that is ``None``."""
        return cls(kind=kind, data={name: value for name, value in data.items() if value is not None})

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: Any) -> Any:
        """Convert a sentence that an earlier version stored in place of a reason."""
        return {"kind": ReasonKind.TEXT, "data": {"text": value}} if isinstance(value, str) else value

    @property
    def family(self) -> str:
        """Key that is equal for reasons that differ only in numbers or error counts."""
        return f"{self.kind} {json.dumps(_without_numbers(self.data), sort_keys=True)}"

    @property
    def dumped(self) -> dict[str, JsonValue]:
        """The reason as JSON, so that another reason can contain it in its data."""
        return {"kind": str(self.kind), "data": self.data}


def _without_numbers(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _without_numbers(each) for name, each in value.items() if name != "errors"}
    if isinstance(value, list):
        return [_without_numbers(each) for each in value]
    if isinstance(value, str):
        return NUMBER.sub("0", value)
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value


REASONS_MAX = 1_000
"""Maximum number of reasons that a verdict or an incident list of a stranger may have."""


class VerdictKind(StrEnum):
    TARGET = "target"
    GENERATOR = "generator"
    BOTH = "both"  # the target and the load generator were nearly full, so either may have limited the trial
    SHARED = "shared"  # the cores that the target and the load generator share were full
    BACKEND = "backend"  # the server behind a proxy limited the trial
    DATABASE = "database"  # the target's database limited the trial
    NETWORK = "network"
    IDLE = "idle"
    UNKNOWN = "unknown"  # the trial counts, but httpbench can't tell what limited it
    DISTURBED = "disturbed"  # other programs used the measured cores; httpbench repeats the trial, or counts it with `--retries 0`
    INVALID = "invalid"  # the trial was measured, but doesn't count
    FAILED = "failed"  # the trial wasn't measured


class Verdict(Frozen):
    """The verdict on a trial: what limited it, or why it doesn't count."""

    kind: VerdictKind
    """Kind of verdict."""
    reasons: tuple[Reason, ...] = Field(default=(), max_length=REASONS_MAX)
    """Reasons for the verdict. Can be empty."""
    is_accepted: bool = False
    """Whether a disturbed trial counts anyway, because repeats were turned off."""

    @model_validator(mode="before")
    @classmethod
    def _read_export(cls, value: Any) -> Any:
        """Accept the form of the JSON export, in which ``reasons`` are sentences and ``causes`` are the reasons."""
        if not isinstance(value, Mapping) or "causes" not in value:
            return value
        return {name: each for name, each in value.items() if name not in ("reasons", "causes")} | {"reasons": value["causes"]}

    @property
    def counts(self) -> bool:
        """Whether results include the trial."""
        if self.kind is VerdictKind.DISTURBED:
            return self.is_accepted
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)
