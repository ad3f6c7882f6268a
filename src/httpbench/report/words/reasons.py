"""Sentences that state the reasons for verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from httpbench.model import Reason, ReasonKind, Verdict
from httpbench.report.words.numbers import figure_name, plural
from httpbench.report.words.once import once
from httpbench.text import listed

NAMED_MAX = 3
"""Maximum number of disturbers that a reason names. The reason gives a total for the others."""

Data = Mapping[str, Any]
Sentence = str | Callable[[Data], str]
"""Format string that is filled in with the data of a reason, or function that turns this data into a sentence."""


def sentence(reason: Reason) -> str:
    """Return the sentence for a reason, without a period. If a file contains other data than the reason has, only name the reason."""
    try:
        return _sentence(reason)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return f"{reason.kind.replace('_', ' ')} (its details cannot be read)"


def _sentence(reason: Reason) -> str:
    if "message" in reason.data:
        message, hint = reason.data["message"], reason.data.get("hint")
        return f"{message}; {hint}" if hint else str(message)
    made = SENTENCES[reason.kind]
    return made.format_map(reason.data) if isinstance(made, str) else made(reason.data)


def sentences(verdict: Verdict) -> list[str]:
    """Return a sentence for each reason for a verdict."""
    return [sentence(reason) for reason in verdict.reasons]


def joined(reasons: Iterable[Reason]) -> str:
    """Return the sentences for several reasons on one line."""
    return "; ".join(map(sentence, reasons))


def _cores(count: float) -> str:
    return "core" if count == 1 else "cores"


def _errors(data: Data) -> str:
    named = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in data["errors"].items())
    return f" ({named})" if named else ""


# --- How fully each program used its cores ----------------------------------------------------------------------------------------


def _use(data: Data) -> str:
    """Return how fully each program used its cores: ``generator 0.99 of 1 core, target 0.62 of 1 core``."""
    if "shared_cores" in data:
        used = listed(f"{each['name']} {each['cores']:.2f}" for each in data["programs"])
        return f"{used} of {data['shared_cores']} shared {_cores(data['shared_cores'])}"
    return ", ".join(f"{each['name']} {_fill(each)}" for each in data["programs"])


def _fill(program: Data) -> str:
    """Return how fully one program used its cores: ``1.97 of 2 cores on load1, one of its 4 threads was full``."""
    if "load_host" in program:
        return f"{program['fullest_thread_cores']:.2f} of a core in its fullest thread, on load host {program['load_host']}"
    if "cores" not in program:
        return "not sampled"
    parts = [f"{program['cores']:.2f} of {program['capacity']:g} {_cores(program['capacity'])}"]
    if "host" in program:
        parts[0] += f" on {program['host']}"
    if "full_thread_of" in program:
        parts.append(f"one of its {program['full_thread_of']} threads was full")
    if "fullest_thread_cores" in program:
        parts.append(f"its fullest thread {program['fullest_thread_cores']:.2f}")
    if "waited_share" in program:
        parts.append(f"waiting for a core {program['waited_share']:.2f} of the time")
    return ", ".join(parts)


def _shared_cores_full(data: Data) -> str:
    names = listed(["target", *(each["name"] for each in data["programs"] if each["name"] != "target")])
    return f"shared cores were full: the results are those of {names} together ({_use(data)})"


def _polls(data: Data) -> str:
    also = "the generator was nearly full, and " if data["generator_is_nearly_full"] else ""
    polls = f"the target polls ({data['threads']:.2f} threads busy without requests)"
    return f"{also}{polls}, so its CPU time does not show whether it is full ({_use(data)})"


# --- Results that are not valid ---------------------------------------------------------------------------------------------------


def _wrong_samples(data: Data) -> str:
    count = f"{data['wrong']:,} of {data['checked']:,}" if data["wrong"] else f"the {data['checked']:,}"
    return f"{count} responses sampled during the load were wrong: {'; '.join(data['problems'])}"


def _rate_not_reached(data: Data) -> str:
    offered, achieved = data["offered_rps"], data["achieved_rps"]
    return f"offered {offered:,.0f} requests/s, achieved {achieved:,.0f} ({achieved / offered:.1%})"


def _rate_not_held(data: Data) -> str:
    held = f"{data['held_rps']:,.0f}" if "held_rps" in data else "none"
    return f"held {held} of {data['offered_rps']:,.0f} requests/s (achieved / offered at least {data['share_min']:.0%})"


def _stalled(data: Data) -> str:
    ratio = data["little_ratio"]
    return f"connections stalled for {1 - ratio:.1%} of the time (throughput × mean service time / requests in flight = {ratio:.3f})"


# --- Other programs ---------------------------------------------------------------------------------------------------------------


def _places(data: Data) -> str:
    """Return how much CPU time other programs took: ``0.49 of the target's core and 0.20 of the load generator's core``."""
    return listed(f"{each['cores']:.2f} of {_place(each['programs'], each['capacity'])}" for each in data["places"])


def _place(programs: list[str], capacity: int) -> str:
    """Return a name for cores: ``the target's core``, ``the 2 cores of target and load generator``."""
    count = "" if capacity == 1 else f"{capacity} "
    return f"the {count}{_cores(capacity)} of {listed(programs)}" if len(programs) > 1 else f"the {programs[0]}'s {count}{_cores(capacity)}"


def _others_took(data: Data) -> str:
    return f"other programs took {_places(data)}" + (f": {_blamed(data['by'])}" if data["by"] else "")


def _blamed(by: list[dict[str, Any]]) -> str:
    """Return how many cores each program took: ``spin (pid 4711) 0.40, sshd (pid 12) 0.03``. Those after the first three share a total."""
    named = [f"{each['name']} {each['cores']:.2f}" for each in by[:NAMED_MAX]]
    if more := by[NAMED_MAX:]:
        named.append(f"{plural(len(more), 'other')} {sum(each['cores'] for each in more):.2f}")
    return ", ".join(named)


def _link_full(data: Data) -> str:
    name, factor = ("Gbit/s", 1e9) if data["capacity_bits_per_s"] >= 1e9 else ("Mbit/s", 1e6)
    used, capacity = data["bits_per_s"] / factor, data["capacity_bits_per_s"] / factor
    where = f" on load host {data['host']}" if "host" in data else ""
    return f"the network link {data['link']} was full ({used:.3g} of {capacity:.3g} {name}{where})"


def _host_cores(data: Data) -> str:
    return f"{data['cores']:.2f} of the {data['host_cores']} cores" if data["host_cores"] > 1 else f"{data['cores']:.2f} of the core"


def _steal(data: Data) -> str:
    return "steal: other virtual machines took " + ", ".join(f"{each['share']:.0%} of core {each['cpu']}" for each in data["cores"])


def _latency_missed(data: Data) -> str:
    shown_ms = float(f"{data['latency_us'] / 1000:.3g}")
    return f"{figure_name(data['figure'])} was {shown_ms:,g} ms"


# --- Several rounds ---------------------------------------------------------------------------------------------------------------


def _inner(data: Data) -> str:
    return sentence(Reason.model_validate(data["reason"]))


def _each(data: Data) -> list[Reason]:
    return [Reason.model_validate(each) for each in data["reasons"]]


def _merged(reasons: Iterable[Reason]) -> str:
    """Return one sentence for reasons that differ only in their numbers, with ranges in place of these numbers."""
    return once(map(sentence, reasons))[0].text


def _repeated(data: Data) -> str:
    return _merged(_each(data)) + (f", in {plural(data['rounds'], 'round')}" if "rounds" in data else "")


def _steadiness(how: str) -> Callable[[Data], str]:
    def made(data: Data) -> str:
        rounds = f" in {data['found']} of {data['rounds']} rounds" if data["rounds"] > 1 else ""
        return f"{how}{rounds}: {_inner(data)}"

    return made


def _hopeless(data: Data) -> str:
    return f"stopped after round 1 of {data['rounds']}: no trial is valid, all for the same reason: {_merged(_each(data))}"


SENTENCES: dict[ReasonKind, Sentence] = {
    ReasonKind.TEXT: lambda data: str(data["text"]),
    ReasonKind.NO_CORRECT_RESPONSE: lambda data: f"no correct response{_errors(data)}",
    ReasonKind.NO_EVENT: lambda data: f"no event arrived{_errors(data)}",
    ReasonKind.EVENTS_LOST: lambda data: f"{plural(data['lost'], 'event')} lost: ids are missing in {plural(data['streams'], 'stream')}",
    ReasonKind.WRONG_RESPONSES: lambda data: f"{data['wrong']:,} of {data['completed']:,} responses were wrong{_errors(data)}",
    ReasonKind.WRONG_SAMPLES: _wrong_samples,
    ReasonKind.REQUESTS_FAILED: lambda data: f"{data['share']:.2%} of requests failed, more than {data['limit_share']:.2%}{_errors(data)}",
    ReasonKind.TRUNCATED: "{received_bytes:,} bytes received, {expected_bytes:,} expected in {place}: responses were truncated",
    ReasonKind.RATE_NOT_REACHED: _rate_not_reached,
    ReasonKind.GENERATOR_SHORT: lambda data: f"generator-bound ({_use(data)}): it may be unable to offer more",
    ReasonKind.RATE_NOT_HELD: _rate_not_held,
    ReasonKind.STALLED: _stalled,
    ReasonKind.IMPOSSIBLE_THROUGHPUT: (
        "throughput × mean service time is {little_ratio:.3f} × requests in flight, which is impossible: a clock or a count is wrong"
    ),
    ReasonKind.NOT_SAMPLED: "CPU time was not sampled, so the limit is unknown",
    ReasonKind.TARGET_NOT_SAMPLED: lambda data: f"the target's CPU time is unknown, so its limit is unknown ({_use(data)})",
    ReasonKind.GENERATOR_BOUND: lambda data: f"generator-bound ({_use(data)})",
    ReasonKind.BOTH_BUSY: lambda data: f"both busy ({_use(data)}): another load generator might show more",
    ReasonKind.BOTH_NEARLY_FULL: lambda data: f"target and generator were both nearly full ({_use(data)}): the target can do more",
    ReasonKind.QUOTA_STOPPED_BOTH: lambda data: (
        f"a CPU quota stopped target and generator: the results are those of both together ({_use(data)})"
    ),
    ReasonKind.TARGET_QUOTA_USED: lambda data: f"the target used up its CPU quota ({_fill(data['programs'][0])})",
    ReasonKind.THREAD_FULL: "one of the target's {threads} threads was full ({thread_cores_max:.2f} of a core, mean {mean_share:.2f})",
    ReasonKind.POLLS: _polls,
    ReasonKind.RETRANSMISSIONS: (
        "connections waited {timeouts:,} times for TCP to resend a lost segment, at least {time_share_min:.0%} of their time"
    ),
    ReasonKind.LINK_FULL: _link_full,
    ReasonKind.BACKEND_BOUND: lambda data: f"backend-bound ({_use(data)})",
    ReasonKind.BACKEND_SHARED: lambda data: f"generator and backend filled the cores that they share ({_use(data)})",
    ReasonKind.DATABASE_BOUND: lambda data: f"database-bound ({_use(data)})",
    ReasonKind.DATABASE_THROTTLED: "database-bound (a CPU quota stopped the database in {periods_share:.0%} of its periods)",
    ReasonKind.DATABASE_SHARED: lambda data: f"generator and database filled the cores that they share ({_use(data)})",
    ReasonKind.SHARED_CORES_FULL: _shared_cores_full,
    ReasonKind.RATE_LEFT_IDLE: lambda data: f"the offered rate left cores idle ({_use(data)})",
    ReasonKind.NEITHER_BUSY: lambda data: f"neither busy ({_use(data)}): the target waited, or the load is too small",
    ReasonKind.QUOTA_STOPPED_TARGET: "the target's CPU quota stopped it in {periods_share:.0%} of the quota's periods",
    ReasonKind.STEAL: _steal,
    ReasonKind.OTHERS_TOOK: _others_took,
    ReasonKind.STOLEN: lambda data: f"other virtual machines took {_places(data)}",
    ReasonKind.SHARED_QUOTA: (
        "other programs took {cores:.2f} of the {quota_cores:.2f} cores of a CPU quota, "
        "which stopped all of them in {periods_share:.0%} of its periods"
    ),
    ReasonKind.WAITED: "the {program} waited for a CPU {share:.0%} of the time",
    ReasonKind.OTHERS_TOOK_ON_HOST: lambda data: f"other programs took {_host_cores(data)} of load host {data['host']}",
    ReasonKind.STOLEN_ON_HOST: lambda data: f"other virtual machines took {_host_cores(data)} of load host {data['host']}",
    ReasonKind.WAITED_ON_HOST: "the load generator waited for a CPU {share:.0%} of the time on load host {host}",
    ReasonKind.RATE_CHANGED: "{last_rps:,.0f} responses/s in the last {last_s:.1f} s, {overall_rps:,.0f} overall",
    ReasonKind.WARMUP_STILL_CHANGED: "throughput still changed after {warmup_s:.1f} s of warm-up",
    ReasonKind.WARMUP_TOO_SHORT: lambda data: (
        f"{data['warmup_s']:.1f} s of warm-up were too short"
        + (f": the noise hides changes below {data['hidden_share']:.1%}" if "hidden_share" in data else "")
    ),
    ReasonKind.TARGET_DIED_UNDER_LOAD: "the target died under the load ({death})",
    ReasonKind.BACKEND_DIED_UNDER_LOAD: "the backend died under the load ({death})",
    ReasonKind.DATABASE_DIED_UNDER_LOAD: "the database died under the load ({death})",
    ReasonKind.OUT_OF_MEMORY: "out of memory: the kernel killed processes inside the container at its memory limit ({kills} so far)",
    ReasonKind.WRONG_AFTER_LOAD: lambda data: f"after the load the target {'; '.join(data['problems'])}",
    ReasonKind.DATABASE_NOT_ASKED: (
        "the database received {selects:,} SELECT statements for {responses:,} responses, which require {required_selects:,}: "
        "the target did not ask it each time"
    ),
    ReasonKind.DATABASE_NOT_READ: (
        "the database read {rows:,} rows for {responses:,} responses, which require {required_rows:,}: the target did not ask it each time"
    ),
    ReasonKind.DATABASE_NOT_WRITTEN: (
        "the database wrote {rows:,} rows for {responses:,} responses, which require {required_rows:,}: "
        "the target did not write its updates"
    ),
    ReasonKind.FAILED_BEFORE_FAULT: "{failed:,} requests failed before the backend did",
    ReasonKind.SECOND_BACKEND_UNUSED: "the proxy sent only {share:.0%} of the requests to the second backend before it failed",
    ReasonKind.BACKEND_NOT_ASKED: ("the backend handled {requests:,} requests for {responses:,} responses: the proxy responded without it"),
    ReasonKind.BACKEND_NOT_CONNECTED: (
        lambda data: (
            f"the backend accepted {plural(data['accepted'], 'connection')} for {data['opened']:,} of the load generator: "
            "the proxy did not relay each of them"
        )
    ),
    ReasonKind.BYTES_DIFFER: "bytes were lost, changed or invented between backend and load generator",
    ReasonKind.BYTES_MAY_BE_LOST: "httpbench verify {target} shows whether bytes are lost",
    ReasonKind.CRASHED_ON_SIGTERM: "crashed on SIGTERM ({exit})",
    ReasonKind.IGNORED_SIGTERM: lambda data: f"did not end on SIGTERM and was killed: {', '.join(data['killed'])}",
    ReasonKind.LEFT_PROCESSES: lambda data: f"left processes running after SIGTERM, which were killed: {', '.join(data['killed'])}",
    ReasonKind.HELD_PORT: "its port accepted connections for {held_s:.1f} s after its end",
    ReasonKind.FILLED_LOG: lambda data: f"wrote more to its log than is kept ({data['dropped_bytes'] / 1e6:,.0f} MB) during the trial",
    ReasonKind.CLIENT_REQUESTS: lambda data: f"sent {plural(data['sent'], 'request')} instead of {data['required']:,}",
    ReasonKind.CLIENT_IN_FLIGHT: "had {in_flight_max:,} requests in flight at once instead of one after the other",
    ReasonKind.CLIENT_PIPELINED: lambda data: f"sent {plural(data['pipelined'], 'request')} before the previous response had arrived",
    ReasonKind.CLIENT_CONNECTIONS: lambda data: f"opened {plural(data['opened'], 'connection')} instead of {data['required']:,}",
    ReasonKind.CLIENT_WRONG_REQUESTS: lambda data: f"sent {plural(data['wrong'], 'wrong request')} (not GET, another path, or not HTTP)",
    ReasonKind.CLIENT_BYTES: "received {received_bytes:,} bytes of bodies instead of {required_bytes:,}",
    ReasonKind.CLIENT_PRINTED: 'printed "{printed}" instead of "{required}"',
    ReasonKind.NOT_MEASURED: "nothing was measured",
    ReasonKind.TOO_FEW_RESPONSES: lambda data: f"too few responses for {figure_name(data['figure'])}",
    ReasonKind.LATENCY_MISSED: _latency_missed,
    ReasonKind.REPEATED: _repeated,
    ReasonKind.WORST_ROUND: lambda data: f"{_inner(data)} (worst of {data['found']} in {plural(data['rounds'], 'round')})",
    ReasonKind.ROUNDS_DIFFER: lambda data: (
        "rounds differ: " + ", ".join(f"{count} {verdict}" for verdict, count in data["verdicts"].items())
    ),
    ReasonKind.LOST_ROUNDS: lambda data: (
        f"{data['found']} of {plural(data['rounds'], 'round')} failed or are invalid" + (f": {_inner(data)}" if "reason" in data else "")
    ),
    ReasonKind.NOT_STEADY: _steadiness("not steady"),
    ReasonKind.NOT_SHOWN_STEADY: _steadiness("not shown to be steady"),
    ReasonKind.ROUNDS_INVALID: lambda data: f"{data['found']} of {plural(data['rounds'], 'round')} not valid: {joined(_each(data))}",
    ReasonKind.ROUNDS_DISTURBED: lambda data: (
        f"{data['found']} of {plural(data['rounds'], 'round')} disturbed: {_inner(data) if 'reason' in data else 'by other programs'}"
    ),
    ReasonKind.HOPELESS: _hopeless,
}
"""Sentence for each kind of reason. Kinds whose data contains a message aren't listed, because the message is their sentence."""
