"""Targets with their limits and proofs, and versions of toolchains, as Markdown.

The text depends only on the arguments, so it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from httpbench.contract.ambiguous import Ambiguous
from httpbench.model import Kind, Proof, Target
from httpbench.report.markdown.parts import escape, pipe_table
from httpbench.report.words.targets import LIMITS, proof_words
from httpbench.text import listed


def render_targets(targets: Iterable[Target], proofs: Mapping[str, Proof], sources: Mapping[str, str]) -> str:
    """Render a section for each kind, with a paragraph for each target. The text ends with a line break.

    ``proofs`` and ``sources`` map target ids to proofs and to fingerprints of the current sources.
    """
    rows = sorted(targets, key=lambda target: target.id)
    proved = {target.id: list(_proof(target, proofs.get(target.id), sources[target.id])) for target in rows}
    lines = [line for kind in Kind for line in _section(kind, [target for target in rows if target.kind is kind], proved)]
    return "\n".join(lines).rstrip() + "\n"


def _section(kind: Kind, rows: list[Target], proved: Mapping[str, list[str]]) -> Iterator[str]:
    yield f"## {kind.plural.capitalize()}: {len(rows)} targets"
    yield ""
    for target in rows:
        mode = f", {target.mode}" if kind is Kind.PROXY else ""
        yield f"- **[{target.id}]({target.upstream})** ({target.category}{mode}, {target.tuning}, {listed(target.scaling)})."
        yield from (f"  {line}" for line in (*_details(target), *proved[target.id]))
    yield ""


def _details(target: Target) -> Iterator[str]:
    if target.notes:
        yield escape(" ".join(target.notes.split()))
    if target.limits:
        yield f"Limits: {'; '.join(f'{limit}, {escape(LIMITS[limit])}' for limit in target.limits)}."
    if target.requires:
        yield f"Requires {', '.join(escape(requirement.label) for requirement in target.requires)}."


def _proof(target: Target, proof: Proof | None, sources: str) -> Iterator[str]:
    words = proof_words(target, proof, sources)
    versions = ", ".join(f"{program} {version}" for program, version in sorted(proof.toolchain.items())) if proof else ""
    yield escape(f"{words[0].upper()}{words[1:]}." + (f" Toolchain: {versions}." if versions else ""))
    if proof and proof.note:
        yield escape(proof.note)


def render_ambiguous(requests: Iterable[Ambiguous], proofs: Mapping[str, Proof]) -> str:
    """Render a table of what each HTTP proxy does with each ambiguous request, and a list of the verified proxies.

    ``proofs`` maps target ids to proofs. Proofs without such outcomes are left out.
    """
    proved = [proofs[name] for name in sorted(proofs) if proofs[name].ambiguous]
    names = [proof.id.removeprefix(f"{Kind.PROXY}:") for proof in proved]
    versions = [" ".join(filter(None, (proof.version, proof.date.isoformat()))) for proof in proved]
    rows = [(each.words, each.section, *(str(proof.ambiguous.get(each.name, "")) for proof in proved)) for each in requests]
    table = pipe_table(("Request", "RFC 9112", *names), (False,) * (2 + len(names)), rows)
    return "\n".join([*table, "", "Versions and dates:", "", *map("- {}: {}".format, names, versions)]) + "\n"


def render_versions(versions: Mapping[str, str]) -> str:
    """Render a table of programs and their versions, using the first line of each version."""
    rows = [(name, (version.strip().splitlines() or [""])[0]) for name, version in sorted(versions.items())]
    return "\n".join(pipe_table(("Name", "Version"), (False, False), rows))
