"""Read and write ``targets/verified.toml``, which records when and where each built-in target was last verified.

``httpbench verify --record`` sorts the entries, so the same proofs always produce the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from httpbench.catalog.files import read
from httpbench.errors import UsageError
from httpbench.model import Proof, ProofFile, ProvenBuild
from httpbench.paths import root

HEADER = """\
# When and where each target was last verified. `httpbench verify --record` writes this file. A target without an entry was never built.
#
# scaling: the scalings that passed; empty: the target was built but failed. sources: the fingerprint of the verified sources.
# contract: the version of the contract that was verified.
# build_s: the duration of a first build, in seconds. builds: the builds with optional features that passed; `verify --tls --record` adds
# those with TLS.
# h2spec: the numbers of its tests of HTTP/2 that passed and, by section, that failed; `verify --tls --http2 --record` adds them.
# ambiguous: what an HTTP proxy does with each ambiguous request.
"""


def proofs_file() -> Path:
    return root() / "targets" / "verified.toml"


def read_proofs(path: Path | None = None) -> dict[str, Proof]:
    """Return the proofs by target id. Raises :class:`~httpbench.errors.CatalogError` if the file is invalid."""
    path = path or proofs_file()
    return {proof.id: proof for proof in read(path, ProofFile).target} if path.exists() else {}


def record_proofs(new: Iterable[Proof], path: Path | None = None) -> Path:
    """Add or replace proofs in the file, and return its path. Raises :class:`UsageError` if it can't be written."""
    path = path or proofs_file()
    known = {**read_proofs(path), **{proof.id: proof for proof in new}}
    text = HEADER + "".join(f"\n{_entry(known[name])}" for name in sorted(known))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="--record requires a checkout of httpbench") from None
    return path


def _entry(proof: Proof) -> str:
    lines = ["[[target]]", f"id = {_text(proof.id)}", f"date = {proof.date.isoformat()}", f"os = {_text(proof.os)}"]
    if proof.toolchain:
        programs = ", ".join(f"{_text(program)} = {_text(version)}" for program, version in sorted(proof.toolchain.items()))
        lines.append(f"toolchain = {{ {programs} }}")
    if proof.version is not None:
        lines.append(f"version = {_text(proof.version)}")
    lines.append(f"scaling = [{', '.join(map(_text, proof.scaling))}]")
    if proof.h2spec is not None:
        failed = ", ".join(f"{_text(section)} = {count}" for section, count in sorted(proof.h2spec.failed.items()))
        lines.append(f"h2spec = {{ passed = {proof.h2spec.passed}, failed = {{{f' {failed} ' if failed else ''}}} }}")
    if proof.builds:
        builds = ", ".join(f"{_text(name)} = {_build(build)}" for name, build in sorted(proof.builds.items()))
        lines.append(f"builds = {{ {builds} }}")
    if proof.ambiguous:
        outcomes = ", ".join(f"{_text(name)} = {_text(outcome)}" for name, outcome in proof.ambiguous.items())
        lines.append(f"ambiguous = {{ {outcomes} }}")
    if proof.contract is not None:
        lines.append(f"contract = {proof.contract}")
    lines += [f"build_s = {proof.build_s:g}"] if proof.build_s is not None else []
    lines += [f"{key} = {_text(value)}" for key, value in (("sources", proof.sources), ("note", proof.note)) if value is not None]
    return "\n".join(lines) + "\n"


def _build(build: ProvenBuild) -> str:
    duration = "" if build.build_s is None else f", build_s = {build.build_s:g}"
    return f"{{ sources = {_text(build.sources)}{duration} }}"


def _text(value: str) -> str:
    """Format text as a basic TOML string, with JSON's escapes, which are also valid in TOML."""
    return json.dumps(value, ensure_ascii=False)
