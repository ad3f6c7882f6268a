"""Text about targets: names, limits, results of probes, proofs that they work, and sampled responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from httpbench.model import Kind, Label, Limit, Probed, Proof, SampledRequest, SampledResponse, Target
from httpbench.probe import MEANINGS, TRAITS, contradiction
from httpbench.text import listed, one_line

if TYPE_CHECKING:
    from httpbench.analysis.rows import Row

LIMITS = {
    Limit.NO_ROUTER: "gives the same response to every path",
    Limit.NO_METHOD: "gives the same response to every method",
    Limit.NO_HEAD: "responds to HEAD with a body",
    Limit.NO_CLOSE: 'ignores "Connection: close"',
    Limit.NO_PIPELINING: "responds to only one of several requests that arrive together",
    Limit.NO_SPLIT: "requires a whole request in one read",
    Limit.NO_BODY: "mistakes the body of a request for more requests",
    Limit.NO_BODY_PIPELINING: "may lose a request that is pipelined behind a body",
    Limit.NO_KEEPALIVE: "opens a new connection for each request",
    Limit.NO_HALF_CLOSE: "closes both directions when one of them ends",
    Limit.STALLS: "sometimes keeps the last bytes after the sender has ended",
    Limit.FORWARDS_HOP_BY_HOP: "forwards fields that are meant only for the proxy",
    Limit.NO_INTERIM: "may fail if status 103 precedes the final response",
    Limit.HIDES_TRUNCATION: "may present a truncated response as complete",
    Limit.NO_EARLY_RESPONSE: "withholds a response until the client has sent its whole request",
}

NEVER = "never built"
PLAIN = "plain"
"""Name of a build without optional features."""
HERE = "verified here"
NOT_VERIFIED = "not verified"
"""State of a target that can start on this machine but has not been verified."""
UNKNOWN = "unknown"
"""State of a target that runs in a container. ``verify`` keeps no results for such targets."""

BODY_CHARACTERS = 2000
"""Maximum number of characters of a body that are shown."""

MARKS = {True: "✓", False: "✗", None: "?"}


def label(target: Target) -> str:
    """Return the name of a target for use in a sentence."""
    return target.id if target.is_declared else target.framework


def short_name(target: Target) -> str:
    """Return the name of a target for use in a table: the id without its kind, or the title of a server without an id."""
    return target.id.removeprefix(f"{target.kind}:") if target.is_declared or target.kind is Kind.PROXY else target.title


# --- probes ---------------------------------------------------------------------------------------------------------------------


def probe_legend(rows: Sequence[Row]) -> Iterator[str]:
    """Explain the labels in a table, then warn about targets that are canned or contradict their category."""
    labels = {row.probed.label for row in rows if row.probed}
    if known := [f"{label} ({MEANINGS[label]})" for label in Label if label in labels]:
        yield f"Probe: {'; '.join(known)}"
    yield from (f"warning: {warning}" for warning in probe_warnings(sorted(rows, key=lambda row: row.target.id)))


def probe_warnings(rows: Iterable[Row]) -> list[str]:
    """Return the warnings about the targets of these rows, without duplicates."""
    found = [probe_warning(row.target, row.probed) for row in rows if row.probed]
    return list(dict.fromkeys(warning for warning in found if warning))


def probe_warning(target: Target, probed: Probed) -> str | None:
    """Return a warning if a target is canned or contradicts its category, else ``None``.

    Targets from other projects' catalogs never contradict their category, because other projects call a small framework "micro".
    """
    if probed.label is Label.CANNED:
        return f"{label(target)} is canned: {'; '.join(probed.reasons)}"
    wrong = contradiction(target.category, probed.label) if target.entry is None else None
    return f"{label(target)} is {wrong}" if wrong else None


def probe_lines(target: Target, probed: Probed) -> Iterator[str]:
    """List what the probe sent and what it received for each observation."""
    yield f"{target.id}: {probed.label or 'unknown'}, {probed.response_bytes:,} bytes per response"
    if warning := probe_warning(target, probed):
        yield f"  warning: {warning}"
    for seen in probed.observations:
        yield f"  {MARKS[seen.holds]} {TRAITS[seen.trait]}: {seen.sent} → {seen.came}"


def probe_table(found: Iterable[tuple[Target, Probed]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header of the table of probe results, and one row per target."""
    header = ("Target", "Category", "Probe", "Res", "Failed")
    return header, [
        (
            target.id,
            str(target.category or ""),
            str(probed.label or "unknown"),
            f"{probed.response_bytes:,}",
            ", ".join(TRAITS[seen.trait] for seen in probed.observations if seen.holds is False),
        )
        for target, probed in found
    ]


# --- proofs ---------------------------------------------------------------------------------------------------------------------


def proof_words(target: Target, proof: Proof | None, sources: str) -> str:
    """Say when and where a target was verified, and what the verification doesn't cover.

    ``sources`` is the fingerprint of the current sources.
    """
    if proof is None:
        return NEVER
    place = f"{proof.date.isoformat()} on {proof.os}"
    if not proof.scaling:
        return f"built and not verified: failed {place}"
    words = [f"verified {place}"]
    if set(proof.scaling) < set(target.scaling):
        words.append(f"{listed(proof.scaling)} only")
    if proof.sources != sources:
        words.append("before its sources changed" if proof.sources else "sources not recorded")
    return ", ".join(words)


def build_words(target: Target) -> str:
    """Name a target's build by its features, or ``plain`` if it has none. Empty if the target has no optional features."""
    return (", ".join(target.features) or PLAIN) if target.build.features else ""


# --- responses ------------------------------------------------------------------------------------------------------------------


def render_responses(responses: Mapping[str, SampledResponse | SampledRequest]) -> str:
    """Format the sampled response of each server, or the sampled request of each client, sorted by id. Control characters are escaped."""
    return "\n".join(line for name in sorted(responses) for line in _block(name, responses[name])).rstrip("\n")


def _block(name: str, response: SampledResponse | SampledRequest) -> Iterator[str]:
    if isinstance(response, SampledRequest):
        yield f"{name}: {len(response.text.encode()):,} bytes"
        yield from (f"  {one_line(line)}" for line in response.text.rstrip().splitlines())
        yield ""
        return
    yield f"{name}: {response.size_bytes:,} bytes"
    yield f"  {response.status}"
    for header, value in response.headers:
        yield f"  {one_line(header)}: {one_line(value)}"
    yield "  "
    yield from (f"  {one_line(line)}" for line in response.body[:BODY_CHARACTERS].split("\n"))
    if len(response.body) > BODY_CHARACTERS:
        yield f"  … {len(response.body) - BODY_CHARACTERS:,} more characters"
    yield ""
