"""A load generator at another host, with the interface of a :class:`~httpbench.isolate.tree.ProcessTree` on this one.

The agent there holds it below a guard, and ends everything when this side is gone or silent. Both sides send a sign of life several times a
second, because neither a cut network nor a host that stands still closes a connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from httpbench.errors import LostHostError, StartError, StopError
from httpbench.isolate.ssh import SshConnection
from httpbench.isolate.tree import GUARD, GUARD_GONE, Exit

BEAT_S = 0.25
SILENCE_S = 2.0
"""Without a sign of life for this long, each side takes the other for lost."""
SILENCE_STEP_S = 0.2
"""Of the time between two looks, what counts as silence at most."""
START_LIMIT_S = 20.0
REPLY_LIMIT_S = 20.0
END_LIMIT_S = 5.0
SETTLED_S = 0.05
OPEN_FILES = 65_536


@dataclass(frozen=True, slots=True)
class RemoteCommand:
    """A program to start at another host, in an empty folder of its own."""

    argv: tuple[str, ...]
    placeholder: str
    """Stands in ``argv`` for the folder."""
    files: Mapping[str, str]
    """What the folder holds, by name."""
    cpus: Sequence[int]
    """Logical CPUs that it may use there."""


class RemoteTree:
    """A running command, and all processes that it starts. Use as a context manager: leaving it ends everything."""

    def __init__(self, connection: SshConnection, command: RemoteCommand, modules: Mapping[str, Path]):
        """Starts it; ``modules`` are what the agent watches processes with. Raises :class:`StartError` or :class:`LostHostError`."""
        self._connection = connection
        self._exits: list[Exit] = []
        self._exited_at = 0.0
        self._replies: dict[str, dict[str, Any]] = {}
        self._pending = b""
        self._silent_s, self._looked_at = 0.0, time.monotonic()
        self._loss: LostHostError | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        connection.require()
        task = {
            "do": "run",
            "guard": GUARD.read_text(encoding="utf-8"),
            "argv": command.argv,
            "placeholder": command.placeholder,
            "files": dict(command.files),
            "cpus": list(command.cpus),
            "open_files": OPEN_FILES,
            "silence_s": SILENCE_S,
        }
        sources = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
        self._agent = connection.start({"modules": sources, "task": task})
        self._beats = threading.Thread(target=self._beat, name=f"signs of life to {connection.host}", daemon=True)
        try:
            self._await_start(command)
        except BaseException:
            self.kill()
            raise
        self._beats.start()

    @property
    def stderr(self) -> int:
        """File descriptor of the command's standard error."""
        assert self._agent.stderr is not None
        return self._agent.stderr.fileno()

    @property
    def events(self) -> int:
        """File descriptor that is readable when something happened: then call :meth:`exits`."""
        assert self._agent.stdout is not None
        return self._agent.stdout.fileno()

    def exits(self) -> list[Exit]:
        """The command, if it has ended. Raises :class:`LostHostError` if the other host is gone or silent."""
        self._silent_s += min(time.monotonic() - self._looked_at, SILENCE_STEP_S)  # a harness that stood still did not listen
        while self._read(0):
            pass
        self._looked_at = time.monotonic()
        if not self._exits and self._silent_s > SILENCE_S:
            raise self._lost(f"did not respond for {SILENCE_S:g} s")
        # What the command printed before its end comes over another channel, and may come a moment later.
        return self._exits if time.monotonic() - self._exited_at > SETTLED_S else []

    def mark(self) -> None:
        """Begins the measured window; what was watched before is dropped."""
        self._send({"mark": True})

    def close(self) -> dict[str, Any]:
        """Ends the measured window: what the agent saw in it."""
        report: dict[str, Any] | None = self._ask("close", "closed")["report"]
        if report is None:
            raise self._lost("watched nothing")
        return report

    def stdout(self) -> str:
        """What the command printed on its standard output so far."""
        text: str = self._ask("output", "output")["text"]
        return text

    def stop(self, grace_s: float = 2.0) -> None:
        """Sends SIGTERM, waits for at most ``grace_s`` seconds, then sends SIGKILL."""
        self._send({"stop": grace_s})
        self._await("stopped", grace_s + REPLY_LIMIT_S)

    def kill(self) -> None:
        """Ends everything at once: the agent ends with its standard input."""
        self._ended.set()
        if self._beats.is_alive():
            self._beats.join()
        for pipe in (self._agent.stdin, self._agent.stdout, self._agent.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._agent.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._agent.kill()
            self._agent.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _await_start(self, command: RemoteCommand) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while not {"started", "failed", "refused"} & self._replies.keys():
            if not self._read(deadline - time.monotonic()):
                raise self._lost("did not start the load generator")
        for word in ("failed", "refused"):
            if word in self._replies:
                raise StartError(f"cannot start {command.argv[0]} on {self._connection.host}: {self._replies[word]['reason']}")

    def _ask(self, word: str, reply: str) -> dict[str, Any]:
        self._replies.pop(reply, None)
        self._send({word: True})
        return self._await(reply, REPLY_LIMIT_S)

    def _await(self, reply: str, limit_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + limit_s
        while reply not in self._replies:
            if not self._read(min(deadline - time.monotonic(), SILENCE_S)):
                raise self._lost(f"did not respond for {SILENCE_S:g} s")
            if time.monotonic() > deadline:
                raise self._lost(f"did not respond within {limit_s:g} s")
        return self._replies[reply]

    def _read(self, timeout_s: float) -> bool:
        """Takes note of what came; false if nothing did in time. Raises :class:`LostHostError` at the end of the connection."""
        ready, _, _ = select.select([self.events], [], [], max(timeout_s, 0))
        if not ready:
            return False
        data = os.read(self.events, 1 << 20)
        if not data:
            raise self._lost("ended")
        self._silent_s = 0.0
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            if line.startswith(b'{"event"'):  # start-up files of a shell may print other lines
                self._note(json.loads(line))
        return True

    def _note(self, event: dict[str, Any]) -> None:
        if event["event"] == "exited":
            self._exits.append(Exit(event["index"], event["code"]))
            self._exited_at = time.monotonic()
        elif event["event"] == "silence":
            raise self._lost(f"heard nothing from here for {SILENCE_S:g} s")
        elif event["event"] == "gone" and not self._exits and "stopped" not in self._replies:
            raise StopError(GUARD_GONE)
        elif event["event"] != "beat":
            self._replies[event["event"]] = event

    def _beat(self) -> None:
        number = 0
        while not self._ended.wait(BEAT_S):
            number += 1
            with contextlib.suppress(LostHostError):  # whoever reads finds out
                self._send({"beat": number})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._agent.stdin is not None
        with self._lock:
            try:
                self._agent.stdin.write(json.dumps(message).encode() + b"\n")
                self._agent.stdin.flush()
            except (BrokenPipeError, ValueError):  # its end, or ours
                raise self._lost("ended") from None

    def _lost(self, how: str) -> LostHostError:
        """The error, with the first cause. The connection is made again before the next load generator starts."""
        if self._loss is None:
            self._loss = LostHostError(f"the connection to load host {self._connection.host} was lost: it {how}")
        if threading.current_thread() is not self._beats:
            self._connection.drop()
        return self._loss
