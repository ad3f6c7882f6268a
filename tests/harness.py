"""Run the real command with its own database, state folder and targets."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TARGETS = Path(__file__).parent / "targets"
PYTHON = shlex.quote(sys.executable)
"""This Python interpreter, quoted for command lines that a shell or `httpbench run` splits into words."""

MISBEHAVING_SERVER = f"{PYTHON} {shlex.quote(str(TARGETS / 'misbehaving' / 'server.py'))}"
"""Start of the misbehaving server's command line. A host, a port and a mode must follow."""

MEASURING = ("run", "bench", "noise")

# A shell starts background jobs with SIGINT ignored, and child processes inherit that. Tests of Ctrl-C must not depend on how the tests
# are started.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from httpbench.cli import main; main()"


@dataclass(frozen=True, slots=True)
class Harness:
    home: Path
    before: tuple[str, ...] = ()
    """Prefix of the command, such as one that runs it in the network namespace of another host."""

    @property
    def db(self) -> Path:
        return self.home / "data" / "httpbench" / "httpbench.db"

    @property
    def env(self) -> dict[str, str]:
        # Each test has its own data and state folders, but shares the build cache because builds of real targets are slow.
        # Each test also has its own locks on cores, so that parallel tests don't wait for each other.
        folders = {"XDG_DATA_HOME": str(self.home / "data"), "XDG_STATE_HOME": str(self.home / "state")}
        return {**os.environ, **folders, "HTTPBENCH_LOCKS": str(self.home), "COLUMNS": "240"}

    def argv(self, *words: str) -> list[str]:
        """Return the command line. The default is ``--retries 0``, because tests that run in parallel disturb each other's trials."""
        if words[:1] and words[0] in MEASURING and "--retries" not in words:
            words = (words[0], "--retries", "0", *words[1:])
        return [*self.before, sys.executable, "-c", PROGRAM, *words]

    def run(self, *words: str, timeout_s: float = 120, **options: Any) -> subprocess.CompletedProcess[str]:
        options.setdefault("env", self.env)
        return subprocess.run(self.argv(*words), capture_output=True, text=True, timeout=timeout_s, check=False, **options)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.argv(*words), text=True, **{"env": self.env, **pipes, **options})

    def bench(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a short benchmark. Test targets and built-in targets are available."""
        quick = ("-c", "8", "-d", "300ms", "--warmup", "100ms", "--rounds", "1", "--timeout", "300ms")
        return self.run("bench", "--targets", str(TARGETS), *quick, *words, **options)

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("runs", "--json").stdout)
        return found


def results(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Return the results in the JSON that a command printed, by target."""
    assert done.stdout, done.stderr
    return {result["target"]: result for result in json.loads(done.stdout)["results"]}
