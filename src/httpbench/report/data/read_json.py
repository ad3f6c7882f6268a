"""The reader for JSON exports. It allows comparisons with runs from other machines and with deleted runs."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import zstandard
from pydantic import ValidationError

from httpbench.errors import UsageError
from httpbench.model import Build, Observed, Run, Scaling, Target, Trial, TrialPlan
from httpbench.model.foreign import parsed
from httpbench.paths import read_foreign
from httpbench.report.data.json import Document, ExportedTarget, Result, Round, same_fields

BYTES_MAX = 512 << 20
"""Maximum size of an uncompressed export, in bytes. In the folder ``results``, a trial of a server or proxy takes 36 to 115 kB."""

INFLATION_MAX = 40
"""Maximum ratio of an export to its compressed size. In the folder ``results``, the ratio is at most 30."""

INFLATED_BYTES = 8 << 20
"""Size of an uncompressed export for which any ratio is allowed, in bytes."""

HINT = "`httpbench report RUN --export-json FILE` makes one"

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""First bytes of gzip and zstd files."""


def read_export(path: Path, folder: Path | None = None) -> tuple[Run, list[Trial]]:
    """Read a run and its trials from a file that the user named or that is in ``folder``.

    Raises :class:`UsageError` if the file is not an export. An export contains neither the folder nor the build commands of a target, so
    these are empty.
    """
    try:
        return _read(path, parsed(Document, _content(path, folder)))
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        message = f"{path} is not a JSON export of a run that this version can read: {place}: {first['msg']}"
        raise UsageError(message, hint=HINT) from None
    except ValueError as error:
        raise UsageError(f"{path} is not a JSON export of a run that this version can read: {error}", hint=HINT) from None


def _read(path: Path, document: Document) -> tuple[Run, list[Trial]]:
    targets = {name: _target(target) for name, target in document.targets.items()}
    gates = tuple(dict.fromkeys(judged.gate for judged in document.gates))
    run = Run(**same_fields(document, Run, but={"targets", "gates"}), id=document.run, targets=targets, gates=gates)
    trials = sorted((_trial(result, each) for result in document.results for each in result.rounds), key=lambda trial: trial.plan.number)
    if unknown := {trial.plan.target for trial in trials} - targets.keys():
        raise UsageError(f"{path} has results of {min(unknown)}, but doesn't describe this target", hint="export the run again")
    return run, [_with_probe(trial, trials, document) for trial in trials]


def _content(path: Path, folder: Path | None) -> bytes:
    """Read a file, and decompress it if necessary. Exports in HTML reports and in the folder ``results`` are compressed."""
    stored = read_foreign(path, folder, BYTES_MAX)
    if not stored.startswith((GZIP, ZSTD)):
        return stored
    bytes_max = min(BYTES_MAX, max(INFLATED_BYTES, INFLATION_MAX * len(stored)))
    with _decompressed(stored) as plain:
        content = plain.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise UsageError(f"{path} contains more than {bytes_max >> 20} MiB of data")
    return content


def _decompressed(stored: bytes) -> IO[bytes]:
    if stored.startswith(GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=io.BytesIO(stored)))
    return zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True)


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
