"""Run the command on the target host of a network of namespaces, with load hosts that it reaches by ssh."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness import Harness
from tests.namespaces import Host, Network
from tests.waiting import until

GOOD = "test/misbehaving/good"
RELAYING = "proxy:test/relaying/good"
TARGETS = ("--targets", str(Path(__file__).parents[2] / "targets"))
QUICK = ("-c", "8", "-d", "1s", "--warmup", "0.3s", "--rounds", "1", "--timeout", "1s")
FROM_LOAD1 = ("-r", "load1", "--install")
GONE_S = 2.0


@dataclass(frozen=True, slots=True)
class Hosts:
    """The httpbench command on the target host, with its own folders for data."""

    network: Network
    harness: Harness
    """A harness that enters the target host."""

    @property
    def load1(self) -> Host:
        return self.network.load_hosts[0]

    @property
    def env(self) -> dict[str, str]:
        return {**self.harness.env, "HTTPBENCH_SSH": self.network.ssh}

    def run(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.harness.run(*words, env=env or self.env)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return self.harness.start(*words, env=self.env)

    def connections(self) -> int:
        """Return the number of logins on load1."""
        return (self.load1.folder / "sshd.log").read_text().count("Accepted publickey")

    def masters(self) -> list[int]:
        """Return the ids of the ssh processes on the target host that keep a connection open."""
        found = []
        for pid in self.network.target.pids():
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"ssh") and b"ControlMaster=yes" in words:
                found.append(pid)
        return found

    def left_on_load1(self) -> list[str]:
        """Return the command lines of our processes that are still running on load1."""
        return [words for part in ("httpbench-loadgen", "python3 -I -S") for words in self.load1.programs(part).values()]


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout.startswith("{"), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def trials(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = [trial for result in document["results"] for trial in result["rounds"]]
    return sorted(found, key=lambda trial: trial["number"])


def interrupted_run(hosts: Hosts) -> subprocess.Popen[str]:
    """Start a run of three rounds and wait until the first load generator runs on load1."""
    words = ("-c", "4", "-d", "3s", "--warmup", "0.1s", "--rounds", "3", "--timeout", "10s")
    running = hosts.start("bench", *TARGETS, GOOD, *words, *FROM_LOAD1, "--export-json", "-")
    until(lambda: hosts.load1.programs("--progress json") or running.poll() is not None, 60)
    assert running.poll() is None
    time.sleep(0.5)
    return running


def assert_the_run_continued(others: list[dict[str, Any]]) -> None:
    """Check that both remaining rounds were measured. On a busy machine, one of them may have no result."""
    verdicts = [trial["verdict"] for trial in others]
    assert len(verdicts) == 2 and any(verdict["kind"] not in ("invalid", "failed") for verdict in verdicts), verdicts


def wait_for_output(running: subprocess.Popen[str], pattern: str, limit_s: float) -> str:
    """Wait until standard error matches the pattern or time is up, and return the text."""
    assert running.stderr is not None
    text, deadline = "", time.monotonic() + limit_s
    while not re.search(pattern, text, re.MULTILINE) and time.monotonic() < deadline:
        if select.select([running.stderr], [], [], 0.1)[0]:
            text += os.read(running.stderr.fileno(), 65_536).decode(errors="replace")
    return text


def ended(running: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    output, errors = running.communicate(timeout=120)
    return subprocess.CompletedProcess(running.args, running.returncode, output, errors)
