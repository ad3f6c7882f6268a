"""Store all runs in one SQLite file. Each trial is committed separately, so that a crash doesn't lose finished trials."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter

from httpbench.errors import SelectionError, StoreError
from httpbench.host.owner import Owner, is_alive, this_process
from httpbench.model import Profile, Run, RunStatus, Trial, TrialPlan
from httpbench.model.foreign import parsed
from httpbench.model.frozen import RunId
from httpbench.store.copies import BUSY_LIMIT_S, Copy, connected, temporary_copy
from httpbench.store.figures import RunFigures, figures_of, runs_of
from httpbench.store.schema import is_current, migrate

DISTRIBUTIONS = ("service_time_us", "response_time_us", "first_byte_us", "schedule_lag_us", "connect_time_us")
OTHER_FILE = "name another file with --db"
UNREADABLE = "was stored by another version of httpbench, and this one cannot read it"
HINTS = {
    sqlite3.SQLITE_FULL: f"free some space, or {OTHER_FILE}",
    sqlite3.SQLITE_BUSY: f"another program has locked it: try again later, or {OTHER_FILE}",
    sqlite3.SQLITE_CORRUPT: f"`sqlite3 FILE .recover` saves what it can; to continue, {OTHER_FILE}",
}
"""Hints by SQLite's primary result code."""

WAYS = "an id or its beginning, latest, latest~1, the run's name, a git commit"
"""Ways to refer to a run, in the order in which they are tried. A name or commit that several runs share refers to the newest run."""

PROFILE_BYTES_MAX = 64 << 20
"""Maximum size of a profile's document, in bytes, so that a damaged file can't fill the memory."""

LATEST = re.compile(r"latest(?:~(\d{1,6}))?")
COMMIT = re.compile(r"[0-9a-f]{7,40}")
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""Last bytes of a journal that names another journal."""
QUERY = "SELECT id, status, boot_id, pid, pid_start_ticks, finished_at, document FROM run"
NEWEST = "ORDER BY sequence DESC LIMIT 1"

MADE = """
    CASE WHEN coalesce(json_extract(run.document, '$.retries'), 0)
         THEN (SELECT count(*) FROM trial WHERE run_id = run.id AND number < json_array_length(run.document, '$.plan'))
         ELSE (SELECT count(*) FROM trial WHERE run_id = run.id) END
"""
"""Number of a run's stored trials, excluding repeats. Repeats are numbered after all planned trials."""

PLANNED = f"""
    CASE WHEN status = 'finished'
              AND (json_extract(document, '$.precision') IS NOT NULL OR json_array_length(document, '$.looks') > 0)
         THEN {MADE}
         ELSE coalesce(json_array_length(document, '$.plan'), 0) END
"""
"""Number of planned trials of a run, excluding repeats. If a run ended early because its intervals were narrow enough or its gates were
decided, only the trials that ran count as planned."""

SIZE = """
    length(CAST(document AS BLOB))
    + (SELECT coalesce(sum(length(CAST(document AS BLOB))), 0) FROM trial WHERE run_id = run.id)
    + (SELECT coalesce(sum(length(data)), 0) FROM histogram WHERE run_id = run.id)
    + (SELECT coalesce(sum(length(document)), 0) FROM profile WHERE run_id = run.id)
"""
"""Size of a run's documents, histograms and profiles, in bytes. This expression is slow, because SQLite reads all of them."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list of runs."""

    id: RunId
    started_at: str
    name: str | None
    git_commit: str | None
    status: RunStatus
    tags: tuple[str, ...]
    targets: tuple[str, ...]
    """Ids of the run's targets."""
    command: str
    trials: int
    """Number of stored trials, including repeats."""
    trials_done: int
    trials_planned: int
    size_bytes: int
    """Size of the run's documents and histograms, in bytes. 0: not computed."""


_LINE = TypeAdapter(RunLine)
_TEXTS = TypeAdapter(tuple[str, ...])
_HISTOGRAMS = TypeAdapter(dict[str, str])


class Store:
    """The results file, as a context manager. Methods raise :class:`StoreError` if they can't read or write the file."""

    def __init__(self, path: Path, *, reading: bool = False, copy: Copy | None = None):
        """Open the file, and create it if it is missing.

        With ``reading``, create nothing, and accept a file that isn't writable. If the file is in an earlier format, read a copy: ``copy``,
        which several stores can share, or a new one.
        """
        self.path = path
        with self._errors():
            if not reading:
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    path.touch(0o600)  # SQLite creates the log next to the file with the same permissions
            _require_plain_neighbors(path)
            self._connection = connected(_address(path, reading))
            try:
                self._prepare(reading, copy)
            except BaseException:
                self.close()
                raise

    def begin(self, run: Run) -> None:
        """Store a run before its first trial."""
        self.put(run, ())

    def add(self, run_id: str, trial: Trial) -> None:
        """Commit one trial with its histograms."""
        with self._errors(), self._transaction():
            self._insert(run_id, trial)

    def put(self, run: Run, trials: Sequence[Trial]) -> None:
        """Commit a run and all its trials in one transaction."""
        query = """
            INSERT INTO run (sequence, id, started_at, status, boot_id, pid, pid_start_ticks, finished_at, name, git_commit, tags, document)
            VALUES ((SELECT coalesce(max(sequence), 0) + 1 FROM run), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
        words = (run.name, run.environment.git_commit, json.dumps(run.tags))
        document = run.model_dump_json(exclude={"profiles"})
        values = (run.id, run.started_at, run.status, *this_process(), run.finished_at, *words, document)
        with self._errors(), self._transaction():
            self._connection.execute(query, values)
            self._insert_profiles(run.id, run.profiles)
            for trial in trials:
                self._insert(run.id, trial)

    def add_profiles(self, run_id: str, profiles: Sequence[Profile]) -> None:
        """Commit the profiles of a run."""
        with self._errors(), self._transaction():
            self._insert_profiles(run_id, profiles)

    def _insert_profiles(self, run_id: str, profiles: Sequence[Profile]) -> None:
        rows = [(run_id, number, zlib.compress(each.model_dump_json().encode())) for number, each in enumerate(profiles)]
        self._connection.executemany("INSERT INTO profile VALUES (?, ?, ?)", rows)

    def _insert(self, run_id: str, trial: Trial) -> None:
        bare, histograms = _split(trial)
        plan, figures, place = trial.plan, figures_of(trial), (run_id, trial.plan.number)
        *names, load = plan.cell
        self._connection.execute(
            "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*place, plan.round, *names, load.connections, trial.verdict.kind, figures.throughput_rps, bare.model_dump_json()),
        )
        self._connection.execute("INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*place, plan.target, *astuple(figures)))
        self._connection.executemany("INSERT INTO histogram VALUES (?, ?, ?, ?)", [(*place, *each) for each in histograms.items()])

    def finish(self, run_id: str, status: RunStatus, finished_at: str) -> None:
        with self._errors():
            self._connection.execute("UPDATE run SET status = ?, finished_at = ? WHERE id = ?", (status, finished_at, run_id))

    def runs(self, limit: int = 100) -> list[RunLine]:
        """Return the newest runs, newest first, with their sizes."""
        return self.lines("1", (), limit=limit, size=SIZE)

    def lines(self, condition: str, values: Sequence[object], *, first: int = 0, limit: int = 1, size: str = "0") -> list[RunLine]:
        """Return a page of the runs that meet an SQL condition, newest first.

        A run whose process is gone appears as interrupted. In a run that ended early because its intervals were narrow enough, only the
        trials that ran count as planned. For a search, the number of planned trials equals the number of stored trials. ``size`` is an SQL
        expression such as :data:`SIZE`.
        """
        query = f"""
            SELECT id, started_at, name, git_commit, status, boot_id, pid, pid_start_ticks, tags,
                   (SELECT json_group_array(key) FROM json_each(document, '$.targets')),
                   coalesce(json_extract(document, '$.command'), '[]'),
                   (SELECT count(*) FROM trial WHERE run_id = run.id), {MADE}, max({MADE}, {PLANNED}), {size}
            FROM run WHERE id IN (SELECT id FROM run WHERE {condition} ORDER BY sequence DESC LIMIT ? OFFSET ?) ORDER BY sequence DESC
        """
        rows = self.select(query, (*values, limit, first))
        with self._errors():
            return [_line(*row) for row in rows]

    def run(self, name: str) -> tuple[Run, list[Trial]]:
        """Return a run and its trials. ``name`` identifies the run in one of the :data:`WAYS`.

        Raises :class:`SelectionError` if there isn't exactly one such run.
        """
        with self._errors():
            run, state = self._run(name)
            found = self._trials(run.id, self._numbers(run.id))
            return _as_of(run, [trial.plan for trial in found], *state), found

    def outline(self, name: str) -> tuple[Run, list[TrialPlan]]:
        """Return a run and the plans of its stored trials, without reading the trials. The argument and errors are those of :meth:`run`."""
        with self._errors():
            run, state = self._run(name)
            query = "SELECT json_extract(document, '$.plan') FROM trial WHERE run_id = ? AND number >= ? ORDER BY number"
            rows = self._connection.execute(query, (run.id, len(run.plan)))
            with _readable(run.id):
                planned = [plan for number in self._numbers(run.id) for plan in run.plan[number : number + 1]]
                plans = [*planned, *(parsed(TrialPlan, plan) for (plan,) in rows)]
            return _as_of(run, plans, *state), plans

    def part(self, run: Run, plans: Sequence[TrialPlan]) -> tuple[Run, list[Trial]]:
        """Return a run as if it had only the cells with these plans, and the trials. The arguments come from :meth:`outline`."""
        with self._errors():
            found = self._trials(run.id, [plan.number for plan in plans])
            cells = {plan.cell for plan in plans}
            return run.model_copy(update={"plan": tuple(plan for plan in run.plan if plan.cell in cells)}), found

    def _run(self, name: str) -> tuple[Run, tuple[str, Sequence[Any], object]]:
        """Return a run without its trials, and its stored status, owner and time of the end."""
        rows = _find(self._connection, name)
        if len(rows) != 1:
            raise SelectionError(_not_one(name, [row[0] for row in rows], self.path), hint="`httpbench runs` lists them")
        run_id, status, *owner, finished_at, document = rows[0]
        with _readable(run_id):
            run = parsed(Run, document)
        if run.id != run_id:
            raise StoreError(f"run {run_id} cannot be read: its document has the id {run.id}", hint=OTHER_FILE)
        return run.model_copy(update={"profiles": self._profiles(run_id)}), (status, owner, finished_at)

    def updated(self, run: Run, trials: Sequence[Trial]) -> tuple[Run, list[Trial]]:
        """Return a run and its trials as they are now, given an earlier result of :meth:`run`. Only new trials are read.

        Raises :class:`SelectionError` if the run has been deleted.
        """
        with self._errors():
            query = "SELECT status, boot_id, pid, pid_start_ticks, finished_at FROM run WHERE id = ?"
            row = self._connection.execute(query, (run.id,)).fetchone()
            if row is None:
                raise SelectionError(_not_one(run.id, (), self.path), hint="`httpbench runs` lists them")
            status, *owner, finished_at = row
            if not run.profiles:
                run = run.model_copy(update={"profiles": self._profiles(run.id)})
            known = {trial.plan.number: trial for trial in trials}
            numbers = self._numbers(run.id)
            new = {trial.plan.number: trial for trial in self._trials(run.id, [number for number in numbers if number not in known])}
            found = [new.get(number) or known[number] for number in numbers]
            return _as_of(run, [trial.plan for trial in found], status, owner, finished_at), found

    def _numbers(self, run_id: str) -> list[int]:
        """Return the numbers of a run's trials in ascending order. The query reads only an index."""
        rows = self._connection.execute("SELECT number FROM trial WHERE run_id = ? ORDER BY number", (run_id,))
        return [number for (number,) in rows]

    def _trials(self, run_id: str, numbers: Sequence[int]) -> list[Trial]:
        """Return some trials of a run in ascending order."""
        query = """
            SELECT document, (SELECT json_group_object(name, data) FROM histogram WHERE run_id = ?1 AND number = trial.number)
            FROM trial WHERE run_id = ?1 AND number IN (SELECT value FROM json_each(?2)) ORDER BY number
        """
        with _readable(run_id):
            rows = self._connection.execute(query, (run_id, json.dumps(numbers)))  # read one by one, because documents are large
            return [_with_histograms(parsed(Trial, text), _HISTOGRAMS.validate_json(histograms)) for text, histograms in rows]

    def _profiles(self, run_id: str) -> tuple[Profile, ...]:
        rows = self._connection.execute("SELECT document FROM profile WHERE run_id = ? ORDER BY number", (run_id,)).fetchall()
        if not rows:
            return ()
        from httpbench.quantiles import inflated  # imports numpy, which few commands on the store need

        with _readable(run_id):
            return tuple(parsed(Profile, inflated(document, PROFILE_BYTES_MAX)) for (document,) in rows)

    def figures(self, target: str, runs_max: int) -> list[RunFigures]:
        """Return the results of a target in the newest runs, oldest first.

        Searches are left out, because each trial of a search has a different load.
        """
        with self._errors():
            try:
                return runs_of(self._connection, target, runs_max)
            except ValueError:
                raise StoreError(f"a run of {target} {UNREADABLE}") from None

    def noise_runs(self, hostname: str, cpu_model: str, limit: int = 5) -> list[str]:
        """Return the ids of finished A/A runs on machines with this host name and CPU model, newest first."""
        query = """
            SELECT id FROM run
            WHERE status = 'finished' AND json_extract(document, '$.measures_noise')
              AND json_extract(document, '$.environment.hostname') = ? AND json_extract(document, '$.environment.cpu_model') = ?
            ORDER BY sequence DESC LIMIT ?
        """
        return [name for (name,) in self.select(query, (hostname, cpu_model, limit))]

    def delete(self, run_ids: Sequence[str]) -> None:
        """Delete runs with their trials and free their space.

        Raises :class:`StoreError` if one of the runs is still running.
        """
        ids = json.dumps(run_ids)
        with self._errors(), self._transaction():
            chosen = "FROM run WHERE id IN (SELECT value FROM json_each(?))"
            for name, status, *owner in self._connection.execute(f"SELECT id, status, boot_id, pid, pid_start_ticks {chosen}", (ids,)):
                if status_of(status, Owner(*owner)) is RunStatus.RUNNING:
                    raise StoreError(f"run {name} is still running", hint="end it first")
            self._connection.execute(f"DELETE {chosen}", (ids,))
        # The file can't shrink while another program reads it, but SQLite reuses the space.
        with self._errors(), suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def select(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a read-only query."""
        with self._errors():
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _prepare(self, reading: bool, copy: Copy | None) -> None:
        if reading:
            if not is_current(self._connection):
                self._read_a_copy(copy)
            self._connection.execute("PRAGMA query_only = ON")
            return
        with self._transaction():  # so that two programs that start at the same time don't both migrate
            if not is_current(self._connection):
                self._take_from_others()
            migrate(self._connection)
        self._keep_a_log()
        # FULL ensures that a trial reported as stored survives a power failure.
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")

    def _read_a_copy(self, copy: Copy | None) -> None:
        """Continue with a copy in the current format.

        The file itself isn't changed, because it might be read-only.
        """
        with closing(self._connection) as original:
            self._connection = copy.connected(self.path, original) if copy else temporary_copy(original)

    def _take_from_others(self) -> None:
        """Restrict a file that needs a migration to its owner.

        Earlier versions created files that everyone could read. A current file keeps its permissions, because its owner may have
        chosen them.
        """
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(f"{self.path.name}{suffix}").chmod(0o600)

    def _keep_a_log(self) -> None:
        """Switch the file to WAL mode. Retry if it is locked, because SQLite doesn't wait for locks in this statement."""
        deadline = time.monotonic() + BUSY_LIMIT_S
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            raise StoreError(f"{self.path}: {error.message}", hint=error.hint) from None
        except sqlite3.DatabaseError as error:
            # The higher bits are the extended code. Errors that the sqlite3 module raises itself, such as for invalid UTF-8, have no code.
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            damaged = "the file is damaged: " if kind == sqlite3.SQLITE_CORRUPT else ""
            raise StoreError(f"{self.path}: {damaged}{error}", hint=HINTS.get(kind, OTHER_FILE)) from None
        except UnicodeDecodeError:  # SQLite's own message contains bytes of the file
            raise StoreError(f"{self.path}: the file is damaged", hint=HINTS[sqlite3.SQLITE_CORRUPT]) from None
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}", hint=OTHER_FILE) from None


def _as_of(run: Run, plans: Sequence[TrialPlan], status: str, owner: Sequence[Any], finished_at: object) -> Run:
    """Return the run in its current state. Raise :class:`StoreError` if it doesn't describe the target of each trial."""
    if not {plan.target for plan in plans} <= run.targets.keys():
        raise StoreError(f"run {run.id} has trials of a target that it doesn't describe", hint=OTHER_FILE)
    return run.model_copy(update={"status": status_of(status, Owner(*owner)), "finished_at": finished_at and str(finished_at)})


@contextmanager
def _readable(run_id: str) -> Iterator[None]:
    """Raise :class:`StoreError` if a document of a run can't be parsed."""
    try:
        yield
    except (ValueError, TypeError, zlib.error):  # columns of a planted table can have any type
        raise StoreError(f"run {run_id} {UNREADABLE}") from None


def _require_plain_neighbors(path: Path) -> None:
    """Refuse files that SQLite would open together with the database, and that httpbench never creates.

    SQLite waits for a pipe, and follows links. When it finds a journal that names another file, it deletes that file:
    https://www.sqlite.org/fileformat2.html#the_rollback_journal.
    """
    hint = "remove it, or name another file with --db"
    for suffix in ("-journal", "-wal", "-shm"):
        file = Path(f"{os.path.realpath(path)}{suffix}")
        with suppress(FileNotFoundError):  # another program can remove it at any time
            if not stat.S_ISREG(file.lstat().st_mode):
                raise StoreError(f"{file.name} next to it is not a regular file", hint=hint)
            if suffix == "-journal":
                with file.open("rb") as journal:
                    journal.seek(max(os.fstat(journal.fileno()).st_size - len(JOURNAL_MAGIC), 0))
                    if journal.read() == JOURNAL_MAGIC:
                        raise StoreError(f"{file.name} next to it names another file, which SQLite would delete", hint=hint)


def _address(path: Path, reading: bool) -> str:
    """Return the path as a URI for SQLite. https://www.sqlite.org/uri.html explains the locking options."""
    path = Path(os.path.realpath(path))  # SQLite, too, looks for the log next to the file that a link leads to
    if not reading:
        return path.as_uri()
    if not path.exists():
        return "file::memory:"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return f"{path.as_uri()}?mode=rw"
    # SQLite can't lock the file without write permission. With `immutable`, it reads the file without locks and ignores the log. If there
    # is a log next to the file, another program is using the file, and SQLite must read both.
    in_use = path.with_name(f"{path.name}-wal").exists()
    return f"{path.as_uri()}?mode=ro" + ("" if in_use else "&immutable=1")


def _line(
    run_id: str, started_at: str, name: str | None, commit: str | None, status: str, boot_id: str, pid: int, ticks: int, *more: Any
) -> RunLine:
    """Return the line of a row. Raises :class:`StoreError` if the row contains values of other types."""
    tags, targets, command, trials, done, planned, size = more
    try:
        return _LINE.validate_python(
            {
                "id": run_id,
                "started_at": started_at,
                "name": name,
                "git_commit": commit,
                "status": status_of(status, Owner(boot_id, pid, ticks)),
                "tags": _TEXTS.validate_json(tags),
                "targets": _TEXTS.validate_json(targets),
                "command": shlex.join(_TEXTS.validate_json(command)),
                "trials": trials,
                "trials_done": done,
                "trials_planned": planned,
                "size_bytes": size,
            }
        )
    except ValueError:
        raise StoreError(f"run {run_id} {UNREADABLE}") from None


def _split(trial: Trial) -> tuple[Trial, dict[str, str]]:
    """Return a trial without its histograms, and the histograms by name. Histograms are large and rarely needed."""
    found = {name: getattr(trial.measurement, name, None) for name in DISTRIBUTIONS}
    histograms = {name: times.histogram for name, times in found.items() if times is not None and times.histogram is not None}
    return _with_histograms(trial, dict.fromkeys(histograms)), histograms


def _with_histograms(trial: Trial, histograms: Mapping[str, str | None]) -> Trial:
    measurement = trial.measurement
    if measurement is None:
        return trial
    measured = {name: times for name in histograms if (times := getattr(measurement, name, None)) and name in DISTRIBUTIONS}
    times = {name: each.model_copy(update={"histogram": histograms[name]}) for name, each in measured.items()}
    return trial.model_copy(update={"measurement": measurement.model_copy(update=times)})


def status_of(status: str, owner: Owner) -> RunStatus:
    """Return the status of a run, which is interrupted if the stored status is running but the run's process is gone."""
    if status not in list(RunStatus):
        raise StoreError(f'a run with the status "{status}" {UNREADABLE}')
    return RunStatus.INTERRUPTED if status == RunStatus.RUNNING and not is_alive(owner) else RunStatus(status)


def _find(connection: sqlite3.Connection, word: str) -> list[Any]:
    """Return the rows of the matching runs: one, none, or several if a prefix of an id is ambiguous."""
    if match := LATEST.fullmatch(word):
        return connection.execute(f"{QUERY} {NEWEST} OFFSET ?", (int(match[1] or 0),)).fetchall()
    # An exact id comes first, because it can be the beginning of another one.
    for where, values in (("id = ?", (word,)), ("substr(id, 1, ?) = ?", (len(word), word))):
        if found := connection.execute(f"{QUERY} WHERE {where}", values).fetchall():
            return found
    if found := connection.execute(f"{QUERY} WHERE json_extract(document, '$.name') = ? {NEWEST}", (word,)).fetchall():
        return found
    if not COMMIT.fullmatch(word):
        return []
    # With uncommitted changes, the measured code differs from the commit, so a commit with the suffix "+changes" never matches.
    commit = "json_extract(document, '$.environment.git_commit')"
    where = f"substr({commit}, 1, ?) = ? AND {commit} NOT LIKE '%+changes'"
    return connection.execute(f"{QUERY} WHERE {where} {NEWEST}", (len(word), word)).fetchall()


def _not_one(name: str, found: Sequence[str], path: Path) -> str:
    if found:
        return f'"{name}" matches several runs: {", ".join(map(str, found[:5]))}'
    return f"no run in {path}" if name == "latest" else f'no run "{name}" in {path}'
