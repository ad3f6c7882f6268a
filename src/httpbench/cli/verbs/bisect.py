"""``httpbench bisect``: find the commit that made a server slower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group, option
from httpbench.cli.options.load import LoadOptions, Overrides
from httpbench.cli.options.output import StoreOptions, json_option, source_of
from httpbench.cli.options.params import DURATION, EVENTS, GATE, STARTUP
from httpbench.cli.options.profile import ProfileOptions
from httpbench.cli.options.request import RequestsOptions
from httpbench.cli.options.servers import CommandOptions, refuse_skipped
from httpbench.cli.options.shared import retries_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import BuildError, HttpbenchError, StartError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.analysis.bisection import Bisection, BisectionStep, Effect
    from httpbench.analysis.gates import RunGate
    from httpbench.model import Commit, Gate, Load, Target, Workload
    from httpbench.profile import Profilers
    from httpbench.run import Outcome, RunSpec, StepsFile, Worktrees

NATIVE = "native"
DURATION_S = 1.0
CONFIRMATION_ROUNDS = 10
TAG = "bisect"


class StepLoadOptions(LoadOptions):
    """Options for the load of each trial. Trials are shorter than those of ``run``, because a search has many."""

    duration_s: float | None = option(
        "-d", "--duration", type=DURATION, default_text=f"{DURATION_S:g}s", help="Measured duration of each trial."
    )


class BisectOptions(Options):
    words: tuple[str, ...] = argument(nargs=-1, metavar="[GOOD BAD] CMD")
    history: str | None = option(
        "--history", metavar="TARGET", help="Take GOOD and BAD from the last change in `history TARGET`, if it was for the worse."
    )
    build: str | None = option("--build", metavar="CMD", help="Command that builds a commit. /bin/sh runs it in a worktree of the commit.")
    gate: Gate | None = option("--fail-if", type=GATE, help="Gate that BAD breaches against GOOD, such as 'rps<-3%'. Required.")
    max_rounds: int = option(
        "--max-rounds",
        type=click.IntRange(5, 1000),
        default=40,
        metavar="N",
        help="Maximum rounds per measurement; 20 at most for commits between GOOD and BAD.",
    )
    restart: bool = option("--restart", is_flag=True, help="Begin again instead of continuing an interrupted search.")
    servers: CommandOptions = group(CommandOptions)
    request: RequestsOptions = group(RequestsOptions)
    transport: TransportOptions = group(TransportOptions)
    load: StepLoadOptions = group(StepLoadOptions)
    retries: int = retries_option()
    profile: ProfileOptions = group(ProfileOptions)
    as_json: bool = json_option()
    store: StoreOptions = group(StoreOptions)


@command(BisectOptions)
def bisect(options: BisectOptions) -> ExitCode:
    """Find the commit that made a server slower.

    First checks that BAD breaches the gate against GOOD. Then builds commits between them in worktrees, and measures each in turns with
    GOOD until it is clear whether its result is closer to that of GOOD or to that of BAD. A measurement can be wrong, so commits near the
    answer are measured again. The named commit is right in at least 95% of searches. CMD is a command line that serves HTTP on {port}. If a
    search was interrupted, the same command continues it. With --profile, the last measurement profiles the commit that was found and the
    one before it.

    The exit code is 3 if a commit was found, 0 if BAD passes the gate, and 1 if the search was undecided.

    \b
    httpbench bisect v1.0 HEAD './server {port}' \\
        --build 'make server' --fail-if 'rps<-3%'
    """
    from httpbench.host import Repository
    from httpbench.run import StepsFile, Worktrees
    from httpbench.run.interrupt import interruptible

    gate, folder, command = _required(options.gate), options.servers.cwd.resolve(), _command(options)
    repository = Repository.around(folder)
    ends = options.words[:2] if options.history is None else _from_history(options.history, gate, options.store.db)
    if not ends:
        return ExitCode.OK
    good, bad = (repository.commit(name) for name in ends)
    commits = repository.commits(good, bad)
    worktrees = Worktrees(repository, options.build, folder.relative_to(repository.root.resolve()))
    measuring = _Measuring.of(options, command, gate, good, worktrees)
    kept = StepsFile.of(options.store.db, good.id, commits[-1].id, str(worktrees), *measuring.question)
    if options.restart:
        kept.remove()
    with interruptible(), worktrees.locked():
        try:
            found = _searched(measuring, commits, kept)
        except KeyboardInterrupt:
            console.echo(f"interrupted after {_measurements(kept)}; the same command continues the search", err=True)
            return ExitCode.INTERRUPTED
    kept.remove()
    _print(found, as_json=options.as_json)
    if found.confirmation and measuring.profilers and not options.as_json:
        _print_growth(found.confirmation.run, options.store.db)
    return ExitCode[_CODES[found.ending]]


_CODES = {"found": "BREACHED", "none": "OK", "undecided": "FAILED"}
"""Names of the exit codes, by the ending of the search."""


def _required(gate: Gate | None) -> Gate:
    """Return the gate. Raise :class:`UsageError` if there is none, or if every commit would breach it."""
    if gate is None:
        raise UsageError("bisect requires a gate that says what a regression is", hint="add a gate, such as --fail-if 'rps<-3%'")
    if gate.figure in (*EVENTS, *STARTUP, "time"):
        raise UsageError(f"bisect doesn't measure {gate.figure}, which {gate} bounds", hint="use rps, a latency, cpu or memory")
    if gate.is_breached_by_no_change:
        meant = gate.model_copy(update={"change": -gate.change})
        raise UsageError(f"{gate} is breached if nothing changes", hint=f"did you mean {meant}?")
    return gate


def _command(options: BisectOptions) -> str:
    """Return the command that starts the server. Raise :class:`UsageError` if the number of words is wrong."""
    if options.history is not None and len(options.words) != 1:
        raise UsageError("--history names the commits, so bisect takes only the command", hint="remove GOOD and BAD")
    if options.history is None and len(options.words) != 3:
        hint = "quote the command, as in httpbench bisect v1.0 HEAD './server {port}'"
        raise UsageError(f"bisect takes GOOD, BAD and a command, not {len(options.words)} words", hint=hint)
    return options.words[-1]


def _from_history(word: str, gate: Gate, db: Path) -> tuple[str, str] | None:
    """Return the commits before and after the last change in a history, or ``None`` if it wasn't for the worse."""
    from httpbench.analysis.history import FIGURES, histories, last_change
    from httpbench.cli.verbs.history import target_named
    from httpbench.store import Store, browse

    if gate.figure not in FIGURES:
        raise UsageError(f"histories have {', '.join(FIGURES)}, not {gate.figure}", hint="name GOOD and BAD instead of --history")
    with Store(db, reading=True) as store:
        target = target_named(word, browse.target_ids(store), db)
        change = last_change(histories(store, target), gate.figure)
    if change is None or (change.ratio < 1) != (gate.side == "<"):
        console.echo(f"{gate.figure} of {target} hasn't changed for the worse: nothing to search", err=True)
        return None
    ends = [(name or "").removesuffix("+changes") for name in (change.commit_before, change.commit_after)]
    if not all(ends) or ends[0] == ends[1]:
        raise UsageError(
            f"the last change of {target} is not between two commits", hint="`httpbench history` shows the runs before and after it"
        )
    return ends[0], ends[1]


def _searched(measuring: _Measuring, commits: Sequence[Commit], kept: StepsFile) -> Bisection:
    """Search for the commit, and measure its effect."""
    from httpbench.analysis.bisection import concluded
    from httpbench.run import search

    measuring.say(_outlook(measuring, commits, kept))
    measuring.require_good()
    found = concluded(measuring.gate, measuring.good, commits, search(measuring.gate, commits, measuring.judged, kept))
    if found.before is None:
        return found
    measuring.say(f"measuring {found.suspects[-1].short} against {found.before.short} before it")
    return found.model_copy(update={"confirmation": measuring.effect(found.suspects[-1], found.before)})


def _outlook(measuring: _Measuring, commits: Sequence[Commit], kept: StepsFile) -> str:
    from httpbench.report.words.numbers import plural

    words = f"{plural(len(commits), 'commit')} after {measuring.good.short} up to {commits[-1].short}"
    return f"{words}; continuing after {_measurements(kept)}" if kept.read() else words


def _measurements(kept: StepsFile) -> str:
    from httpbench.report.words.numbers import plural

    return plural(len(kept.read()), "measurement")


def _print(found: Bisection, *, as_json: bool) -> None:
    from httpbench.report.words.bisection import bisection_lines

    if as_json:
        console.echo_json(found.model_dump(mode="json"))
        return
    for line in bisection_lines(found):
        console.echo(line)


def _print_growth(run_id: str, db: Path) -> None:
    """Print what grew in the commit that was found, and how to see its flame graphs."""
    from httpbench.analysis.profiles import grown_in
    from httpbench.report.words.profiles import what_grew
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        run, _ = store.run(run_id)
    for grown in grown_in(run):
        console.echo(what_grew(grown))
    console.echo(f"flame graphs: httpbench report {source_of(run_id, db)} --export-html FILE")


@dataclass(frozen=True, slots=True)
class _Measuring:
    """Builds commits and measures them in turns with another one, usually with the good one."""

    options: BisectOptions
    command: str
    gate: Gate
    good: Commit
    worktrees: Worktrees
    load: Load
    workload: Workload
    profilers: Profilers | None
    """Profilers for the commit that was found and the one before it, or ``None``."""

    @classmethod
    def of(cls, options: BisectOptions, command: str, gate: Gate, good: Commit, worktrees: Worktrees) -> _Measuring:
        """Check the options, and return the object. Raise :class:`UsageError` if they contradict each other."""
        from httpbench.model import Kind
        from httpbench.run import KINDS

        target = options.servers.target(command, good.short, options.servers.cwd)
        given = {"duration_s": DURATION_S, **options.load.given(), **options.transport.load_fields([target])}
        loads = Overrides(given, options.load.connections).loads([KINDS[Kind.SERVER].load])
        if len(loads) > 1:
            raise UsageError(f"bisect measures one load, not {len(loads)}", hint="give one number of --connections")
        workload = options.request.as_workload(())
        return cls(options, command, gate, good, worktrees, loads[0], workload, options.profile.profilers())

    @property
    def question(self) -> tuple[str, ...]:
        """Everything that an interrupted search must share with this one, apart from the commits and their builds."""
        target = self._target(self.good, self.options.servers.cwd)
        return (str(self.gate), str(self.options.max_rounds), *(model.model_dump_json() for model in (target, self.load, self.workload)))

    def say(self, text: str) -> None:
        if not self.options.store.quiet:
            console.echo(text, err=True)

    def require_good(self) -> None:
        """Build the good commit. Raise :class:`BuildError` if that fails, because nothing can be compared with it."""
        try:
            self._built(self.good)
        except HttpbenchError as error:
            what = f"{self.good.short}, the good commit, cannot be measured: {error.message}"
            raise BuildError(what, hint=error.hint, log_tail=error.log_tail) from None

    def judged(self, commit: Commit, gate: Gate, looks: Sequence[int], number: int) -> BisectionStep:
        """Measure a commit against the good one until the gate is decided."""
        from httpbench.analysis.bisection import BisectionStep
        from httpbench.report.words.bisection import step_text
        from httpbench.stats.bisection import Answer

        self.say(f"[{number + 1}] {commit.short} {commit.subject}")
        try:
            target = self._built(commit)
        except (BuildError, UsageError) as error:
            step = BisectionStep(commit=commit.id, answer=Answer.SKIPPED, reason=error.message)
        else:
            step = self._step(commit, target, gate, looks)
        self.say(f"[{number + 1}] {step_text(commit, step)}")
        return step

    def effect(self, commit: Commit, before: Commit) -> Effect:
        """Measure a commit against an earlier one. The number of rounds is fixed, so that the interval doesn't depend on the results."""
        from httpbench.analysis.bisection import Effect

        outcome, judged = self._measured(self.gate, self._built(before), self._built(commit), CONFIRMATION_ROUNDS, (), profile=True)
        return Effect.of(outcome.run.id, judged)

    def _step(self, commit: Commit, target: Target, gate: Gate, looks: Sequence[int]) -> BisectionStep:
        from httpbench.analysis.bisection import BisectionStep, Effect, answer
        from httpbench.report.words.gates import gate_causes, gate_reason

        outcome, judged = self._measured(gate, self._built(self.good), target, min(self.options.max_rounds, looks[-1]), looks)
        found = answer(judged)
        if found is None or judged is None:
            reason = gate_reason(judged) if judged else "no round was valid"
            hint = f"`httpbench report {outcome.run.id}` shows the trials"
            raise StartError(f"{self.good.short}, the good commit, could not be measured: {reason}", hint=hint)
        reason = None if found.decides else gate_reason(judged) or gate_causes(judged)
        return BisectionStep(commit=commit.id, answer=found, effect=Effect.of(outcome.run.id, judged), reason=reason)

    def _built(self, commit: Commit) -> Target:
        """Build a commit, and return its server. Raise :class:`BuildError` or :class:`UsageError` if it can't be built or started."""
        from httpbench.run import require_commands

        target = self._target(commit, self.worktrees.built(commit))
        require_commands([target])
        return target

    def _target(self, commit: Commit, folder: Path) -> Target:
        (target,) = self.options.transport.applied([self.options.servers.target(self.command, commit.short, folder)])
        return target

    def _measured(
        self, gate: Gate, baseline: Target, target: Target, rounds: int, looks: Sequence[int], *, profile: bool = False
    ) -> tuple[Outcome, RunGate | None]:
        """Measure two servers in turns. Return the run and how the gate was judged, or ``None`` if the run has no table with both.

        With ``profile``, also profile both servers if the user wants it.
        """
        from httpbench.analysis.gates import gated
        from httpbench.cli.measure import build_and_run
        from httpbench.model import RunStatus

        spec = self._spec(gate, baseline, target, rounds, looks)
        outcome = build_and_run(replace(spec, profilers=self.profilers) if profile else spec, self.options.store)
        if outcome.run.status is RunStatus.INTERRUPTED:
            raise KeyboardInterrupt
        if outcome.store_error:
            raise outcome.store_error
        return outcome, next(iter(gated(outcome.run, outcome.trials)), None)

    def _spec(self, gate: Gate, baseline: Target, target: Target, rounds: int, looks: Sequence[int]) -> RunSpec:
        from httpbench import load
        from httpbench.cli.measure import make_spec
        from httpbench.model import Table
        from httpbench.run import Interleave, Matrix, refuse_unprofiled, with_slices

        servers, tools, name = self.options.servers, {NATIVE: load.get(NATIVE)}, self.workload.name
        targets = [baseline, target]
        matrix = Matrix(targets, [servers.chosen_scaling], [name], [self.load], list(tools), rounds, workers=servers.share.workers)
        spec = make_spec(matrix, tools, targets, {name: self.workload}, share=servers.share)
        refuse_skipped(spec.plan)
        spec = replace(
            spec,
            table=Table.COMMANDS,
            baseline=baseline.id,
            gates=(gate,),
            looks=tuple(looks),
            port=servers.port,
            start_limit_s=servers.start_timeout,
            tags=(TAG,),
            retries=self.options.retries,
        )
        if self.profilers is not None:
            refuse_unprofiled(spec)
        return with_slices(spec, Interleave.AUTO)
