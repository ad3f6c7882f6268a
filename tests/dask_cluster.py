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

from httpbench.cluster.dask.credentials import Scheduler, make_credentials, read_credentials
from httpbench.load import programs
from tests import waiting

START_LIMIT_S = 60.0
END_LIMIT_S = 10.0
LOADGEN = "httpbench-loadgen"
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
}
"""Environment variables with which a waiting worker takes less than 1% of a core, as docs/load-hosts.md recommends."""

Wrap = Callable[[Sequence[str]], list[str]]
"""A function that wraps a command so that it runs on another host."""


@dataclass(slots=True)
class Worker:
    """A Dask worker, which is a load host."""

    name: str
    process: subprocess.Popen[bytes]
    is_usual: bool
    """Whether the worker has neither environment variables nor code of its own."""

    def load_generators(self) -> list[psutil.Process]:
        """Return the load generators that this worker runs, without scripts of the same name that start them."""
        try:
            return [child for child in psutil.Process(self.process.pid).children(recursive=True) if Path(child.exe()).name == LOADGEN]
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
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of all workers."""
    tls: tuple[Path, Path, Path] | None = None
    """Files of the certificate authority, the certificate and its key. ``None``: without TLS."""
    workers: list[Worker] = field(default_factory=list)

    @property
    def options(self) -> tuple[str, ...]:
        """Options that make httpbench use this cluster."""
        files = () if self.tls is None else zip(("--dask-ca", "--dask-cert", "--dask-key"), map(str, self.tls), strict=True)
        return ("--scheduler", self.scheduler, *(word for pair in files for word in pair))

    @property
    def known(self) -> Scheduler:
        """The scheduler, with the credentials that it requires."""
        return Scheduler(self.scheduler, None if self.tls is None else read_credentials(*self.tls))

    def add(
        self, name: str, *, host: str = "127.0.0.1", wrap: Wrap = list, env: Mapping[str, str] | None = None, preload: str = ""
    ) -> Worker:
        """Start a worker that runs the code ``preload`` first. Return the worker once it has registered with the scheduler."""
        options = ["--name", name, "--host", host, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        words = ["distributed.cli.dask_worker", self.scheduler, *options, *_dask_options(self.tls), "--local-directory", str(self.folder)]
        if preload:
            code = self.folder / f"{name}_preload.py"
            code.write_text(preload)
            words += ["--preload", str(code)]
        log = self.folder / f"{name}.log"
        worker = Worker(name, _started(words, log, wrap, {**self.env, **(env or {})}), is_usual=not (env or preload))
        self.workers.append(worker)
        waiting.until(lambda: _says(worker.process, log, "Registered to"), START_LIMIT_S)
        return worker

    def keep(self, *names: str) -> None:
        """End all workers except those with these names that are still as usual."""
        kept = [each for each in self.workers if each.name in names and each.is_usual and each.process.poll() is None]
        for worker in self.workers:
            if worker not in kept:
                _end(worker.process)
        self.workers = kept

    def have(self, *names: str) -> None:
        """End and start workers, so that the cluster has those with these names and no others."""
        self.keep(*names)
        for name in {*names} - {worker.name for worker in self.workers}:
            self.add(name)
        self.workers.sort(key=lambda worker: worker.name)

    def load_generators(self) -> list[psutil.Process]:
        """Return the load generators of all workers."""
        return [each for worker in self.workers for each in worker.load_generators()]


@contextmanager
def cluster(
    folder: Path, *names: str, host: str = "127.0.0.1", wrap: Wrap = list, tls: bool = False, env: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """Run a scheduler and workers with these names on loopback. ``host`` and ``wrap`` apply to the scheduler, ``env`` to all workers."""
    folder.mkdir(parents=True, exist_ok=True)
    files = write_credentials(folder) if tls else None
    file, log = folder / "scheduler.json", folder / "scheduler.log"
    words = [
        "distributed.cli.dask_scheduler",
        "--host",
        host,
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
        *_dask_options(files),
    ]
    scheduler = _started(words, log, wrap, {})
    made = Cluster("", scheduler, folder, env or {}, files)
    try:
        made.scheduler = waiting.until(lambda: _address(scheduler, log, file), START_LIMIT_S)
        for name in names:
            made.add(name)
        yield made
    finally:
        for process in [*(worker.process for worker in made.workers), scheduler]:
            _end(process)


def write_credentials(folder: Path) -> tuple[Path, Path, Path]:
    """Write the credentials of a new cluster to files in PEM format: the certificate authority, the certificate and its key."""
    made = make_credentials()
    files = (folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    for file, text in zip(files, (made.ca, made.cert, made.key), strict=True):
        file.write_text(text or "")
    return files


def _dask_options(tls: tuple[Path, Path, Path] | None) -> list[str]:
    if tls is None:
        return []
    ca, cert, key = map(str, tls)
    return ["--protocol", "tls", "--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key]


def _started(words: Sequence[str], log: Path, wrap: Wrap, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    programs.require(LOADGEN)
    with log.open("wb") as output:
        argv = wrap([sys.executable, "-m", *words])
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **QUIET, **env})


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
