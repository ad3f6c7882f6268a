"""Dashboards for tests: a small store, a client that needs no network, and a server process."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from httpbench.model import Run, RunStatus, Trial
from httpbench.store import Store
from httpbench.web.app import Dashboard
from httpbench.web.site import Site
from tests.factories import make_plan, make_run, make_trial

HOST = "127.0.0.1:8420"
START_S = 60.0


def add_run(db: Path, run: Run, trials: list[Trial]) -> None:
    """Store a run and its trials. A run whose status is running is left unfinished."""
    with Store(db) as store:
        store.begin(run)
        for trial in trials:
            store.add(run.id, trial)
        if run.status is not RunStatus.RUNNING:
            store.finish(run.id, run.status, "2026-11-21T08:05:00.000Z")


def make_rounds_of(*targets: str, rounds: int = 3, rps: float = 1000.0) -> list[Trial]:
    """Return rounds of these targets, in which no two trials have the same throughput."""
    names = [(round_, target) for round_ in range(rounds) for target in targets]
    return [make_trial(make_plan(target, round_, number), rps=rps * (1 + number / 1000)) for number, (round_, target) in enumerate(names)]


def make_small_store(db: Path) -> Path:
    """Store the runs ``r1``, ``r2`` and ``r3`` of ``c/a`` and ``c/b``. ``r3`` looks as if this process were still running it."""
    for number in (1, 2, 3):
        trials = make_rounds_of("c/a", "c/b", rps=1000.0 * number)
        status = RunStatus.RUNNING if number == 3 else RunStatus.FINISHED
        run = make_run(trials, id=f"r{number}", started_at=f"2026-11-2{number}T08:00:00.000Z", status=status, finished_at=None)
        add_run(db, run, trials[:2] if number == 3 else trials)
    return db


def make_client(db: Path, *, token: str | None = None, host: str = HOST, **options: Any) -> TestClient:
    """Return a client that talks to the dashboard in this process and doesn't follow redirects."""
    own = Dashboard(Site(db), frozenset({"localhost", "bench.example"}), options.pop("say", print), token)
    return TestClient(own.app(), base_url=f"http://{host}", follow_redirects=False, **options)


@contextmanager
def serving(db: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``httpbench serve`` and yield its process and the address that it printed."""
    argv = [sys.executable, "-m", "httpbench", "serve", "--db", str(db), "--port", "0", *words]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), process.communicate(timeout=START_S)
        _wait_for(address)
        yield process, address
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _wait_for(address: str) -> None:
    port = int(re.findall(r":(\d+)/", address)[0])
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
