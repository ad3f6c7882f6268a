"""The reference server against which clients are measured.

Each check and each measurement gets a new server, so that the server's counts include no other requests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from httpbench.errors import StartError, StopError
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.load import programs
from httpbench.model import ClientWork, Cores, WorkDone

PROGRAM = "httpbench-reference"
START_LIMIT_S = 20.0
STOP_GRACE_S = 5.0
POLL_S = 0.002


@dataclass(frozen=True, slots=True)
class Reference:
    """A running reference server that accepts connections."""

    url: str
    _tree: ProcessTree
    _output: Path

    def stop(self) -> WorkDone:
        """Stop the server and return its counts. Raises :class:`StopError` if it hasn't printed them."""
        self._tree.stop(STOP_GRACE_S)
        try:
            return WorkDone.model_validate_json(self._output.read_text().splitlines()[1])
        except (IndexError, ValidationError):
            raise StopError(f"{PROGRAM} ended without its counts", log_tail=tail(self._output)) from None


@contextmanager
def reference(work: ClientWork, path: str, cores: Cores, scratch: Path, *, held_s: float = 0) -> Iterator[Reference]:
    """Run a reference server on the load generator's cores until the block ends. ``held_s`` is the delay of each response, in seconds.

    Raises :class:`StartError` if the server doesn't start.
    """
    output, log = scratch / "reference.out", scratch / "reference.log"
    output.unlink(missing_ok=True)
    options = ("--path", path, "--body-bytes", str(work.body_bytes), "--delay", f"{round(held_s * 1000)}ms")
    argv = (programs.require(PROGRAM), *options, *(("--close-after", "1") if work.reconnect else ()))
    with ProcessTree([Command(argv, scratch, {}, cores.generator)], stdout=output, stderr=log) as tree:
        yield Reference(_url(tree, output, log), tree, output)


def _url(tree: ProcessTree, output: Path, log: Path) -> str:
    """Return the URL from the first line of output, which the server prints once it listens."""
    deadline = time.monotonic() + START_LIMIT_S
    while not (text := output.read_text() if output.exists() else "").endswith("\n"):
        if tree.exits() or time.monotonic() > deadline:
            raise StartError(f"{PROGRAM} did not start", log_tail=tail(log))
        time.sleep(POLL_S)
    return str(json.loads(text.splitlines()[0])["url"])
