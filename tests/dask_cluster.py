"""A Dask cluster whose scheduler and workers the test starts as processes, as a user would by hand."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from httpbench.load import programs
from tests import waiting

START_LIMIT_S = 60.0
END_LIMIT_S = 10.0
LOADGEN = "httpbench-loadgen"

Wrap = Callable[[Sequence[str]], list[str]]
"""A function that wraps a command so that it runs on another host."""


@dataclass(slots=True)
class Worker:
    """A Dask worker, which is a load host."""

    name: str
    process: subprocess.Popen[bytes]

    def load_generators(self) -> list[psutil.Process]:
        """Return the load generators that this worker runs."""
        try:
            return [child for child in psutil.Process(self.process.pid).children(recursive=True) if child.name() == LOADGEN]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass(slots=True)
class Cluster:
    scheduler: str
    """Address of the scheduler."""
    process: subprocess.Popen[bytes]
    """Process of the scheduler."""
    folder: Path
    workers: list[Worker] = field(default_factory=list)

    def add(
        self, name: str, *, host: str = "127.0.0.1", wrap: Wrap = list, env: Mapping[str, str] | None = None, preload: str = ""
    ) -> Worker:
        """Start a worker that first runs the code ``preload``. Return when it has registered with the scheduler."""
        options = ["--name", name, "--host", host, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        words = ["distributed.cli.dask_worker", self.scheduler, *options, "--local-directory", str(self.folder)]
        if preload:
            code = self.folder / f"{name}_preload.py"
            code.write_text(preload)
            words += ["--preload", str(code)]
        log = self.folder / f"{name}.log"
        worker = Worker(name, _started(words, log, wrap, env))
        self.workers.append(worker)
        waiting.until(lambda: _says(worker.process, log, "Registered to"), START_LIMIT_S)
        return worker

    def load_generators(self) -> list[psutil.Process]:
        """Return the load generators of all workers."""
        return [each for worker in self.workers for each in worker.load_generators()]


@contextmanager
def cluster(folder: Path, *names: str, host: str = "127.0.0.1", wrap: Wrap = list) -> Iterator[Cluster]:
    """Run a scheduler and workers with these names on loopback. ``host`` and ``wrap`` apply to the scheduler."""
    folder.mkdir(parents=True, exist_ok=True)
    file, log = folder / "scheduler.json", folder / "scheduler.log"
    words = ["distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = _started(words, log, wrap, None)
    made = Cluster("", scheduler, folder)
    try:
        made.scheduler = waiting.until(lambda: _address(scheduler, log, file), START_LIMIT_S)
        for name in names:
            made.add(name)
        yield made
    finally:
        for process in [*(worker.process for worker in made.workers), scheduler]:
            _end(process)


def _started(words: Sequence[str], log: Path, wrap: Wrap, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    programs.require(LOADGEN)
    with log.open("wb") as output:
        argv = wrap([sys.executable, "-m", *words])
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **(env or {})})


def _address(scheduler: subprocess.Popen[bytes], log: Path, file: Path) -> str:
    """Return the scheduler's address, or an empty string if it isn't known yet."""
    assert scheduler.poll() is None, log.read_text()
    with contextlib.suppress(OSError, ValueError):
        return str(json.loads(file.read_text())["address"])
    return ""


def _says(process: subprocess.Popen[bytes], log: Path, words: str) -> bool:
    assert process.poll() is None, log.read_text()
    return words in log.read_text(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
