"""A load generator on another host, with the same interface as a local :class:`~httpbench.isolate.tree.ProcessTree`.

The agent on that host runs the load generator under a guard process, and ends both when the harness is gone or silent. Both sides send
heartbeats several times a second, because the connection stays open if the network fails or a host is suspended.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from httpbench.errors import LostHostError, StartError, StopError
from httpbench.isolate.ssh import SshConnection, end
from httpbench.isolate.tree import GUARD, GUARD_GONE, Exit

BEAT_S = 0.25
SILENCE_S = 2.0
"""Length of silence after which each side considers the other side lost, in seconds."""
SILENCE_STEP_S = 0.2
"""Maximum time that one check adds to the length of the silence, in seconds.

Without this maximum, the harness would consider a host lost if the harness itself was suspended.
"""
START_LIMIT_S = 20.0
REPLY_LIMIT_S = 20.0
END_LIMIT_S = 5.0
SETTLED_S = 0.05
OPEN_FILES = 65_536


@dataclass(frozen=True, slots=True)
class RemoteCommand:
    """A program to start on another host, in a temporary folder that contains only the given files."""

    argv: tuple[str, ...]
    placeholder: str
    """Text in ``argv`` that the agent replaces with the path of the folder."""
    files: Mapping[str, str]
    """Contents of the files in the folder, by file name."""
    cpus: Sequence[int]
    """Logical CPUs that the program may use on that host."""
    takes_orders: bool = False
    """Whether the program reads lines from its standard input. Otherwise, the input is empty."""


class RemoteTree:
    """A running command and all processes that it starts. Use it as a context manager, which ends them when the block ends."""

    def __init__(self, connection: SshConnection, command: RemoteCommand, modules: Mapping[str, Path]):
        """Start the command. ``modules`` are the source files of the modules that the agent uses to sample processes.

        Raises :class:`StartError` or :class:`LostHostError`.
        """
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
            "takes_orders": command.takes_orders,
            "open_files": OPEN_FILES,
            "silence_s": SILENCE_S,
        }
        sources = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
        self._agent = connection.start({"modules": sources, "task": task})
        self._beats = threading.Thread(target=self._beat, name=f"heartbeats to {connection.host}", daemon=True)
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
        """File descriptor that becomes readable when the agent prints a line. Then call :meth:`exits`."""
        assert self._agent.stdout is not None
        return self._agent.stdout.fileno()

    def exits(self) -> list[Exit]:
        """Return a list with the exit of the command. The list is empty while the command is running.

        Raises :class:`LostHostError` if the other host is gone or silent.
        """
        self._silent_s += min(time.monotonic() - self._looked_at, SILENCE_STEP_S)  # excludes time in which the harness was suspended
        while self._read(0):
            pass
        self._looked_at = time.monotonic()
        if not self._exits and self._silent_s > SILENCE_S:
            raise self._lost(f"did not respond for {SILENCE_S:g} s")
        # The command's last output comes through another pipe and may arrive a moment later.
        return self._exits if time.monotonic() - self._exited_at > SETTLED_S else []

    def order(self, line: str) -> None:
        """Write a line to the command's standard input."""
        self._send({"order": line})

    def mark(self) -> None:
        """Begin a measured window and drop earlier samples."""
        self._send({"mark": True})

    def close(self) -> dict[str, Any]:
        """End the measured window, and return the agent's report about it."""
        report: dict[str, Any] | None = self._ask("close", "closed")["report"]
        if report is None:
            raise self._lost("did not watch the load generator")
        return report

    def stdout(self) -> str:
        """Return the command's standard output so far."""
        text: str = self._ask("output", "output")["text"]
        return text

    def stop(self, grace_s: float = 2.0) -> None:
        """Send SIGTERM, wait for at most ``grace_s`` seconds, then send SIGKILL."""
        self._send({"stop": grace_s})
        self._await("stopped", grace_s + REPLY_LIMIT_S)

    def kill(self) -> None:
        """End everything at once by closing the agent's standard input."""
        self._ended.set()
        if self._beats.is_alive():
            self._beats.join()
        end(self._agent, END_LIMIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _await_start(self, command: RemoteCommand) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while not self._replies:
            if not self._read(deadline - time.monotonic()):
                raise self._lost("did not start the load generator")
        if refusal := self._replies.get("failed") or self._replies.get("refused"):
            raise StartError(f"cannot start {command.argv[0]} on {self._connection.host}: {refusal['reason']}")

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
        """Process incoming lines. Return false if no data came in time. Raises :class:`LostHostError` if the connection has closed."""
        ready, _, _ = select.select([self.events], [], [], max(timeout_s, 0))
        if not ready:
            return False
        data = os.read(self.events, 1 << 20)
        if not data:
            raise self._lost("ended")
        self._silent_s = 0.0
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            if line.startswith(b'{"event"'):  # the host's shell start-up files may print other lines
                self._note(json.loads(line))
        return True

    def _note(self, event: dict[str, Any]) -> None:
        if event["event"] == "exited":
            self._exits.append(Exit(event["index"], event["code"]))
            self._exited_at = time.monotonic()
        elif event["event"] == "silence":
            raise self._lost(f"heard nothing from this machine for {SILENCE_S:g} s")
        elif event["event"] == "gone" and not self._exits and "stopped" not in self._replies:
            raise StopError(GUARD_GONE)
        elif event["event"] != "beat":
            self._replies[event["event"]] = event

    def _beat(self) -> None:
        number = 0
        while not self._ended.wait(BEAT_S):
            number += 1
            with contextlib.suppress(LostHostError):  # the reading thread reports the loss
                self._send({"beat": number})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._agent.stdin is not None
        with self._lock:
            try:
                self._agent.stdin.write(json.dumps(message).encode() + b"\n")
                self._agent.stdin.flush()
            except (BrokenPipeError, ValueError):  # the agent has ended, or the pipe is closed
                raise self._lost("ended") from None

    def _lost(self, how: str) -> LostHostError:
        """Return the error for a lost connection. It contains the first cause that was found.

        Unless the heartbeat thread calls this method, it also drops the connection, so that the next load generator gets a new one.
        """
        if self._loss is None:
            self._loss = LostHostError(f"the connection to load host {self._connection.host} was lost: it {how}")
        if threading.current_thread() is not self._beats:
            self._connection.drop()
        return self._loss
