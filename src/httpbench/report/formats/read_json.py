"""A run read back from its JSON export, so that one that was measured elsewhere, or was deleted here, can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from httpbench.errors import UsageError
from httpbench.model import Build, Run, Scaling, Target, Trial, TrialPlan
from httpbench.report.formats.json import Document, ExportedTarget, Result, Round


def read_export(path: Path) -> tuple[Run, list[Trial]]:
    """The run and its trials. Raises :class:`UsageError` for a file that is not an export of this version.

    What an export does not hold of a target, how and from where it is built, is empty.
    """
    try:
        document = Document.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        message = f"{path} is not a JSON export of a run that this version can read: {place}: {first['msg']}"
        raise UsageError(message, hint="`httpbench report RUN --export-json FILE` makes one") from None
    run = Run(
        id=document.run,
        started_at=document.started_at,
        finished_at=document.finished_at,
        status=document.status,
        command=document.command,
        environment=document.environment,
        plan=document.plan,
        targets={name: _target(target) for name, target in document.targets.items()},
        workloads=document.workloads,
        table=document.table,
        baseline=document.baseline,
        precision=document.precision,
        retries=document.retries,
        scale=document.scale,
        search=document.search,
        measures_noise=document.measures_noise,
        noise=document.noise,
        name=document.name,
    )
    trials = sorted((_trial(result, each) for result in document.results for each in result.rounds), key=lambda trial: trial.plan.number)
    return run, [_with_probe(trial, trials, document) for trial in trials]


def _target(exported: ExportedTarget) -> Target:
    return Target(**exported.model_dump(), build=Build(), scaling=tuple(Scaling), folder="")


def _with_probe(trial: Trial, trials: Sequence[Trial], document: Document) -> Trial:
    """What was seen of a target is exported once; it goes to the target's first trial."""
    probed = document.probes.get(trial.plan.target)
    first = next(other for other in trials if other.plan.target == trial.plan.target)
    return trial.model_copy(update={"probed": probed}) if probed and trial is first else trial


def _trial(result: Result, each: Round) -> Trial:
    plan = TrialPlan(
        number=each.number,
        round=each.round,
        attempt=each.attempt,
        target=result.target,
        scaling=result.scaling,
        workload=result.workload,
        load=result.load,
        load_generator=result.load_generator,
        cores=each.cores,
    )
    kept = {name: getattr(each, name) for name in Round.model_fields if name in Trial.model_fields}
    return Trial(plan=plan, **kept)
