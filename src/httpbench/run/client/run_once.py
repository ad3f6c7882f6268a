"""Run a client once against a URL, on its own cores, and time its process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import LoadError, StartError, TargetDiedError
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.load import Timed, Timer
from httpbench.model import Cores, Target
from httpbench.run.trial.start import fill

NO_PROXY = {"no_proxy": "*", "NO_PROXY": "*"}
"""Environment variables that disable proxies. Most clients obey proxy settings, but requests to loopback must not use a proxy."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client, and everything that is required to run it."""

    target: Target
    folder: Path
    """Folder of the client's build."""
    cores: Cores
    timer: Timer
    limit_s: float
    """Time limit of a run, in seconds."""


@dataclass(frozen=True, slots=True)
class ClientRun:
    """The result of running a client."""

    timed: Timed
    printed: str
    log_tail: str | None
    command: tuple[str, ...]
    """The client's own command line."""
    timed_by: tuple[str, ...]
    """The timer's command line, which includes the client's command line."""


def run_client(client: Client, url: str, requests: int, scratch: Path) -> ClientRun:
    """Run the client once, in the folder ``scratch``.

    Raises :class:`StartError` if the client can't start, :class:`TargetDiedError` if it doesn't end in time, and :class:`LoadError` if the
    timer fails.
    """
    own = scratch / f"run-{requests}"
    own.mkdir()
    report, output, log = own / "report.json", own / "printed", own / "log"
    (own / "scratch").mkdir()
    values = {"url": url, "requests": str(requests), "scratch": str(own / "scratch"), "workers": str(len(client.cores.target))}
    words = [fill(word, values) for word in client.target.run]
    argv = client.timer.argv(words, report, output)
    env = {**NO_PROXY, **{name: fill(value, values) for name, value in client.target.env.items()}}
    command = Command(argv, client.folder, env, client.cores.target)
    with ProcessTree([command], stdout=own / "timer.out", stderr=log) as tree:
        end = tree.wait(client.limit_s)
    if end is None:
        raise TargetDiedError(f"did not end within {client.limit_s:g} s and was killed ({requests:,} requests)", log_tail=tail(log))
    if end.code != 0:
        raise StartError(f"could not be run: {client.timer.name} ended with {end}", log_tail=tail(log))
    try:
        return ClientRun(client.timer.read(report.read_text()), output.read_text(errors="replace"), tail(log), tuple(words), tuple(argv))
    except OSError as error:
        raise LoadError(f"{client.timer.name} left no report: {error.strerror}", log_tail=tail(log)) from None
