"""Run the real command with its own database, state folder and targets."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forked import Forked

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
    """Prefix of the command, such as one that runs it in another namespace."""
    entrance: str = ""
    """Code that the command runs first, such as to enter the network namespace of another host."""

    @property
    def db(self) -> Path:
        return self.home / "data" / "httpbench" / "httpbench.db"

    @property
    def env(self) -> dict[str, str]:
        # Each test has its own data and state folders, but shares the build cache because builds of real targets are slow.
        # Each test also has its own locks on cores, so that parallel tests don't wait for each other.
        folders = {"XDG_DATA_HOME": str(self.home / "data"), "XDG_STATE_HOME": str(self.home / "state")}
        return {**os.environ, **folders, "HTTPBENCH_LOCKS": str(self.home), "COLUMNS": "240"}

    def argv(self, *words: str, first: str = "") -> list[str]:
        """Return the command line. The default is ``--retries 0``, because tests that run in parallel disturb each other's trials.

        ``first`` is code that the process runs before httpbench.
        """
        if words[:1] and words[0] in MEASURING and "--retries" not in words:
            words = (words[0], "--retries", "0", *words[1:])
        return [*self.before, sys.executable, "-c", f"{self.entrance}\n{first}\n{PROGRAM}", *words]

    def run(self, *words: str, timeout_s: float = 240, **options: Any) -> subprocess.CompletedProcess[str]:
        with self.start(*words, **options) as process:
            try:
                out, err = process.communicate(timeout=timeout_s)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def start(self, *words: str, first: str = "", **options: Any) -> subprocess.Popen[str]:
        """Fork httpbench, or start a new interpreter if a prefix or a variable affects how it starts."""
        argv = self.argv(*words, first=first)
        options = {"env": self.env, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        is_special = bool(self.before) or _for_start(options["env"]) != _for_start(os.environ)
        return subprocess.Popen(argv, **options) if is_special else Forked(argv[1:], **options)

    def bench(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a short benchmark. Test targets and built-in targets are available."""
        quick = ("-c", "8", "-d", "300ms", "--warmup", "100ms", "--rounds", "1", "--timeout", "300ms")
        return self.run("bench", "--targets", str(TARGETS), *quick, *words, **options)

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("runs", "--json").stdout)
        return found


def _for_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the loader and the interpreter read when a process starts."""
    return {name: value for name, value in env.items() if name.startswith(("LD_", "PYTHON"))}


def results(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Return the results in the JSON that a command printed, by target."""
    assert done.stdout, done.stderr
    return {result["target"]: result for result in json.loads(done.stdout)["results"]}
