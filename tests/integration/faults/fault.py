"""Run httpbench while one fault occurs, and measure the outcome."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from httpbench.model import Verdict
from tests.harness import TARGETS, Harness
from tests.namespaces import Network
from tests.reliability import Row, rows

GOOD = "test/misbehaving/good"
OTHER = "test/misbehaving/date-stands"  # a target that breaks the contract, but can be measured
QUICK = ("-c", "8", "-d", "300ms", "--warmup", "100ms", "--rounds", "1", "--timeout", "300ms")
ON_LOAD_HOSTS = ("httpbench-loadgen", "python3 -I -S")
ORPHANS_END_S = 2.0  # guards act as soon as the harness is killed, but need longer on a busy machine
FINISHED = re.compile(r"^\[\d+/\d+\] ", re.MULTILINE)  # a progress line, printed once the trial is stored
WRAPPED = re.compile(r" *\n  (?=\S)")  # a line break within a note below a table
TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\)", re.MULTILINE
)  # only at the start of a line, because the indented log of a target may contain a traceback


Planned = tuple[str, int, int]
"""Target, connections and round of a trial. All attempts at a trial have the same values."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Outcome of a command."""

    exit_code: int
    """Exit code as a shell shows it: 128 plus the signal if the command was killed."""
    output: str
    """Standard output and standard error."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of several faulty targets, and its folder."""

    home: Path
    end: Ended

    @classmethod
    def of(cls, home: Path, *words: str) -> Run:
        return cls(home, Fault(rows()[0], home, lambda *_: None).bench(*words))


@dataclass(frozen=True, slots=True)
class Measured:
    """A row of the table that ``make faults`` prints."""

    fault: str
    sentence: str | None
    exit_code: int
    orphans: int
    lost_trials: int
    tracebacks: int


class Fault:
    """A fault from the table in docs/reliability.md, and the folder for its test."""

    def __init__(self, row: Row, home: Path, record: Callable[[str, object], None]):
        self.row = row
        self.home = home
        self.harness = Harness(home)
        self.export = home / "export.json"
        self._record = record
        self._temporary = home / "tmp"
        self._temporary.mkdir(exist_ok=True)
        self._network: Network | None = None

    def happens_in(self, network: Network) -> None:
        """Run httpbench on this network's target host from now on, and also look for orphans on the load hosts."""
        self._network = network
        self.harness = replace(self.harness, entrance=network.target.entrance)

    def in_run(self, run: Run) -> Fault:
        """Return the same fault as one of several in a run that has ended."""
        return Fault(self.row, run.home, self._record)

    @property
    def env(self) -> dict[str, str]:
        """Environment of the command. All descendants of the command inherit TMPDIR, so the test can find them even if they are orphans."""
        ssh = {"HTTPBENCH_SSH": self._network.ssh} if self._network else {}
        return {**self.harness.env, "TMPDIR": str(self._temporary), **ssh}

    def bench(self, *words: str, **options: Any) -> Ended:
        """Run a short benchmark of these targets and of a target that satisfies the contract."""
        return self.end(self.start(*words, GOOD, **options))

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """Start a short run of the targets in ``words``. Options in ``words`` override those that keep the run short."""
        options.setdefault("env", self.env)
        explained = ("--explain", "--export-json", str(self.export))
        return self.harness.start("bench", "--targets", str(TARGETS), *QUICK, *explained, *words, **options)

    def end(self, process: subprocess.Popen[str], timeout_s: float = 90) -> Ended:
        out, err = process.communicate(timeout=timeout_s)
        return ended(process.returncode, out + err)

    def say(self, *words: str) -> str:
        """Run another httpbench command and return its output."""
        done = self.harness.run(*words, env=self.env)
        return done.stdout + done.stderr

    def stored(self) -> list[Planned]:
        """Return the trials in the store."""
        if not self.harness.db.exists():
            return []
        with closing(sqlite3.connect(f"{self.harness.db.as_uri()}?mode=ro", uri=True)) as connection, suppress(sqlite3.OperationalError):
            return connection.execute("SELECT target, connections, round FROM trial").fetchall()
        return []  # the tables don't exist yet

    def exported(self) -> list[tuple[Planned, dict[str, Any]]]:
        """Return the exported trials in the order in which they ran."""
        if not self.export.exists() or not self.export.stat().st_size:
            return []
        results = json.loads(self.export.read_text())["results"]
        found = [((one["target"], one["load"]["connections"], trial["round"]), trial) for one in results for trial in one["rounds"]]
        return sorted(found, key=lambda planned_and_trial: int(planned_and_trial[1]["number"]))

    def trials_of(self, target: str) -> list[dict[str, Any]]:
        """Return the exported trials of one target."""
        return [trial for (name, *_), trial in self.exported() if name == target]

    def verdicts(self, target: str) -> list[str]:
        """Return the kind of verdict of each exported trial of a target."""
        return [trial["verdict"]["kind"] for trial in self.trials_of(target)]

    def holds(self, end: Ended, *, trials: int) -> None:
        """Assert the expected message, exit code and number of kept trials. Assert that there are no orphans, lost trials or tracebacks."""
        orphans = self._orphans()
        stored = self.stored()
        exported = [planned for planned, _ in self.exported()]
        found = self.row.pattern.search(WRAPPED.sub(" ", end.output))
        measured = Measured(
            fault=self.row.fault,
            sentence=found.group().strip().replace(str(self.home), "~") if found else None,
            exit_code=end.exit_code,
            orphans=len(orphans),
            lost_trials=max(len(FINISHED.findall(end.output)) - max(len(stored), len(exported)), 0),
            tracebacks=len(TRACEBACK.findall(end.output)),
        )
        self._record("fault", asdict(measured))
        assert measured.sentence, end.output
        assert measured.exit_code in self._exit_codes(), end.output
        assert (orphans, measured.lost_trials, measured.tracebacks) == ([], 0, 0), end.output
        assert len({*stored, *exported}) == trials, end.output

    def _exit_codes(self) -> set[int]:
        """Return the allowed exit codes. On a busy machine, short trials may be invalid, so 1 is allowed as well as 0 if any of them is."""
        verdicts = [Verdict.model_validate(trial["verdict"]) for _, trial in self.exported()]
        is_certain = all(verdict.counts for verdict in verdicts)
        return {self.row.exit_code} if self.row.exit_code != 0 or is_certain else {0, 1}

    def _orphans(self) -> list[str]:
        """Give the command's descendants time to end, kill those that are still running, and return their names."""
        deadline = time.monotonic() + ORPHANS_END_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return list(left.values())

    def runs_target(self) -> bool:
        """Return whether a misbehaving target has started."""
        return any(" server.py " in name for name in self.processes().values())

    def processes(self) -> dict[int, str]:
        """Return the command lines of the command's descendants and of httpbench's programs on load hosts, by process id."""
        mark = f"TMPDIR={self._temporary}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
        for host in self._network.load_hosts if self._network else ():
            found |= {pid: words for part in ON_LOAD_HOSTS for pid, words in host.programs(part).items()}
        return found


def ended(code: int, output: str) -> Ended:
    return Ended(128 - code if code < 0 else code, output)
