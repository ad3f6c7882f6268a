"""Read a run from its JSON export, so that runs from other machines and deleted runs can be compared."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from httpbench.errors import UsageError
from httpbench.model import Build, Observed, Run, Scaling, Target, Trial, TrialPlan
from httpbench.report.data.json import Document, ExportedTarget, Result, Round, same_fields

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""First bytes of gzip and zstd files."""


def read_export(path: Path) -> tuple[Run, list[Trial]]:
    """Read a run and its trials. Raises :class:`UsageError` if the file is not an export.

    An export doesn't contain a target's folder and build commands, so these are empty.
    """
    try:
        document = Document.model_validate_json(_content(path))
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        message = f"{path} is not a JSON export of a run that this version can read: {place}: {first['msg']}"
        raise UsageError(message, hint="`httpbench report RUN --export-json FILE` makes one") from None
    targets = {name: _target(target) for name, target in document.targets.items()}
    gates = tuple(dict.fromkeys(judged.gate for judged in document.gates))
    run = Run(**same_fields(document, Run, but={"targets", "gates"}), id=document.run, targets=targets, gates=gates)
    trials = sorted((_trial(result, each) for result in document.results for each in result.rounds), key=lambda trial: trial.plan.number)
    return run, [_with_probe(trial, trials, document) for trial in trials]


def _content(path: Path) -> bytes:
    """Read a file, and decompress it if necessary. Exports in HTML reports and in the folder ``results`` are compressed."""
    content = path.read_bytes()
    if not content.startswith(ZSTD):
        return gzip.decompress(content) if content.startswith(GZIP) else content
    import zstandard

    try:
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True).read()
    except zstandard.ZstdError as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _target(exported: ExportedTarget) -> Target:
    return Target(**exported.model_dump(), build=Build(), scaling=tuple(Scaling), folder="")


def _with_probe(trial: Trial, trials: Sequence[Trial], document: Document) -> Trial:
    """Attach the result of a target's probe to the target's first trial, because an export stores only one result per target."""
    probed = document.probes.get(trial.plan.target)
    first = next(other for other in trials if other.plan.target == trial.plan.target)
    return trial.model_copy(update={"probed": probed}) if probed and trial is first else trial


def _trial(result: Result, each: Round) -> Trial:
    plan = TrialPlan(**same_fields(result, TrialPlan), **same_fields(each, TrialPlan))
    return Trial(plan=plan, observed=Observed(**same_fields(each, Observed)), **same_fields(each, Trial))
